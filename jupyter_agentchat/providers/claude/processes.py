"""The chats' processes: at most one each, kept warm between runs, started anew when need be."""

from __future__ import annotations

import asyncio
import logging
import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from ...errors import ChildGone, ProviderError, Unsupported
from ...process.ladder import Ladder
from ...process.launcher import Handle, Spawn
from ...process.tasks import TaskOwner
from ...protocol.resources import RunRequest
from ..base import AdapterContext, ChildMark, RunContext
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
from .mcp import ConfigFiles
from .program import find_program
from .session import FORCED, ClaudeSession
from .unhosted import LeftBehind
from .wire import Json

_CLOSE_TIMEOUT_S: Final = 5.0
_log = logging.getLogger(__name__)


@runtime_checkable
class Attaching(Protocol):
    """A launcher whose children outlive their server."""

    async def attach(self, child_id: str, *, offset: int = 0) -> Handle:
        """A child of an earlier server, its output from `offset` on. Raises ChildGone."""
        ...


class Wanted:
    """What a run wants of its process. Raises ProviderError for what cannot be passed on."""

    def __init__(
        self, request: RunRequest, context: RunContext, of: AdapterContext, *, may_bypass: bool
    ) -> None:
        self.fixed: Fixed = fixed_settings(request, trusted=context.trusted, may_bypass=may_bypass)
        self.live: Live = live_settings(request, of.settings, may_bypass=may_bypass)
        self.opening: SessionStart = session_start(request, context.first_session_id)


