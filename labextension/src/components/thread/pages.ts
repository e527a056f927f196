/** Turns in pages of fixed membership: a page keeps its turns when older ones are put in front. Pure. */
import { lastAgent, systemWord } from '../../state/select';
import type { Turn } from '../../state/view';

/** What is mounted and unmounted together. */
export type PageOfTurns = {
  readonly key: string;
  readonly turns: readonly Turn[];
  /** The agent of the last run before it; null when none is loaded. */
  readonly agentBefore: string | null;
};

/** Turns on a page. */
const SIZE = 10;

/** `turns` in pages counted from the turn with key `origin`, backwards too; from the first turn if it is not there. */
export function pagesOf(turns: readonly Turn[], origin: string | null): PageOfTurns[] {
  const start = Math.max(
    0,
    turns.findIndex(turn => turn.key === origin),
  );
  const pages: PageOfTurns[] = [];
  let agentBefore: string | null = null;
  for (
    let from = start % SIZE === 0 ? 0 : (start % SIZE) - SIZE;
    from < turns.length;
    from += SIZE
  ) {
    const own = turns.slice(Math.max(0, from), from + SIZE);
    pages.push({ key: `page${(from - start) / SIZE}`, turns: own, agentBefore });
    agentBefore = lastAgent(own) ?? agentBefore;
  }
  return pages;
}

/** The highest seq that the thread shows; 0 when it is empty. */
export function lastSeq(turns: readonly Turn[]): number {
  const last = turns.at(-1);
  return last === undefined
    ? 0
    : Math.max(last.seq, last.user?.seq ?? 0, last.parts.at(-1)?.seq ?? 0);
}

/** How many messages, answers and calls have come after `seq`; what only programs read is none of them. */
export function countAfter(turns: readonly Turn[], seq: number): number {
  let count = 0;
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at];
    if (turn === undefined || lastSeq([turn]) <= seq) {
      break;
    }
    count += turn.user !== null && turn.user.seq > seq ? 1 : 0;
    count += turn.parts.filter(
      part => part.seq > seq && !(part.type === 'system' && systemWord(part) === null),
    ).length;
  }
  return count;
}
