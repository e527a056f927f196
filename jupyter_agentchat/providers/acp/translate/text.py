"""Answer text and thinking: chunks as they come, then the whole of each stretch. Pure.

The protocol knows no end of a text: a stretch ends where something else begins, or the turn does.
"""

from __future__ import annotations

from typing import Final

from ....protocol.events import AssistantText, EventBody, Thinking
from ..wire import Json, object_of, sound_id, text_of

_KINDS: Final[dict[str, type[AssistantText] | type[Thinking]]] = {
    "agent_message_chunk": AssistantText,
    "agent_thought_chunk": Thinking,
}


class TextStream:
    """The stretches of one run. Item ids are `{run}:{number}`; an agent's own are not always there
    and change when a conversation is loaded again."""

    def __init__(self, run: str) -> None:
        self._run = run
        self._count = 0
        self._kind = ""
        self._message = ""
        self._said: list[str] = []

    def chunk(self, update: Json) -> list[EventBody]:
        """The bodies of an `agent_message_chunk` or `agent_thought_chunk`."""
        kind, message = text_of(update, "sessionUpdate"), text_of(update, "messageId")
        piece = text_of(object_of(update, "content"), "text")
        if not piece:
            return []
        bodies: list[EventBody] = []
        if kind != self._kind or message != self._message:
            bodies = self.end()
            self._count += 1
            self._kind, self._message = kind, message
        if kind == "agent_thought_chunk" and piece.startswith("**") and self._said:
            piece = f"\n\n{piece}"  # some send whole thoughts, each with its heading
        self._said.append(piece)
        return [*bodies, _KINDS[kind](item_id=self._item_id, delta=piece)]

    def end(self) -> list[EventBody]:
        """The stretch is over: its whole text; nothing when none is open."""
        if not self._said:
            return []
        whole = _KINDS[self._kind](item_id=self._item_id, text="".join(self._said), final=True)
        self._said, self._kind, self._message = [], "", ""
        return [whole]

    @property
    def _item_id(self) -> str:
        return sound_id(f"{self._run}:{self._count}")
