/**
 * What the thread shows: a chat's events folded into turns and parts.
 *
 * Everything here is immutable and shared structurally: a turn or part that did not change keeps its identity, so a
 * memoised component need not look inside. `seq` is the place in the chat, `key` is stable for React and for folds.
 */
import type {
  Attachment,
  AskEvent,
  AskOption,
  AskResolvedEvent,
  Author,
  Chat,
  CompleteEvent,
  ContentBlock,
  Diff,
  ErrorEvent,
  ForkedEvent,
  NoticeEvent,
  PlanEntry,
  PlanWindow,
  Question,
  RewoundEvent,
  RunStartedEvent,
  ToolInput,
  ToolUseEndEvent,
  ToolUseStartEvent,
  UserEvent,
} from '../protocol/generated';

export type ToolKind = ToolUseStartEvent['kind'];
/** `running` until its end is stored; whether the agent is at work at all is said by `RunView.running`. */
export type ToolStatus = 'running' | ToolUseEndEvent['status'];
export type Mode = Chat['mode'];
export type Permission = Chat['permission'];

type PartBase = {
  readonly key: string;
  /** Place in the chat; a text stands at the seq of its first delta, a tool at that of its start. */
  readonly seq: number;
  /** ISO-8601 UTC; of a text its end once it is done, else its first delta. */
  readonly time: string;
};

/** Answer text (Markdown). `done` once the final has come: it will not change any more. */
export type TextPart = PartBase & {
  readonly type: 'text';
  readonly itemId: string;
  readonly text: string;
  readonly done: boolean;
};

/** Reasoning, as `text`. */
export type ReasoningPart = PartBase & {
  readonly type: 'reasoning';
  readonly itemId: string;
  readonly text: string;
  readonly done: boolean;
};

/** One tool call. Show `output` once it is there, else the live `outputText`. */
export type ToolPart = PartBase & {
  readonly type: 'tool';
  readonly toolId: string;
  /** The subagent call that this call belongs to, if any; see `nestTools`. */
  readonly parentToolId: string | null;
  /** The agent's own name for the tool. */
  readonly name: string;
  readonly kind: ToolKind;
  readonly title: string;
  readonly input: ToolInput;
  readonly rawInput: Readonly<Record<string, unknown>> | null;
  readonly status: ToolStatus;
  readonly isError: boolean;
  /** Output streamed so far, with ANSI colours; replaced by `output` at the end. */
  readonly outputText: string;
  readonly output: readonly ContentBlock[] | null;
  readonly diffs: readonly Diff[];
  readonly exitCode: number | null;
  readonly durationMs: number | null;
  readonly endTime: string | null;
};

export type AskResolution = {
  readonly decision: AskResolvedEvent['decision'];
  readonly optionId: string | null;
  readonly answers: AskResolvedEvent['answers'];
  readonly message: string | null;
  /** Who answered; null when nobody did (withdrawn, expired, a rule). */
  readonly by: Author | null;
  readonly time: string;
};

/** Where the agent asked. Open asks with their buttons come from `RunView.asks`, never from here. */
export type AskPart = PartBase & {
  readonly type: 'ask';
  readonly askId: string;
  readonly kind: AskEvent['kind'];
  /** The tool call that it is about; its card shows "Waiting for you" then (see `askOfTool`). */
  readonly toolId: string | null;
  readonly title: string;
  readonly detail: string;
  readonly input: ToolInput | null;
  readonly diffs: readonly Diff[];
  readonly options: readonly AskOption[];
  readonly questions: readonly Question[];
  readonly plan: string | null;
  readonly resolution: AskResolution | null;
};

/** A message of a person inside a running turn (steered); the turn's own prompt is `Turn.user`. */
export type UserPart = PartBase & {
  readonly type: 'user';
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly author: Author;
  readonly clientId: string;
  readonly origin: UserEvent['origin'];
};

