"""What a run uses up while it goes on: tokens, the context's fill, the person's plan. Pure.

The CLI tells tokens with each reply of the model, the size of the context only with a result, and
the plan's windows whenever they change. Source: providers/claude design §§3, 4; recordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from ....protocol.events import Complete, EventBody, PlanUsage, Usage
from ....protocol.tools import PlanWindow
from ..wire import Json, float_of, int_of, object_of, text_of

_COUNTS: Final = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}
_WINDOWS: Final = {
    "five_hour": "5 hours",
    "seven_day": "7 days",
    "seven_day_opus": "7 days, Opus",
    "seven_day_sonnet": "7 days, Sonnet",
    "seven_day_oauth_apps": "7 days, other programs",
}
_LAST_SECOND: Final = 253402300799.0  # of the year 9999


class Meters:
    """The meters of one run. Helpers' replies have contexts of their own and do not count here;
    what they used is in the result, and so in the run's last `usage`."""

    def __init__(self, windows: Mapping[str, int]) -> None:
        """`windows`: the context window of each model, in tokens, as far as it is known."""
        self.windows = dict(windows)
        self._model = ""
        self._used: int | None = None
        self._done: dict[str, int] = {}
        self._reply: dict[str, int] = {}
        self._plan: PlanUsage | None = None

    def reply_begins(self, message: Json) -> None:
        """The `message` of a `message_start`."""
        self._model = text_of(message, "model") or self._model
        self._reply = _counts(object_of(message, "usage"))

    def reply_ends(self, usage: Json) -> list[EventBody]:
        """The `usage` of a `message_delta`: its counts are of the whole reply."""
        self._reply.update(_counts(usage))
        if not self._reply:
            return []
        reply, self._reply = self._reply, {}
        for name, count in reply.items():
            self._done[name] = self._done.get(name, 0) + count
        self._used = sum(reply.values())
        return [self.in_context(Usage.model_validate(self._done))]

    def compacted(self) -> list[EventBody]:
        """The conversation was made shorter: how full it is now, only the next reply tells."""
        self._used = None
        return [self.in_context(Usage.model_validate(self._done))]

    def learn(self, result: Json) -> None:
        """Take the sizes of the models' contexts from a `result`."""
        self.windows.update(context_windows(result))

    def in_context(self, usage: Usage) -> Usage:
        """`usage` with how full the context is; null where that is not known."""
        window = self.windows.get(self._model)
        return usage.model_copy(update={"context_used": self._used, "context_window": window})

    def measured(self, body: EventBody) -> EventBody:
        """A body of the run's end, with how full the context is where it tells of tokens."""
        if isinstance(body, Usage):
            return self.in_context(body)
        if isinstance(body, Complete) and body.usage is not None:
            return body.model_copy(update={"usage": self.in_context(body.usage)})
        return body

    def plan(self, said: PlanUsage | None) -> list[EventBody]:
        """The plan's windows, unless they are as they were told last."""
        if said is None or said == self._plan:
            return []
        self._plan = said
        return [said]


def context_windows(result: Json) -> dict[str, int]:
    """The context window of each model that a `result` names, in tokens."""
    found: dict[str, int] = {}
    for model, used in object_of(result, "modelUsage").items():
        window = int_of(used, "contextWindow") if isinstance(used, dict) else None
        if window:
            found[model] = window
    return found


def plan_of_event(message: Json) -> PlanUsage | None:
    """The plan's windows in a `rate_limit_event`: parts of one, times in epoch seconds."""
    info = object_of(message, "rate_limit_info")
    windows = object_of(info, "unifiedWindows")
    if not windows and (kind := text_of(info, "rateLimitType")):
        # the one that the reply was held against
        windows = {kind: {"utilization": info.get("utilization"), "resetsAt": info.get("resetsAt")}}
    return _plan_usage(
        [
            _window(name, float_of(one, "utilization"), 100.0, _time(float_of(one, "resetsAt")))
            for name, one in windows.items()
            if isinstance(one, dict)
        ]
    )


def plan_of_answer(answer: Json) -> PlanUsage | None:
    """The plan's windows in the answer to `get_usage`: per cent, times in ISO-8601."""
    return _plan_usage(
        [
            _window(name, float_of(one, "utilization"), 1.0, text_of(one, "resets_at") or None)
            for name, one in object_of(answer, "rate_limits").items()
            if isinstance(one, dict)
        ]
    )


def _plan_usage(windows: list[PlanWindow | None]) -> PlanUsage | None:
    known = [window for window in windows if window is not None]
    return PlanUsage(windows=known) if known else None


def _window(name: str, used: float | None, scale: float, resets: str | None) -> PlanWindow | None:
    if used is None:
        return None
    shown = _WINDOWS.get(name, name.replace("_", " "))
    percent = round(min(max(used * scale, 0.0), 100.0), 2)
    return PlanWindow(name=shown, used_percent=percent, resets_at=resets)


def _time(seconds: float | None) -> str | None:
    if seconds is None or not 0 < seconds < _LAST_SECOND:
        return None
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")[:-6] + "Z"


def _counts(usage: Json) -> dict[str, int]:
    return {
        ours: count
        for ours, theirs in _COUNTS.items()
        if (count := int_of(usage, theirs)) is not None
    }
