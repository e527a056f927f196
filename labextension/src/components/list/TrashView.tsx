/** Recently deleted chats: each can be brought back until it is gone for good. */
import { useEffect, useRef } from 'react';

import type { DeletedChat } from '../../protocol/generated';
import type { TrashView as Trash } from '../../state/stores';
import { Button, IconButton } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { ProviderMark } from '../common/ProviderMark';
import { useTrans } from '../common/trans';
import { useNow } from '../common/useNow';
import { FailureLine } from '../start/FailureLine';
import { chatTitle, goneWords, keptWords } from './words';

export interface ITrashViewProps {
  view: Trash;
  providerName: (id: string | null) => string;
  onBack: () => void;
  onRestore: (id: string) => Promise<boolean>;
  onRetry: () => void;
  onDismiss: () => void;
}

const MINUTE_MS = 60_000;

export function TrashView(props: ITrashViewProps): React.JSX.Element {
  const { view, providerName, onBack, onRestore } = props;
  const trans = useTrans();
  const now = useNow(MINUTE_MS);
  const back = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => back.current?.focus(), []);

  const restore = async (index: number, id: string) => {
    if (await onRestore(id)) {
      // the button went away, and the focus with it: to the next one, so that several can be brought back
      requestAnimationFrame(() => {
        if (document.activeElement === document.body) {
          const buttons = list.current?.querySelectorAll('button') ?? [];
          (buttons[Math.min(index, buttons.length - 1)] ?? back.current)?.focus();
        }
      });
    }
  };
  const { state, chats, failure, restored } = view;
  return (
    <>
      <div className="ac-head">
        <IconButton
          ref={back}
          icon="chevronLeft"
          label={trans.__('Back to chats')}
          onClick={onBack}
        />
        <h2 className="ac-ellipsis ac-grow">{trans.__('Recently deleted')}</h2>
      </div>
      <div
        className="ac-list-scroll"
        onKeyDown={event => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            onBack();
          }
        }}
        role="presentation"
      >
        {failure !== null && state === 'ready' && (
          <div className="ac-trash-failure">
            <FailureLine failure={failure} onDismiss={props.onDismiss} />
          </div>
        )}
        <p className="ac-list-note ac-quiet ac-small">{keptWords(view.days, state, trans)}</p>
        <p className="ac-sr" role="status">
          {restored && trans.__('“%1” is back.', chatTitle(restored.title, trans))}
        </p>
        {state === 'failed' && failure !== null && (
          <div className="ac-list-note" role="alert">
            <p>{failureWords(failure, trans)}</p>
            <Button small icon="reload" onClick={props.onRetry}>
              {trans.__('Try again')}
            </Button>
          </div>
        )}
        {state === 'ready' && chats.length === 0 && (
          <p className="ac-list-note">{trans.__('Nothing was deleted.')}</p>
        )}
        <ul
          ref={list}
          className="ac-plain ac-trash"
          aria-label={trans.__('Recently deleted')}
          aria-busy={state === 'loading'}
        >
          {chats.map((chat, index) => (
            <TrashRow
              key={chat.id}
              chat={chat}
              days={view.days}
              now={now}
              providerName={providerName(chat.provider)}
              onRestore={() => void restore(index, chat.id)}
            />
          ))}
        </ul>
      </div>
    </>
  );
}

interface ITrashRowProps {
  chat: DeletedChat;
  days: number;
  now: Date;
  providerName: string;
  onRestore: () => void;
}

function TrashRow({ chat, days, now, providerName, onRestore }: ITrashRowProps) {
  const trans = useTrans();
  const title = chatTitle(chat.title, trans);
  return (
    <li className="ac-row" data-chat-id={chat.id}>
      <ProviderMark id={chat.provider} name={providerName} />
      <span className="ac-ellipsis" title={title}>
        {title}
      </span>
      <Button small aria-label={trans.__('Restore “%1”', title)} onClick={onRestore}>
        {trans.__('Restore')}
      </Button>
      <span
        className="ac-row-note"
        title={trans.__('Deleted %1', new Date(chat.deleted).toLocaleString())}
      >
        <span className="ac-ellipsis">
          {[chat.project, goneWords(chat.deleted, days, now, trans)].filter(Boolean).join(' · ')}
        </span>
      </span>
    </li>
  );
}
