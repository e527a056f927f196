/** What a person has in front of them is read. */
import { useEffect } from 'react';

import type { IChatStore, ThreadView } from '../state/stores';

/** Marks the chat read while the page is visible, and once more when the person comes back to it. */
export function useMarkRead(store: IChatStore, view: ThreadView): void {
  const { turns, state } = view;
  useEffect(() => {
    if (state !== 'ready') {
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
  }, [state, store, turns]);
}
