/** The chat list: search, filters, projects, days, rows. */
import { useCallback, useRef, useState } from 'react';

import type { Chat, SearchHit } from '../../protocol/generated';
import type { ListFilter, ListView, SearchView } from '../../state/stores';
import { Button } from '../common/Button';
import { failureWords } from '../common/failureWords';
import { useTrans } from '../common/trans';
import { useNow } from '../common/useNow';
import { ChatRow, type IRowActions } from './ChatRow';
import { ListGroup } from './ListGroup';
import { ListTools } from './ListTools';
import { hitKey, SearchHits } from './SearchHits';
import { useRowFocus } from './useRowFocus';
import { emptyWords } from './words';

export interface IChatListProps {
  view: ListView;
  search: SearchView;
  /** Name of the folder that the server was started in. */
  rootName: string;
  providerName: (id: string | null) => string;
  /** The chat that is open beside the list, if any. */
  openId: string | null;
  /** The chat whose title is being edited. */
  renamingId: string | null;
  actions: IRowActions;
  /** Each new number takes the focus into the list; 0 leaves it where it is. */
  focusRequest: number;
  /** Somebody asked to search: the search box takes the focus. */
  searchWanted: boolean;
  onSearchFocused: () => void;
  onOpenHit: (hit: SearchHit) => void;
  onMoreHits: () => void;
  onRetrySearch: () => void;
  onQuery: (query: string) => void;
  onFilter: (filter: ListFilter) => void;
  onMore: () => void;
  onRetry: () => void;
  /** Shows what was deleted. */
  onTrash: () => void;
}

const MINUTE_MS = 60_000;

export function ChatList(props: IChatListProps): React.JSX.Element {
  const { view, search, rootName, providerName, openId, renamingId, actions } = props;
  const trans = useTrans();
  const now = useNow(MINUTE_MS);
  const box = useRef<HTMLInputElement>(null);
  const toBox = useCallback(() => box.current?.focus(), []);
  const { list, focused, enter, onFocus, onKeyDown } = useRowFocus(props.focusRequest, toBox);
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((key: string) => {
    setClosed(before => {
      const after = new Set(before);
      if (!after.delete(key)) {
        after.add(key);
      }
      return after;
    });
  }, []);

  const isOpen = (key: string) => !closed.has(key);
  const ids = view.groups
    .filter(group => isOpen(group.key))
    .flatMap(group => group.days.flatMap(day => day.chats.map(chat => chat.id)));
  const keys = [...ids, ...search.hits.map(hitKey)];
  const tabStop = [focused, openId].find(key => key !== null && keys.includes(key)) ?? keys[0];
  const renderRow = (chat: Chat) => (
    <ChatRow
      key={chat.id}
      chat={chat}
      providerName={providerName(chat.provider)}
      now={now}
      current={chat.id === openId}
      tabbable={chat.id === tabStop}
      renaming={chat.id === renamingId}
      actions={actions}
    />
  );
  return (
    <>
      <ListTools
        view={view}
        box={box}
        wanted={props.searchWanted}
        onWanted={props.onSearchFocused}
        onDown={enter}
        onQuery={props.onQuery}
        onFilter={props.onFilter}
      />
      {/* the keys work on rows and hits, which are buttons */}
      {/* eslint-disable-next-line jsx-a11y/no-static-element-interactions */}
      <div className="ac-list-scroll" ref={list} onFocus={onFocus} onKeyDown={onKeyDown}>
        <ul
          className="ac-list ac-plain"
          aria-label={trans.__('Chats')}
          aria-busy={view.state === 'loading'}
        >
          {view.groups.map(group => (
            <ListGroup
              key={group.key}
              group={group}
              rootName={rootName}
              now={now}
              open={isOpen(group.key)}
              onToggle={() => toggle(group.key)}
              renderRow={renderRow}
            />
          ))}
        </ul>
        <ListFooter {...props} />
        <Button small kind="plain" icon="trash" className="ac-list-trash" onClick={props.onTrash}>
          {trans.__('Recently deleted')}
        </Button>
        <SearchHits
          view={search}
          now={now}
          tabStop={tabStop ?? null}
          onOpen={props.onOpenHit}
          onMore={props.onMoreHits}
          onRetry={props.onRetrySearch}
        />
      </div>
    </>
  );
}

function ListFooter({ view, onMore, onRetry }: IChatListProps): React.JSX.Element | null {
  const trans = useTrans();
  if (view.state === 'failed') {
    return (
      <div className="ac-list-note" role="alert">
        <p>
          {view.failure
            ? failureWords(view.failure, trans)
            : trans.__('The chats could not be loaded.')}
        </p>
        <Button small icon="reload" onClick={onRetry}>
          {trans.__('Try again')}
        </Button>
      </div>
    );
  }
  return (
    <>
      {view.state === 'ready' && view.shown === 0 && (
        <p className="ac-list-note ac-quiet">{emptyWords(view.filter, view.query, trans)}</p>
      )}
      {view.hasMore && (
        <Button small kind="plain" className="ac-list-more" onClick={onMore}>
          {trans.__('Show older chats')}
        </Button>
      )}
      {view.elsewhere > 0 && (
        <p className="ac-list-note ac-quiet ac-small">
          {trans._n(
            '%1 chat belongs to a folder outside of this server.',
            '%1 chats belong to folders outside of this server.',
            view.elsewhere,
          )}
        </p>
      )}
    </>
  );
}
