"""A plan that Codex proposes: an ask where a person is to decide on it, else text. Pure."""

from __future__ import annotations

from ....protocol.events import EventBody
from ..wire import Json, sound_id
from .asks import OpenAsk, open_plan
from .text import TextStream


class Proposal:
    """The newest plan of a run; with `asked_for` it stands in the ask, and not before it, too."""

    def __init__(self, run_id: str, text: TextStream, *, asked_for: bool) -> None:
        self.ask_id = sound_id(f"{run_id}:plan")
        self.turn: Json = {}
        """The turn that ended with it, once it was put to a person."""
        self._stream = text
        self._asked_for = asked_for
        self._key = ""
        self._plan = ""

    def delta(self, key: str, delta: str) -> list[EventBody]:
        """A piece of it."""
        if not self._asked_for:
            return self._stream.answer_delta(key, delta)
        self._plan = self._plan + delta if key == self._key else delta
        self._key = key
        return []

    def whole(self, key: str, text: str) -> list[EventBody]:
        """All of it."""
        if not self._asked_for:
            return self._stream.answer(key, text)
        self._key, self._plan = key, text
        return []

    def put(self, turn: Json) -> OpenAsk:
        """The ask that a person decides on."""
        opened = open_plan(self.ask_id, self._plan)
        self.turn, self._plan = turn, ""
        return opened

    def left(self) -> list[EventBody]:
        """What nobody will be asked about, since its turn did not come to its end."""
        return self._stream.answer(self._key, self._plan) if self._plan else []
