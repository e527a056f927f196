"""Answer text and thinking: deltas as they stream, then the finished block that replaces them.

Every block comes twice: as stream events, and whole in an `assistant` line that stands before the
block's stop event and has no index. A message whose connection broke never gets that line; the CLI
then begins anew under another id, streamed or all at once, and what had come of the first must go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ....protocol.events import AssistantText, EventBody, Thinking
from ..wire import Json, int_of, object_of, sound_id, text_of

_STREAMED: Final[dict[str, type[AssistantText] | type[Thinking]]] = {
    "text": AssistantText,
    "thinking": Thinking,
}


@dataclass
class _Block:
    kind: str
    shown: bool = False


class TextStream:
    """The streamed items of one run. Item ids are `{message id}:{block index}`.

    `message_id` is the message that streams now.
    """

    def __init__(self) -> None:
        self.message_id = ""
        self._open: dict[int, _Block] = {}
        self._used: dict[str, int] = {}

    def event(self, event: Json) -> list[EventBody]:
        """Bodies of one stream event of the main conversation."""
        index = int_of(event, "index") or 0
        match text_of(event, "type"):
            case "content_block_start":
                self._open[index] = _Block(text_of(object_of(event, "content_block"), "type"))
                self._used[self.message_id] = max(index + 1, self._used.get(self.message_id, 0))
            case "content_block_delta":
                return self._delta(index, object_of(event, "delta"))
        return []

    def whole(self, message_id: str, block: Json) -> list[EventBody]:
        """The final of a finished text or thinking block; nothing for one that is empty."""
        kind = text_of(block, "type")
        index, shown = self._claim(message_id, kind)
        text = text_of(block, kind)
        if not text and not shown:
            return []
        return [_STREAMED[kind](item_id=_item_id(message_id, index), text=text, final=True)]

    def pass_over(self, message_id: str, kind: str) -> None:
        """A finished block that is shown in another way still takes its index."""
        self._claim(message_id, kind)

    def _claim(self, message_id: str, kind: str) -> tuple[int, bool]:
        if message_id == self.message_id:
            for index, block in self._open.items():
                if block.kind == kind:
                    del self._open[index]
                    return index, block.shown
        index = self._used.get(message_id, 0)
        self._used[message_id] = index + 1
        return index, False

    def turn_to(self, message_id: str) -> list[EventBody]:
        """Another message is next: what of the last one was shown and not finished must go.

        A final without text takes it away, so that nothing is shown twice.
        """
        bodies: list[EventBody] = [
            _STREAMED[block.kind](item_id=_item_id(self.message_id, index), text="", final=True)
            for index, block in self._open.items()
            if block.shown
        ]
        self.message_id = message_id
        self._open = {}
        return bodies

    def _delta(self, index: int, delta: Json) -> list[EventBody]:
        block = self._open.get(index)
        if block is None or block.kind not in _STREAMED:
            return []
        piece = text_of(delta, block.kind)
        if not piece or text_of(delta, "type") != f"{block.kind}_delta":
            return []
        block.shown = True
        return [_STREAMED[block.kind](item_id=_item_id(self.message_id, index), delta=piece)]


def _item_id(message_id: str, index: int) -> str:
    return sound_id(f"{message_id}:{index}")
