/** One chat in the list: agent, title, what waits, one state mark, time; below, what the agent wants. */
import { memo } from 'react';

import type { Chat } from '../../protocol/generated';
import { ProviderMark } from '../common/ProviderMark';
import { Spinner } from '../common/Spinner';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { Icon } from '../icons';
import { rowState, type RowState } from './rows';
import { RowTitle } from './RowTitle';
import { ageWords, chatTitle, queuedWords, stateWords, wantsWords } from './words';

/** What can be done with a row; the panel decides how. */
export interface IRowActions {
  open: (chat: Chat) => void;
  menu: (chat: Chat, at: { x: number; y: number }) => void;
  startRename: (chat: Chat) => void;
  rename: (chat: Chat, title: string | null) => void;
  remove: (chat: Chat) => void;
}

export interface IChatRowProps {
  chat: Chat;
  providerName: string;
  now: Date;
  current: boolean;
  tabbable: boolean;
  renaming: boolean;
  actions: IRowActions;
}

export const ChatRow = memo(function ChatRow(props: IChatRowProps): React.JSX.Element {
  const { chat, providerName, now, current, tabbable, renaming, actions } = props;
  const trans = useTrans();
  const state = rowState(chat);
  const title = chatTitle(chat.title, trans);
  const words = stateWords(state, trans);
  const wants = wantsWords(chat.wants, trans);
  const queued = queuedWords(chat, trans);

  const onContextMenu = (event: React.MouseEvent) => {
    event.preventDefault();
    event.stopPropagation();
    // the menu key reports no place: hang the menu below the row
    const row = event.currentTarget.getBoundingClientRect();
    const byKey = event.clientX === 0 && event.clientY === 0;
    actions.menu(
      chat,
      byKey ? { x: row.left + 32, y: row.bottom } : { x: event.clientX, y: event.clientY },
    );
  };
  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.key === 'F2') {
      actions.startRename(chat);
    } else if (event.key === 'Delete') {
      actions.remove(chat);
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  const classes = ['ac-row', current ? 'ac-mod-current' : '', chat.unread ? 'ac-mod-unread' : ''];
  return (
    // the menu is on the title's keys too (F2, Delete, menu key)
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <li
      className={classes.filter(Boolean).join(' ')}
      aria-label={[title, words, wants, queued].filter(part => part !== null).join(', ')}
      data-chat-id={chat.id}
      data-state={state}
      onContextMenu={onContextMenu}
    >
      <ProviderMark id={chat.provider} name={providerName} />
      <RowTitle
        title={title}
        hint={wants === null ? title : `${title}\n${wants}`}
        tabbable={tabbable}
        current={current}
        renaming={renaming}
        onOpen={() => actions.open(chat)}
        onKeyDown={onKeyDown}
        onRenamed={name => actions.rename(chat, name)}
      />
      <span className="ac-row-meta ac-num">
        {wants === null && <Queued chat={chat} words={queued} />}
        <RowMark state={state} words={words} />
        <span>{ageWords(chat.updated, now, trans)}</span>
      </span>
      {wants !== null && (
        <span className="ac-row-note">
          <span className="ac-ellipsis ac-grow">
            <VisibleText text={wants} />
          </span>
          <Queued chat={chat} words={queued} />
        </span>
      )}
    </li>
  );
});

/** How many prompts wait; where the first line has no room, on the second. */
function Queued({ chat, words }: { chat: Chat; words: string | null }) {
  const trans = useTrans();
  return words === null ? null : (
    <span className="ac-row-queued ac-num" title={words}>
      {chat.queue_paused && <Icon name="pause" />}
      {trans.__('%1 queued', chat.queued)}
    </span>
  );
}

function RowMark({ state, words }: { state: RowState; words: string | null }) {
  switch (state) {
    case 'needs_you':
      return <span className="ac-badge ac-mod-ask">{words}</span>;
    case 'running':
    case 'stopping':
      return <Spinner label={words ?? ''} />;
    case 'failed':
      return (
        <span className="ac-bad" role="img" aria-label={words ?? ''} title={words ?? ''}>
          <Icon name="error" />
        </span>
      );
    case 'unread':
      return <span className="ac-unread-dot" role="img" aria-label={words ?? ''} />;
    case 'idle':
      return null;
  }
}
