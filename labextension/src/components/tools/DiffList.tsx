/** The changes of a call, file by file; a long one is cut until asked for. */
import { useMemo, useState } from 'react';

import type { Diff } from '../../protocol/generated';
import { useServices } from '../common/services';
import { useTrans } from '../common/trans';
import { VisibleText } from '../common/VisibleText';
import { diffLength, DiffView } from './DiffView';
import { LineCounts } from './LineCounts';

const LIMIT = 40;

interface IDiffListProps {
  diffs: readonly Diff[];
  /** Show all rows: where a person decides on them, nothing may be left out. */
  whole?: boolean;
}

function OneDiff({
  diff,
  named,
  whole,
}: {
  diff: Diff;
  named: boolean;
  whole: boolean;
}): React.JSX.Element {
  const trans = useTrans();
  const { openFile } = useServices();
  const [all, setAll] = useState(whole);
  const length = useMemo(() => diffLength(diff), [diff]);
  const hidden = all || length <= LIMIT + 4 ? 0 : length - LIMIT;
  return (
    <div className="ac-diff-file">
      {named ? (
        <div className="ac-diff-name">
          <button
            type="button"
            className="ac-tool-path ac-mono ac-ellipsis"
            onClick={() => openFile(diff.path)}
          >
            <VisibleText text={diff.path} />
          </button>
          <LineCounts added={diff.added} removed={diff.removed} />
        </div>
      ) : null}
      {length === 0 ? (
        <p className="ac-tool-note">{trans.__('The agent did not report what changed.')}</p>
      ) : (
        <DiffView diff={diff} limit={hidden === 0 ? null : LIMIT} />
      )}
      {hidden === 0 ? null : (
        <button type="button" className="ac-link ac-show-all" onClick={() => setAll(true)}>
          {trans._n('Show all (%1 more line)', 'Show all (%1 more lines)', hidden)}
        </button>
      )}
    </div>
  );
}

/** Files are named when there are several. */
export function DiffList({ diffs, whole = false }: IDiffListProps): React.JSX.Element {
  return (
    <>
      {diffs.map((diff, index) => (
        <OneDiff key={index} diff={diff} named={diffs.length > 1} whole={whole} />
      ))}
    </>
  );
}
