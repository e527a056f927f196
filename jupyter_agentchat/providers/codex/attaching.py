"""Decides, for a run of an earlier server, whether its prompt ever arrived."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Final

from ...errors import AgentChatError, ProviderError
from ...process.jsonrpc import RpcError
from ...protocol.resources import RunRequest
from .inbox import Inbox
from .link import CodexLink
from .threads import SETTLE_S
from .wire import Json, objects_of, text_of

_TURNS: Final = 5
_log = logging.getLogger(__name__)


async def catch_up(
    link: CodexLink, inbox: Inbox, request: RunRequest, send: Callable[[], Awaitable[None]]
) -> None:
    """Know what became of the prompt; send it when Codex has no trace of it.

    The answers to later requests may overtake its own (seen), so that it is given some time.
    What then goes wrong ends the run, by its inbox.
    """
    await link.caught_up()
    try:
        async with asyncio.timeout(SETTLE_S):
            await inbox.taken.wait()
    except TimeoutError:
        pass
    if inbox.taken.is_set():
        return
    try:
        if not await _has_turn(link, inbox, request):
            _log.info("run=%s: its prompt never arrived; sending it again", request.run_id)
            await send()
    except AgentChatError as error:
        failure = error if isinstance(error, ProviderError) else ProviderError(error.message)
        inbox.fail(failure)


async def _has_turn(link: CodexLink, inbox: Inbox, request: RunRequest) -> bool:
    """Whether the thread has a turn with this run's mark: its lines are in the output, or come."""
    thread_id = inbox.facts.thread_id
    if thread_id is None:
        return False
    params: Json = {
        "threadId": thread_id,
        "limit": _TURNS,
        "sortDirection": "desc",
        "itemsView": "full",
    }
    try:
        answer = await link.request("thread/turns/list", params)
    except RpcError as error:
        _log.info("run=%s: no list of turns: %s", request.run_id, error)
        return False
    return any(is_turn_of(turn, request.run_id) for turn in objects_of(answer, "data"))


def is_turn_of(turn: Json, run_id: str) -> bool:
    """Whether a turn began with this run's prompt."""
    return any(
        text_of(item, "type") == "userMessage" and text_of(item, "clientId") == run_id
        for item in objects_of(turn, "items")
    )
