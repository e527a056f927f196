/** How the list of chats is laid out: pinned first, then projects by their latest activity, within them by day. */
import type { Chat } from '../protocol/generated';
import type { ListDay, ListFilter, ListGroup, ListView } from './stores';

export function needsYou(chat: Chat): boolean {
  return chat.attention === 'needs_input' || chat.state === 'waiting';
}

/** At work; one that waits for a person is not. */
export function isRunning(chat: Chat): boolean {
  return chat.state !== 'idle' && !needsYou(chat);
}

/** Whether a row is shown; `query` is looked for in title and project, words in any order. */
export function passes(chat: Chat, filter: ListFilter, query: string): boolean {
  const text = `${chat.title}\n${chat.project ?? ''}`.toLowerCase();
  const words = query.toLowerCase().split(/\s+/);
  return passesFilter(chat, filter) && words.every(word => text.includes(word));
}

function passesFilter(chat: Chat, filter: ListFilter): boolean {
  switch (filter) {
    case 'archived':
      return chat.archived;
    case 'all':
      return !chat.archived;
    case 'running':
      return !chat.archived && isRunning(chat);
    case 'needs_you':
      return !chat.archived && needsYou(chat);
    case 'unread':
      return !chat.archived && chat.unread;
  }
}

export function countsOf(chats: readonly Chat[]): ListView['counts'] {
  const live = chats.filter(chat => !chat.archived);
  return {
    running: live.filter(isRunning).length,
    needsYou: live.filter(needsYou).length,
    unread: live.filter(chat => chat.unread).length,
  };
}

/** Newest activity first; the same order on every page. */
export function byActivity(a: Chat, b: Chat): number {
  return compare(b.updated, a.updated) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** `chats` in order of activity. */
export function groupChats(chats: readonly Chat[]): ListGroup[] {
  const members = new Map<string, { group: Omit<ListGroup, 'days'>; chats: Chat[] }>();
  for (const chat of chats) {
    const group = groupOf(chat);
    const known = members.get(group.key);
    if (known) {
      known.chats.push(chat);
    } else {
      members.set(group.key, { group, chats: [chat] });
    }
  }
  const groups = [...members.values()].map(({ group, chats: of }) => ({
    ...group,
    days: byDay(of),
  }));
  return [
    ...groups.filter(group => group.kind === 'pinned'),
    ...groups.filter(group => group.kind !== 'pinned'),
  ];
}

function groupOf(chat: Chat): Omit<ListGroup, 'days'> {
  if (chat.pinned) {
    return { key: 'pinned', kind: 'pinned', project: null };
  }
  return chat.project === null
    ? { key: 'loose', kind: 'loose', project: null }
    : { key: `project:${chat.project}`, kind: 'project', project: chat.project };
}

function byDay(chats: readonly Chat[]): ListDay[] {
  const days = new Map<string, Chat[]>();
  for (const chat of chats) {
    const day = dayOf(chat.updated);
    days.set(day, [...(days.get(day) ?? []), chat]);
  }
  return [...days].map(([day, of]) => ({ day, chats: of }));
}

/** The local day of a time, YYYY-MM-DD. */
export function dayOf(time: string): string {
  const date = new Date(time);
  const two = (n: number): string => String(n).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
