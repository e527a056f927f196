/* Generated from jupyter_agentchat/protocol by `make protocol`. Do not edit. */

/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolInput".
 */
export type ToolInput =
  | ReadInput
  | WriteInput
  | EditInput
  | SearchInput
  | ShellInput
  | FetchInput
  | WebSearchInput
  | NotebookInput
  | QuestionInput
  | PlanInput
  | SubagentInput
  | McpInput
  | OtherInput;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ChatEvent".
 */
export type ChatEvent =
  | UserEvent
  | RunStartedEvent
  | SessionEvent
  | AssistantTextEvent
  | ThinkingEvent
  | ToolUseStartEvent
  | ToolUseUpdateEvent
  | ToolUseEndEvent
  | AskEvent
  | AskResolvedEvent
  | PlanEvent
  | UsageEvent
  | PlanUsageEvent
  | SystemEvent
  | NoticeEvent
  | ErrorEvent
  | CompleteEvent
  | RewoundEvent
  | RewindUndoneEvent
  | ForkedEvent
  | ResumeRefusedEvent;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ContentBlock".
 */
export type ContentBlock = TextBlock | ImageBlock | JsonBlock | BlobBlock;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ClientFrame".
 */
export type ClientFrame = Hello | Subscribe | Unsubscribe | PromptFrame | Cancel | AnswerFrame | Read | Ping;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "EventBody".
 */
export type EventBody =
  | User
  | RunStarted
  | Session
  | AssistantText
  | Thinking
  | ToolUseStart
  | ToolUseUpdate
  | ToolUseEnd
  | Ask
  | AskResolved
  | Plan
  | Usage
  | PlanUsage
  | System
  | Notice
  | Error
  | Complete
  | Rewound
  | RewindUndone
  | Forked
  | ResumeRefused;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "JsonValue".
 */
export type JsonValue = unknown;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "NativeOp".
 */
export type NativeOp = OpRun | OpAnswer | OpSteer | OpCancel | OpClose;
/**
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ServerFrame".
 */
export type ServerFrame =
  Welcome | Events | Sync | ChatFrame | ChatDeleted | Ack | RefusedFrame | Gap | ProvidersFrame | Pong;

export interface _Protocol {}
/**
 * 202 of a prompt: it runs, it was put into a running turn (`steered`), or it waits.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Accepted".
 */
export interface Accepted {
  queue_item: QueueItem | null;
  run_id: string | null;
  steered: boolean;
}
/**
 * A prompt that waits in a chat's queue. `held_reason`: why it could not be sent last time.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "QueueItem".
 */
export interface QueueItem {
  attachments: Attachment[];
  author: Author;
  client_id: string;
  created: string;
  held_reason: string | null;
  id: string;
  text: string;
}
/**
 * Something handed over with a prompt; `path` absolute, `size` in bytes.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Attachment".
 */
export interface Attachment {
  detail: Record<string, unknown> | null;
  id: string;
  kind: "file" | "image" | "directory" | "cell" | "selection" | "variable" | "output" | "chat";
  mime: string;
  name: string;
  path: string;
  size: number;
}
/**
 * Who: stamped by the server, never by a client.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Author".
 */
export interface Author {
  name: string;
  username: string;
}
/**
 * Who is signed in with the provider.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Account".
 */
export interface Account {
  label: string;
}
/**
 * The frame with this `request_id` was accepted; `result` is the REST answer.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Ack".
 */
export interface Ack {
  request_id: string;
  result: Record<string, unknown>;
  type: "ack";
}
/**
 * First line of an agent. Unknown fields are ignored: agents may be newer than we are.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AgentHello".
 */
export interface AgentHello {
  features: ProviderFeatures;
  models: Model[];
  name: string;
  type: "hello";
  version: string;
  [k: string]: unknown;
}
/**
 * What a provider can do; null or false where it cannot.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ProviderFeatures".
 */
export interface ProviderFeatures {
  asks: boolean;
  fork: ("native" | "transcript") | null;
  images: boolean;
  mcp: ("per_chat" | "per_process") | null;
  plan_usage: boolean;
  questions: boolean;
  reasoning: boolean;
  reattach: boolean;
  restore_files: boolean;
  resume: boolean;
  rewind: ("native" | "transcript") | null;
  skills: "slash" | "dollar" | "path" | "none";
  steer: boolean;
}
/**
 * One model of a provider.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Model".
 */
export interface Model {
  context_window: number | null;
  default: boolean;
  efforts: string[];
  id: string;
  name: string;
  tiers: string[];
}
/**
 * As POST asks/{ask_id}.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AnswerFrame".
 */
export interface AnswerFrame {
  answers: {
    [k: string]: string[] | string;
  } | null;
  ask_id: string;
  chat_id: string;
  decision: "allow" | "deny" | "answered";
  message: string | null;
  option_id: string | null;
  request_id: string | null;
  type: "answer";
}
/**
 * The agent waits for a person.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Ask".
 */