class Processes:
    """One process per chat. Whoever opens, uses or ends a chat's process holds its `lock`.

    Never two on one conversation: its history would fork without a word.
    """

    def __init__(
        self,
        context: AdapterContext,
        tasks: TaskOwner,
        on_initialized: Callable[[Fixed, Json], None],
        on_unasked: Callable[[str, ClaudeSession], None],
    ) -> None:
        """`on_unasked(chat_id, session)`: the CLI works, and no run takes part."""
        self.environment = environment(context.environment, context.settings)
        self.is_root = os.geteuid() == 0
        self.may_bypass = may_bypass_permissions(self.environment, is_root=self.is_root)
        self._context = context
        self._tasks = tasks
        self._on_initialized = on_initialized
        self._on_unasked = on_unasked
        self._config_files = ConfigFiles(context.scratch)
        self._sessions: dict[str, ClaudeSession] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._idle: dict[str, asyncio.Task[None]] = {}

    def lock(self, chat_id: str) -> asyncio.Lock:
        """The lock of a chat's process."""
        return self._locks.setdefault(chat_id, asyncio.Lock())

    def wanted(self, request: RunRequest, context: RunContext) -> Wanted:
        """What `request` wants of its process."""
        return Wanted(request, context, self._context, may_bypass=self.may_bypass)

    def busy(self, chat_id: str) -> bool:
        """Whether a run goes on in the chat's process: nothing else may be done with it then."""
        session = self._sessions.get(chat_id)
        return session is not None and session.busy

    async def ready(self, chat_id: str, wanted: Wanted) -> ClaudeSession:
        """The chat's process, ready for a prompt: the warm one where it fits, else a new one."""
        self._stay_awake(chat_id)
        warm = self._sessions.get(chat_id)
        if warm is not None:
            if await _fits(warm, wanted):
                return warm
            works = list(warm.work.tasks.values()) if warm.handle.exit is None else []
            await warm.stop(_ladder(warm))
            self._forget(chat_id, warm)
            session = await self.open(chat_id, wanted, wanted.opening)
            session.left_behind = LeftBehind(works, warm.unhosted.messages())
            return session
        return await self.open(chat_id, wanted, wanted.opening)

    async def open(self, chat_id: str, wanted: Wanted, opening: SessionStart) -> ClaudeSession:
        """A new process."""
        cwd = Path(wanted.fixed.cwd)
        settings = self._context.settings
        command = await asyncio.to_thread(
            find_program, settings, self._context.environment, not_below=cwd
        )
        child_id = f"claude-{uuid.uuid4().hex}"
        mcp_file = await self._write_config(child_id, wanted.fixed)
        argv = [*command, *arguments(wanted.fixed, wanted.live, opening, mcp_file)]
        spawn = Spawn(argv, cwd, self.environment, child_id)
        try:
            handle = await self._context.launcher.spawn(spawn)
        except BaseException:
            self._config_files.remove(child_id)
            raise
        session = self._made(chat_id, handle, wanted, opening)
        try:
            await session.open()
        except BaseException:
            await self.discard(chat_id, session)
            raise
        return session

    def resume(self, chat_id: str, session: ClaudeSession) -> None:
        """A run takes part in a turn that the chat's CLI has begun. Raises ChildGone when the
        process, or the turn, is there no more."""
        if self._sessions.get(chat_id) is not session or not session.unhosted.waits:
            raise ChildGone("The turn that Claude Code began by itself is over.")
        self._stay_awake(chat_id)

    async def take_over(self, chat_id: str, wanted: Wanted, mark: ChildMark) -> ClaudeSession:
        """The process that an earlier server started for the chat, dead or alive, not read yet.

        Raises ChildGone.
        """
        launcher = self._context.launcher
        if not isinstance(launcher, Attaching):
            raise ChildGone("Agents end with their server here.")
        handle = await launcher.attach(mark.child_id, offset=mark.first)
        return self._made(chat_id, handle, wanted, wanted.opening)

    async def discard(self, chat_id: str, session: ClaudeSession) -> None:
        """End a process that is of no use."""
        self._forget(chat_id, session)
        self._config_files.remove(session.handle.child_id)
        await session.stop(FORCED)

    def rest(self, chat_id: str, session: ClaudeSession) -> None:
        """A run is over: end its process when no other follows in time."""
        if session.fixed.mcp:
            self._config_files.remove(session.handle.child_id)
        if self._sessions.get(chat_id) is session:
            self._stay_awake(chat_id)
            self._idle[chat_id] = self._tasks.spawn(
                self._expire(chat_id, session), name=f"idle {chat_id}"
            )

    async def close_chat(self, chat_id: str) -> None:
        """End the chat's process."""
        self._stay_awake(chat_id)
        session = self._sessions.pop(chat_id, None)
        if session is not None:
            await session.stop(_ladder(session))

    async def close(self) -> None:
        """End all of them."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.stop() for session in sessions))
        await self._tasks.close(_CLOSE_TIMEOUT_S)

    def _made(
        self, chat_id: str, handle: Handle, wanted: Wanted, opening: SessionStart
    ) -> ClaudeSession:
        def initialized(answer: Json) -> None:
            self._config_files.remove(handle.child_id)
            self._on_initialized(wanted.fixed, answer)

        session = ClaudeSession(
            handle, wanted.fixed, wanted.live, opening, self._tasks, initialized
        )
        session.on_unasked = lambda: self._on_unasked(chat_id, session)
        self._sessions[chat_id] = session
        return session

    async def _write_config(self, child_id: str, fixed: Fixed) -> Path | None:
        if not fixed.mcp:
            return None
        return await asyncio.to_thread(self._config_files.write, child_id, fixed.mcp)

    def _forget(self, chat_id: str, session: ClaudeSession) -> None:
        if self._sessions.get(chat_id) is session:
            del self._sessions[chat_id]

    def _stay_awake(self, chat_id: str) -> None:
        task = self._idle.pop(chat_id, None)
        if task is not None:
            task.cancel()

    async def _expire(self, chat_id: str, session: ClaudeSession) -> None:
        quiet = False
        while not quiet:
            upto = session.handle.position
            await asyncio.sleep(self._context.idle_timeout_s)
            # work in the background would end with it, and so would the turn that follows on it
            busy = session.work or session.handle.position != upto
            quiet = session.handle.exit is not None or not busy
        async with self.lock(chat_id):
            if self._sessions.get(chat_id) is session and not session.busy:
                del self._sessions[chat_id]
                self._idle.pop(chat_id, None)
                await session.stop()


async def _fits(warm: ClaudeSession, wanted: Wanted) -> bool:
    """Whether a warm process can serve; it has the wanted model, effort and mode then."""
    if warm.fixed != wanted.fixed or wanted.opening.kind != "resume":
        return False
    if not warm.reusable or warm.session_id != wanted.opening.session_id:
        return False
    try:
        await warm.apply(wanted.live)
    except (ProviderError, Unsupported) as error:
        _log.info("child=%s: starting Claude Code anew: %s", warm.handle.child_id, error)
        return False
    return True


def _ladder(session: ClaudeSession) -> Ladder:
    return FORCED if session.abandoned else replace(FORCED, eof_s=5.0)
