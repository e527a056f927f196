/** What a row of the chat list says about its chat, without words; pure. */
import type { Chat } from '../../protocol/generated';

export type RowState = 'needs_you' | 'running' | 'stopping' | 'failed' | 'unread' | 'idle';

/** The one state mark of a row: what needs a person comes before what works by itself. */
export function rowState(chat: Chat): RowState {
  if (chat.state === 'waiting' || chat.attention === 'needs_input') {
    return 'needs_you';
  }
  if (chat.state === 'cancelling') {
    return 'stopping';
  }
  if (chat.state === 'running') {
    return 'running';
  }
  if (chat.attention === 'failed') {
    return 'failed';
  }
  return chat.unread ? 'unread' : 'idle';
}

export type Age =
  | { unit: 'now' }
  | { unit: 'minutes' | 'hours'; count: number }
  | { unit: 'clock' | 'weekday' | 'date' | 'year'; time: Date };

/** Local calendar days between two moments; 0 is the same day, whatever the hour. */
export function daysBetween(earlier: Date, later: Date): number {
  const midnight = (date: Date) => new Date(date.getFullYear(), date.getMonth(), date.getDate());
  return Math.round((midnight(later).getTime() - midnight(earlier).getTime()) / 86_400_000);
}

/** How a row tells its time: minutes and hours today, the clock yesterday, then the day. */
export function ageOf(time: Date, now: Date): Age {
  const days = daysBetween(time, now);
  if (days <= 0) {
    const minutes = Math.floor((now.getTime() - time.getTime()) / 60_000);
    if (minutes < 1) {
      return { unit: 'now' };
    }
    return minutes < 60
      ? { unit: 'minutes', count: minutes }
      : { unit: 'hours', count: Math.floor(minutes / 60) };
  }
  if (days === 1) {
    return { unit: 'clock', time };
  }
  if (days < 7) {
    return { unit: 'weekday', time };
  }
  return { unit: time.getFullYear() === now.getFullYear() ? 'date' : 'year', time };
}

export type DayLabel = 'today' | 'yesterday' | 'week' | 'month' | 'older';

export interface ILabelledDays {
  label: DayLabel;
  chats: readonly Chat[];
}

function labelOf(day: Date, now: Date): DayLabel {
  const days = daysBetween(day, now);
  if (days <= 0) {
    return 'today';
  }
  if (days === 1) {
    return 'yesterday';
  }
  return days <= 7 ? 'week' : days <= 31 ? 'month' : 'older';
}

/** Days under the few headings that people think in; `days` newest first, `day` local YYYY-MM-DD. */
export function labelDays(
  days: readonly { readonly day: string; readonly chats: readonly Chat[] }[],
  now: Date,
): ILabelledDays[] {
  const labelled: ILabelledDays[] = [];
  for (const { day, chats } of days) {
    const label = labelOf(new Date(`${day}T00:00`), now);
    const last = labelled.at(-1);
    if (last?.label === label) {
      last.chats = [...last.chats, ...chats];
    } else {
      labelled.push({ label, chats });
    }
  }
  return labelled;
}
