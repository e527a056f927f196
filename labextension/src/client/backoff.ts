/** When to try again: 0.5 s, 1 s, 2 s … at most 30 s, each times 0.5 … 1 so that many pages do not come at once. */

const FIRST_MS = 500;
const LONGEST_MS = 30_000;

export function reconnectDelay(attempt: number, random: () => number): number {
  return Math.min(LONGEST_MS, FIRST_MS * 2 ** attempt) * (0.5 + random() / 2);
}
