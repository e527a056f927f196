"""How a turn ends: outcome, usage, and failures with the next step for a person. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from ....protocol.events import Error, Notice, Usage
from ....protocol.words import ErrorCode
from ..api import SIGN_IN
from ..wire import Json, int_of, object_of, text_of

SIGN_IN_HINT: Final = f"Run `{SIGN_IN}` in a terminal, then send the prompt again."


class _Cause(NamedTuple):
    code: ErrorCode
    hint: str


_WAIT = "Wait a moment, then send the prompt again."
_SIGNED_OUT = _Cause("provider_signed_out", SIGN_IN_HINT)
_OTHER_MODEL = _Cause("model_not_found", "Choose another model for this chat.")
_CAUSES: Final[dict[str, _Cause]] = {
    "auth.login_required": _SIGNED_OUT,
    "auth.provisioning_required": _SIGNED_OUT,
    "auth.token_missing": _SIGNED_OUT,
    "auth.token_unauthorized": _SIGNED_OUT,
    "provider.auth_error": _SIGNED_OUT,
    "auth.model_not_resolved": _OTHER_MODEL,
    "model.not_configured": _OTHER_MODEL,
    "model.not_found": _OTHER_MODEL,
    "model.config_invalid": _OTHER_MODEL,
    "provider.not_found": _OTHER_MODEL,
    "provider.rate_limit": _Cause(
        "provider_rate_limited", "Wait until the limit resets, or choose another model."
    ),
    "provider.overloaded": _Cause("provider_overloaded", _WAIT),
    "provider.connection_error": _Cause(
        "network", "Check the network and the proxy of the server."
    ),
    "context.overflow": _Cause(
        "context_overflow", "Rewind the chat to an earlier prompt, or start a new one."
    ),
    "loop.max_steps_exceeded": _Cause(
        "provider_error", "Send another prompt to let the agent go on."
    ),
}
_UNKNOWN: Final = _Cause("provider_error", "Send the prompt again, or start a new chat.")


def failure(error: Json) -> Error:
    """The error of a turn that failed."""
    code = text_of(error, "code")
    cause = _CAUSES.get(code, _UNKNOWN)
    status = int_of(object_of(error, "details"), "statusCode")
    detail: dict[str, int | str] = {"http_status": status} if status else {}
    if code:
        detail["kimi_code"] = code
    message = text_of(error, "message") or "Kimi Code did not say why the turn failed."
    return Error(code=cause.code, message=message, hint=cause.hint, detail=detail)


def kept_prompt() -> Notice:
    """What a person must know of a failed turn: Kimi Code keeps its prompt."""
    text = "Kimi Code keeps the prompt of the failed turn and sends it again with your next one."
    return Notice(level="info", code="prompt_kept", text=text)


def cut_answer() -> Notice:
    """An answer without an end: Kimi Code counts it as a whole one."""
    text = "The model's answer ended without an end mark: it may be cut off."
    return Notice(level="warning", code="answer_cut", text=text)


class UsageSum:
    """The tokens of a run: the sum over its steps, helpers included."""

    def __init__(self, context_window: int | None) -> None:
        self._window = context_window
        self._sums: dict[str, int] = {}
        self._context: int | None = None

    def add(self, usage: Json, *, main: bool) -> Usage | None:
        """Usage so far, with a step's own added; None when the step names no tokens."""
        names = ("inputOther", "output", "inputCacheRead", "inputCacheCreation")
        step = {name: count for name in names if (count := int_of(usage, name)) is not None}
        if not any(step.values()):
            return None
        for name, count in step.items():
            self._sums[name] = self._sums.get(name, 0) + count
        if main:
            self._context = sum(step.values())
        return self.total

    @property
    def total(self) -> Usage | None:
        """Usage so far; None before any is known."""
        if not self._sums:
            return None
        return Usage(
            input_tokens=self._sums.get("inputOther"),
            output_tokens=self._sums.get("output"),
            cache_read_tokens=self._sums.get("inputCacheRead"),
            cache_write_tokens=self._sums.get("inputCacheCreation"),
            context_used=self._context,
            context_window=self._window if self._context is not None else None,
        )
