"""The adapter for Claude Code: one process per chat, kept warm between its runs."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Final

from ...errors import NotInstalled, ProviderError, Unsupported
from ...process.launcher import Spawn
from ...process.tasks import TaskOwner
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, RunContext, Scope
from .inbox import Inbox
from .launch import (
    Fixed,
    Live,
    SessionStart,
    arguments,
    environment,
    fixed_settings,
    live_settings,
    may_bypass_permissions,
    session_start,
)
from .loads import project_loads
from .models import ALIASES, models_of
from .probe import NAME, missing_provider, probe_program
from .program import find_program
from .prompts import prompt_uuid, user_line
from .run import ClaudeRun
from .session import FORCED, ClaudeSession
from .translate import PROVIDER, Turn
from .wire import Json

_CLOSE_TIMEOUT_S: Final = 5.0
_log = logging.getLogger(__name__)


class ClaudeAdapter:
    """Implements `base.Adapter`. The chat's process keeps its conversation from run to run.

    It is started anew, resuming the conversation, when the run needs what a process cannot change
    (trust, tools that are taken away), after an idle time, or when it has died.
    """

    id = PROVIDER
    name = NAME
    scope = Scope.CHAT

    def __init__(self, context: AdapterContext) -> None:
        self._context = context
        self._environment = environment(context.environment, context.settings)
        self._is_root = os.geteuid() == 0
        self._may_bypass = may_bypass_permissions(self._environment, is_root=self._is_root)
        self._models = list(ALIASES)
        self._sessions: dict[str, ClaudeSession] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._idle: dict[str, asyncio.Task[None]] = {}
        self._tasks = TaskOwner(PROVIDER)

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`."""
        settings = self._context.settings
        try:
            command = await asyncio.to_thread(find_program, settings, self._context.environment)
        except NotInstalled as error:
            return missing_provider(error)
        return await probe_program(
            command,
            self._context.launcher,
            self._environment,
            self._context.scratch,
            self._models,
            is_root=self._is_root and not self._may_bypass,
        )

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(directory, top)

    async def start(self, request: RunRequest, context: RunContext) -> ClaudeRun:
        """See `base.Adapter.start`."""
        may_bypass = self._may_bypass
        fixed = fixed_settings(request, trusted=context.trusted, may_bypass=may_bypass)
        live = live_settings(request, self._context.settings, may_bypass=may_bypass)
        opening = session_start(request, context.first_session_id)
        async with self._locks.setdefault(request.chat_id, asyncio.Lock()):
            session = await self._session(request.chat_id, fixed, live, opening)
            inbox = await self._prompt(request, session)

        async def reopen() -> tuple[ClaudeSession, Inbox]:
            anew = SessionStart("new", opening.session_id)
            async with self._locks.setdefault(request.chat_id, asyncio.Lock()):
                again = await self._open(request.chat_id, fixed, live, anew)
                return again, await self._prompt(request, again)

        return ClaudeRun(
            session,
            inbox,
            Turn(prompt_uuid(request.run_id), request.cwd),
            mode=request.mode,
            permission=request.permission,
            on_end=lambda ended: self._rest(request.chat_id, ended),
            reopen=reopen if context.never_completed and opening.kind == "resume" else None,
        )

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`."""
        self._stay_awake(chat_id)
        session = self._sessions.pop(chat_id, None)
        if session is not None:
            await session.stop(FORCED if session.abandoned else replace(FORCED, eof_s=5.0))

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.stop() for session in sessions))
        await self._tasks.close(_CLOSE_TIMEOUT_S)

    async def _session(
        self, chat_id: str, fixed: Fixed, live: Live, opening: SessionStart
    ) -> ClaudeSession:
        """The chat's process, ready for a prompt: the warm one where it fits, else a new one."""
        self._stay_awake(chat_id)
        warm = self._sessions.get(chat_id)
        if warm is not None:
            fits = warm.fixed == fixed and opening.kind == "resume"
            if fits and warm.reusable and warm.session_id == opening.session_id:
                try:
                    await warm.apply(live)
                except (ProviderError, Unsupported) as error:
                    _log.info("chat=%s: starting Claude Code anew: %s", chat_id, error)
                else:
                    return warm
            # never two processes on one conversation: its history would fork without a word
            await warm.stop(FORCED if warm.abandoned else replace(FORCED, eof_s=5.0))
            if self._sessions.get(chat_id) is warm:
                del self._sessions[chat_id]
        return await self._open(chat_id, fixed, live, opening)

    async def _open(
        self, chat_id: str, fixed: Fixed, live: Live, opening: SessionStart
    ) -> ClaudeSession:
        cwd = Path(fixed.cwd)
        settings = self._context.settings
        command = await asyncio.to_thread(
            find_program, settings, self._context.environment, not_below=cwd
        )
        argv = [*command, *arguments(fixed, live, opening)]
        child_id = f"claude-{uuid.uuid4().hex}"
        handle = await self._context.launcher.spawn(Spawn(argv, cwd, self._environment, child_id))
        session = ClaudeSession(
            handle, fixed, live, opening, self._tasks, on_initialized=self._initialized
        )
        self._sessions[chat_id] = session
        try:
            await session.open()
        except BaseException:
            await self._discard(chat_id, session)
            raise
        return session

    async def _prompt(self, request: RunRequest, session: ClaudeSession) -> Inbox:
        inbox = Inbox(prompt_uuid(request.run_id))
        session.attach(inbox)
        try:
            await session.send(user_line(request))
        except BaseException:
            session.detach(inbox)
            await self._discard(request.chat_id, session)
            raise
        return inbox

    async def _discard(self, chat_id: str, session: ClaudeSession) -> None:
        if self._sessions.get(chat_id) is session:
            del self._sessions[chat_id]
        await session.stop(FORCED)

    def _initialized(self, answer: Json) -> None:
        self._models = models_of(answer) or self._models

    def _rest(self, chat_id: str, session: ClaudeSession) -> None:
        """A run is over: end its process when no other follows in time."""
        if self._sessions.get(chat_id) is session:
            self._stay_awake(chat_id)
            self._idle[chat_id] = self._tasks.spawn(
                self._expire(chat_id, session), name=f"idle {chat_id}"
            )

    def _stay_awake(self, chat_id: str) -> None:
        task = self._idle.pop(chat_id, None)
        if task is not None:
            task.cancel()

    async def _expire(self, chat_id: str, session: ClaudeSession) -> None:
        await asyncio.sleep(self._context.idle_timeout_s)
        async with self._locks.setdefault(chat_id, asyncio.Lock()):
            if self._sessions.get(chat_id) is session:
                del self._sessions[chat_id]
                self._idle.pop(chat_id, None)
                await session.stop()
