import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { READ_MS, ReadMark } from './read_mark';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it('a server that is gone is not told again and again, but with the next thing that is seen', async () => {
  const tell = vi.fn((_seq: number) => Promise.reject(new Error('no server')));
  const mark = new ReadMark(tell);
  mark.seen(7, true);
  await vi.advanceTimersByTimeAsync(10 * READ_MS);
  expect(tell.mock.calls).toEqual([[7]]);
  mark.seen(7, true);
  expect(tell).toHaveBeenCalledTimes(2);
  mark.dispose();
});