export interface Ask {
  ask_id: string;
  detail: string;
  diffs: Diff[];
  input: ToolInput | null;
  kind: "permission" | "question" | "plan";
  options: AskOption[];
  plan: string | null;
  questions: Question[];
  title: string;
  tool_id: string | null;
  type: "ask";
}
/**
 * What a tool call did to a file: `patch` (a unified diff with header lines) or `old`/`new`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Diff".
 */
export interface Diff {
  added: number;
  change: "add" | "update" | "delete" | "move";
  new: string | null;
  old: string | null;
  patch: string | null;
  path: string;
  removed: number;
}
/**
 * A file, or lines of it (1-based, inclusive).
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ReadInput".
 */
export interface ReadInput {
  end_line: number | null;
  kind: "read";
  path: string;
  start_line: number | null;
}
/**
 * A whole file; `size` in bytes.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "WriteInput".
 */
export interface WriteInput {
  kind: "write";
  path: string;
  size: number | null;
}
/**
 * A change in a file; the diff comes with the ask or the end of the call.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "EditInput".
 */
export interface EditInput {
  kind: "edit";
  path: string;
}
/**
 * A search over file contents or names.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "SearchInput".
 */
export interface SearchInput {
  glob: string | null;
  kind: "search";
  path: string | null;
  query: string;
}
/**
 * A command line, verbatim.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ShellInput".
 */
export interface ShellInput {
  background: boolean;
  command: string;
  cwd: string | null;
  kind: "shell";
}
/**
 * A page.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "FetchInput".
 */
export interface FetchInput {
  kind: "fetch";
  url: string;
}
/**
 * A web search.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "WebSearchInput".
 */
export interface WebSearchInput {
  kind: "web_search";
  query: string;
}
/**
 * Cells of a notebook; `op` is read, edit, insert, delete or run.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "NotebookInput".
 */
export interface NotebookInput {
  cells: string[];
  kind: "notebook";
  op: string;
  path: string;
}
/**
 * The agent asks a person; the questions stand on the ask.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "QuestionInput".
 */
export interface QuestionInput {
  kind: "question";
}
/**
 * The agent writes or proposes a plan.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PlanInput".
 */
export interface PlanInput {
  kind: "plan";
}
/**
 * Work handed to an agent of the agent.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "SubagentInput".
 */
export interface SubagentInput {
  agent: string | null;
  description: string;
  kind: "subagent";
}
/**
 * A tool of an MCP server.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "McpInput".
 */
export interface McpInput {
  arguments: unknown;
  kind: "mcp";
  server: string;
  tool: string;
}
/**
 * Anything we have no word for; see `raw_input`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "OtherInput".
 */
export interface OtherInput {
  kind: "other";
}
/**
 * One way to answer an ask. `leads_to` is the permission that a plan's approval sets.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AskOption".
 */
export interface AskOption {
  decision: "allow" | "deny";
  id: string;
  label: string;
  leads_to: ("read_only" | "ask" | "accept_edits" | "full") | null;
  scope: "once" | "chat" | "project" | "notebook";
}
/**
 * One page of a question form.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Question".
 */
export interface Question {
  allow_other: boolean;
  header: string;
  id: string;
  multi_select: boolean;
  options: QuestionOption[];
  question: string;
  secret: boolean;
}
/**
 * One choice of a question.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "QuestionOption".
 */
export interface QuestionOption {
  description: string;
  label: string;
}
/**
 * POST chats/{id}/asks/{ask_id}. `option_id` names one of the ask's options.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AskAnswer".
 */
export interface AskAnswer {
  answers: {
    [k: string]: string[] | string;
  } | null;
  decision: "allow" | "deny" | "answered";
  message: string | null;
  option_id: string | null;
}
/**
 * The agent waits for a person.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AskEvent".
 */
export interface AskEvent {
  ask_id: string;
  chat_id: string | null;
  detail: string;
  diffs: Diff[];
  input: ToolInput | null;
  kind: "permission" | "question" | "plan";
  options: AskOption[];
  plan: string | null;
  questions: Question[];
  run_id: string | null;
  seq: number;
  time: string;
  title: string;
  tool_id: string | null;
  type: "ask";
}
/**
 * An ask ended: by a person, by the agent (withdrawn) or by the run's end.
 *
 * `answers` maps question ids to labels or text; a secret one is stored as null.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AskResolved".
 */
export interface AskResolved {
  answers: {
    [k: string]: string[] | string | null;
  } | null;
  ask_id: string;
  by: Author | null;
  decision: "allow" | "deny" | "answered" | "withdrawn" | "expired";
  message: string | null;
  option_id: string | null;
  type: "ask_resolved";
}
/**
 * An ask ended: by a person, by the agent (withdrawn) or by the run's end.
 *
 * `answers` maps question ids to labels or text; a secret one is stored as null.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AskResolvedEvent".
 */
export interface AskResolvedEvent {
  answers: {
    [k: string]: string[] | string | null;
  } | null;
  ask_id: string;
  by: Author | null;
  chat_id: string | null;
  decision: "allow" | "deny" | "answered" | "withdrawn" | "expired";
  message: string | null;
  option_id: string | null;
  run_id: string | null;
  seq: number;
  time: string;
  type: "ask_resolved";
}
/**
 * Answer text: `delta`, or with `final` the whole `text`, which replaces the item's deltas.
 *
 * A final stands at `first_seq`, the seq of its first delta (its own when it had none).
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AssistantText".
 */
