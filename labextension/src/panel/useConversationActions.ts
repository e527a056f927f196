/** What messages and turns of an open chat can do: rewind (the dialog asks first), fork, go to the parent. */
import { useCallback, useMemo, useState } from 'react';

import { useTrans } from '../components/common/trans';
import { chatTitle } from '../components/list/words';
import type { IThreadActions } from '../components/thread/actions';
import type { Failure, IChatStore } from '../state/stores';
import type { UserPart } from '../state/view';
import { rewindBlocked } from './blocked';
import { usePanel, type Place } from './context';
import { useReadable, useSelected } from './readable';

export interface IConversationActions {
  actions: IThreadActions;
  /** The message that the rewind dialog asks about. */
  rewinding: UserPart | null;
  endRewind: () => void;
  /** Why no fork was made. */
  failure: Failure | null;
  dismiss: () => void;
}

/** `place`: where this chat is shown; a fork of it opens there too. */
export function useConversationActions(store: IChatStore, place: Place): IConversationActions {
  const { session, navigation } = usePanel();
  const trans = useTrans();
  const [rewinding, setRewinding] = useState<UserPart | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const online = useReadable(session.connection).state === 'open';
  const blocked = useSelected(store.run, run => rewindBlocked(run, online, trans));
  const fork = useCallback(
    (afterSeq: number | null) => {
      setFailure(null);
      void store.fork(afterSeq).then(outcome => {
        if (outcome.ok) {
          navigation.open(outcome.chat.id, place);
        } else {
          setFailure(outcome.failure);
        }
      });
    },
    [navigation, place, store],
  );
  const actions = useMemo<IThreadActions>(
    () => ({
      rewindBlocked: blocked,
      rewind: setRewinding,
      fork,
      chatTitle: id => {
        const parent = session.list.get(id);
        return parent ? chatTitle(parent.title, trans) : null;
      },
      openChat: id => navigation.open(id),
    }),
    [blocked, fork, navigation, session, trans],
  );
  return {
    actions,
    rewinding,
    endRewind: useCallback(() => setRewinding(null), []),
    failure,
    dismiss: useCallback(() => setFailure(null), []),
  };
}
