/** Repeatable random numbers, so that a failing property says which seed to run again. */
export type Random = (below: number) => number;

export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return below => {
    // a linear congruential generator is enough to pick cases
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
