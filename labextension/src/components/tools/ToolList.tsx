/** Consecutive tool calls: cards for those that matter by themselves, the others grouped. */
import { memo } from 'react';

import type { AskPart, ToolNode } from '../../state/view';
import { segmentsOf } from './segments';
import { ToolCard } from './ToolCard';
import { ToolGroup } from './ToolGroup';

export interface IToolListProps {
  nodes: readonly ToolNode[];
  /** The ask about a call, open or settled; keep its identity while no ask changed. */
  askOf: (toolId: string) => AskPart | null;
  /** The turn is running. */
  live: boolean;
}

export const ToolList = memo(function ToolList({ nodes, askOf, live }: IToolListProps) {
  const isWaiting = (node: ToolNode): boolean => {
    const ask = askOf(node.tool.toolId);
    return live && ask !== null && ask.resolution === null;
  };
  return (
    <>
      {segmentsOf(nodes, isWaiting).map(segment => {
        const shared = { askOf, live };
        return segment.type === 'alone' ? (
          <ToolCard key={segment.node.tool.key} node={segment.node} grouped={false} {...shared} />
        ) : (
          <ToolGroup key={segment.key} id={segment.key} nodes={segment.nodes} {...shared} />
        );
      })}
    </>
  );
});
