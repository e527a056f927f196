/**
 * One event as a part of the thread, and how two pieces of the same part become one.
 *
 * Every merge is associative with the older piece on the left. That is what makes one fold serve replay, live events
 * and older pages alike: folding a log in two halves and joining them gives the log folded at once.
 */
import type {
  AskEvent,
  AskResolvedEvent,
  AssistantTextEvent,
  ThinkingEvent,
  ToolInput,
  ToolUseEndEvent,
  ToolUseStartEvent,
  ToolUseUpdateEvent,
  UserEvent,
} from '../protocol/generated';
import type { AskPart, AskResolution, ReasoningPart, TextPart, ToolPart, UserPart } from './view';

/** How a tool call ended. */
type ToolEnd = Pick<
  ToolPart,
  'status' | 'isError' | 'output' | 'diffs' | 'exitCode' | 'durationMs' | 'endTime'
>;

/** What updates and the end say about a call; kept by itself while the call's start is not loaded. */
export type ToolChange = {
  readonly title: string | null;
  readonly input: ToolInput | null;
  readonly outputText: string;
  readonly end: ToolEnd | null;
};

export function textPart(event: AssistantTextEvent | ThinkingEvent): TextPart | ReasoningPart {
  const common = {
    seq: event.final ? (event.first_seq ?? event.seq) : event.seq,
    time: event.time,
    itemId: event.item_id,
    text: (event.final ? event.text : event.delta) ?? '',
    done: event.final,
  };
  return event.type === 'thinking'
    ? { type: 'reasoning', key: `reasoning:${event.item_id}`, ...common }
    : { type: 'text', key: `text:${event.item_id}`, ...common };
}

/** The final stands for all deltas, whichever came first. */
export function mergeText<T extends TextPart | ReasoningPart>(older: T, newer: T): T {
  const last = newer.done || !older.done ? newer : older;
  return {
    ...older,
    seq: Math.min(older.seq, newer.seq),
    time: last.done ? last.time : older.time,
    text: last.done ? last.text : older.text + newer.text,
    done: last.done,
  };
}

export function userPart(event: UserEvent): UserPart {
  return {
    type: 'user',
    key: `user:${event.seq}`,
    seq: event.seq,
    time: event.time,
    text: event.text,
    attachments: event.attachments,
    author: event.author,
    clientId: event.client_id,
    origin: event.origin,
  };
}

export function toolPart(event: ToolUseStartEvent): ToolPart {
  return {
    type: 'tool',
    key: toolKey(event.tool_id),
    seq: event.seq,
    time: event.time,
    toolId: event.tool_id,
    parentToolId: event.parent_tool_id,
    name: event.name,
    kind: event.kind,
    title: event.title,
    input: event.input,
    rawInput: event.raw_input,
    status: 'running',
    isError: false,
    outputText: '',
    output: null,
    diffs: [],
    exitCode: null,
    durationMs: null,
    endTime: null,
  };
}

export const toolKey = (toolId: string): string => `tool:${toolId}`;

export function toolUpdate(event: ToolUseUpdateEvent): ToolChange {
  return {
    title: event.title,
    input: event.input,
    outputText: event.output_delta ?? '',
    end: null,
  };
}

export function toolEnd(event: ToolUseEndEvent): ToolChange {
  return {
    title: null,
    input: null,
    outputText: '',
    end: {
      status: event.status,
      isError: event.is_error,
      output: event.output,
      diffs: event.diffs,
      exitCode: event.exit_code,
      durationMs: event.duration_ms,
      endTime: event.time,
    },
  };
}

export function mergeChange(older: ToolChange, newer: ToolChange): ToolChange {
  const end = newer.end ?? older.end;
  return {
    title: newer.title ?? older.title,
    input: newer.input ?? older.input,
    outputText: end ? '' : older.outputText + newer.outputText,
    end,
  };
}

export function changeTool(tool: ToolPart, change: ToolChange): ToolPart {
  const ended = tool.endTime !== null || change.end !== null;
  return {
    ...tool,
    title: change.title ?? tool.title,
    input: change.input ?? tool.input,
    outputText: ended ? '' : tool.outputText + change.outputText,
    ...change.end,
  };
}

/** The same call started again (streamed arguments): the newer start replaces what the older one said. */
export function mergeTool(older: ToolPart, newer: ToolPart): ToolPart {
  const again = {
    ...newer,
    seq: older.seq,
    time: older.time,
    parentToolId: newer.parentToolId ?? older.parentToolId,
    rawInput: newer.rawInput ?? older.rawInput,
  };
  return prefixTool(endOf(older), again);
}

/** A change that stands before the start of its call: output comes first, title and input of the start win. */
export function prefixTool(change: ToolChange, tool: ToolPart): ToolPart {
  const merged = mergeChange(change, endOf(tool));
  return { ...tool, outputText: merged.outputText, ...merged.end };
}

function endOf(tool: ToolPart): ToolChange {
  const { status, isError, output, diffs, exitCode, durationMs, endTime } = tool;
  return {
    title: null,
    input: null,
    outputText: tool.outputText,
    end:
      endTime === null ? null : { status, isError, output, diffs, exitCode, durationMs, endTime },
  };
}

export const askKey = (askId: string): string => `ask:${askId}`;

export function askPart(event: AskEvent): AskPart {
  return {
    type: 'ask',
    key: askKey(event.ask_id),
    seq: event.seq,
    time: event.time,
    askId: event.ask_id,
    kind: event.kind,
    toolId: event.tool_id,
    title: event.title,
    detail: event.detail,
    input: event.input,
    diffs: event.diffs,
    options: event.options,
    questions: event.questions,
    plan: event.plan,
    resolution: null,
  };
}

export function askResolution(event: AskResolvedEvent): AskResolution {
  return {
    decision: event.decision,
    optionId: event.option_id,
    answers: event.answers,
    message: event.message,
    by: event.by,
    time: event.time,
  };
}
