"""How a turn ends: the answer to its prompt, or the error in its place. Pure."""

from __future__ import annotations

import json
import re
from typing import Final, NamedTuple

from ....protocol.events import Complete, Error, EventBody, Usage
from ....protocol.words import ErrorCode
from ..wire import AUTH_REQUIRED, Json, first_text, int_of, object_of, text_of


class _Cause(NamedTuple):
    code: ErrorCode
    hint: str


_WAIT: Final = "Wait a moment, then send the prompt again."
_BY_STATUS: Final[dict[int, _Cause]] = {
    404: _Cause("model_not_found", "Choose another model for this chat."),
    408: _Cause("network", _WAIT),
    429: _Cause("provider_rate_limited", "Wait until the limit resets, or choose another model."),
    502: _Cause("provider_overloaded", _WAIT),
    503: _Cause("provider_overloaded", _WAIT),
    529: _Cause("provider_overloaded", _WAIT),
}
_UNKNOWN: Final = _Cause("provider_error", "Send the prompt again, or start a new chat.")
_STOPS: Final = {
    "max_tokens": "The answer reached the model's limit and is cut off.",
    "max_turn_requests": "The agent reached its limit of steps for one turn.",
    "refusal": "The model refused to go on.",
}
_GO_ON: Final = "Send another prompt to let the agent go on."
_STATUS: Final = re.compile(r"(?<![\d.])([45]\d\d)(?![\d.])")
_OVERFLOW: Final = re.compile(
    r"(?i)context.?length|context.?window|maximum context|too many tokens|token limit"
)
_NETWORK: Final = re.compile(r"(?i)ECONNREFUSED|ENOTFOUND|ETIMEDOUT|fetch failed|connection error")


def ending(
    answer: Json, usage: Usage | None, *, stopped: bool, sign_in: str | None
) -> list[EventBody]:
    """The bodies that end a run. `stopped`: a person has pressed Stop, which some agents answer as
    if the turn had ended by itself, or by an error."""
    if "error" in answer:
        if stopped:
            return [Complete(outcome="cancelled", usage=usage)]
        return [
            _error(object_of(answer, "error"), sign_in),
            Complete(outcome="failed", usage=usage),
        ]
    reason = text_of(object_of(answer, "result"), "stopReason")
    if reason == "cancelled" or stopped:
        return [Complete(outcome="cancelled", usage=usage)]
    if reason in _STOPS:
        failed = Error(code="provider_error", message=_STOPS[reason], hint=_GO_ON)
        return [failed, Complete(outcome="failed", usage=usage)]
    return [Complete(outcome="completed", usage=usage)]


def _error(error: Json, sign_in: str | None) -> Error:
    said = _said(error)
    code = int_of(error, "code") or 0
    status = code if 400 <= code < 600 else _status(said)
    if code == AUTH_REQUIRED or status in (401, 403):
        cause = _Cause("provider_signed_out", sign_in or "Sign in with the agent's own program.")
    elif _OVERFLOW.search(said):
        cause = _Cause("context_overflow", "Start a new chat, or fork this one from earlier on.")
    elif _NETWORK.search(said):
        cause = _Cause("network", "Check the network and the proxy of the server.")
    else:
        cause = _BY_STATUS.get(status, _UNKNOWN)
    detail: dict[str, int | str] = {"rpc_code": code}
    if status:
        detail["http_status"] = status
    return Error(code=cause.code, message=said[:2000], hint=cause.hint, detail=detail)


def _said(error: Json) -> str:
    """The agent's own words, out of what wraps them."""
    data = object_of(error, "data")
    said = first_text(data, "details", "message", "error") or text_of(error, "data")
    said = said or text_of(error, "message") or "The agent refused without a reason."
    said = said.removeprefix("Internal error: ")
    try:
        inner = json.loads(said)
    except (ValueError, RecursionError):
        return said
    if isinstance(inner, dict):
        nested = inner.get("error")
        return first_text(nested if isinstance(nested, dict) else inner, "message") or said
    return said


def _status(said: str) -> int:
    found = _STATUS.search(said)
    return int(found[1]) if found else 0
