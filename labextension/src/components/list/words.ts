/** The words of the chat list. */
import type { ListFilter, ListGroup } from '../../state/stores';
import type { Trans } from '../common/trans';
import { ageOf, type DayLabel, type RowState } from './rows';

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
