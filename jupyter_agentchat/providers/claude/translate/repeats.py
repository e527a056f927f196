"""Lines that are no news: seen before, replayed, or written for the model. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ..wire import Json, text_of, true_at


class Repeats:
    """The lines of one run by their uuids."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def will_come(self, uuids: Iterable[str]) -> None:
        """What a compaction kept comes once more, under its old uuids."""
        self._known.update(uuids)

    def has(self, message: Json) -> bool:
        """Whether the line is no news; the next one of the same uuid is none."""
        if true_at(message, "isReplay") or true_at(message, "isSynthetic"):
            return True
        uuid = text_of(message, "uuid")
        if not uuid:
            return False
        known = uuid in self._known
        self._known.add(uuid)
        return known
