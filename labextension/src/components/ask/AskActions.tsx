/** The buttons below an ask, and the field for a reason. */
import { useId, useState } from 'react';

import { Button, LinkButton } from '../common/Button';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import type { AskButton } from './options';
import type { Answer } from './useAnswer';

export interface IAskActionsProps {
  buttons: readonly AskButton[];
  /** Allowing buttons act; denying ones always do. */
  armed: boolean;
  busy: boolean;
  failure: string | null;
  onPress: (button: AskButton) => void;
  /** Words for the way to say no with a text. */
  reasonLink: string;
  reasonLabel: string;
  onReason: (answer: Answer) => void;
}

interface IReasonProps {
  label: string;
  busy: boolean;
  onSend: (text: string) => void;
  onClose: () => void;
}

function ReasonField({ label, busy, onSend, onClose }: IReasonProps): React.JSX.Element {
  const trans = useTrans();
  const id = useId();
  const [text, setText] = useState('');
  return (
    <form
      className="ac-ask-reason"
      onSubmit={event => {
        event.preventDefault();
        onSend(text);
      }}
    >
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="ac-field"
        rows={2}
        value={text}
        // it opened because the person asked for it
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        onChange={event => setText(event.target.value)}
        onKeyDown={event => {
          if (event.key === 'Escape') {
            // Escape closes the field; it must not stop the run as well
            event.stopPropagation();
            onClose();
          } else if (event.key === 'Enter' && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            onSend(text);
          }
        }}
      />
      <div className="ac-ask-buttons">
        <Button small onClick={onClose}>
          {trans.__('Cancel')}
        </Button>
        <Button small kind="primary" type="submit" disabled={busy}>
          {trans.__('Send reason')}
        </Button>
      </div>
    </form>
  );
}

export function AskActions(props: IAskActionsProps): React.JSX.Element {
  const { buttons, armed, busy, failure, onPress, reasonLink, reasonLabel, onReason } = props;
  const trans = useTrans();
  const id = useId();
  const [open, setOpen] = useState(false);
  const deny = buttons.find(button => button.decision === 'deny');
  const firstAllow = buttons.find(button => button.decision === 'allow');
  const problem =
    failure === null ? null : (
      <p className="ac-ask-failure" role="alert">
        {failure}
      </p>
    );
  if (open) {
    return (
      <>
        {problem}
        <ReasonField
          label={reasonLabel}
          busy={busy}
          onClose={() => setOpen(false)}
          onSend={text =>
            onReason({
              decision: 'deny',
              option_id: deny?.option?.id ?? null,
              message: text.trim() === '' ? null : text.trim(),
            })
          }
        />
      </>
    );
  }
  return (
    <>
      {problem}
      {buttons.map(({ label, covers }, index) =>
        covers === null ? null : (
          <p className="ac-ask-covers" key={index} id={`${id}-${index}`}>
            {trans.__('“%1” covers:', label)}{' '}
            <span className="ac-mono">
              <VisibleText text={covers} />
            </span>
          </p>
        ),
      )}
      <div className="ac-ask-buttons" role="group" aria-label={trans.__('Your answer')}>
        {buttons.map((button, index) => (
          <Button
            key={index}
            kind={button === firstAllow ? 'primary' : 'default'}
            shortcut={button.key ?? undefined}
            aria-describedby={button.covers === null ? undefined : `${id}-${index}`}
            aria-disabled={(button.decision === 'allow' && !armed) || busy}
            onClick={() => onPress(button)}
          >
            <VisibleText text={button.label} />
          </Button>
        ))}
        <LinkButton onClick={() => setOpen(true)} disabled={busy}>
          {reasonLink}
        </LinkButton>
      </div>
    </>
  );
}