export type NoticePart = PartBase & {
  readonly type: 'notice';
  readonly level: NoticeEvent['level'];
  readonly code: string;
  readonly text: string;
};

export type ErrorPart = PartBase & {
  readonly type: 'error';
  readonly code: ErrorEvent['code'];
  readonly message: string;
  readonly hint: string | null;
  readonly detail: Readonly<Record<string, unknown>>;
};

export type SystemPart = PartBase & {
  readonly type: 'system';
  readonly subtype: string;
  readonly data: Readonly<Record<string, unknown>>;
};

export type ResumeRefusedPart = PartBase & {
  readonly type: 'resume_refused';
  readonly provider: string;
  readonly reason: string;
};

export type ForkedPart = PartBase & {
  readonly type: 'forked';
  readonly fromChat: string;
  readonly fromSeq: number;
  readonly kind: ForkedEvent['kind'];
};

export type RewoundPart = PartBase & {
  readonly type: 'rewound';
  readonly undone: boolean;
  readonly method: RewoundEvent['method'];
  readonly fromSeq: number;
  readonly toSeq: number;
  readonly filesRestored: readonly string[];
  readonly filesKept: readonly string[];
};

/** An event of a type that this build does not know: show its name and its JSON. */
export type UnknownPart = PartBase & {
  readonly type: 'unknown';
  readonly eventType: string;
  readonly event: Readonly<Record<string, unknown>>;
};

export type Part =
  | TextPart
  | ReasoningPart
  | ToolPart
  | AskPart
  | UserPart
  | NoticePart
  | ErrorPart
  | SystemPart
  | ResumeRefusedPart
  | ForkedPart
  | RewoundPart
  | UnknownPart;

/** What the run was started with; `permission` is the effective one. */
export type TurnAgent = {
  readonly seq: number;
  readonly provider: string;
  readonly model: string | null;
  readonly effort: string | null;
  readonly serviceTier: string | null;
  readonly mode: Mode;
  readonly permission: Permission;
  readonly continuation: RunStartedEvent['continuation'];
  /** `provider`: the agent began this turn by itself, there is no prompt. */
  readonly origin: RunStartedEvent['origin'];
  readonly time: string;
};

/** Tokens of one run; unknown is null and never shown as 0. */
export type TurnUsage = {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly reasoningTokens: number | null;
  readonly contextUsed: number | null;
  readonly contextWindow: number | null;
  readonly costUsd: number | null;
};

export type TurnComplete = {
  readonly seq: number;
  readonly outcome: CompleteEvent['outcome'];
  readonly costUsd: number | null;
  readonly durationMs: number | null;
  readonly numTurns: number | null;
  readonly time: string;
};

/**
 * One run: the person's prompt and all that the agent did, or one event outside of runs (`runId` null).
 *
 * The turn runs now exactly when `RunView.runningKey === turn.key`: that comes from `sync`, not from events.
 */
export type Turn = {
  readonly key: string;
  readonly seq: number;
  readonly runId: string | null;
  readonly user: UserPart | null;
  readonly agent: TurnAgent | null;
  /** In order of `seq`; nested calls are in here too, with their `parentToolId`. */
  readonly parts: readonly Part[];
  readonly plan: { readonly seq: number; readonly entries: readonly PlanEntry[] } | null;
  readonly usage: TurnUsage | null;
  readonly planUsage: readonly PlanWindow[] | null;
  readonly complete: TurnComplete | null;
};

/** Consecutive tool calls as one line ("Read 3 files, ran 2 commands"), or any other part by itself. */
export type ThreadItem =
  | { readonly type: 'part'; readonly key: string; readonly part: Exclude<Part, ToolPart> }
  | { readonly type: 'tools'; readonly key: string; readonly tools: readonly ToolNode[] };

/** A tool call with the calls that its subagent made. */
export type ToolNode = { readonly tool: ToolPart; readonly children: readonly ToolNode[] };