export interface AssistantText {
  delta: string | null;
  final: boolean;
  first_seq: number | null;
  item_id: string;
  text: string | null;
  type: "assistant_text";
}
/**
 * Answer text: `delta`, or with `final` the whole `text`, which replaces the item's deltas.
 *
 * A final stands at `first_seq`, the seq of its first delta (its own when it had none).
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AssistantTextEvent".
 */
export interface AssistantTextEvent {
  chat_id: string | null;
  delta: string | null;
  final: boolean;
  first_seq: number | null;
  item_id: string;
  run_id: string | null;
  seq: number;
  text: string | null;
  time: string;
  type: "assistant_text";
}
/**
 * What a client sends: an upload's `id`, or `kind` and `path`; the server fills the rest.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "AttachmentRef".
 */
export interface AttachmentRef {
  detail: Record<string, unknown> | null;
  id: string | null;
  kind: ("file" | "image" | "directory" | "cell" | "selection" | "variable" | "output" | "chat") | null;
  path: string | null;
}
/**
 * The whole of an output above 64 KiB, kept beside the log; `size` in bytes.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "BlobBlock".
 */
export interface BlobBlock {
  blob_id: string;
  mime: string;
  size: number;
  type: "blob";
}
/**
 * Stop the run; again forces.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Cancel".
 */
export interface Cancel {
  chat_id: string;
  request_id: string | null;
  type: "cancel";
}
/**
 * A chat's metadata. `project` is relative to the server root, null when loose.
 *
 * `fork_pending`: agents whose conversation in `sessions` is still the parent's: the next run with
 * one of them makes a copy of it. `queued`: how many prompts wait; `queue_paused`: for a person.
 * `wants`: what the oldest open ask is about.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Chat".
 */
export interface Chat {
  archived: boolean;
  attention: ("finished" | "failed" | "needs_input") | null;
  created: string;
  effective_permission: "read_only" | "ask" | "accept_edits" | "full";
  effort: string | null;
  fork_pending: string[];
  id: string;
  last_seq: number;
  mode: "chat" | "plan" | "code" | "review" | "debug" | "full_auto";
  model: string | null;
  owner: string;
  parent: ChatParent | null;
  permission: "read_only" | "ask" | "accept_edits" | "full";
  pinned: boolean;
  project: string | null;
  provider: string | null;
  queue_paused: boolean;
  queued: number;
  service_tier: string | null;
  sessions: {
    [k: string]: string;
  };
  skills: string[];
  state: "idle" | "running" | "waiting" | "cancelling";
  title: string;
  unread: boolean;
  updated: string;
  usage: ChatUsage;
  wants: Wants | null;
}
/**
 * Where a fork came from.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ChatParent".
 */
export interface ChatParent {
  chat_id: string;
  seq: number;
}
/**
 * Totals over the whole chat; unknown cost is null.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ChatUsage".
 */
export interface ChatUsage {
  cache_read_tokens: number;
  cost_usd: number | null;
  input_tokens: number;
  output_tokens: number;
}
/**
 * What an open ask is about, for a line of the chat list; the ask itself is in `sync`.
 *
 * `tool`: what the agent wants to do, null for a question or a plan. `subject`: the command, path
 * or question, on one line and cut short; nothing to act on.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Wants".
 */
export interface Wants {
  kind: "permission" | "question" | "plan";
  subject: string;
  tool:
    | (
        | "read"
        | "write"
        | "edit"
        | "search"
        | "shell"
        | "fetch"
        | "web_search"
        | "question"
        | "plan"
        | "notebook"
        | "subagent"
        | "mcp"
        | "other"
      )
    | null;
}
/**
 * A chat is gone.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ChatDeleted".
 */
export interface ChatDeleted {
  chat_id: string;
  type: "chat_deleted";
}
/**
 * A prompt, raw as typed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "UserEvent".
 */
export interface UserEvent {
  attachments: Attachment[];
  author: Author;
  chat_id: string | null;
  client_id: string;
  origin: "typed" | "queued" | "steered" | "answer" | "scheduled" | "agent" | "widget" | "imported";
  run_id: string | null;
  seq: number;
  text: string;
  time: string;
  type: "user";
}
/**
 * A run begins; `permission` is the effective one.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RunStartedEvent".
 */
export interface RunStartedEvent {
  chat_id: string | null;
  continuation: "fresh" | "resume" | "fork" | "transcript";
  cwd: string;
  effort: string | null;
  mode: "chat" | "plan" | "code" | "review" | "debug" | "full_auto";
  model: string | null;
  origin: "prompt" | "provider";
  permission: "read_only" | "ask" | "accept_edits" | "full";
  provider: string;
  run_id: string | null;
  seq: number;
  service_tier: string | null;
  time: string;
  type: "run_started";
}
/**
 * The provider's own conversation id, whenever it is new or has changed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "SessionEvent".
 */
