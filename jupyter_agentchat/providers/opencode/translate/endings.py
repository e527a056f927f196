"""How a turn goes and ends: messages, errors, tokens. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from ....protocol.events import Error, Usage
from ....protocol.words import ErrorCode
from ..program import SIGN_IN_HINT
from ..wire import Json, float_of, int_of, object_of, text_of

UNKNOWN_LIMIT: Final = 3
"""After so many answers without an end opencode would ask the model again for ever."""
RUNAWAY: Final = (
    "The model's answers break off without an end. opencode would ask again without limit, so it "
    "was stopped."
)
_ABORTED: Final = "MessageAbortedError"
_OVERFLOW: Final = "ContextOverflowError"
_CODES: Final[dict[str, ErrorCode]] = {
    "ProviderAuthError": "provider_signed_out",
    _OVERFLOW: "context_overflow",
    "ProviderModelNotFoundError": "model_not_found",
}
_STATUS: Final[dict[int, ErrorCode]] = {
    401: "provider_signed_out",
    403: "provider_signed_out",
    429: "provider_rate_limited",
    503: "provider_overloaded",
    529: "provider_overloaded",
}
_NAME = re.compile(r"^([A-Za-z]{1,60}Error): ")
_NETWORK = re.compile(
    r"ECONNREFUSED|ENOTFOUND|ETIMEDOUT|Unable to connect|Cannot connect|fetch failed"
)
_LIMIT: Final = 2000


@dataclass
class Ending:
    """What is known of how the turn stands. `idle` and `busy` are opencode's own words."""

    busy: bool = False
    idle: bool = False
    aborted: bool = False
    error: Error | None = None
    overflow: bool = False
    messages: dict[str, bool] = field(default_factory=dict)
    """The answers of the turn in order: whether each is complete."""
    unknown: set[str] = field(default_factory=set)
    checked_idle: bool = False
    """It was asked behind the last sign of life, and said that nothing is going on."""

    @property
    def over(self) -> bool:
        """Whether nothing can come any more.

        An abort or an error is told idle first, and only then come the ends of the parts.
        """
        if not self.busy:
            return self.checked_idle and (self.error is not None or self.aborted)
        complete = bool(self.messages) and list(self.messages.values())[-1]
        return self.idle and (complete or self.checked_idle)

    @property
    def in_doubt(self) -> bool:
        """Whether opencode must be asked: it says idle, or has failed, and tells no end."""
        failed = not self.busy and self.error is not None
        return not self.over and not self.checked_idle and (self.idle or failed)

    @property
    def runaway(self) -> bool:
        """Whether the model's answers have no end."""
        return len(self.unknown) >= UNKNOWN_LIMIT

    def status(self, kind: str) -> None:
        """opencode's `session.status`; an idle before the first busy is of the turn before."""
        if kind in ("busy", "retry"):
            self.busy, self.idle, self.checked_idle = True, False, False
        elif kind == "idle" and self.busy:
            self.idle = True

    def asked_again(self, message: str) -> None:
        """A person's message came into the turn: it is to be answered as well."""
        self.idle = self.checked_idle = False
        self.messages[message] = False

    def answer(self, info: Json) -> None:
        """An assistant's message as it stands."""
        message, finish = text_of(info, "id"), text_of(info, "finish")
        done = int_of(object_of(info, "time"), "completed") is not None
        if self.messages.get(message) is not True:
            self.messages[message] = done
        if finish == "unknown":
            self.unknown.add(message)
        error = object_of(info, "error")
        if error:
            self.failed(error)
        elif done and finish:
            self.overflow = False  # it made room by itself, and went on
            if self.error is not None and self.error.code == "context_overflow":
                self.error = None

    def failed(self, error: Json) -> None:
        """An error of the session or of a message. The first one counts."""
        name = text_of(error, "name")
        if name == _ABORTED:
            self.aborted = True
            return
        self.overflow = self.overflow or name == _OVERFLOW
        self.error = self.error or _error(name, object_of(error, "data"))


def _error(name: str, data: Json) -> Error:
    said = (text_of(data, "message") or name).split("\n    at ")[0].strip()
    if found := _NAME.match(said):
        name, said = found[1], said[found.end() :]
    said = said[:_LIMIT]
    status = int_of(data, "statusCode")
    code = _CODES.get(name) or _STATUS.get(status or 0)
    if code is None and "Model not found" in said:
        code = "model_not_found"
    if code is None and _NETWORK.search(said):
        code = "network"
    detail: Json = {"http_status": status} if status is not None else {}
    hint = None
    if code == "provider_signed_out":
        hint = f"Run `{SIGN_IN_HINT}` in a terminal, then send the prompt again."
    elif code == "model_not_found":
        hint = "Choose another model."
    return Error(
        code=code or "provider_error", message=said or "opencode failed.", hint=hint, detail=detail
    )


class Tokens:
    """The sum over all steps of a turn, those of subagents included; unknown stays unknown."""

    def __init__(self) -> None:
        self._steps: dict[str, Json] = {}
        self._last_of_root: str | None = None

    def step(self, part: Json, *, root: bool) -> bool:
        """A `step-finish` part; False when it was counted before."""
        part_id = text_of(part, "id")
        if part_id in self._steps:
            return False
        self._steps[part_id] = part
        if root:
            self._last_of_root = part_id
        return True

    def usage(self, window: int | None) -> Usage | None:
        """What the turn has used so far."""
        if not self._steps:
            return None
        tokens = [object_of(part, "tokens") for part in self._steps.values()]
        caches = [object_of(one, "cache") for one in tokens]
        used = None
        if self._last_of_root is not None:
            last = object_of(self._steps[self._last_of_root], "tokens")
            used = int_of(last, "total")
        costs = [float_of(part, "cost") for part in self._steps.values()]
        return Usage(
            input_tokens=_sum(tokens, "input"),
            # here, as with other agents, what was thought is a part of what was written
            output_tokens=_sum(tokens, "output", "reasoning"),
            cache_read_tokens=_sum(caches, "read"),
            cache_write_tokens=_sum(caches, "write"),
            reasoning_tokens=_sum(tokens, "reasoning"),
            context_used=used,
            context_window=window,
            cost_usd=sum(cost or 0.0 for cost in costs) or None,
        )


def _sum(counts: list[Json], *keys: str) -> int | None:
    known = [count for one in counts for key in keys if (count := int_of(one, key)) is not None]
    return sum(known) if known else None
