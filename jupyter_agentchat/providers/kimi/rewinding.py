"""Cuts runs from a conversation with Kimi Code's own undo, one turn after the other.

It takes messages back and leaves files alone (measured), so that files are put back from our own
checkpoints. A turn that somebody else's program began on the conversation is never cut with ours:
the hub then goes on with a transcript.
"""

from __future__ import annotations

import logging
import uuid
from typing import Final

from ...protocol.resources import RunRequest
from ..base import RunContext
from .api import KimiApi, KimiRefused
from .servers import Servers
from .translate import prompt_id
from .wire import object_of, objects_of, text_of

_OURS: Final = prompt_id("")
_log = logging.getLogger(__name__)


class KimiRewinder:
    """Implements `base.Rewinder`."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers

    async def rewind(
        self, request: RunRequest, context: RunContext, cut_run_ids: list[str]
    ) -> bool:
        """See `base.Rewinder.rewind`. A run whose prompt never arrived needs no cut."""
        session_id = request.provider_session_id
        if session_id is None or request.fork or not cut_run_ids:
            return False
        owner = f"rewind-{uuid.uuid4().hex}"
        link = await self._servers.hold(owner)
        try:
            return await _cut(link.api, session_id, [prompt_id(run_id) for run_id in cut_run_ids])
        except KimiRefused as refused:
            _log.info("chat=%s: no undo: %s", request.chat_id, refused)
            return False
        finally:
            self._servers.release(owner)

    async def preview_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.preview_files`: Kimi Code does not put files back."""
        return []

    async def restore_files(
        self, request: RunRequest, context: RunContext, first_cut_run_id: str
    ) -> list[str]:
        """See `base.Rewinder.restore_files`: Kimi Code does not put files back."""
        return []


async def _cut(api: KimiApi, session_id: str, prompts: list[str]) -> bool:
    turns = await _turns(api, session_id)
    while (first := _first_of(turns, prompts)) is not None:
        if any(named and not named.startswith(_OURS) for named in turns[first:]):
            return False
        await api.on_session(session_id, "POST", ":undo", {"count": 1})
        left = await _turns(api, session_id)
        if len(left) >= len(turns):
            return False
        turns = left
    return True


async def _turns(api: KimiApi, session_id: str) -> list[str]:
    """The prompt of each of the newest turns, oldest first; "" for one that nobody asked for."""
    await api.on_session(session_id, "GET", "/status")  # loads it
    data = await api.on_session(
        session_id, "GET", "/transcript", query={"agent_id": "main", "page_size": "100"}
    )
    return [
        text_of(item, "triggerPromptId")
        for item in objects_of(data, "items")
        if text_of(item, "kind") == "turn" or object_of(item, "turn")
    ]


def _first_of(turns: list[str], prompts: list[str]) -> int | None:
    """Where the first turn stands that a prompt of `prompts`, or a message steered into its run,
    began."""
    for index, named in enumerate(turns):
        if any(named == one or named.startswith(f"{one}-") for one in prompts):
            return index
    return None