export interface SessionEvent {
  chat_id: string | null;
  model: string | null;
  provider: string;
  provider_session_id: string;
  run_id: string | null;
  seq: number;
  time: string;
  type: "session";
}
/**
 * Reasoning; the same rules as `assistant_text`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ThinkingEvent".
 */
export interface ThinkingEvent {
  chat_id: string | null;
  delta: string | null;
  final: boolean;
  first_seq: number | null;
  item_id: string;
  run_id: string | null;
  seq: number;
  text: string | null;
  time: string;
  type: "thinking";
}
/**
 * A tool call begins. The same `tool_id` again replaces title and input.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolUseStartEvent".
 */
export interface ToolUseStartEvent {
  chat_id: string | null;
  input: ToolInput;
  kind:
    | "read"
    | "write"
    | "edit"
    | "search"
    | "shell"
    | "fetch"
    | "web_search"
    | "question"
    | "plan"
    | "notebook"
    | "subagent"
    | "mcp"
    | "other";
  name: string;
  parent_tool_id: string | null;
  raw_input: Record<string, unknown> | null;
  run_id: string | null;
  seq: number;
  time: string;
  title: string;
  tool_id: string;
  type: "tool_use_start";
}
/**
 * Output as it comes, or a better title or input.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolUseUpdateEvent".
 */
export interface ToolUseUpdateEvent {
  chat_id: string | null;
  input: ToolInput | null;
  output_delta: string | null;
  run_id: string | null;
  seq: number;
  time: string;
  title: string | null;
  tool_id: string;
  type: "tool_use_update";
}
/**
 * A tool call ended; `output` replaces all `output_delta`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolUseEndEvent".
 */
export interface ToolUseEndEvent {
  chat_id: string | null;
  diffs: Diff[];
  duration_ms: number | null;
  exit_code: number | null;
  is_error: boolean;
  output: ContentBlock[];
  run_id: string | null;
  seq: number;
  status: "completed" | "failed" | "denied" | "cancelled";
  time: string;
  tool_id: string;
  type: "tool_use_end";
}
/**
 * Plain text, with ANSI colour where the tool wrote it.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "TextBlock".
 */
export interface TextBlock {
  text: string;
  type: "text";
}
/**
 * A picture, base64.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ImageBlock".
 */
export interface ImageBlock {
  data: string;
  mime: string;
  type: "image";
}
/**
 * A JSON value.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "JsonBlock".
 */
export interface JsonBlock {
  type: "json";
  value: unknown;
}
/**
 * The agent's checklist; replaces the last one.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PlanEvent".
 */
export interface PlanEvent {
  chat_id: string | null;
  entries: PlanEntry[];
  run_id: string | null;
  seq: number;
  time: string;
  type: "plan";
}
/**
 * One line of a checklist.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PlanEntry".
 */
export interface PlanEntry {
  status: "pending" | "in_progress" | "completed";
  text: string;
}
/**
 * Tokens of this run so far; unknown is null, never 0.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "UsageEvent".
 */
export interface UsageEvent {
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  chat_id: string | null;
  context_used: number | null;
  context_window: number | null;
  cost_usd: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  run_id: string | null;
  seq: number;
  time: string;
  type: "usage";
}
/**
 * How much of the person's plan is used up.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PlanUsageEvent".
 */
export interface PlanUsageEvent {
  chat_id: string | null;
  run_id: string | null;
  seq: number;
  time: string;
  type: "plan_usage";
  windows: PlanWindow[];
}
/**
 * One usage window of the person's plan; `used_percent` 0 to 100.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PlanWindow".
 */
export interface PlanWindow {
  name: string;
  resets_at: string | null;
  used_percent: number;
}
/**
 * Something about the conversation that is not its content: compaction, mode change, result.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "SystemEvent".
 */
export interface SystemEvent {
  chat_id: string | null;
  data: Record<string, unknown>;
  run_id: string | null;
  seq: number;
  subtype: string;
  time: string;
  type: "system";
}
/**
 * Something a person should know; the run goes on.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "NoticeEvent".
 */
export interface NoticeEvent {
  chat_id: string | null;
  code: string;
  level: "info" | "warning" | "error";
  run_id: string | null;
  seq: number;
  text: string;
  time: string;
  type: "notice";
}
/**
 * Why the run fails. `detail` may hold exit_code, signal, stderr_tail, http_status.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ErrorEvent".
 */
export interface ErrorEvent {
  chat_id: string | null;
  code:
    | "provider_missing"
    | "provider_signed_out"
    | "provider_too_old"
    | "not_trusted"
    | "process_exit"
    | "spawn_failed"
    | "protocol_error"
    | "timeout"
    | "context_overflow"
    | "model_not_found"
    | "provider_rate_limited"
    | "provider_overloaded"
    | "provider_error"
    | "network"
    | "policy"
    | "storage"
    | "internal";
  detail: Record<string, unknown>;
  hint: string | null;
  message: string;
  run_id: string | null;
  seq: number;
  time: string;
  type: "error";
}
/**
 * The run ended: exactly one per run, after every open tool and ask was closed.
 *
 * An `error` stands before it exactly when `outcome` is `failed`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "CompleteEvent".
 */
