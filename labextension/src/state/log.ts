/** A chat's events, folded: turns in order, and what is needed to go on folding at either end. */
import type { ToolChange } from './parts';
import type { AskResolution, Turn } from './view';

export type Cut = { readonly from: number; readonly to: number };

/** What has come of a call or an ask whose beginning is not loaded (it is in an older page). */
export type Orphan =
  | { readonly type: 'tool'; readonly change: ToolChange }
  | { readonly type: 'ask'; readonly resolution: AskResolution };

export type ChatLog = {
  readonly turns: readonly Turn[];
  /** Lowest seq that is loaded; null while nothing is. */
  readonly firstSeq: number | null;
  /** All that is stored up to here is folded in; seqs up to here are known. */
  readonly lastSeq: number;
  readonly orphans: ReadonlyMap<string, Orphan>;
  /** Ranges that a rewind hides. */
  readonly cuts: readonly Cut[];
  /** Ranges that came back: a `rewound` of the same range, met later in an older page, hides nothing. */
  readonly undone: readonly Cut[];
  /**
   * Key of a call or ask → key of its turn. Shared between the logs of one fold and only ever added to: it is a hint
   * that is checked against the turn, so an older log that sees entries of a newer one still gives the same answers.
   */
  readonly places: Map<string, string>;
};

export function emptyLog(): ChatLog {
  return {
    turns: [],
    firstSeq: null,
    lastSeq: 0,
    orphans: new Map(),
    cuts: [],
    undone: [],
    places: new Map(),
  };
}
