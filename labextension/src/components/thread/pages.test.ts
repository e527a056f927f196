import { expect, test } from 'vitest';

import { textPart, TIME, turn, userPart } from '../../testing/thread_fixtures';
import { countAfter, lastSeq, pagesOf } from './pages';

const turns = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => turn({ key: `t${from + i}` }));
const shape = (pages: ReturnType<typeof pagesOf>) =>
  pages.map(page => [page.key, page.turns.length]);

test('older turns make new pages in front and leave the others as they are', () => {
  const before = pagesOf(turns(100, 125), 't100');
  const after = pagesOf(turns(85, 125), 't100');
  expect(shape(before)).toEqual([
    ['page0', 10],
    ['page1', 10],
    ['page2', 5],
  ]);
  expect(shape(after)).toEqual([['page-2', 5], ['page-1', 10], ...shape(before)]);
  expect(after.slice(2).map(page => page.turns[0]?.key)).toEqual(['t100', 't110', 't120']);
});

test('each turn stands on one page, also when the origin is gone', () => {
  for (const origin of ['t3', 't17', 'gone', null]) {
    const all = pagesOf(turns(0, 23), origin).flatMap(page => page.turns.map(one => one.key));
    expect(all).toEqual(turns(0, 23).map(one => one.key));
  }
});

test('what has come since the reader left is counted, with the parts of a turn that goes on', () => {
  const old = turn({ key: 'a', seq: 1, parts: [textPart('x', { seq: 3 })] });
  const grown = turn({ ...old, parts: [...old.parts, textPart('y', { seq: 5 })] });
  const fresh = turn({
    key: 'b',
    seq: 6,
    user: userPart('again', { seq: 6 }),
    parts: [textPart('z', { seq: 8 })],
  });
  expect(lastSeq([old])).toBe(3);
  expect(countAfter([old], 3)).toBe(0);
  expect(countAfter([grown, fresh], 3)).toBe(3);
  const base = { type: 'system', key: 's', seq: 9, time: TIME } as const;
  const forPrograms = { ...base, subtype: 'turn_diff', data: { diff: '' } };
  const forPeople = { ...base, subtype: 'review_began', data: {} };
  const more = (part: typeof forPrograms | typeof forPeople) =>
    turn({ ...fresh, parts: [...fresh.parts, part] });
  expect(countAfter([grown, more(forPrograms)], 3)).toBe(3);
  expect(countAfter([grown, more(forPeople)], 3)).toBe(4);
});
