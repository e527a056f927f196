"""Tokens of a run by difference, and the windows of the person's plan. Pure."""

from __future__ import annotations

from datetime import UTC, datetime

from ....protocol.events import PlanUsage, Usage
from ....protocol.tools import PlanWindow
from ..wire import Json, float_of, int_of, object_of

_COUNTS = (
    "inputTokens",
    "outputTokens",
    "cachedInputTokens",
    "cacheWriteInputTokens",
    "reasoningOutputTokens",
)
_HOUR_MINS = 60
_DAY_MINS = 24 * _HOUR_MINS


class TokenCount:
    """What one run used. Codex counts for the whole thread: `total` rises over all its turns.

    `before` is the total at the run's beginning, where it is known; otherwise what the first call
    of the model used is taken off the first total.
    """

    def __init__(self, before: Json | None) -> None:
        self.usage: Usage | None = None
        self._before = None if before is None else _counts(before)

    def begin_behind(self, usage: Json) -> None:
        """A `tokenUsage` of an earlier turn, which a thread that is resumed says again."""
        if self.usage is None:
            self._before = _counts(object_of(usage, "total"))

    def take(self, usage: Json) -> list[Usage]:
        """A `tokenUsage`: the run's usage so far; nothing as long as it used nothing.

        A turn that fails says again what was used before it.
        """
        total, last = object_of(usage, "total"), object_of(usage, "last")
        if self._before is None:
            self._before = {
                name: (int_of(total, name) or 0) - (int_of(last, name) or 0) for name in _COUNTS
            }
        if self.usage is None and _counts(total) == self._before:
            return []
        used = {
            name: max(0, (int_of(total, name) or 0) - self._before[name])
            for name in _COUNTS
            if int_of(total, name) is not None
        }
        cached = used.get("cachedInputTokens", 0)
        self.usage = Usage(
            # what came from the cache is part of the input here, and beside it in our events
            input_tokens=max(0, used["inputTokens"] - cached) if "inputTokens" in used else None,
            output_tokens=used.get("outputTokens"),
            cache_read_tokens=used.get("cachedInputTokens"),
            cache_write_tokens=used.get("cacheWriteInputTokens"),
            reasoning_tokens=used.get("reasoningOutputTokens"),
            context_used=int_of(last, "totalTokens"),
            context_window=int_of(usage, "modelContextWindow"),
        )
        return [self.usage]


def _counts(total: Json) -> dict[str, int]:
    return {name: int_of(total, name) or 0 for name in _COUNTS}


class PlanLimits:
    """The plan's windows; Codex sends only what has changed."""

    def __init__(self) -> None:
        self._windows: dict[str, Json] = {}
        self._told: PlanUsage | None = None

    def take(self, limits: Json) -> list[PlanUsage]:
        """A `rateLimits`: the windows, when one is known and something is new."""
        for name in ("primary", "secondary"):
            given = object_of(limits, name)
            if given:
                known = self._windows.setdefault(name, {})
                known.update({key: value for key, value in given.items() if value is not None})
        windows = [
            PlanWindow(
                name=_window_name(window, name),
                used_percent=min(100.0, max(0.0, percent)),
                resets_at=_moment(int_of(window, "resetsAt")),
            )
            for name, window in sorted(self._windows.items())
            if (percent := float_of(window, "usedPercent")) is not None
        ]
        told = PlanUsage(windows=windows)
        if not windows or told == self._told:
            return []
        self._told = told
        return [told]


def _window_name(window: Json, name: str) -> str:
    minutes = int_of(window, "windowDurationMins")
    if not minutes:
        return name
    if minutes % _DAY_MINS == 0:
        days = minutes // _DAY_MINS
        return "1 day" if days == 1 else f"{days} days"
    if minutes % _HOUR_MINS == 0:
        hours = minutes // _HOUR_MINS
        return "1 hour" if hours == 1 else f"{hours} hours"
    return f"{minutes} minutes"


def _moment(seconds: int | None) -> str | None:
    try:
        return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return None
