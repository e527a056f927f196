/** The list of chats with its header, or the first minute while there is nothing to list. */
import { useCallback, useMemo, useState } from 'react';

import { Button } from '../components/common/Button';
import { useTrans } from '../components/common/trans';
import type { IRowActions } from '../components/list/ChatRow';
import { ChatList } from '../components/list/ChatList';
import { firstMatch } from '../components/list/snippet';
import { FailureLine } from '../components/start/FailureLine';
import type { Failure, ListView } from '../state/stores';
import { usePanel } from './context';
import { failureOf } from '../state/failure';
import { rootName } from './policies';
import { useReadable } from './readable';
import { ServerLines } from './ServerLines';
import type { ISideProps } from './sideModel';
import { UnsavedChat } from './UnsavedChat';

function isFirstMinute(view: ListView): boolean {
  return view.state === 'ready' && view.total === 0 && view.filter === 'all' && view.query === '';
}

export function ListSide({ model, focusRequests }: ISideProps): React.JSX.Element {
  const { session, status, navigation, host } = usePanel();
  const trans = useTrans();
  const view = useReadable(session.list);
  const search = useReadable(session.search);
  const searchWanted = useReadable(model.searchWanted);
  const tabId = useReadable(model.tabId);
  const renamingId = useReadable(model.renamingId);
  const focusRequest = useReadable(focusRequests);
  const root = rootName(useReadable(status));
  const providers = useReadable(session.providers);
  const [failure, setFailure] = useState<Failure | null>(null);

  const actions = useMemo<IRowActions>(
    () => ({
      open: chat => navigation.open(chat.id),
      menu: (chat, at) => host.showMenu(chat, at, 'list'),
      startRename: chat => model.renamingId.set(chat.id),
      rename: (chat, title) => {
        model.renamingId.set(null);
        if (title !== null) {
          navigation.rename(chat, title);
        }
      },
      remove: chat => navigation.remove(chat),
    }),
    [host, model, navigation],
  );
  const onSearchFocused = useCallback(() => model.searchWanted.set(false), [model]);
  const create = () => {
    setFailure(null);
    navigation.start('').catch((error: unknown) => setFailure(failureOf(error)));
  };
  const providerName = (id: string | null) =>
    providers.providers.find(known => known.id === id)?.name ?? id ?? trans.__('No agent');
  return (
    <>
      <div className="ac-head ac-mod-list">
        <h2 className="ac-grow">{trans.__('Chats')}</h2>
        <Button small kind="primary" icon="plus" onClick={create}>
          {trans.__('New chat')}
        </Button>
      </div>
      <ServerLines />
      {failure && <FailureLine failure={failure} onDismiss={() => setFailure(null)} />}
      {isFirstMinute(view) ? (
        <UnsavedChat draft={model.draft} focusRequest={focusRequest} />
      ) : (
        <ChatList
          focusRequest={focusRequest}
          view={view}
          search={search}
          rootName={root}
          providerName={providerName}
          openId={tabId}
          renamingId={renamingId}
          actions={actions}
          searchWanted={searchWanted}
          onSearchFocused={onSearchFocused}
          onOpenHit={({ chat_id, seq, snippet }) =>
            navigation.open(chat_id, undefined, { seq, match: firstMatch(snippet) })
          }
          onMoreHits={() => void session.search.showMore()}
          onRetrySearch={() => void session.search.retry()}
          onQuery={query => {
            session.list.setQuery(query);
            session.search.setQuery(query);
          }}
          onFilter={filter => session.list.setFilter(filter)}
          onMore={() => void session.list.loadMore()}
          onRetry={() => void session.list.load()}
          onTrash={() => model.trashOpen.set(true)}
        />
      )}
    </>
  );
}
