"""What happens in a chat: the event bodies, one discriminated union on `type`.

A body is what happened; it carries no chat, no seq, no time (those are the envelope's, stamped by
the store). Source of every name and meaning: docs/protocol.md. Fields are added, never renamed.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, model_validator

from .base import DEFERRED, AnyObject, Id, Level, Seq, Text, Timestamp, Wire
from .resources import Attachment, Author
from .tools import (
    AskOption,
    ContentBlock,
    Diff,
    PlanEntry,
    PlanWindow,
    Question,
    RawInput,
    ToolInput,
)
from .words import (
    AskKind,
    Continuation,
    Decision,
    ErrorCode,
    Mode,
    Origin,
    Outcome,
    Permission,
    RunOrigin,
    ToolKind,
    ToolStatus,
)


class User(Wire):
    """A prompt, raw as typed."""

    type: Literal["user"] = "user"
    text: Text
    attachments: list[Attachment] = []
    author: Author
    client_id: Id
    origin: Origin = "typed"


class RunStarted(Wire):
    """A run begins; `permission` is the effective one."""

    type: Literal["run_started"] = "run_started"
    provider: Id
    model: Text | None = None
    effort: Text | None = None
    service_tier: Text | None = None
    mode: Mode = "code"
    permission: Permission = "ask"
    continuation: Continuation = "fresh"
    cwd: Text = ""
    origin: RunOrigin = "prompt"


class Session(Wire):
    """The provider's own conversation id, whenever it is new or has changed."""

    type: Literal["session"] = "session"
    provider: Id
    provider_session_id: Id
    model: Text | None = None


class _Streamed(Wire):
    item_id: Id
    delta: Text | None = None
    text: Text | None = None
    final: bool = False
    first_seq: Seq | None = None


class AssistantText(_Streamed):
    """Answer text: `delta`, or with `final` the whole `text`, which replaces the item's deltas.

    A final stands at `first_seq`, the seq of its first delta (its own when it had none).
    """

    type: Literal["assistant_text"] = "assistant_text"


class Thinking(_Streamed):
    """Reasoning; the same rules as `assistant_text`."""

    type: Literal["thinking"] = "thinking"


class ToolUseStart(Wire):
    """A tool call begins. The same `tool_id` again replaces title and input."""

    type: Literal["tool_use_start"] = "tool_use_start"
    tool_id: Id
    parent_tool_id: Id | None = None
    name: Text
    kind: ToolKind = "other"
    title: Text = ""
    input: ToolInput
    raw_input: RawInput = None

    @model_validator(mode="before")
    @classmethod
    def _kind_names_the_input(cls, data: Any) -> Any:
        """An agent need not repeat `kind` inside `input`: the call's own kind says it."""
        if isinstance(data, dict) and isinstance(data.get("input"), dict):
            kind = data.get("kind", "other")
            return {**data, "input": {"kind": kind, **data["input"]}}
        return data


class ToolUseUpdate(Wire):
    """Output as it comes, or a better title or input."""

    type: Literal["tool_use_update"] = "tool_use_update"
    tool_id: Id
    output_delta: Text | None = None
    title: Text | None = None
    input: ToolInput | None = None


class ToolUseEnd(Wire):
    """A tool call ended; `output` replaces all `output_delta`."""

    type: Literal["tool_use_end"] = "tool_use_end"
    tool_id: Id
    status: ToolStatus = "completed"
    is_error: bool = False
    output: list[ContentBlock] = []
    diffs: list[Diff] = []
    exit_code: int | None = None
    duration_ms: int | None = None


class Ask(Wire):
    """The agent waits for a person."""

    type: Literal["ask"] = "ask"
    ask_id: Id
    kind: AskKind
    tool_id: Id | None = None
    title: Text
    detail: Text = ""
    input: ToolInput | None = None
    diffs: list[Diff] = []
    options: list[AskOption] = []
    questions: list[Question] = []
    plan: Text | None = None


class AskResolved(Wire):
    """An ask ended: by a person, by the agent (withdrawn) or by the run's end.

    `answers` maps question ids to labels or text; a secret one is stored as null.
    """

    type: Literal["ask_resolved"] = "ask_resolved"
    ask_id: Id
    decision: Decision
    option_id: Id | None = None
    answers: dict[str, list[Text] | Text | None] | None = None
    message: Text | None = None
    by: Author | None = None


class Plan(Wire):
    """The agent's checklist; replaces the last one."""

    type: Literal["plan"] = "plan"
    entries: list[PlanEntry]


class Usage(Wire):
    """Tokens of this run so far; unknown is null, never 0."""

    type: Literal["usage"] = "usage"
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    context_used: int | None = None
    context_window: int | None = None
    cost_usd: float | None = None


class PlanUsage(Wire):
    """How much of the person's plan is used up."""

    type: Literal["plan_usage"] = "plan_usage"
    windows: list[PlanWindow]


class System(Wire):
    """Something about the conversation that is not its content: compaction, mode change, result."""

    type: Literal["system"] = "system"
    subtype: Text
    data: AnyObject = {}


class Notice(Wire):
    """Something a person should know; the run goes on."""

    type: Literal["notice"] = "notice"
    level: Level = "info"
    code: Text
    text: Text


class Error(Wire):
    """Why the run fails. `detail` may hold exit_code, signal, stderr_tail, http_status."""

    type: Literal["error"] = "error"
    code: ErrorCode
    message: Text
    hint: Text | None = None
    detail: AnyObject = {}


class Complete(Wire):
    """The run ended: exactly one per run, after every open tool and ask was closed.

    An `error` stands before it exactly when `outcome` is `failed`.
    """

    type: Literal["complete"] = "complete"
    outcome: Outcome
    usage: Usage | None = None
    cost_usd: float | None = None
    duration_ms: int | None = None
    num_turns: int | None = None


class Rewound(Wire):
    """The events `from_seq..to_seq` (inclusive) are hidden, not destroyed."""

    type: Literal["rewound"] = "rewound"
    from_seq: Seq
    to_seq: Seq
    method: Literal["native", "transcript"]
    files_restored: list[Text] = []
    files_kept: list[Text] = []


class RewindUndone(Wire):
    """The hidden range is back."""

    type: Literal["rewind_undone"] = "rewind_undone"
    from_seq: Seq
    to_seq: Seq
    method: Literal["native", "transcript"]
    files_restored: list[Text] = []
    files_kept: list[Text] = []


class Forked(Wire):
    """This chat began as a copy of another."""

    type: Literal["forked"] = "forked"
    from_chat: Id
    from_seq: Seq
    kind: Literal["native", "transcript"]


class ResumeRefused(Wire):
    """The provider would not reopen its conversation; the next `session` is a new one."""

    type: Literal["resume_refused"] = "resume_refused"
    provider: Id
    provider_session_id: Id
    reason: Text


EventBody = Annotated[
    User
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
    | ResumeRefused,
    Field(discriminator="type"),
]
Streamed = AssistantText | Thinking
"""The two kinds of body that come in deltas."""

EVENT_BODY: TypeAdapter[Any] = TypeAdapter(EventBody, config=DEFERRED)
"""Validates one body: `EVENT_BODY.validate_json(line)`; raises pydantic.ValidationError."""


class Envelope(Wire):
    """What the store adds to a body. Inside frames `chat_id` is left out: the frame has it."""

    chat_id: Id | None = None
    seq: Seq
    time: Timestamp
    run_id: Id | None = None
