/** What the end of a conversation asks of a person: a rewind that can be taken back, a memory that may have gaps. */
import type { RewoundPart, ToolPart, Turn } from './view';

/** The rewind after which nothing was said yet: it can be undone. */
export function openRewind(turns: readonly Turn[]): RewoundPart | null {
  const last = lastRewind(turns);
  return last === null || last.undone ? null : last;
}

/** The rewind, or its undoing, after which nothing was said yet. */
function lastRewind(turns: readonly Turn[]): RewoundPart | null {
  for (let at = turns.length - 1; at >= 0; at--) {
    const turn = turns[at];
    if (turn?.runId !== null) {
      return null;
    }
    const found = turn.parts.findLast(part => part.type === 'rewound');
    if (found?.type === 'rewound') {
      return found;
    }
  }
  return null;
}

/** Names the rewind or recovery after which the agent may know less than the thread shows; null when there is none. */
export function memoryGap(turns: readonly Turn[]): string | null {
  const lastRun = turns.findLastIndex(turn => turn.runId !== null);
  const rewind = lastRewind(turns);
  if (rewind && lastRun >= 0 && !(rewind.undone && rewind.method === 'native')) {
    return rewind.key;
  }
  const refused = turns
    .slice(Math.max(0, lastRun))
    .flatMap(turn => turn.parts)
    .findLast(part => part.type === 'resume_refused');
  if (refused) {
    return refused.key;
  }
  const run = turns[lastRun];
  return run?.complete?.outcome === 'interrupted' ? run.key : null;
}

/** Whether a rewind to this `user` event leaves nothing of the conversation. */
export function isBeginning(turns: readonly Turn[], hasOlder: boolean, seq: number): boolean {
  return !hasOlder && turns.find(turn => turn.runId !== null)?.user?.seq === seq;
}

export type CutCounts = { readonly prompts: number; readonly answers: number };

/** What a rewind to the `user` event `seq` takes out. The page always holds all up to the end. */
export function cutCounts(turns: readonly Turn[], seq: number): CutCounts {
  const first = turns.findIndex(turn => turn.user?.seq === seq);
  const cut = first < 0 ? [] : turns.slice(first);
  return {
    prompts: cut.filter(turn => turn.user !== null).length,
    answers: cut.filter(turn => turn.parts.some(part => part.type === 'text')).length,
  };
}

export type WorkSummary = {
  /** In the order in which they were first changed. */
  readonly files: readonly string[];
  readonly decisions: readonly { readonly question: string; readonly answer: string }[];
};

/** Files that the agent changed and questions that a person answered, in the turns that are there. */
export function workSummary(turns: readonly Turn[]): WorkSummary {
  const parts = turns.flatMap(turn => turn.parts);
  const files = parts.flatMap(part => (part.type === 'tool' ? changedBy(part) : []));
  const decisions = parts.flatMap(part => {
    const answers = part.type === 'ask' ? part.resolution?.answers : null;
    if (part.type !== 'ask' || !answers) {
      return [];
    }
    return part.questions.flatMap(({ id, question }) => {
      const answer = answers[id];
      const words = Array.isArray(answer) ? answer.join(', ') : answer;
      return words ? [{ question, answer: words }] : [];
    });
  });
  return { files: [...new Set(files)], decisions };
}

function changedBy({ status, input, diffs }: ToolPart): string[] {
  if (status !== 'completed') {
    return [];
  }
  const own = 'path' in input && ['write', 'edit'].includes(input.kind) ? input.path : null;
  return [...(own ? [own] : []), ...diffs.map(({ path }) => path)];
}
