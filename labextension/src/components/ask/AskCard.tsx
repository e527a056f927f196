/** An agent asks for a yes: what, why, exactly what, and the answers. Never takes the focus by itself. */
import { useEffect, useId, useRef } from 'react';

import type { Ask } from '../../protocol/generated';
import type { AnswerOutcome } from '../../state/stores';
import { LinkButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon, type IconName } from '../icons';
import { Markdown } from '../markdown/Markdown';
import { KIND_ICONS } from '../tools/describe';
import { AskActions } from './AskActions';
import { AskSubject } from './AskSubject';
import { askButtons, readKey, type AskButton } from './options';
import { useAnswer, type Answer } from './useAnswer';
import { useArmed } from './useArmed';

export interface IAskCardProps {
  ask: Ask;
  agentName: string;
  locked: boolean;
  onAnswer: (answer: Answer) => Promise<AnswerOutcome>;
  /** Scrolls the thread to the call; null where the thread does not show it. */
  onShow: (() => void) | null;
  /** The focus may be put on the command: nobody is writing. */
  takeFocus: boolean;
}

function iconOf(ask: Ask): IconName {
  const kind = ask.input?.kind;
  if (ask.kind === 'plan') {
    return 'checklist';
  }
  return kind === undefined || kind === 'shell' || kind === 'other' ? 'shield' : KIND_ICONS[kind];
}

/** Give it the ask's id as `key`: each ask is inert at first. For permissions and plans. */
export function AskCard(props: IAskCardProps): React.JSX.Element {
  const { ask, agentName, locked, onAnswer, onShow, takeFocus } = props;
  const trans = useTrans();
  const id = useId();
  const exact = useRef<HTMLDivElement>(null);
  const armed = useArmed();
  const { busy, failure, send } = useAnswer(onAnswer, locked);
  const buttons = askButtons(ask.options, trans);
  const isPlan = ask.kind === 'plan';

  useEffect(() => {
    const chat = exact.current?.closest('.ac-root');
    // from within this chat only: whoever works elsewhere in JupyterLab stays there
    if (takeFocus && chat?.contains(document.activeElement)) {
      exact.current?.focus({ preventScroll: true });
    }
    // only when the card appears: later the person may be anywhere
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const press = (button: AskButton): void => {
    if (button.decision === 'allow' && !armed) {
      return;
    }
    send({ decision: button.decision, option_id: button.option?.id ?? null });
  };

  return (
    // keys work wherever the focus is in the card
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <div
      className="ac-ask"
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-why`}
      onKeyDown={event => {
        const key = readKey(event);
        const button = buttons.find(one => one.key === key);
        if (button !== undefined) {
          event.preventDefault();
          event.stopPropagation();
          press(button);
        }
      }}
    >
      <div className="ac-ask-head">
        <Icon name={iconOf(ask)} />
        <span className="ac-grow">
          {ask.title.includes(agentName) ? null : `${trans.__('%1 asks:', agentName)} `}
          <span id={`${id}-title`}>
            <VisibleText text={ask.title} />
          </span>
        </span>
        {onShow === null ? null : (
          <LinkButton
            className="ac-small ac-ask-show"
            title={trans.__('Show in thread')}
            onClick={onShow}
          >
            <Icon name="arrowUp" />
            <span>{trans.__('Show in thread')}</span>
          </LinkButton>
        )}
      </div>
      <div className="ac-ask-scroll">
        <p className="ac-ask-why" id={`${id}-why`}>
          <VisibleText text={ask.detail} />
        </p>
        {isPlan && ask.plan !== null ? (
          <div
            ref={exact}
            className="ac-ask-what ac-ask-plan"
            role="group"
            aria-label={trans.__('Plan')}
            // eslint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls, and may take the focus
            tabIndex={0}
          >
            <Markdown text={ask.plan} done />
          </div>
        ) : (
          <AskSubject ask={ask} ref={exact} />
        )}
      </div>
      <AskActions
        buttons={buttons}
        armed={armed}
        busy={busy}
        failure={failure}
        onPress={press}
        onReason={send}
        reasonLink={isPlan ? trans.__('Say what to change…') : trans.__('Deny with a reason…')}
        reasonLabel={isPlan ? trans.__('What should change?') : trans.__('Reason, for the agent')}
      />
    </div>
  );
}
