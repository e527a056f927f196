"""What the CLI says about itself: retries, compaction, mode changes, plain notices. Pure."""

from __future__ import annotations

from typing import Final

from ....protocol.base import Level
from ....protocol.events import EventBody, Notice, System
from ..wire import Json, int_of, object_of, text_of

SILENT: Final = frozenset(
    {
        # progress that says nothing to a person here, or comes in another form as well
        "thinking_tokens",
        "session_state_changed",
        "session_title_changed",
        "permission_denied",
        "task_started",
        "task_progress",
        "task_updated",
        "background_tasks_changed",
        "files_persisted",
        "hook_started",
        "hook_progress",
        "hook_response",
    }
)
"""`system` subtypes that are known and not shown."""

_RETRY_REASONS: Final = {
    "rate_limit": "The model's service asks to slow down",
    "overloaded": "The model's service is overloaded",
    "authentication_failed": "The model's service did not accept the sign-in",
    "server_error": "The model's service had a fault",
}
_LEVELS: Final[dict[str, Level]] = {"warning": "warning", "warn": "warning", "error": "error"}


def system_bodies(message: Json) -> list[EventBody] | None:
    """Bodies of a `system` line other than init; None when its subtype is unknown and wordless."""
    subtype = text_of(message, "subtype")
    match subtype:
        case "api_retry":
            return [_retry(message)]
        case "status":
            return _status(message)
        case "compact_boundary":
            meta = object_of(message, "compact_metadata")
            data = {
                key: meta[key] for key in ("trigger", "pre_tokens", "post_tokens") if key in meta
            }
            return [System(subtype="compaction", data=data)]
        case _ if subtype in SILENT:
            return []
    words = text_of(message, "content") or text_of(message, "message") or text_of(message, "text")
    if not words:
        return None
    level = _LEVELS.get(text_of(message, "level"), "info")
    return [Notice(level=level, code=subtype or "agent", text=words)]


def _retry(message: Json) -> Notice:
    reason = _RETRY_REASONS.get(text_of(message, "error"), "The model's service did not answer")
    status = int_of(message, "error_status")
    where = f" (HTTP {status})" if status else ""
    attempt, most = int_of(message, "attempt"), int_of(message, "max_retries")
    count = f" ({attempt} of {most})" if attempt and most else ""
    return Notice(level="warning", code="api_retry", text=f"{reason}{where}. Trying again{count}.")


def _status(message: Json) -> list[EventBody]:
    if mode := text_of(message, "permissionMode"):
        return [System(subtype="permission_mode", data={"mode": mode})]
    if text_of(message, "status") == "compacting":
        return [System(subtype="compacting")]
    if text_of(message, "compact_result") == "failed":
        why = text_of(message, "compact_error") or "no reason given"
        text = f"The conversation could not be shortened: {why}"
        return [Notice(level="warning", code="compaction_failed", text=text)]
    return []
