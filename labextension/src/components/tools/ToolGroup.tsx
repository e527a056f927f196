/** Several calls as one line, "Read 3 files, ran 2 commands"; failures and what runs now stay in sight. */
import { useId } from 'react';

import type { AskPart, ToolNode } from '../../state/view';
import { formatDuration } from '../common/format';
import { useFold } from '../common/services';
import { useTrans } from '../common/trans';
import { Icon } from '../icons';
import { groupSummary } from './describe';
import { isNotable } from './output';
import { ToolCard } from './ToolCard';

interface IToolGroupProps {
  /** Key of the fold. */
  id: string;
  nodes: readonly ToolNode[];
  askOf: (toolId: string) => AskPart | null;
  live: boolean;
}

/** From the start of the first call to the end of the last, ms; null while one runs. */
function spanOf(nodes: readonly ToolNode[]): number | null {
  const begin = Date.parse(nodes[0]?.tool.time ?? '');
  const ends = nodes.map(node => Date.parse(node.tool.endTime ?? ''));
  const span = Math.max(...ends) - begin;
  return Number.isFinite(span) ? span : null;
}

export function ToolGroup({ id, nodes, askOf, live }: IToolGroupProps): React.JSX.Element {
  const trans = useTrans();
  const [open, setOpen] = useFold(id, false);
  const listId = useId();
  const words = groupSummary(
    nodes.map(node => node.tool),
    trans,
  );
  const span = spanOf(nodes);
  const shown = open ? nodes : nodes.filter(node => isNotable(node.tool));
  return (
    <div
      className="ac-tool-group"
      role="group"
      aria-label={trans.__('Steps: %1', words)}
      data-ac-fold={id}
      data-ac-tools={nodes.map(node => node.tool.toolId).join(' ')}
    >
      <div className="ac-tool-head">
        <button
          type="button"
          className="ac-tool-toggle"
          aria-expanded={open}
          aria-controls={shown.length > 0 ? listId : undefined}
          onClick={() => setOpen(!open)}
        >
          <Icon name="chevronRight" className="ac-chevron" />
          <Icon name="steps" className="ac-tool-kind" />
          <span className="ac-ellipsis">{words}</span>
        </button>
        <span className="ac-tool-meta">
          {span === null ? null : <span>{formatDuration(span)}</span>}
        </span>
      </div>
      {shown.length === 0 ? null : (
        <div className="ac-tool-children" id={listId}>
          {shown.map(node => (
            <ToolCard key={node.tool.key} node={node} askOf={askOf} live={live} grouped />
          ))}
        </div>
      )}
    </div>
  );
}
