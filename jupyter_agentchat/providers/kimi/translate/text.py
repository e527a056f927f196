"""Answer text and thinking of the main agent: pieces by their offset, then the finished step.

Pieces are never replayed: a reader that comes late gets the text so far as one piece at offset 0.
That is why a piece is taken by where it stands in its step: what is known of it already is dropped,
and one that stands behind what is known leaves a gap, which somebody must fill (`gap`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from ....protocol.events import AssistantText, EventBody, Thinking
from ..wire import sound, sound_id, units

_KINDS: Final[dict[str, type[AssistantText] | type[Thinking]]] = {
    "thinking.delta": Thinking,
    "assistant.delta": AssistantText,
}
_WORDS: Final = {"thinking.delta": "thinking", "assistant.delta": "text"}


@dataclass
class _Item:
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    held: str = ""
    shown: bool = False


class TextStream:
    """The items of the step that runs. Item ids are `{step id}:text` and `{step id}:thinking`."""

    def __init__(self) -> None:
        self.count = 0
        """Characters of this step that were given out, thinking included."""
        self.gap = False
        """Something before the last piece is missing; the piece was not taken."""
        self._step = ""
        self._items: dict[str, _Item] = {}

    def begin(self, step_id: str) -> None:
        """Another step is next; what was open has been finished."""
        self._step = step_id
        self._items = {}
        self.count = 0
        self.gap = False

    def piece(self, kind: str, text: str, offset: int | None) -> list[EventBody]:
        """One piece of `kind` (the event's type), with its offset in units of UTF-16."""
        item = self._items.setdefault(kind, _Item())
        known = item.length if offset is None else item.length - offset
        if known < 0:
            self.gap = True
            return []
        if offset is not None:
            if known >= units(text):
                return []
            text = _behind(text, known)
        item.length += units(text)
        text, item.held = _whole(item.held + text)
        if not text:
            return []
        text = sound(text)
        item.pieces.append(text)
        item.shown = True
        self.count += len(text)
        return [_KINDS[kind](item_id=self._item_id(kind), delta=text)]

    def finish(self) -> list[EventBody]:
        """The step ended: the finals of what was shown, thinking first."""
        finals: list[EventBody] = []
        for kind, body in _KINDS.items():
            item = self._items.get(kind)
            if item is not None and item.shown:
                text = "".join(item.pieces)
                finals.append(body(item_id=self._item_id(kind), text=text, final=True))
        self._items = {}
        return finals

    def withdraw(self) -> list[EventBody]:
        """The step broke and is tried again: a final without text takes away what was shown."""
        finals: list[EventBody] = [
            _KINDS[kind](item_id=self._item_id(kind), text="", final=True)
            for kind, item in self._items.items()
            if item.shown
        ]
        self._items = {}
        return finals

    def _item_id(self, kind: str) -> str:
        return sound_id(f"{self._step}:{_WORDS[kind]}")


def _behind(text: str, known: int) -> str:
    """`text` without its first `known` units of UTF-16."""
    if known == 0:
        return text
    data = text.encode("utf-16-le", "surrogatepass")[2 * known :]
    return data.decode("utf-16-le", "surrogatepass")


def _whole(text: str) -> tuple[str, str]:
    """`text` with its pairs of surrogates joined; a half at its end waits for the other."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text, ""
    held = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    ready = text[: len(text) - len(held)]
    return ready.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"), held
