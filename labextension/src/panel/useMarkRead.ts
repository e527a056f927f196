/** What a person has in front of them is read. */
import { useContext, useEffect } from 'react';

import type { IChatStore, ThreadView } from '../state/stores';
import { Value } from '../state/value';
import { ShownContext } from './context';
import { useReadable } from './readable';

const ALWAYS = new Value(true);

/** Marks the chat read while page and widget can be seen, and once more when the person comes back to it. */
export function useMarkRead(store: IChatStore, view: ThreadView, running: boolean): void {
  const { turns, state } = view;
  const shown = useReadable(useContext(ShownContext) ?? ALWAYS);
  useEffect(() => {
    if (state !== 'ready' || !shown) {
      return undefined;
    }
    const mark = () => {
      if (document.visibilityState === 'visible') {
        store.markRead();
      }
    };
    mark();
    document.addEventListener('visibilitychange', mark);
    return () => document.removeEventListener('visibilitychange', mark);
  }, [running, shown, state, store, turns]);
}
