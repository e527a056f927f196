"""Ends what a chat's agent keeps warm, whatever the adapter does meanwhile."""

from __future__ import annotations

import asyncio
import logging
from typing import Protocol

from ..errors import AgentChatError

log = logging.getLogger(__name__)


class ClosesChats(Protocol):
    """The part of the provider registry that is needed here."""

    async def close_chat(self, chat_id: str) -> None: ...


async def end_agent(agents: ClosesChats, chat_id: str, *, timeout_s: float) -> None:
    """Waits `timeout_s` seconds at most. A failure is logged, never raised."""
    try:
        async with asyncio.timeout(timeout_s):
            await agents.close_chat(chat_id)
    except (AgentChatError, TimeoutError) as error:
        log.info("chat=%s: its agent was not closed: %s", chat_id, error or "time-out")
    except Exception:
        log.exception("chat=%s: its agent was not closed", chat_id)
