"""How a turn ends: outcome, and errors with the next step for a person. Pure."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from ....protocol.events import Complete, Error, EventBody, Usage
from ....protocol.words import ErrorCode
from ..wire import Json, int_of, object_of, text_of

_MESSAGE_LIMIT: Final = 1000
_UNAUTHORIZED: Final = 401
_TOO_MANY: Final = 429


class _Cause(NamedTuple):
    code: ErrorCode
    hint: str


_WAIT: Final = "Wait a moment, then send the prompt again."
_NETWORK: Final = _Cause("network", "Check the network and the proxy of the server.")
_LIMIT: Final = _Cause(
    "provider_rate_limited", "Wait until the limit resets, or choose another model."
)
_POLICY: Final = _Cause("policy", "Say it otherwise, or choose another model.")
_CAUSES: Final[dict[str, _Cause]] = {
    "contextWindowExceeded": _Cause(
        "context_overflow", "Send /compact to shorten the conversation, or start a new chat."
    ),
    "sessionBudgetExceeded": _LIMIT,
    "usageLimitExceeded": _LIMIT,
    "rateLimitExceeded": _LIMIT,
    "serverOverloaded": _Cause("provider_overloaded", _WAIT),
    "flexUnavailable": _Cause("provider_overloaded", _WAIT),
    "policyCapacityUnavailable": _Cause("provider_overloaded", _WAIT),
    "modelNotFound": _Cause("model_not_found", "Choose another model for this chat."),
    "cyberPolicy": _POLICY,
    "bioPolicy": _POLICY,
    "misalignmentPolicyViolation": _POLICY,
    "inferenceHookDenied": _POLICY,
    "internalServerError": _Cause("provider_error", _WAIT),
    "httpConnectionFailed": _NETWORK,
    "responseStreamConnectionFailed": _NETWORK,
    "responseStreamDisconnected": _NETWORK,
    "responseTooManyFailedAttempts": _NETWORK,
}
_UNKNOWN: Final = _Cause("provider_error", "Send the prompt again, or start a new chat.")
_URL: Final = re.compile(r"\bhttps?://\S+")
_MISSING_KEY: Final = re.compile(r"Missing environment variable: `?(\w+)`?")


def completed(turn: Json, usage: Usage | None, remembered: Json, sign_in: str) -> list[EventBody]:
    """The bodies that end a run; `remembered` is an error that was told before, or empty."""
    status = text_of(turn, "status")
    duration = int_of(turn, "durationMs")
    if status == "interrupted":
        return [_complete("cancelled", usage, duration)]
    error = object_of(turn, "error") or remembered
    if status == "failed":
        return [explain(error, sign_in), _complete("failed", usage, duration)]
    return [_complete("completed", usage, duration)]


def explain(error: Json, sign_in: str) -> Error:
    """A turn's error in our words. `sign_in` is what somebody does who is not signed in."""
    name, status = _info(error)
    message = _message(error)
    cause = _CAUSES.get(name, _UNKNOWN)
    if name == "unauthorized" or status == _UNAUTHORIZED or _MISSING_KEY.search(message):
        cause = _Cause("provider_signed_out", sign_in)
    elif status == _TOO_MANY:
        cause = _LIMIT
    detail: dict[str, object] = {}
    if name:
        detail["codex_error"] = name
    if status is not None:
        detail["http_status"] = status
    return Error(code=cause.code, message=message, hint=cause.hint, detail=detail)


def _complete(outcome: str, usage: Usage | None, duration_ms: int | None) -> Complete:
    return Complete.model_validate(
        {"outcome": outcome, "usage": usage, "duration_ms": duration_ms, "num_turns": 1}
    )


def _info(error: Json) -> tuple[str, int | None]:
    """(word, HTTP status): Codex gives a word, or an object with one key."""
    info = error.get("codexErrorInfo")
    if isinstance(info, str):
        return info, None
    if isinstance(info, dict) and info:
        name = next(iter(info))
        return name, int_of(object_of(info, name), "httpStatusCode")
    return "", None


def _message(error: Json) -> str:
    """The message for a person: not the raw body of an answer, and no address with its query."""
    message = text_of(error, "message").strip()
    if message.startswith("{"):
        try:
            body = json.loads(message)
        except (ValueError, RecursionError):
            body = None
        if isinstance(body, dict):
            inner = object_of(body, "error")
            message = text_of(inner, "message") or text_of(body, "detail") or message
    message = _URL.sub(lambda found: found[0].split("?")[0], message)
    return (message or "The turn failed, and Codex does not say why.")[:_MESSAGE_LIMIT]
