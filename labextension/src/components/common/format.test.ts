import { expect, test } from 'vitest';

import { formatBytes, formatClock, formatCost, formatDuration, formatTokens } from './format';

test('durations are as exact as they are short', () => {
  expect([100, 2400, 9960, 18_000, 112_000, 3_780_000].map(formatDuration)).toEqual([
    '0.1 s',
    '2.4 s',
    '10 s',
    '18 s',
    '1 m 52 s',
    '1 h 3 m',
  ]);
});

test('a running clock never shows a negative time', () => {
  expect([-500, 42_000, 91_000, 3_723_000].map(formatClock)).toEqual([
    '0:00',
    '0:42',
    '1:31',
    '1:02:03',
  ]);
});

test('tokens, sizes and costs', () => {
  expect([310, 48_200, 1_200_000, 999_960].map(formatTokens)).toEqual([
    '310',
    '48.2k',
    '1.2M',
    '1.0M',
  ]);
  expect([310, 4096, 1_200_000].map(formatBytes)).toEqual(['310 B', '4 kB', '1.2 MB']);
  expect([0, 0.001, 0.214].map(formatCost)).toEqual(['$0.00', '< $0.01', '$0.21']);
});
