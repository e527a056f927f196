"""Turns that Codex begins by itself in a chat's thread: shown as runs of their own, or stopped."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Final

from ...errors import ProviderError
from ...process.tasks import TaskOwner
from ...protocol.resources import RunRequest
from ..base import AdapterContext, AgentRun, ChildMark, RunContext
from ..shared_child import SharedChildren
from .inbox import Inbox
from .link import CodexLink
from .wire import Json

_log = logging.getLogger(__name__)
MakeRun = Callable[[CodexLink, RunRequest, Inbox], AgentRun]


class UnaskedTurns:
    """Offers them to the hub. `chat_of` says whose thread it is; `make` makes the run."""

    def __init__(
        self,
        context: AdapterContext,
        tasks: TaskOwner,
        *,
        key: str,
        children: Callable[[], SharedChildren[CodexLink]],
        chat_of: Callable[[str], str | None],
        make: MakeRun,
    ) -> None:
        self._context = context
        self._tasks = tasks
        self._key: Final = key
        self._children = children
        self._chat_of = chat_of
        self._make = make

    def began(self, link: CodexLink, thread_id: str, turn_id: str, start: int) -> None:
        """A turn began; its first line stands at `start` in the output."""
        chat_id = self._chat_of(thread_id)
        if chat_id is not None:
            offer = self._offer(link, chat_id, thread_id, turn_id, start)
            self._tasks.spawn(offer, name=f"unasked turn {turn_id}")

    async def _offer(
        self, link: CodexLink, chat_id: str, thread_id: str, turn_id: str, start: int
    ) -> None:
        begin = partial(self._begin, thread_id, start)
        if await self._context.begin_unasked(chat_id, begin):
            return
        if link.router.owner(thread_id) is not None:
            return  # the chat's next run has taken it up
        _log.info("chat=%s: stopping turn %s, which nobody asked for", chat_id, turn_id)
        params: Json = {"threadId": thread_id, "turnId": turn_id}
        try:
            await link.request("turn/interrupt", params)
        except ProviderError as error:
            _log.info("chat=%s: %s", chat_id, error)

    async def _begin(
        self, thread_id: str, start: int, request: RunRequest, context: RunContext
    ) -> AgentRun:
        children = self._children()
        link = await children.hold(self._key, request.run_id, first=start)
        inbox = link.router.open(request.run_id, start, thread_id)
        try:
            await context.on_child(ChildMark(link.handle.child_id, start))
        except BaseException:
            link.router.close(request.run_id)
            children.release(request.run_id)
            raise
        return self._make(link, request, inbox)
