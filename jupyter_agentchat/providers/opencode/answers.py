"""Answers to what opencode asks: a person's, and those that a chat's permission gives by itself."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from pydantic import JsonValue

from ...errors import AlreadyResolved, ProviderError
from ...process.loopback import HttpRefused
from ...protocol.resources import AskAnswer
from .link import OpencodeLink
from .permissions import READ_ONLY
from .translate.asks import OpenAsk, reply_to

_NOT_FOUND: Final = 404
_LATE: Final = "opencode does not wait for this answer any more."


class Answers:
    """The asks of one run that wait, `waiting`, by their ids."""

    def __init__(self, link: OpencodeLink, waiting: dict[str, OpenAsk]) -> None:
        self._link = link
        self._waiting = waiting

    async def give(self, ask_id: str, answer: AskAnswer) -> None:
        """Pass a person's answer on. Raises AlreadyResolved when opencode waits no more,
        ProviderError: then it may be given again."""
        opened = self._waiting.pop(ask_id, None)
        if opened is None:
            raise AlreadyResolved(_LATE)
        end, body = reply_to(opened, answer)
        kind = "question" if opened.count else "permission"
        try:
            await self._reply(kind, opened, end, body)
        except ProviderError:
            self._waiting[ask_id] = opened
            raise

    async def give_by_itself(self, opened: OpenAsk, *, allowed: bool) -> None:
        """Answer a permission without a person. Raises nothing: what opencode does not hear of us
        it asks again, or its end comes through the feed."""
        body: JsonValue = {"reply": "once"}
        if not allowed:
            body = {"reply": "reject", "message": READ_ONLY}
        with suppress(ProviderError, AlreadyResolved):
            await self._reply("permission", opened, "reply", body)

    async def _reply(self, kind: str, opened: OpenAsk, end: str, body: JsonValue) -> None:
        path = f"/{kind}/{opened.ask.ask_id}/{end}"
        try:
            await self._link.call("POST", path, directory=opened.directory, body=body)
        except HttpRefused as refused:
            if refused.http_status == _NOT_FOUND:
                raise AlreadyResolved(_LATE) from refused
            raise
