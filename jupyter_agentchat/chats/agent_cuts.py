"""Agents that cut their own conversation: who can, and what becomes of the others' processes."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

from ..errors import AgentChatError
from ..protocol.resources import RunRequest
from ..providers.base import Adapter, Rewinder, RunContext
from ..store.base import ChatRecord, Store
from .agent_end import ClosesChats, end_agent
from .cuts import Cut, holds_session
from .plans import run_request
from .service import ChatService

log = logging.getLogger(__name__)

CUT_DEADLINE_S: Final = 30.0
CLOSE_DEADLINE_S: Final = 10.0


class Agents(ClosesChats, Protocol):
    """The part of the provider registry that is needed here."""

    async def adapter(self, provider_id: str) -> Adapter: ...


@dataclass(frozen=True, slots=True)
class NativeCut:
    """The agent of the chat can cut its own conversation."""

    provider: str
    rewinder: Rewinder
    request: RunRequest
    context: RunContext
    runs: list[str]


class AgentCuts:
    """See the module."""

    def __init__(
        self,
        store: Store,
        chats: ChatService,
        agents: Agents,
        trusted: Callable[[str, ChatRecord], Awaitable[bool]],
    ) -> None:
        self._store = store
        self._chats = chats
        self._agents = agents
        self._trusted = trusted

    async def find(self, record: ChatRecord, username: str, cut: Cut) -> NativeCut | None:
        """How the chat's agent cuts its conversation itself; None where it cannot, or where
        nothing of that conversation would be left."""
        chat = record.chat
        provider = chat.provider or ""
        session_id = chat.sessions.get(provider)
        runs = cut.runs_of.get(provider)
        if session_id is None or not runs or provider in chat.fork_pending:
            return None
        try:
            rewinder = (await self._agents.adapter(provider)).rewinder
            if rewinder is None or not await holds_session(
                self._store, chat.id, provider, session_id, cut.from_seq
            ):
                return None
            trusted = await self._trusted(username, record)
            directory = self._chats.projects.directory(record)
        except AgentChatError as error:
            log.info("chat=%s: no native rewind: %s", chat.id, error)
            return None
        request = run_request(
            self._chats.projects,
            record,
            directory,
            permission=self._chats.effective(record),
            session_id=session_id,
        )
        return NativeCut(provider, rewinder, request, RunContext(trusted, str(uuid.uuid4())), runs)

    async def cut(self, native: NativeCut) -> bool | None:
        """Whether the agent has cut; None when that is not known. Raises nothing."""
        try:
            async with asyncio.timeout(CUT_DEADLINE_S):
                return await native.rewinder.rewind(native.request, native.context, native.runs)
        except (AgentChatError, TimeoutError) as error:
            log.info("chat=%s: no native rewind: %s", native.request.chat_id, error or "time-out")
        except Exception:
            log.exception("chat=%s: no native rewind", native.request.chat_id)
        return None

    async def close(self, chat_id: str) -> None:
        """A warm process would still know what was cut."""
        await end_agent(self._agents, chat_id, timeout_s=CLOSE_DEADLINE_S)
