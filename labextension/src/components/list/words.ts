/** The words of the chat list. */
import type { Chat, Wants } from '../../protocol/generated';
import type { Activity } from '../../state/status';
import type { ListFilter, ListGroup, TrashView } from '../../state/stores';
import type { Trans } from '../common/trans';
import { ageOf, type DayLabel, type RowState } from './rows';

const DAY_MS = 86_400_000;

export function chatTitle(title: string, trans: Trans): string {
  return title.trim() || trans.__('New chat');
}

/** What the row's mark says, `null` when there is nothing to say. */
export function stateWords(state: RowState, trans: Trans): string | null {
  switch (state) {
    case 'needs_you':
      return trans.__('Needs you');
    case 'running':
      return trans.__('Running');
    case 'stopping':
      return trans.__('Stopping');
    case 'failed':
      return trans.__('Failed');
    case 'unread':
      return trans.__('Unread');
    case 'idle':
      return null;
  }
}

/** What the agent waits for, on one line; `null` when it waits for nobody. */
export function wantsWords(wants: Wants | null, trans: Trans): string | null {
  if (wants === null) {
    return null;
  }
  const { kind, tool, subject } = wants;
  switch (kind) {
    case 'plan':
      return trans.__('Has a plan for you to approve');
    case 'question':
      return subject ? trans.__('Asks: %1', subject) : trans.__('Asks a question');
    case 'permission':
      return subject ? permissionWords(tool, subject, trans) : trans.__('Asks for permission');
  }
}

function permissionWords(tool: Wants['tool'], subject: string, trans: Trans): string {
  switch (tool) {
    case 'shell':
      return trans.__('Wants to run %1', subject);
    case 'read':
      return trans.__('Wants to read %1', subject);
    case 'write':
      return trans.__('Wants to write %1', subject);
    case 'edit':
    case 'notebook':
      return trans.__('Wants to change %1', subject);
    case 'fetch':
      return trans.__('Wants to open %1', subject);
    case 'search':
    case 'web_search':
      return trans.__('Wants to search for %1', subject);
    case 'mcp':
      return trans.__('Wants to use %1', subject);
    case 'subagent':
      return trans.__('Wants to hand over: %1', subject);
    default:
      return trans.__('Asks: %1', subject);
  }
}

/** How many prompts wait, `null` for none. */
export function queuedWords({ queued, queue_paused }: Chat, trans: Trans): string | null {
  if (queued === 0) {
    return null;
  }
  return queue_paused ? trans.__('%1 queued, paused', queued) : trans.__('%1 queued', queued);
}

export function runningWords(count: number, trans: Trans): string {
  return trans.__('%1 running', count);
}

export function needsWords(count: number, trans: Trans): string {
  return trans._n('%1 needs you', '%1 need you', count);
}

/** What all chats together are doing. */
export function statusWords({ running, needsYou }: Activity, trans: Trans): string {
  return [
    ...(running > 0 ? [runningWords(running, trans)] : []),
    ...(needsYou > 0 ? [needsWords(needsYou, trans)] : []),
  ].join(', ');
}

/** `null` for today, which needs no heading. */
export function dayWords(label: DayLabel, trans: Trans): string | null {
  switch (label) {
    case 'today':
      return null;
    case 'yesterday':
      return trans.__('Yesterday');
    case 'week':
      return trans.__('Last week');
    case 'month':
      return trans.__('Last month');
    case 'older':
      return trans.__('Older');
  }
}

export function ageWords(iso: string, now: Date, trans: Trans): string {
  const age = ageOf(new Date(iso), now);
  switch (age.unit) {
    case 'now':
      return trans.__('now');
    case 'minutes':
      return trans.__('%1 m', age.count);
    case 'hours':
      return trans.__('%1 h', age.count);
    case 'clock':
      return age.time.toLocaleTimeString(undefined, { hour: 'numeric', minute: '2-digit' });
    case 'weekday':
      return age.time.toLocaleDateString(undefined, { weekday: 'short' });
    case 'date':
      return age.time.toLocaleDateString(undefined, { day: 'numeric', month: 'short' });
    case 'year':
      return age.time.toLocaleDateString(undefined, { month: 'short', year: 'numeric' });
  }
}

/** When a deleted chat is gone for good: a day, within the last one the hour. */
export function goneWords(deleted: string, days: number, now: Date, trans: Trans): string {
  const end = new Date(new Date(deleted).getTime() + days * DAY_MS);
  const left = end.getTime() - now.getTime();
  if (left <= 0) {
    return trans.__('About to be gone for good');
  }
  return trans.__(
    'Kept until %1',
    left < DAY_MS
      ? end.toLocaleTimeString(undefined, { hour: 'numeric', minute: '2-digit' })
      : end.toLocaleDateString(undefined, { day: 'numeric', month: 'short' }),
  );
}

/** How long the trash keeps chats; nothing before that is known. */
export function keptWords(days: number, state: TrashView['state'], trans: Trans): string | null {
  if (state !== 'ready') {
    return null;
  }
  return days === Math.round(days)
    ? trans._n(
        'Chats stay here for %1 day, then they are gone for good.',
        'Chats stay here for %1 days, then they are gone for good.',
        days,
      )
    : trans.__('Chats stay here for a while, then they are gone for good.');
}

/** The heading of a group; `rootName` is the name of the folder that the server was started in. */
export function groupWords(group: ListGroup, rootName: string, trans: Trans): string {
  switch (group.kind) {
    case 'pinned':
      return trans.__('Pinned');
    case 'loose':
      return trans.__('No project');
    case 'project':
      return [group.project, rootName].find(Boolean) ?? trans.__('This folder');
  }
}

export function filterWords(filter: ListFilter, trans: Trans): string {
  switch (filter) {
    case 'all':
      return trans.__('All');
    case 'running':
      return trans.__('Running');
    case 'needs_you':
      return trans.__('Needs you');
    case 'unread':
      return trans.__('Unread');
    case 'archived':
      return trans.__('Archived');
  }
}

/** What to say when no row passes; the way back is the sentence's second half. */
export function emptyWords(filter: ListFilter, query: string, trans: Trans): string {
  if (query.trim()) {
    return trans.__('No title matches “%1”.', query.trim());
  }
  switch (filter) {
    case 'all':
      return trans.__('No chats yet.');
    case 'running':
      return trans.__('No agent is running.');
    case 'needs_you':
      return trans.__('Nothing waits for you.');
    case 'unread':
      return trans.__('Everything is read.');
    case 'archived':
      return trans.__('No archived chats.');
  }
}
