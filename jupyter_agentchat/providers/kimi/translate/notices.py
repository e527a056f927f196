"""What Kimi Code says about itself: retries, compaction, warnings, helpers that failed. Pure."""

from __future__ import annotations

from typing import Final

from ....protocol.base import Level
from ....protocol.events import EventBody, Notice, System
from ..wire import Json, int_of, object_of, text_of

SILENT: Final = frozenset(
    {
        # said in another form as well, or only for the interface of the program itself
        "agent.created",
        "agent.status.updated",
        "background.task.started",
        "background.task.terminated",
        "context.spliced",
        "context.undone",
        "error",
        "permission.approval.requested",
        "permission.approval.resolved",
        "plan.revision",
        "prompt.queued",
        "prompt.started",
        "subagent.completed",
        "subagent.started",
        "subagent.suspended",
        "task.notified",
        "task.started",
        "task.terminated",
        "tool.call.delta",
        "turn.step.interrupted",
    }
)
"""Types of events that are known and not shown."""

_LEVELS: Final[dict[str, Level]] = {"warning": "warning", "warn": "warning", "error": "error"}
_RETRY_REASONS: Final = {
    401: "The model's service did not accept the sign-in",
    429: "The model's service asks to slow down",
    529: "The model's service is overloaded",
}


def notice_bodies(kind: str, payload: Json) -> list[EventBody] | None:
    """Bodies of an event of this family; None when it is not of it."""
    match kind:
        case "turn.step.retrying":
            return [_retry(payload)]
        case "compaction.started":
            return [System(subtype="compacting", data=_chosen(payload, "trigger"))]
        case "compaction.completed":
            result = object_of(payload, "result") or payload
            return [
                System(subtype="compaction", data=_chosen(result, "tokensBefore", "tokensAfter"))
            ]
        case "compaction.blocked":
            text = "The conversation is too long for the model: Kimi Code shortens it first."
            return [Notice(level="info", code="compacting", text=text)]
        case "compaction.cancelled" | "compaction.failed":
            text = "The conversation could not be shortened."
            return [Notice(level="warning", code="compaction_failed", text=text)]
        case "skill.activated":
            return [System(subtype="skill", data=_chosen(payload, "skillName"))]
        case "subagent.failed":
            why = text_of(object_of(payload, "error"), "message") or text_of(payload, "error")
            text = f"A helper agent failed{f': {why}' if why else '.'}"
            return [Notice(level="warning", code="subagent_failed", text=text)]
        case "warning":
            words = text_of(payload, "message") or text_of(payload, "text")
            level = _LEVELS.get(text_of(payload, "severity"), "warning")
            code = text_of(payload, "code") or "warning"
            return [Notice(level=level, code=code, text=words)] if words else []
    return None


def _retry(payload: Json) -> Notice:
    status = int_of(payload, "statusCode")
    reason = _RETRY_REASONS.get(status or 0, "The model's service did not answer")
    where = f" (HTTP {status})" if status else ""
    attempt, most = int_of(payload, "nextAttempt"), int_of(payload, "maxAttempts")
    count = f" ({attempt} of {most})" if attempt and most else ""
    return Notice(level="warning", code="api_retry", text=f"{reason}{where}. Trying again{count}.")


def _chosen(payload: Json, *keys: str) -> Json:
    return {key: payload[key] for key in keys if key in payload}