export interface CompleteEvent {
  chat_id: string | null;
  cost_usd: number | null;
  duration_ms: number | null;
  num_turns: number | null;
  outcome: "completed" | "cancelled" | "failed" | "interrupted";
  run_id: string | null;
  seq: number;
  time: string;
  type: "complete";
  usage: Usage | null;
}
/**
 * Tokens of this run so far; unknown is null, never 0.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Usage".
 */
export interface Usage {
  cache_read_tokens: number | null;
  cache_write_tokens: number | null;
  context_used: number | null;
  context_window: number | null;
  cost_usd: number | null;
  input_tokens: number | null;
  output_tokens: number | null;
  reasoning_tokens: number | null;
  type: "usage";
}
/**
 * The events `from_seq..to_seq` (inclusive) are hidden, not destroyed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RewoundEvent".
 */
export interface RewoundEvent {
  chat_id: string | null;
  files_kept: string[];
  files_restored: string[];
  from_seq: number;
  method: "native" | "transcript";
  run_id: string | null;
  seq: number;
  time: string;
  to_seq: number;
  type: "rewound";
}
/**
 * The hidden range is back.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RewindUndoneEvent".
 */
export interface RewindUndoneEvent {
  chat_id: string | null;
  files_kept: string[];
  files_restored: string[];
  from_seq: number;
  method: "native" | "transcript";
  run_id: string | null;
  seq: number;
  time: string;
  to_seq: number;
  type: "rewind_undone";
}
/**
 * This chat began as a copy of another.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ForkedEvent".
 */
export interface ForkedEvent {
  chat_id: string | null;
  from_chat: string;
  from_seq: number;
  kind: "native" | "transcript";
  run_id: string | null;
  seq: number;
  time: string;
  type: "forked";
}
/**
 * The provider would not reopen its conversation; the next `session` is a new one.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ResumeRefusedEvent".
 */
export interface ResumeRefusedEvent {
  chat_id: string | null;
  provider: string;
  provider_session_id: string;
  reason: string;
  run_id: string | null;
  seq: number;
  time: string;
  type: "resume_refused";
}
/**
 * A list row is new or has changed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ChatFrame".
 */
export interface ChatFrame {
  chat: Chat;
  type: "chat";
}
/**
 * PATCH chats/{id}: only the fields that are present change; null clears.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ChatPatch".
 */
export interface ChatPatch {
  archived: boolean | null;
  effort: string | null;
  mode: ("chat" | "plan" | "code" | "review" | "debug" | "full_auto") | null;
  model: string | null;
  permission: ("read_only" | "ask" | "accept_edits" | "full") | null;
  pinned: boolean | null;
  provider: string | null;
  service_tier: string | null;
  skills: string[] | null;
  title: string | null;
}
/**
 * The first frame of a client.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Hello".
 */
export interface Hello {
  client: "panel" | "widget" | "script";
  protocol: number;
  request_id: string | null;
  type: "hello";
}
/**
 * Follow a chat from behind `after_seq`; again replaces.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Subscribe".
 */
export interface Subscribe {
  after_seq: number;
  chat_id: string;
  epoch: string | null;
  request_id: string | null;
  type: "subscribe";
}
/**
 * Stop following.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Unsubscribe".
 */
export interface Unsubscribe {
  chat_id: string;
  request_id: string | null;
  type: "unsubscribe";
}
/**
 * As POST prompts.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PromptFrame".
 */
export interface PromptFrame {
  attachments: AttachmentRef[];
  chat_id: string;
  client_id: string;
  delivery: "auto" | "queue" | "steer" | "now";
  expect: Expect | null;
  request_id: string | null;
  text: string;
  type: "prompt";
}
/**
 * What the person saw when sending; another value now is refused as stale.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Expect".
 */
export interface Expect {
  effective_permission: ("read_only" | "ask" | "accept_edits" | "full") | null;
  mode: ("chat" | "plan" | "code" | "review" | "debug" | "full_auto") | null;
  model: string | null;
  provider: string | null;
}
/**
 * This person has seen up to `seq`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Read".
 */
export interface Read {
  chat_id: string;
  request_id: string | null;
  seq: number;
  type: "read";
}
/**
 * Answered by `pong`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Ping".
 */
export interface Ping {
  request_id: string | null;
  type: "ping";
}
/**
 * The run ended: exactly one per run, after every open tool and ask was closed.
 *
 * An `error` stands before it exactly when `outcome` is `failed`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Complete".
 */
export interface Complete {
  cost_usd: number | null;
  duration_ms: number | null;
  num_turns: number | null;
  outcome: "completed" | "cancelled" | "failed" | "interrupted";
  type: "complete";
  usage: Usage | null;
}
/**
 * A chat in the trash. POST chats/{id}/restore brings it back.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "DeletedChat".
 */
