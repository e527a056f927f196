/**
 * Which settings give the agent more than it has: those need a person's browser session (security §5).
 *
 * When in doubt it is a raise: sending a lowering that way does no harm.
 */
import type { NewChatBody, PatchBody } from '../client/answers';
import type { Chat } from '../protocol/generated';
import type { Mode, Permission } from './view';

const RANK: Readonly<Record<Permission, number>> = {
  read_only: 0,
  ask: 1,
  accept_edits: 2,
  full: 3,
};

/** The most that a mode allows. */
const TOP: Readonly<Record<Mode, Permission>> = {
  plan: 'read_only',
  chat: 'ask',
  review: 'ask',
  code: 'full',
  debug: 'full',
  full_auto: 'full',
};

/** Without a chat to compare with every change of mode or permission counts. */
export function isRaise(
  chat: Pick<Chat, 'mode' | 'permission'> | null,
  change: PatchBody,
): boolean {
  const { mode, permission } = change;
  if (!chat) {
    return mode != null || permission != null;
  }
  const more = permission != null && RANK[permission] > RANK[chat.permission];
  const moreByMode =
    mode != null &&
    mode !== chat.mode &&
    (mode === 'full_auto' || RANK[TOP[mode]] > RANK[TOP[chat.mode]]);
  return more || moreByMode;
}

/** New chats start at code + ask; above that it takes a person. */
export function startsRaised(settings: NewChatBody): boolean {
  return isRaise({ mode: 'code', permission: 'ask' }, settings);
}
