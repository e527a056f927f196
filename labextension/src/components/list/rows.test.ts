/** A row says what needs a person first, and when it was in the words people use. */
import { describe, expect, it } from 'vitest';

import type { Chat } from '../../protocol/generated';
import { ageOf, labelDays, rowState } from './rows';

type Marks = Partial<Pick<Chat, 'state' | 'attention' | 'unread'>>;

function state(marks: Marks) {
  return rowState({ state: 'idle', attention: null, unread: false, ...marks } as Chat);
}

describe('state mark of a row', () => {
  it('prefers what waits for a person over everything else', () => {
    expect(state({ state: 'waiting', unread: true })).toBe('needs_you');
    expect(state({ state: 'idle', attention: 'needs_input' })).toBe('needs_you');
    expect(state({ state: 'running', attention: 'failed' })).toBe('running');
    expect(state({ state: 'cancelling' })).toBe('stopping');
    expect(state({ attention: 'failed', unread: true })).toBe('failed');
    expect(state({ attention: 'finished', unread: true })).toBe('unread');
    expect(state({})).toBe('idle');
  });
});

describe('time of a row', () => {
  const now = new Date(2026, 10, 30, 14, 0);
  const minutesAgo = (minutes: number) => ageOf(new Date(now.getTime() - minutes * 60_000), now);

  it('counts minutes and hours within the day', () => {
    expect(minutesAgo(0.5)).toEqual({ unit: 'now' });
    expect(minutesAgo(-3)).toEqual({ unit: 'now' });
    expect(minutesAgo(59)).toEqual({ unit: 'minutes', count: 59 });
    expect(minutesAgo(125)).toEqual({ unit: 'hours', count: 2 });
  });

  it('calls a chat from before midnight yesterday although it is minutes old', () => {
    const justAfter = new Date(2026, 10, 30, 0, 5);
    expect(ageOf(new Date(2026, 10, 29, 23, 55), justAfter).unit).toBe('clock');
  });

  it('names the weekday for a week, then the date, with the year when it is another one', () => {
    expect(ageOf(new Date(2026, 10, 24, 20, 0), now).unit).toBe('weekday');
    expect(ageOf(new Date(2026, 10, 23, 20, 0), now).unit).toBe('date');
    expect(ageOf(new Date(2025, 11, 31, 20, 0), now).unit).toBe('year');
  });
});

describe('headings of days', () => {
  it('joins the days of last week and keeps the order of the rows', () => {
    const now = new Date(2026, 10, 30, 14, 0);
    const day = (date: string, ...ids: string[]) => ({
      day: date,
      chats: ids.map(id => ({ id }) as Chat),
    });
    const days = [
      day('2026-11-30', 'a'),
      day('2026-11-29', 'b'),
      day('2026-11-26', 'c', 'd'),
      day('2026-11-25', 'e'),
      day('2026-10-01', 'f'),
    ];
    const read = labelDays(days, now).map(
      ({ label, chats }) => `${label}: ${chats.map(chat => chat.id).join(' ')}`,
    );
    expect(read).toEqual(['today: a', 'yesterday: b', 'week: c d e', 'older: f']);
  });
});
