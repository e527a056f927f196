/** Syntax colours for the lines of a diff: each side is coloured as a whole, then cut into lines. */
import { useEffect, useState } from 'react';

import { useServices } from '../common/services';
import type { Highlight, HighlightToken } from '../markdown/highlight';
import type { DiffRow, LineRow, Mark } from './diff';

/** Tokens per row, with offsets inside the row's text. */
export type RowColours = ReadonlyMap<DiffRow, readonly HighlightToken[]>;

/** A piece of a line: at most one class of the theme, marked as changed or not. */
export type Segment = {
  readonly text: string;
  readonly className: string;
  readonly changed: boolean;
};

async function colourSide(
  rows: readonly LineRow[],
  path: string,
  highlight: Highlight,
  out: Map<DiffRow, HighlightToken[]>,
): Promise<void> {
  const tokens = await highlight(rows.map(row => row.text).join('\n'), path);
  let [from, next] = [0, 0];
  for (const row of rows) {
    const to = from + row.text.length;
    const own: HighlightToken[] = [];
    while (tokens !== null && next < tokens.length) {
      const token = tokens[next];
      if (token === undefined || token.from >= to) {
        break;
      }
      if (token.to > from) {
        own.push({
          from: Math.max(0, token.from - from),
          to: Math.min(row.text.length, token.to - from),
          className: token.className,
        });
      }
      if (token.to > to) {
        break;
      }
      next++;
    }
    out.set(row, own);
    from = to + 1;
  }
}

const isLine = (row: DiffRow): row is LineRow => row.kind !== 'gap';

/** Colours for `rows` of the file at `path`; empty until they are there. */
export function useRowColours(rows: readonly DiffRow[], path: string): RowColours {
  const { highlight } = useServices();
  const [colours, setColours] = useState<RowColours>(new Map());
  useEffect(() => {
    if (highlight === null) {
      return undefined;
    }
    let current = true;
    const colour = async (): Promise<void> => {
      const lines = rows.filter(isLine);
      const out = new Map<DiffRow, HighlightToken[]>();
      await colourSide(
        lines.filter(row => row.kind !== 'added'),
        path,
        highlight,
        out,
      );
      await colourSide(
        lines.filter(row => row.kind !== 'removed'),
        path,
        highlight,
        out,
      );
      if (current) {
        setColours(out);
      }
    };
    // colours are a nicety: without them the diff is complete
    colour().catch(() => undefined);
    return () => {
      current = false;
    };
  }, [rows, path, highlight]);
  return colours;
}

/** `text` cut wherever a token or the mark begins or ends. */
export function segmentsOf(
  text: string,
  tokens: readonly HighlightToken[],
  mark: Mark | null,
): Segment[] {
  const cuts = new Set([0, text.length, ...(mark ?? [])]);
  for (const token of tokens) {
    cuts.add(token.from).add(token.to);
  }
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(1).map((to, index) => {
    const from = places[index] ?? 0;
    const token = tokens.find(one => one.from <= from && one.to >= to);
    return {
      text: text.slice(from, to),
      className: token?.className ?? '',
      changed: mark !== null && mark[0] <= from && mark[1] >= to,
    };
  });
}
