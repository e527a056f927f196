/** One tool call: a line that opens, framed as a card when it stands alone and is open. */
import { memo, useId } from 'react';

import type { AskPart, ToolNode, ToolPart } from '../../state/view';
import { useFold } from '../common/services';
import { useTrans } from '../common/trans';
import { visibleString } from '../common/visible';
import { kindWord, subjectOf } from './describe';
import { hasFailed } from './output';
import { hasBody, ToolBody } from './ToolBody';
import { ToolHead } from './ToolHead';

export interface IToolCardProps {
  node: ToolNode;
  /** The ask about a call, open or settled. */
  askOf: (toolId: string) => AskPart | null;
  /** The turn is running. */
  live: boolean;
  /** Stands in a group: a line that begins closed. */
  grouped: boolean;
}

/** Whether a call that stands alone begins open: where what it did is worth seeing at once. */
function beginsOpen(tool: ToolPart, waiting: boolean): boolean {
  switch (tool.kind) {
    case 'edit':
    case 'write':
      // the card that asks shows the same change
      return !waiting;
    case 'shell':
    case 'search':
      return true;
    default:
      return waiting || hasFailed(tool);
  }
}

export const ToolCard = memo(function ToolCard({ node, askOf, live, grouped }: IToolCardProps) {
  const { tool, children } = node;
  const trans = useTrans();
  const id = useId();
  const ask = askOf(tool.toolId);
  const waiting = live && ask !== null && ask.resolution === null;
  const subject = subjectOf(tool.input, tool.title, tool.name);
  const [wanted, setOpen] = useFold(`tool:${tool.key}`, !grouped && beginsOpen(tool, waiting));
  const filled = children.length > 0 || hasBody({ tool, subject, ask });
  const open = wanted && filled;
  const classes = ['ac-tool', grouped ? 'ac-mod-grouped' : '', open ? 'ac-mod-open' : ''];
  const name = `${kindWord(tool.kind, trans)}: ${visibleString(subject.text)}`;
  return (
    <div
      className={classes.filter(Boolean).join(' ')}
      role="group"
      aria-label={waiting ? trans.__('%1, waiting for you', name) : name}
      data-ac-tool={tool.toolId}
    >
      <ToolHead
        tool={tool}
        subject={subject}
        ask={ask}
        waiting={waiting}
        live={live}
        open={open}
        onToggle={filled ? () => setOpen(!open) : null}
        bodyId={id}
      />
      {open ? (
        <div className="ac-tool-body" id={id}>
          {children.length > 0 ? (
            <div className="ac-tool-children">
              {children.map(child => (
                <ToolCard key={child.tool.key} node={child} askOf={askOf} live={live} grouped />
              ))}
            </div>
          ) : null}
          <ToolBody tool={tool} subject={subject} ask={ask} />
        </div>
      ) : null}
    </div>
  );
});