export interface DeletedChat {
  deleted: string;
  id: string;
  project: string | null;
  provider: string | null;
  title: string;
}
/**
 * GET chats/{id}/draft: what a person has typed and not sent. `revision` 0: nothing kept.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Draft".
 */
export interface Draft {
  attachments: Attachment[];
  revision: number;
  text: string;
}
/**
 * PUT chats/{id}/draft; `revision` is that of the draft it was made from, else `stale`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "DraftUpdate".
 */
export interface DraftUpdate {
  attachments: Attachment[];
  revision: number;
  text: string;
}
/**
 * Why the run fails. `detail` may hold exit_code, signal, stderr_tail, http_status.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Error".
 */
export interface Error {
  code:
    | "provider_missing"
    | "provider_signed_out"
    | "provider_too_old"
    | "not_trusted"
    | "process_exit"
    | "spawn_failed"
    | "protocol_error"
    | "timeout"
    | "context_overflow"
    | "model_not_found"
    | "provider_rate_limited"
    | "provider_overloaded"
    | "provider_error"
    | "network"
    | "policy"
    | "storage"
    | "internal";
  detail: Record<string, unknown>;
  hint: string | null;
  message: string;
  type: "error";
}
/**
 * The `error` of every REST answer that is not 2xx.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ErrorBody".
 */
export interface ErrorBody {
  code:
    | "bad_request"
    | "unauthenticated"
    | "forbidden"
    | "not_found"
    | "busy"
    | "stale"
    | "already_resolved"
    | "not_trusted"
    | "gone"
    | "too_large"
    | "unsupported"
    | "rate_limited"
    | "internal"
    | "storage";
  details: Record<string, unknown>;
  message: string;
}
/**
 * A prompt, raw as typed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "User".
 */
export interface User {
  attachments: Attachment[];
  author: Author;
  client_id: string;
  origin: "typed" | "queued" | "steered" | "answer" | "scheduled" | "agent" | "widget" | "imported";
  text: string;
  type: "user";
}
/**
 * A run begins; `permission` is the effective one.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RunStarted".
 */
export interface RunStarted {
  continuation: "fresh" | "resume" | "fork" | "transcript";
  cwd: string;
  effort: string | null;
  mode: "chat" | "plan" | "code" | "review" | "debug" | "full_auto";
  model: string | null;
  origin: "prompt" | "provider";
  permission: "read_only" | "ask" | "accept_edits" | "full";
  provider: string;
  service_tier: string | null;
  type: "run_started";
}
/**
 * The provider's own conversation id, whenever it is new or has changed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Session".
 */
export interface Session {
  model: string | null;
  provider: string;
  provider_session_id: string;
  type: "session";
}
/**
 * Reasoning; the same rules as `assistant_text`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Thinking".
 */
export interface Thinking {
  delta: string | null;
  final: boolean;
  first_seq: number | null;
  item_id: string;
  text: string | null;
  type: "thinking";
}
/**
 * A tool call begins. The same `tool_id` again replaces title and input.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolUseStart".
 */
export interface ToolUseStart {
  input: ToolInput;
  kind:
    | "read"
    | "write"
    | "edit"
    | "search"
    | "shell"
    | "fetch"
    | "web_search"
    | "question"
    | "plan"
    | "notebook"
    | "subagent"
    | "mcp"
    | "other";
  name: string;
  parent_tool_id: string | null;
  raw_input: Record<string, unknown> | null;
  title: string;
  tool_id: string;
  type: "tool_use_start";
}
/**
 * Output as it comes, or a better title or input.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolUseUpdate".
 */
export interface ToolUseUpdate {
  input: ToolInput | null;
  output_delta: string | null;
  title: string | null;
  tool_id: string;
  type: "tool_use_update";
}
/**
 * A tool call ended; `output` replaces all `output_delta`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ToolUseEnd".
 */
export interface ToolUseEnd {
  diffs: Diff[];
  duration_ms: number | null;
  exit_code: number | null;
  is_error: boolean;
  output: ContentBlock[];
  status: "completed" | "failed" | "denied" | "cancelled";
  tool_id: string;
  type: "tool_use_end";
}
/**
 * The agent's checklist; replaces the last one.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Plan".
 */
export interface Plan {
  entries: PlanEntry[];
  type: "plan";
}
/**
 * How much of the person's plan is used up.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "PlanUsage".
 */
export interface PlanUsage {
  type: "plan_usage";
  windows: PlanWindow[];
}
/**
 * Something about the conversation that is not its content: compaction, mode change, result.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "System".
 */
export interface System {
  data: Record<string, unknown>;
  subtype: string;
  type: "system";
}
/**
 * Something a person should know; the run goes on.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Notice".
 */
export interface Notice {
  code: string;
  level: "info" | "warning" | "error";
  text: string;
  type: "notice";
}
/**
 * The events `from_seq..to_seq` (inclusive) are hidden, not destroyed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Rewound".
 */
export interface Rewound {
  files_kept: string[];
  files_restored: string[];
  from_seq: number;
  method: "native" | "transcript";
  to_seq: number;
  type: "rewound";
}
/**
 * The hidden range is back.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RewindUndone".
 */
