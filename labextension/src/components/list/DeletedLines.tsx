/** What was deleted a moment ago, each with the way back; below the list, one line per chat. */
import { useEffect, useState } from 'react';

import type { DeletedChat } from '../../state/stores';
import { Button, IconButton } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';
import { chatTitle } from './words';

export interface IDeletedLinesProps {
  deleted: readonly DeletedChat[];
  /** Somebody can see the lines: only then their time runs. */
  shown: boolean;
  onUndo: (id: string) => void;
  onDismiss: (id: string) => void;
}

/** A line stays at least this long after it was last looked at with pointer or focus, ms. */
export const UNDO_MS = 12_000;

export function DeletedLines(props: IDeletedLinesProps): React.JSX.Element {
  const { deleted, shown, onUndo, onDismiss } = props;
  const trans = useTrans();
  const [hovered, setHovered] = useState(false);
  const [focused, setFocused] = useState(false);
  const running = shown && !hovered && !focused;
  return (
    // always there: a live region tells what is put into it later; nothing is done by pointing at it
    // eslint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className="ac-deleted"
      aria-live="polite"
      onMouseEnter={() => setHovered(true)}
      onMouseLeave={() => setHovered(false)}
      onFocus={() => setFocused(true)}
      onBlur={() => setFocused(false)}
    >
      {deleted.length > 0 && (
        <ul className="ac-plain" aria-label={trans.__('Deleted chats')}>
          {deleted.map(chat => (
            <DeletedLine
              key={chat.id}
              chat={chat}
              running={running}
              onUndo={() => {
                // the button goes, and nobody tells that the focus went with it
                setFocused(false);
                onUndo(chat.id);
              }}
              onDismiss={() => {
                setFocused(false);
                onDismiss(chat.id);
              }}
            />
          ))}
        </ul>
      )}
    </div>
  );
}

interface IDeletedLineProps {
  chat: DeletedChat;
  running: boolean;
  onUndo: () => void;
  onDismiss: () => void;
}

function DeletedLine({ chat, running, onUndo, onDismiss }: IDeletedLineProps): React.JSX.Element {
  const trans = useTrans();
  const counts = running && chat.failure === null;
  const { id } = chat;
  const [dismiss] = useState(() => onDismiss);
  useEffect(() => {
    const timer = counts ? setTimeout(dismiss, UNDO_MS) : undefined;
    return () => clearTimeout(timer);
  }, [counts, dismiss, id]);
  return (
    <li className="ac-bar">
      <Icon name="trash" />
      <span className="ac-grow">
        <span className="ac-bar-text">
          {trans.__('Deleted “%1”.', chatTitle(chat.title, trans))}
        </span>
        {chat.failure && (
          <span className="ac-bad" role="alert">
            {failureWords(chat.failure, trans)}
          </span>
        )}
      </span>
      <Button small onClick={onUndo}>
        {trans.__('Undo')}
      </Button>
      <IconButton icon="close" label={trans.__('Dismiss')} onClick={onDismiss} />
    </li>
  );
}
