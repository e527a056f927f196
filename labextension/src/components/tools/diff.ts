/**
 * Changes as rows to draw: from a unified patch, or from the old and the new text. Pure.
 *
 * Adjacent removed and added lines are paired, and what differs inside a pair is marked.
 */
import type { Diff } from '../../protocol/generated';
import { diffLines } from './lineDiff';

/** `[from, to)` inside a line. */
export type Mark = readonly [number, number];

/** One line; `old` and `new` are its numbers from 1, null where it does not exist or they are not known. */
export type LineRow = {
  readonly kind: 'context' | 'added' | 'removed';
  readonly old: number | null;
  readonly new: number | null;
  readonly text: string;
  readonly mark: Mark | null;
};

/** Lines left out: how many (null: not known), the first line after them, and the heading that the patch gives. */
export type GapRow = {
  readonly kind: 'gap';
  readonly skipped: number | null;
  readonly line: number | null;
  readonly heading: string;
};

export type DiffRow = LineRow | GapRow;

/** Unchanged lines kept around a change. */
const CONTEXT = 3;
const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@ ?(.*)$/;

const lineRow = (
  kind: LineRow['kind'],
  old: number | null,
  now: number | null,
  text: string,
): LineRow => ({ kind, old, new: now, text, mark: null });

function rowsOfPatch(patch: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let [old, now, inHunk] = [1, 1, false];
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      const start = Number(hunk[1]);
      const skipped = start - old;
      if (inHunk ? skipped > 0 : true) {
        rows.push({
          kind: 'gap',
          skipped: inHunk ? skipped : null,
          line: Math.max(1, Number(hunk[2])),
          heading: hunk[3] ?? '',
        });
      }
      [old, now, inHunk] = [start, Number(hunk[2]), true];
    } else if (inHunk && line.startsWith('-')) {
      rows.push(lineRow('removed', old++, null, line.slice(1)));
    } else if (inHunk && line.startsWith('+')) {
      rows.push(lineRow('added', null, now++, line.slice(1)));
    } else if (inHunk && (line.startsWith(' ') || line === '')) {
      rows.push(lineRow('context', old++, now++, line.slice(1)));
    }
    // what else there is: file headers, and "\ No newline at end of file"
  }
  return rows;
}

function linesOf(text: string): string[] {
  return text === '' ? [] : text.replace(/\n$/, '').split('\n');
}

function rowsOfTexts(before: string, after: string): DiffRow[] {
  const [olds, news] = [linesOf(before), linesOf(after)];
  const all: LineRow[] = [];
  let [old, now] = [0, 0];
  for (const step of diffLines(olds, news)) {
    if (step === 'removed') {
      all.push(lineRow('removed', old + 1, null, olds[old++] ?? ''));
    } else if (step === 'added') {
      all.push(lineRow('added', null, now + 1, news[now++] ?? ''));
    } else {
      all.push(lineRow('context', old + 1, now + 1, olds[old++] ?? ''));
      now++;
    }
  }
  return collapse(all);
}

/** Leaves out unchanged lines far from any change. */
function collapse(all: readonly LineRow[]): DiffRow[] {
  const near = new Set<number>();
  all.forEach((row, index) => {
    if (row.kind !== 'context') {
      for (let at = index - CONTEXT; at <= index + CONTEXT; at++) {
        near.add(at);
      }
    }
  });
  const rows: DiffRow[] = [];
  let skipped = 0;
  const close = (line: number | null): void => {
    // the lines above the first change and below the last one are the rest of the file: no news
    if (skipped > 0 && rows.length > 0 && line !== null) {
      rows.push({ kind: 'gap', skipped, line, heading: '' });
    }
    skipped = 0;
  };
  all.forEach((row, index) => {
    if (near.has(index)) {
      close(row.new ?? row.old);
      rows.push(row);
    } else {
      skipped++;
    }
  });
  return rows;
}

/** What differs between two lines, without their common beginning and end; null when that is nearly all. */
function markedParts(before: string, after: string): [Mark, Mark] | null {
  const isWord = (text: string, at: number): boolean => /\w/.test(text.charAt(at));
  const limit = Math.min(before.length, after.length);
  let start = 0;
  while (start < limit && before.charAt(start) === after.charAt(start)) {
    start++;
  }
  let end = 0;
  while (end < limit - start && before.at(-1 - end) === after.at(-1 - end)) {
    end++;
  }
  // whole words: half a word that happens to be the same says nothing
  while (
    start > 0 &&
    isWord(before, start - 1) &&
    (isWord(before, start) || isWord(after, start))
  ) {
    start--;
  }
  while (
    end > 0 &&
    isWord(before, before.length - end) &&
    (isWord(before, before.length - end - 1) || isWord(after, after.length - end - 1))
  ) {
    end--;
  }
  const same = start + end - (/^\s*/.exec(before)?.[0].length ?? 0);
  return same * 3 < Math.max(before.trim().length, after.trim().length)
    ? null
    : [
        [start, before.length - end],
        [start, after.length - end],
      ];
}

const notEmpty = (mark: Mark): Mark | null => (mark[0] < mark[1] ? mark : null);

/** Marks inside the pairs of each run of removed lines followed by added ones. */
function withMarks(rows: readonly DiffRow[]): DiffRow[] {
  const out = [...rows];
  for (let at = 0; at < out.length; at++) {
    const run = (kind: DiffRow['kind'], from: number): number => {
      let to = from;
      while (out[to]?.kind === kind) {
        to++;
      }
      return to;
    };
    const middle = run('removed', at);
    const end = run('added', middle);
    for (let pair = 0; pair < Math.min(middle - at, end - middle); pair++) {
      const [before, after] = [out[at + pair], out[middle + pair]];
      if (before?.kind === 'removed' && after?.kind === 'added') {
        const marks = markedParts(before.text, after.text);
        if (marks) {
          out[at + pair] = { ...before, mark: notEmpty(marks[0]) };
          out[middle + pair] = { ...after, mark: notEmpty(marks[1]) };
        }
      }
    }
    at = Math.max(at, end - 1);
  }
  return out;
}

/** The rows of one file's change; none when the agent gave neither a patch nor texts. */
export function diffRows(diff: Pick<Diff, 'patch' | 'old' | 'new'>): DiffRow[] {
  if (diff.patch !== null && diff.patch !== '') {
    return withMarks(rowsOfPatch(diff.patch));
  }
  return diff.old === null && diff.new === null
    ? []
    : withMarks(rowsOfTexts(diff.old ?? '', diff.new ?? ''));
}