export interface RewindUndone {
  files_kept: string[];
  files_restored: string[];
  from_seq: number;
  method: "native" | "transcript";
  to_seq: number;
  type: "rewind_undone";
}
/**
 * This chat began as a copy of another.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Forked".
 */
export interface Forked {
  from_chat: string;
  from_seq: number;
  kind: "native" | "transcript";
  type: "forked";
}
/**
 * The provider would not reopen its conversation; the next `session` is a new one.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ResumeRefused".
 */
export interface ResumeRefused {
  provider: string;
  provider_session_id: string;
  reason: string;
  type: "resume_refused";
}
/**
 * All stored events with after < seq <= upto, in order, each a ChatEvent; holes are normal.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Events".
 */
export interface Events {
  after: number;
  chat_id: string;
  events: Record<string, unknown>[];
  type: "events";
  upto: number;
}
/**
 * A file that is left as it is, and why.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "FileKept".
 */
export interface FileKept {
  overwritable: boolean;
  path: string;
  reason: string;
}
/**
 * What putting a file back does to it. `path` is relative to the project. `added`, `removed`:
 * lines of text, told by a dry run where it can compare them; null where it cannot.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "FileRestore".
 */
export interface FileRestore {
  added: number | null;
  change: "restore" | "delete" | "create";
  path: string;
  removed: number | null;
}
/**
 * POST chats/{id}/fork: a new chat with the events up to `after_seq` (all, if left out).
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ForkRequest".
 */
export interface ForkRequest {
  after_seq: number | null;
}
/**
 * The subscription has ended: load by REST, then subscribe again.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Gap".
 */
export interface Gap {
  chat_id: string;
  last_seq: number;
  type: "gap";
}
/**
 * Start a run; ignored when a run with this `run_id` was begun before.
 *
 * One that ended with `resume_refused` was not begun: it comes again under the same `run_id`,
 * with a transcript instead of the session.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "OpRun".
 */
export interface OpRun {
  op: "run";
  request: RunRequest;
}
/**
 * What a provider adapter is asked to run; also an `op: run` of the native protocol.
 *
 * `prompt` is the effective prompt (mode policy applied), `cwd` absolute, `permission` effective.
 * `transcript` is what the agent's conversation does not know, to be put before the prompt: all of
 * the chat for a new one, what other agents did meanwhile for one that is resumed.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RunRequest".
 */
export interface RunRequest {
  attachments: Attachment[];
  browser: boolean;
  chat_id: string;
  cwd: string;
  effort: string | null;
  fork: boolean;
  mcp_servers: Record<string, unknown>;
  mode: "chat" | "plan" | "code" | "review" | "debug" | "full_auto";
  model: string | null;
  permission: "read_only" | "ask" | "accept_edits" | "full";
  project: string | null;
  prompt: string;
  provider_session_id: string | null;
  run_id: string;
  service_tier: string | null;
  skills: string[];
  transcript: string | null;
}
/**
 * A person answered; ignored when that ask is not open (any more).
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "OpAnswer".
 */
export interface OpAnswer {
  answers: {
    [k: string]: string[] | string;
  } | null;
  ask_id: string;
  decision: "allow" | "deny" | "answered";
  message: string | null;
  op: "answer";
  option_id: string | null;
}
/**
 * A message into the running turn.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "OpSteer".
 */
export interface OpSteer {
  attachments: Attachment[];
  op: "steer";
  text: string;
}
/**
 * Stop the run, then write `complete` with outcome cancelled.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "OpCancel".
 */
export interface OpCancel {
  op: "cancel";
}
/**
 * No more runs: exit.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "OpClose".
 */
export interface OpClose {
  op: "close";
}
/**
 * POST chats. What is left out comes from the person's last selection.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "NewChat".
 */
export interface NewChat {
  effort: string | null;
  loose: boolean;
  mode: ("chat" | "plan" | "code" | "review" | "debug" | "full_auto") | null;
  model: string | null;
  permission: ("read_only" | "ask" | "accept_edits" | "full") | null;
  project: string | null;
  provider: string | null;
  service_tier: string | null;
  skills: string[] | null;
  title: string | null;
}
/**
 * POST projects
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "NewProject".
 */
export interface NewProject {
  path: string;
}
/**
 * Answer to `ping`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Pong".
 */
export interface Pong {
  request_id: string | null;
  type: "pong";
}
/**
 * A directory under the server root that has chats, or was named.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Project".
 */
export interface Project {
  chats: number;
  exists: boolean;
  name: string;
  path: string;
  trusted: boolean | null;
}
/**
 * One thing of the project that an agent would load; `kind`: hooks, mcp, settings, skills.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ProjectLoad".
 */
export interface ProjectLoad {
  agent: string;
  kind: string;
  path: string;
}
/**
 * POST chats/{id}/prompts. The same `client_id` again gives the first answer again.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Prompt".
 */
export interface Prompt {
  attachments: AttachmentRef[];
  client_id: string;
  delivery: "auto" | "queue" | "steer" | "now";
  expect: Expect | null;
  text: string;
}
/**
 * An agent as the interface shows it. Hints are exact commands.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Provider".
 */
