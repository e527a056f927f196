"""Cuts runs from a thread: Codex reverts it to before the turn that the first of them began.

Files stay as they are: Codex keeps no checkpoints of them.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from ...errors import SessionRejected
from ...process.jsonrpc import RpcError
from ...protocol.resources import RunRequest
from ..base import RunContext
from .attaching import is_turn_of
from .inbox import Inbox
from .link import CodexLink
from .threads import Threads
from .wire import Json, objects_of, text_of

_PAGE: Final = 50
_PAGES: Final = 40
_log = logging.getLogger(__name__)

Borrow = Callable[[str], Awaitable[tuple[CodexLink, Callable[[], None]]]]


class CodexRewinder:
    """Implements `base.Rewinder`. A turn is found by the mark that our prompt left in it."""

    def __init__(self, threads: Threads, borrow: Borrow) -> None:
        self._threads = threads
        self._borrow = borrow

    async def rewind(
        self, request: RunRequest, context: RunContext, cut_run_ids: list[str]
    ) -> bool:
        """See `base.Rewinder.rewind`. A run that never became a turn needs no cut."""
        thread_id = request.provider_session_id
        if thread_id is None or not cut_run_ids:
            return False
        user = f"rewind {request.run_id}"
        link, give_back = await self._borrow(user)
        inbox: Inbox | None = None
        try:
            if link.router.owner(thread_id) is not None:
                return False  # a run goes on in it
            opening = request.model_copy(update={"run_id": user})
            inbox = link.router.open(user, link.handle.position, thread_id)
            await self._threads.open(link, opening, inbox, trusted=context.trusted)
            return await _cut(link, thread_id, cut_run_ids)
        except (RpcError, SessionRejected) as error:
            _log.info("chat=%s: no rewind: %s", request.chat_id, error)
            return False
        finally:
            if inbox is not None:
                inbox.close()
                link.router.close(user)
            give_back()

    async def preview_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.preview_files`: none."""
        return []

    async def restore_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.restore_files`: none."""
        return []


async def _cut(link: CodexLink, thread_id: str, cut_run_ids: list[str]) -> bool:
    turn_id = await _first_turn(link, thread_id, cut_run_ids)
    if turn_id:
        params: Json = {"threadId": thread_id, "beforeTurnId": turn_id}
        await link.request("thread/revert", params)
    return turn_id is not None


async def _first_turn(link: CodexLink, thread_id: str, cut_run_ids: list[str]) -> str | None:
    """The oldest turn of the runs; "" when the thread has none of them.

    None when that cannot be told: a turn without a mark (a review, a compaction) stands where the
    cut would be, or the thread is too long to be read.
    """
    oldest, below_is_marked = "", None
    cursor: str | None = None
    for _ in range(_PAGES):
        params: Json = {
            "threadId": thread_id,
            "limit": _PAGE,
            "sortDirection": "desc",
            "itemsView": "summary",
            "cursor": cursor,
        }
        answer = await link.request("thread/turns/list", params)
        for turn in objects_of(answer, "data"):
            if is_turn_of(turn, cut_run_ids[0]):
                return text_of(turn, "id")
            if any(is_turn_of(turn, run_id) for run_id in cut_run_ids):
                oldest, below_is_marked = text_of(turn, "id"), None
            elif below_is_marked is None:
                below_is_marked = _is_marked(turn)
        cursor = text_of(answer, "nextCursor") or None
        if cursor is None:
            return None if below_is_marked is False else oldest
    return None


def _is_marked(turn: Json) -> bool:
    return any(text_of(item, "clientId") for item in objects_of(turn, "items"))
