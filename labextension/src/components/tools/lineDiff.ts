/** Which lines were removed, added or kept: the greedy algorithm of Myers, with a limit. Pure. */

export type Step = 'same' | 'removed' | 'added';

/** Beyond so many changed lines the middle is shown as all removed, then all added. */
const LIMIT = 600;

/** For each count of changes the furthest place on each diagonal; null beyond the limit. */
function searchTrace(
  olds: readonly string[],
  news: readonly string[],
): Map<number, number>[] | null {
  const trace: Map<number, number>[] = [];
  const reach = new Map<number, number>([[1, 0]]);
  for (let changes = 0; changes <= Math.min(LIMIT, olds.length + news.length); changes++) {
    trace.push(new Map(reach));
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const down = reach.get(diagonal + 1) ?? -1;
      const right = reach.get(diagonal - 1) ?? -1;
      let x = diagonal === -changes || (diagonal !== changes && right < down) ? down : right + 1;
      while (x < olds.length && x - diagonal < news.length && olds[x] === news[x - diagonal]) {
        x++;
      }
      reach.set(diagonal, x);
      if (x >= olds.length && x - diagonal >= news.length) {
        return trace;
      }
    }
  }
  return null;
}

function stepsOf(trace: Map<number, number>[], oldCount: number, newCount: number): Step[] {
  const steps: Step[] = [];
  let [x, y] = [oldCount, newCount];
  for (let changes = trace.length - 1; changes >= 0; changes--) {
    const reach = trace[changes];
    const diagonal = x - y;
    const down = reach?.get(diagonal + 1) ?? -1;
    const right = reach?.get(diagonal - 1) ?? -1;
    const added = diagonal === -changes || (diagonal !== changes && right < down);
    const beforeX = added ? down : right;
    const beforeY = beforeX - (added ? diagonal + 1 : diagonal - 1);
    for (; x > beforeX && y > beforeY && x > 0 && y > 0; x--, y--) {
      steps.push('same');
    }
    if (changes > 0) {
      steps.push(added ? 'added' : 'removed');
    }
    [x, y] = [beforeX, beforeY];
  }
  return steps.reverse();
}

/** The steps that turn `olds` into `news`, in order. */
export function diffLines(olds: readonly string[], news: readonly string[]): Step[] {
  const limit = Math.min(olds.length, news.length);
  let start = 0;
  while (start < limit && olds[start] === news[start]) {
    start++;
  }
  let end = 0;
  while (end < limit - start && olds[olds.length - 1 - end] === news[news.length - 1 - end]) {
    end++;
  }
  const [before, after] = [
    olds.slice(start, olds.length - end),
    news.slice(start, news.length - end),
  ];
  const trace = searchTrace(before, after);
  const middle: Step[] = trace
    ? stepsOf(trace, before.length, after.length)
    : [...before.map((): Step => 'removed'), ...after.map((): Step => 'added')];
  const same = (count: number): Step[] => Array.from({ length: count }, (): Step => 'same');
  return [...same(start), ...middle, ...same(end)];
}
