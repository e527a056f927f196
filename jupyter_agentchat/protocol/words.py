"""The small words: modes, permissions, outcomes, tool kinds and codes, each a closed set.

Source: docs/protocol.md. Sets grow, names never change.
"""

from typing import Final, Literal, get_args

Mode = Literal["chat", "plan", "code", "review", "debug", "full_auto"]
Permission = Literal["read_only", "ask", "accept_edits", "full"]
PERMISSIONS: Final[tuple[Permission, ...]] = get_args(Permission)
"""In rising order: what stands further right may do more."""

Phase = Literal["idle", "starting", "thinking", "writing", "tool", "waiting", "cancelling"]
ChatState = Literal["idle", "running", "waiting", "cancelling"]
Attention = Literal["finished", "failed", "needs_input"]
Outcome = Literal["completed", "cancelled", "failed", "interrupted"]
Delivery = Literal["auto", "queue", "steer", "now"]
QueuePause = Literal["stopped", "failed", "interrupted", "restarted", "by_hand"]
"""Why a queue waits for a person."""
Origin = Literal["typed", "queued", "steered", "answer", "scheduled", "agent", "widget", "imported"]
RunOrigin = Literal["prompt", "provider"]
Continuation = Literal["fresh", "resume", "fork", "transcript"]

ToolKind = Literal[
    "read",
    "write",
    "edit",
    "search",
    "shell",
    "fetch",
    "web_search",
    "question",
    "plan",
    "notebook",
    "subagent",
    "mcp",
    "other",
]
ToolStatus = Literal["completed", "failed", "denied", "cancelled"]
AskKind = Literal["permission", "question", "plan"]
Decision = Literal["allow", "deny", "answered", "withdrawn", "expired"]
Answer = Literal["allow", "deny", "answered"]
Scope = Literal["once", "chat", "project", "notebook"]
PlanStatus = Literal["pending", "in_progress", "completed"]
FileChange = Literal["add", "update", "delete", "move"]
AttachmentKind = Literal[
    "file", "image", "directory", "cell", "selection", "variable", "output", "chat"
]
ProviderState = Literal[
    "probing",
    "ready",
    "missing",
    "signed_out",
    "too_old",
    "untested",
    "refused_by_policy",
    "error",
]

RefusalCode = Literal[
    "bad_request",
    "unauthenticated",
    "forbidden",
    "not_found",
    "busy",
    "stale",
    "already_resolved",
    "not_trusted",
    "gone",
    "too_large",
    "unsupported",
    "rate_limited",
    "internal",
    "storage",
]
ErrorCode = Literal[
    "provider_missing",
    "provider_signed_out",
    "provider_too_old",
    "not_trusted",
    "process_exit",
    "spawn_failed",
    "protocol_error",
    "timeout",
    "context_overflow",
    "model_not_found",
    "provider_rate_limited",
    "provider_overloaded",
    "provider_error",
    "network",
    "policy",
    "storage",
    "internal",
]


def stricter(first: Permission, second: Permission) -> Permission:
    """The one of two permissions that allows less."""
    return min(first, second, key=PERMISSIONS.index)
