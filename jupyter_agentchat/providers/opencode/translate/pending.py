"""The asks of one run that wait for an answer, those of its subagents included. Pure."""

from __future__ import annotations

from ....protocol.events import AskResolved, EventBody
from ..wire import Json, object_of, text_of
from .asks import OpenAsk, arguments_of, permission_ask, question_ask
from .parts import Parts
from .places import Places


class Pending:
    """`open` holds what waits; whoever answers takes it out. Each ask is told once."""

    def __init__(self, parts: Parts, places: Places) -> None:
        self.open: dict[str, OpenAsk] = {}
        self.new: list[Json] = []
        """Permissions that were just asked for and may be answered without a person."""
        self._parts = parts
        self._places = places
        self._seen: set[str] = set()

    def permission(self, asked: Json, directory: str) -> list[EventBody]:
        """A `permission.asked`. It may come before the call's own input."""
        if not self._is_new(asked):
            return []
        call = self._parts.call(asked)
        bodies: list[EventBody] = []
        if call is not None:
            call.asked_patch = text_of(object_of(asked, "metadata"), "diff")
            session = text_of(asked, "sessionID")
            bodies += self._parts.announce(call, arguments_of(asked), session)
        name, tool_id = (call.name, call.tool_id) if call else ("", None)
        opened = permission_ask(asked, directory, name, tool_id, self._places)
        self.open[text_of(asked, "id")] = opened
        self.new.append(asked)
        return [*bodies, opened.ask]

    def question(self, asked: Json, directory: str) -> list[EventBody]:
        """A `question.asked`."""
        if not self._is_new(asked):
            return []
        call = self._parts.call(asked)
        bodies = self._parts.announce(call, {}, text_of(asked, "sessionID")) if call else []
        opened = question_ask(asked, directory, call.tool_id if call else None)
        self.open[text_of(asked, "id")] = opened
        return [*bodies, opened.ask]

    def withdraw(self, ask_id: str) -> list[EventBody]:
        """opencode waits no more; nothing to say when it was answered by us."""
        if self.open.pop(ask_id, None) is None:
            return []
        return [AskResolved(ask_id=ask_id, decision="withdrawn")]

    def withdraw_others(self, kind: str, waiting: set[str]) -> list[EventBody]:
        """Of this kind only these wait."""
        gone = [
            ask_id
            for ask_id, opened in self.open.items()
            if opened.ask.kind == kind and ask_id not in waiting
        ]
        return [body for ask_id in gone for body in self.withdraw(ask_id)]

    def _is_new(self, asked: Json) -> bool:
        ask_id = text_of(asked, "id")
        if not ask_id or ask_id in self._seen:
            return False
        self._seen.add(ask_id)
        return True
