/** What all chats together are doing, for a line outside of the panel; pure. */
import type { Chat } from '../protocol/generated';
import { isRunning, needsYou } from './list_groups';

export type Activity = {
  readonly running: number;
  readonly needsYou: number;
};

export const QUIET: Activity = { running: 0, needsYou: 0 };

export function isQuiet({ running, needsYou: waiting }: Activity): boolean {
  return running === 0 && waiting === 0;
}

/**
 * The chat to go to: the one that has waited longest for a person, else one at work, latest first.
 *
 * Who looks at `current` is brought to another one that waits, when there is one.
 */
export function chatToOpen(chats: readonly Chat[], current: string | null): Chat | null {
  const live = chats.filter(chat => !chat.archived);
  const waiting = live
    .filter(needsYou)
    .sort((a, b) => (a.updated < b.updated ? -1 : a.updated > b.updated ? 1 : 0));
  return waiting.find(chat => chat.id !== current) ?? waiting[0] ?? live.find(isRunning) ?? null;
}
