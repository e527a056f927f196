/** Which calls of a row of consecutive calls stand alone, and which share one line. Pure. */
import type { ToolKind, ToolNode } from '../../state/view';

export type Segment =
  | { readonly type: 'alone'; readonly node: ToolNode }
  | { readonly type: 'group'; readonly key: string; readonly nodes: readonly ToolNode[] };

/** Calls that change something, or hold more calls: each is worth its own card. */
const ALONE: ReadonlySet<ToolKind> = new Set([
  'edit',
  'write',
  'notebook',
  'subagent',
  'question',
  'plan',
]);

/** `nodes` in order; `isWaiting` calls stand alone, so that what needs a person is never in a closed group. */
export function segmentsOf(
  nodes: readonly ToolNode[],
  isWaiting: (node: ToolNode) => boolean,
): Segment[] {
  const segments: Segment[] = [];
  let run: ToolNode[] = [];
  const close = (): void => {
    const [first] = run;
    if (run.length === 1 && first !== undefined) {
      segments.push({ type: 'alone', node: first });
    } else if (first !== undefined) {
      segments.push({ type: 'group', key: `group:${first.tool.key}`, nodes: run });
    }
    run = [];
  };
  for (const node of nodes) {
    if (ALONE.has(node.tool.kind) || isWaiting(node)) {
      close();
      segments.push({ type: 'alone', node });
    } else {
      run.push(node);
    }
  }
  close();
  return segments;
}
