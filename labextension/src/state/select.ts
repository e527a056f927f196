/**
 * Questions to the folded turns that several components ask.
 *
 * Answers are remembered per turn, part and group, so they keep their identity as long as what they are made of does.
 */
import type { PlanEntry, PlanWindow } from '../protocol/generated';
import type {
  AskPart,
  Part,
  SystemPart,
  ThreadItem,
  ToolNode,
  ToolPart,
  Turn,
  TurnUsage,
} from './view';

type ToolsItem = Extract<ThreadItem, { type: 'tools' }>;

const itemsOfTurn = new WeakMap<Turn, readonly ThreadItem[]>();
const itemOfPart = new WeakMap<Part, ThreadItem>();
/** By the first call of the group. */
const groupOfTool = new WeakMap<ToolPart, ToolsItem>();
const nodeOfTool = new WeakMap<ToolPart, ToolNode>();

/**
 * The parts of a turn as the thread shows them: consecutive calls grouped, subagents' calls nested.
 *
 * Not items of their own: an ask about a call of this turn (its card shows it, `askOfTool`), what only programs
 * read, and the reason why the agent went on by itself (the turn begins with it, `taskThatEnded`).
 */
export function threadItems(turn: Turn): readonly ThreadItem[] {
  const known = itemsOfTurn.get(turn);
  if (known) {
    return known;
  }
  const cause = taskThatEnded(turn);
  const items = buildItems(turn.parts.filter(part => part !== cause));
  itemsOfTurn.set(turn, items);
  return items;
}

function buildItems(parts: readonly Part[]): ThreadItem[] {
  const ids = new Set(parts.flatMap(part => (part.type === 'tool' ? [part.toolId] : [])));
  const childrenOf = new Map<string, ToolPart[]>();
  for (const part of parts) {
    if (isNested(part, ids)) {
      childrenOf.set(part.parentToolId, [...(childrenOf.get(part.parentToolId) ?? []), part]);
    }
  }
  const items: ThreadItem[] = [];
  let group: ToolNode[] = [];
  const closeGroup = (): void => {
    const first = group[0];
    if (first) {
      items.push(groupItem(first.tool, group));
      group = [];
    }
  };
  for (const part of parts) {
    if (isNested(part, ids) || isInvisible(part, ids)) {
      continue;
    }
    if (part.type === 'tool') {
      group.push(toolNode(part, childrenOf));
    } else {
      closeGroup();
      items.push(partItem(part));
    }
  }
  closeGroup();
  return items;
}

function isNested(
  part: Part,
  ids: ReadonlySet<string>,
): part is ToolPart & { parentToolId: string } {
  const parent = part.type === 'tool' ? part.parentToolId : null;
  return parent !== null && ids.has(parent) && part.type === 'tool' && parent !== part.toolId;
}

function isInvisible(part: Part, ids: ReadonlySet<string>): boolean {
  switch (part.type) {
    case 'ask':
      return part.toolId !== null && ids.has(part.toolId);
    case 'text':
    case 'reasoning':
      return part.text.trim() === '';
    case 'system':
      return systemWord(part) === null;
    default:
      return false;
  }
}

function toolNode(tool: ToolPart, childrenOf: ReadonlyMap<string, ToolPart[]>): ToolNode {
  const children = (childrenOf.get(tool.toolId) ?? []).map(child => toolNode(child, childrenOf));
  const known = nodeOfTool.get(tool);
  if (known && sameList(known.children, children)) {
    return known;
  }
  const node = { tool, children };
  nodeOfTool.set(tool, node);
  return node;
}

function groupItem(first: ToolPart, tools: readonly ToolNode[]): ThreadItem {
  const known = groupOfTool.get(first);
  if (known && sameList(known.tools, tools)) {
    return known;
  }
  const item: ToolsItem = { type: 'tools', key: `group:${first.key}`, tools };
  groupOfTool.set(first, item);
  return item;
}

function partItem(part: Exclude<Part, ToolPart>): ThreadItem {
  const item = itemOfPart.get(part) ?? { type: 'part', key: part.key, part };
  itemOfPart.set(part, item);
  return item;
}

function sameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((entry, i) => entry === b[i]);
}

/** What a system event tells a person: a word of ours, or the agent's own text. */
export type SystemWord = 'compacted' | 'review_began' | 'review_ended' | { readonly text: string };

/** Null where only programs read the event (`turn_diff`, `title`, ...): the thread has no place for it. */
export function systemWord({ subtype, data }: SystemPart): SystemWord | null {
  switch (subtype) {
    case 'compaction':
    case 'compacted':
      return 'compacted';
    case 'review_began':
    case 'review_ended':
      return subtype;
    default:
      return typeof data.text === 'string' && data.text.trim() !== '' ? { text: data.text } : null;
  }
}

/** The end of the background task that made the agent go on by itself; null when nothing says so. */
export function taskThatEnded({ agent, parts }: Turn): SystemPart | null {
  const [first] = parts;
  return agent?.origin === 'provider' &&
    first?.type === 'system' &&
    first.subtype === 'background_task'
    ? first
    : null;
}

/** The agent of the last run among `turns`; null when none is known. */
export function lastAgent(turns: readonly Turn[]): string | null {
  return turns.findLast(turn => turn.agent !== null)?.agent?.provider ?? null;
}

/** The ask about a tool call of this turn, open or resolved; the last one when there were several. */
export function askOfTool(turn: Turn, toolId: string): AskPart | null {
  const found = turn.parts.findLast(part => part.type === 'ask' && part.toolId === toolId);
  return found?.type === 'ask' ? found : null;
}

/**
 * The turn whose checklist stands above the composer: the last run, while its checklist is unfinished.
 *
 * A later run that has no checklist of its own leaves the earlier one in its place in the thread.
 */
export function pinnedPlan(turns: readonly Turn[]): Turn | null {
  const last = turns.findLast(turn => turn.runId !== null);
  const open = last?.plan?.entries.some(entry => entry.status !== 'completed');
  return last && open ? last : null;
}

/** The unfinished checklist that the agent works on. */
export function checklist(turns: readonly Turn[]): readonly PlanEntry[] | null {
  return pinnedPlan(turns)?.plan?.entries ?? null;
}

/** The last known usage (context meter). */
export function latestUsage(turns: readonly Turn[]): TurnUsage | null {
  return turns.findLast(turn => turn.usage !== null)?.usage ?? null;
}

export function latestPlanUsage(turns: readonly Turn[]): readonly PlanWindow[] | null {
  return turns.findLast(turn => turn.planUsage !== null)?.planUsage ?? null;
}

/** The turn's answer as Markdown, for "copy": its texts, without reasoning and tools. */
export function turnMarkdown(turn: Turn): string {
  return turn.parts
    .flatMap(part => (part.type === 'text' && part.text.trim() !== '' ? [part.text.trim()] : []))
    .join('\n\n');
}
