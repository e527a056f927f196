/** A change of one file as a unified diff: numbers, signs, changed words; wraps where it is narrow. */
import { memo, useMemo } from 'react';

import type { Diff } from '../../protocol/generated';
import { useTrans, type Trans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { diffRows, type DiffRow, type GapRow, type LineRow } from './diff';
import { segmentsOf, useRowColours } from './diffColours';
import type { HighlightToken } from '../markdown/highlight';

export interface IDiffViewProps {
  diff: Diff;
  /** Show so many rows; null shows all. */
  limit: number | null;
}

const NO_TOKENS: readonly HighlightToken[] = [];

function gapText(row: GapRow, trans: Trans): string {
  const parts: string[] = [];
  if (row.skipped !== null) {
    parts.push(trans._n('%1 unchanged line', '%1 unchanged lines', row.skipped));
  } else if (row.line !== null) {
    parts.push(trans.__('Line %1', row.line));
  }
  return parts.concat(row.heading === '' ? [] : [row.heading]).join(', ');
}

const CLASSES = { added: 'ac-mod-added', removed: 'ac-mod-removed', context: '' };

function DiffLine({
  row,
  tokens,
}: {
  row: LineRow;
  tokens: readonly HighlightToken[];
}): React.JSX.Element {
  const trans = useTrans();
  const Changed = row.kind === 'added' ? 'ins' : 'del';
  const words = { added: trans.__('added'), removed: trans.__('removed'), context: '' }[row.kind];
  const sign = { added: '+', removed: '−', context: '' }[row.kind];
  return (
    <div className={`ac-diff-line ${CLASSES[row.kind]}`} role="row">
      <span className="ac-diff-number ac-mod-old" role="cell">
        {row.old}
      </span>
      <span className="ac-diff-number ac-mod-new" role="cell">
        {row.new}
      </span>
      <span className="ac-diff-sign" role="cell">
        <span aria-hidden="true">{sign}</span>
        {words === '' ? null : <span className="ac-sr">{words}</span>}
      </span>
      <span className="ac-diff-code" role="cell">
        {segmentsOf(row.text, tokens, row.mark).map((segment, index) => {
          const text = <VisibleText text={segment.text} />;
          const coloured = segment.className ? (
            <span className={segment.className}>{text}</span>
          ) : (
            text
          );
          return segment.changed ? (
            <Changed key={index}>{coloured}</Changed>
          ) : (
            <span key={index}>{coloured}</span>
          );
        })}
      </span>
    </div>
  );
}

export const DiffView = memo(function DiffView({ diff, limit }: IDiffViewProps) {
  const trans = useTrans();
  const rows = useMemo(() => diffRows(diff), [diff]);
  const shown = useMemo(() => (limit === null ? rows : rows.slice(0, limit)), [rows, limit]);
  const colours = useRowColours(shown, diff.path);
  return (
    <div className="ac-diff" role="table" aria-label={trans.__('Changes')}>
      {shown.map((row: DiffRow, index) =>
        row.kind === 'gap' ? (
          <div className="ac-diff-gap" role="row" key={index}>
            <span role="cell">
              <VisibleText text={gapText(row, trans)} />
            </span>
          </div>
        ) : (
          <DiffLine key={index} row={row} tokens={colours.get(row) ?? NO_TOKENS} />
        ),
      )}
    </div>
  );
});

/** How many rows `diff` has, for "Show all". */
export function diffLength(diff: Diff): number {
  return diffRows(diff).length;
}
