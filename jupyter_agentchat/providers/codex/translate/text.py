"""Answer text, plans and reasoning: deltas as they stream, then the item that replaces them. Pure.

Item ids are the model's and may come again in another turn: ours are `{turn}:{item}`.
"""

from __future__ import annotations

from ....protocol.events import AssistantText, EventBody, Thinking
from ..wire import Json, int_of, sound_id, text_of, texts_of

_RAW = ":raw"


def item_key(turn_id: str, item_id: str) -> str:
    """The id of an item in our events."""
    return sound_id(f"{turn_id}:{item_id}")


class TextStream:
    """The streamed items of one run."""

    def __init__(self) -> None:
        self._streamed: set[str] = set()
        self._parts: dict[str, int] = {}
        self._done: set[str] = set()

    def answer_delta(self, key: str, delta: str) -> list[EventBody]:
        """A piece of an answer or of a proposed plan."""
        if not delta or key in self._done:
            return []
        self._streamed.add(key)
        return [AssistantText(item_id=key, delta=delta)]

    def answer(self, key: str, text: str) -> list[EventBody]:
        """The whole of it."""
        if key in self._done or (not text and key not in self._streamed):
            return []
        self._done.add(key)
        return [AssistantText(item_id=key, text=text, final=True)]

    def summary_delta(self, key: str, params: Json) -> list[EventBody]:
        """A piece of a reasoning's summary; its parts are paragraphs."""
        delta, index = text_of(params, "delta"), int_of(params, "summaryIndex") or 0
        if not delta or key in self._done:
            return []
        begins = key in self._parts and index > self._parts[key]
        self._parts[key] = index
        self._streamed.add(key)
        return [Thinking(item_id=key, delta=f"\n\n{delta}" if begins else delta)]

    def raw_delta(self, key: str, params: Json) -> list[EventBody]:
        """A piece of the reasoning itself, which some models send."""
        delta, raw = text_of(params, "delta"), key + _RAW
        if not delta or raw in self._done:
            return []
        self._streamed.add(raw)
        return [Thinking(item_id=raw, delta=delta)]

    def reasoning(self, key: str, item: Json) -> list[EventBody]:
        """A finished reasoning: its summary, and its own text where that streamed or is all."""
        summary = "\n\n".join(texts_of(item, "summary"))
        content = "\n\n".join(texts_of(item, "content"))
        bodies: list[EventBody] = []
        if key not in self._done and (summary or key in self._streamed):
            self._done.add(key)
            bodies.append(Thinking(item_id=key, text=summary, final=True))
        raw = key + _RAW
        if raw not in self._done and (raw in self._streamed or (content and not summary)):
            self._done.add(raw)
            bodies.append(Thinking(item_id=raw, text=content, final=True))
        return bodies
