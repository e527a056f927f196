import { expect, test } from 'vitest';

import { question } from '../../testing/thread_fixtures';
import { buildAnswer, choose, EMPTY_ENTRY, isAnswered } from './questionState';

test('one choice replaces the other, several add up in the order of the options', () => {
  const single = question();
  const one = choose(single, choose(single, EMPTY_ENTRY, 1), 0);
  expect(one.chosen).toEqual(['MAE']);

  const multi = question({ multi_select: true });
  const both = choose(multi, choose(multi, EMPTY_ENTRY, 1), 0);
  expect(both.chosen).toEqual(['MAE', 'RMSE']);
  expect(choose(multi, both, 1).chosen).toEqual(['MAE']);
});

test('"Other…" takes the place of a single choice and needs its words', () => {
  const single = question();
  const entry = choose(single, choose(single, EMPTY_ENTRY, 0), 2);
  expect(entry).toMatchObject({ chosen: [], other: true });
  expect(isAnswered(single, entry)).toBe(false);
  expect(isAnswered(single, { ...entry, text: 'MAPE' })).toBe(true);
});

test('a number without an option does nothing', () => {
  const closed = question({ allow_other: false });
  expect(choose(closed, EMPTY_ENTRY, 2)).toBe(EMPTY_ENTRY);
  expect(choose(closed, EMPTY_ENTRY, 7)).toBe(EMPTY_ENTRY);
});

test('answers go out by question, notes as one message with their headings', () => {
  const metric = question({ multi_select: true });
  const free = question({ id: 'where', header: 'Where', options: [] });
  const entries = new Map([
    ['metric', { chosen: ['RMSE'], other: true, text: ' MAPE ', note: 'both per season' }],
    ['where', { ...EMPTY_ENTRY, text: 'docs/' }],
  ]);
  expect(buildAnswer([metric, free], entries)).toEqual({
    decision: 'answered',
    answers: { metric: ['RMSE', 'MAPE'], where: 'docs/' },
    message: 'Metric: both per season',
  });
});