export interface Provider {
  account: Account | null;
  available: boolean;
  description: string;
  features: ProviderFeatures;
  id: string;
  install_hint: string | null;
  min_version: string | null;
  models: Model[];
  modes: ("chat" | "plan" | "code" | "review" | "debug" | "full_auto")[];
  name: string;
  permission_notes: {
    [k: string]: string;
  };
  permissions: ("read_only" | "ask" | "accept_edits" | "full")[];
  reason: string | null;
  sign_in_hint: string | null;
  state: "probing" | "ready" | "missing" | "signed_out" | "too_old" | "untested" | "refused_by_policy" | "error";
  version: string | null;
}
/**
 * After each probe.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ProvidersFrame".
 */
export interface ProvidersFrame {
  providers: Provider[];
  type: "providers";
}
/**
 * GET chats/{id}/queue, in the order in which they run.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Queue".
 */
export interface Queue {
  pause_reason: ("stopped" | "failed" | "interrupted" | "restarted" | "by_hand") | null;
  paused: boolean;
  queue: QueueItem[];
}
/**
 * PATCH chats/{id}/queue/{item}
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "QueueItemPatch".
 */
export interface QueueItemPatch {
  text: string;
}
/**
 * PUT chats/{id}/queue: the ids of all items; another set is refused as stale.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "QueueOrder".
 */
export interface QueueOrder {
  order: string[];
}
/**
 * POST chats/{id}/read: up to `seq`, or `unread: true`.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "ReadMark".
 */
export interface ReadMark {
  seq: number | null;
  unread: boolean;
}
/**
 * The frame was refused and changed nothing.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RefusedFrame".
 */
export interface RefusedFrame {
  code:
    | "bad_request"
    | "unauthenticated"
    | "forbidden"
    | "not_found"
    | "busy"
    | "stale"
    | "already_resolved"
    | "not_trusted"
    | "gone"
    | "too_large"
    | "unsupported"
    | "rate_limited"
    | "internal"
    | "storage";
  details: Record<string, unknown>;
  message: string;
  request_id: string | null;
  type: "refused";
}
/**
 * The prompt that a rewind gave back to the composer.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RestoredPrompt".
 */
export interface RestoredPrompt {
  attachments: Attachment[];
  text: string;
}
/**
 * POST chats/{id}/rewind: cut the `user` event `seq` and all that follows.
 *
 * `files`: put the files back as they were before that prompt, or keep them. `dry_run` changes
 * nothing and lists the files. `overwrite`: paths that may be put back although they were changed
 * since (a person has said so).
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RewindRequest".
 */
export interface RewindRequest {
  dry_run: boolean;
  files: "keep" | "restore";
  overwrite: string[];
  seq: number;
}
/**
 * Answer to a rewind, its dry run, or its undo. `undo`: whether it can be undone now.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "RewindResult".
 */
export interface RewindResult {
  files: FileRestore[];
  kept: FileKept[];
  method: "native" | "transcript";
  prompt: RestoredPrompt;
  queue: QueueItem[];
  undo: boolean;
}
/**
 * One event that matches. The matches in `snippet` stand between U+E000 and U+E001.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "SearchHit".
 */
export interface SearchHit {
  chat_id: string;
  seq: number;
  snippet: string;
  time: string;
  title: string;
}
/**
 * GET search: the best hits first; `more`: there are others.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "SearchResult".
 */
export interface SearchResult {
  hits: SearchHit[];
  more: boolean;
}
/**
 * Comes unasked when the socket opens.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Welcome".
 */
export interface Welcome {
  epoch: string;
  protocol: number;
  type: "welcome";
  user: Author;
}
/**
 * The state of a chat's run. `running: false` never before the adapter has returned.
 *
 * `remote`: another server runs the chat (`holder` says which); here it can only be watched.
 * `may_steer`: the running agent takes messages now.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Sync".
 */
export interface Sync {
  asks: Ask[];
  chat_id: string;
  epoch: string;
  holder: string | null;
  last_seq: number;
  may_steer: boolean;
  phase: "idle" | "starting" | "thinking" | "writing" | "tool" | "waiting" | "cancelling";
  queue: QueueItem[];
  queue_pause_reason: ("stopped" | "failed" | "interrupted" | "restarted" | "by_hand") | null;
  queue_paused: boolean;
  remote: boolean;
  run_id: string | null;
  running: boolean;
  type: "sync";
}
/**
 * GET trash, latest first; `days`: how long a chat stays in it.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "TrashList".
 */
export interface TrashList {
  chats: DeletedChat[];
  days: number;
}
/**
 * `trusted` null: nobody has decided on this digest yet.
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "Trust".
 */
export interface Trust {
  digest: string;
  loads: ProjectLoad[];
  trusted: boolean | null;
}
/**
 * POST projects/trust?path=
 *
 * This interface was referenced by `_Protocol`'s JSON-Schema
 * via the `definition` "TrustDecision".
 */
export interface TrustDecision {
  digest: string;
  trusted: boolean;
}
