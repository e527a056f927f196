/** What a person can do with a message or a turn; apart from the services, since it changes when a run begins or ends. */
import { createContext, useContext } from 'react';

import type { UserPart } from '../../state/view';

export interface IThreadActions {
  /** Why nothing can be rewound now, for people; null when it can. */
  readonly rewindBlocked: string | null;
  rewind(this: void, message: UserPart): void;
  /** Makes a new chat with the events up to `afterSeq` (all when null) and opens it. */
  fork(this: void, afterSeq: number | null): void;
  /** Null when the chat is not known here. */
  chatTitle(this: void, id: string): string | null;
  openChat(this: void, id: string): void;
}

/** Null where a conversation can only be read. */
export const ThreadActionsContext = createContext<IThreadActions | null>(null);

export function useThreadActions(): IThreadActions | null {
  return useContext(ThreadActionsContext);
}
