"""Tokens of a run, from the four places where agents tell them. Pure.

The prompt's answer (`usage`), the same in `_meta.quota` (Gemini CLI), `_meta.usage` of an empty
chunk behind each call of the model (Qwen Code), and `usage_update` with the context's size.
"""

from __future__ import annotations

from typing import Final

from ....protocol.events import Usage
from ..wire import Json, int_of, object_of

_NAMES: Final = {
    "input_tokens": ("inputTokens", "input_tokens"),
    "output_tokens": ("outputTokens", "output_tokens"),
    "reasoning_tokens": ("thoughtTokens", "thought_tokens"),
    "cache_read_tokens": ("cachedReadTokens", "cached_read_tokens"),
    "cache_write_tokens": ("cachedWriteTokens", "cached_write_tokens"),
}


class UsageCount:
    """What one run has used so far; unknown is None."""

    def __init__(self) -> None:
        self._sums: dict[str, int] = {}
        self._context: dict[str, int] = {}
        self._told: Usage | None = None

    def chunk(self, update: Json) -> None:
        """A call of the model is over: its tokens are added."""
        told = object_of(object_of(update, "_meta"), "usage")
        counts = _counts(told)
        for name, count in counts.items():
            self._sums[name] = self._sums.get(name, 0) + count

    def context(self, update: Json) -> None:
        """A `usage_update`: how full the context is."""
        used, size = int_of(update, "used"), int_of(update, "size")
        self._context = self._context | {
            name: value
            for name, value in (("context_used", used), ("context_window", size))
            if value is not None
        }

    def answer(self, result: Json) -> None:
        """The prompt's answer: its totals replace the sums."""
        quota = object_of(object_of(object_of(result, "_meta"), "quota"), "token_count")
        counts = _counts(object_of(result, "usage")) or _counts(quota)
        if any(counts.values()):
            self._sums = counts

    def news(self) -> list[Usage]:
        """What is known so far, unless it was told just like that."""
        known, before = self.now(), self._told
        self._told = known
        return [known] if known is not None and known != before else []

    def now(self) -> Usage | None:
        """What is known so far."""
        return Usage(**self._sums, **self._context) if self._sums or self._context else None


def _counts(told: Json) -> dict[str, int]:
    counts = {
        name: value
        for name, keys in _NAMES.items()
        if (value := next((v for key in keys if (v := int_of(told, key)) is not None), None))
        is not None
    }
    cached, total = counts.get("cache_read_tokens", 0), int_of(told, "totalTokens")
    said = counts.get("input_tokens", 0) + counts.get("output_tokens", 0)
    if cached and total is not None and total < said + cached <= total + cached:
        # some count what came from the cache as input too; ours is without it
        counts["input_tokens"] = max(counts.get("input_tokens", 0) - cached, 0)
    return counts
