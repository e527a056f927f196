"""The chats' processes: at most one each, kept warm between runs, started anew when need be."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, runtime_checkable

from pydantic import JsonValue

from ...errors import ChildGone, ProviderError
from ...process.launcher import Handle, Launcher, Spawn
from ...process.tasks import TaskOwner
from ...protocol.resources import RunRequest
from ..base import AdapterContext, ChildMark, RunContext
from .agents import AcpAgent
from .choosing import ChoiceRefused, Live
from .launch import Fixed, build_spawn, fixed_settings
from .opening import Opening
from .run import FORCED
from .session import AcpSession
from .trust import place_files

_CLOSE_TIMEOUT_S: Final = 5.0
_log = logging.getLogger(__name__)


@runtime_checkable
class Attaching(Protocol):
    """A launcher whose children outlive their server."""

    async def attach(self, child_id: str, *, offset: int = 0) -> Handle:
        """A child of an earlier server, its output from `offset` on. Raises ChildGone."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a run wants of its process."""

    fixed: Fixed
    live: Live
    opening: Opening
    mcp: dict[str, JsonValue]


class Processes:
    """One process per chat. Whoever opens, uses or ends a chat's process holds its `lock`.

    `on_opened` is called with each session that has just told what it offers.
    """

    def __init__(
        self,
        context: AdapterContext,
        agent: AcpAgent,
        tasks: TaskOwner,
        on_opened: Callable[[AcpSession], None],
    ) -> None:
        self._context = context
        self._agent = agent
        self._tasks = tasks
        self._on_opened = on_opened
        self._sessions: dict[str, AcpSession] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._idle: dict[str, asyncio.Task[None]] = {}

    def lock(self, chat_id: str) -> asyncio.Lock:
        """The lock of a chat's process."""
        return self._locks.setdefault(chat_id, asyncio.Lock())

    def wanted(self, request: RunRequest, context: RunContext) -> Wanted:
        """What `request` wants of its process."""
        session_id = request.provider_session_id
        if session_id is None:
            opening = Opening("new")
        else:
            opening = Opening("fork" if request.fork else "load", session_id)
        model = request.model or self._context.settings.default_model
        return Wanted(
            fixed_settings(request, trusted=context.trusted),
            Live(None if model == "default" else model, request.effort, request.permission),
            opening,
            dict(request.mcp_servers),
        )

    async def ready(self, chat_id: str, wanted: Wanted) -> AcpSession:
        """The chat's process, ready for a prompt: the warm one where it fits, else a new one."""
        self._stay_awake(chat_id)
        warm = self._sessions.get(chat_id)
        if warm is not None:
            if await _fits(warm, wanted):
                return warm
            self._forget(chat_id, warm)
            await warm.stop(FORCED if warm.abandoned else None)
        return await self._open(chat_id, wanted)

    async def probe(self, directory: Path) -> AcpSession:
        """A process with a fresh conversation in an empty directory, for the caller to stop."""
        fixed = Fixed(str(directory), trusted=False, mcp="")
        session = await self._spawn(fixed, self._context.for_probes)
        try:
            await session.open(Opening("new"), {})
        except BaseException:
            await session.stop(FORCED)
            raise
        return session

    async def take_over(self, chat_id: str, wanted: Wanted, mark: ChildMark) -> AcpSession:
        """The process that an earlier server started for the chat, dead or alive, not read yet.

        Raises ChildGone.
        """
        launcher = self._context.launcher
        if not isinstance(launcher, Attaching):
            raise ChildGone("Agents end with their server here.")
        handle = await launcher.attach(mark.child_id, offset=mark.first)
        session = AcpSession(handle, wanted.fixed, self._agent, self._tasks)
        self._sessions[chat_id] = session
        return session

    async def discard(self, chat_id: str, session: AcpSession) -> None:
        """End a process that is of no use; goes on when the caller is cancelled meanwhile."""
        self._forget(chat_id, session)
        stopping = self._tasks.spawn(session.stop(FORCED), name="discard")
        await asyncio.shield(stopping)

    def rest(self, chat_id: str, session: AcpSession) -> None:
        """A run is over: end its process when no other follows in time."""
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
            await session.stop(FORCED if session.abandoned else None)

    async def close(self) -> None:
        """End all of them."""
        sessions = list(self._sessions.values())
        self._sessions.clear()
        await asyncio.gather(*(session.stop() for session in sessions))
        await self._tasks.close(_CLOSE_TIMEOUT_S)

    async def _open(self, chat_id: str, wanted: Wanted) -> AcpSession:
        session = await self._spawn(wanted.fixed, self._context.launcher)
        self._sessions[chat_id] = session
        try:
            await session.open(wanted.opening, wanted.mcp)
            self._on_opened(session)
            await session.apply(wanted.live)
        except BaseException:
            await self.discard(chat_id, session)
            raise
        return session

    async def _spawn(self, fixed: Fixed, launcher: Launcher) -> AcpSession:
        spawn = await asyncio.to_thread(self._build, fixed)
        handle = await launcher.spawn(spawn)
        return AcpSession(handle, fixed, self._agent, self._tasks)

    def _build(self, fixed: Fixed) -> Spawn:
        files = {} if fixed.trusted else place_files(self._agent, self._context.scratch)
        return build_spawn(
            self._agent,
            self._context.settings,
            self._context.environment,
            cwd=Path(fixed.cwd),
            child_id=f"acp-{uuid.uuid4().hex}",
            trusted=fixed.trusted,
            files=files,
        )

    def _forget(self, chat_id: str, session: AcpSession) -> None:
        if self._sessions.get(chat_id) is session:
            del self._sessions[chat_id]

    def _stay_awake(self, chat_id: str) -> None:
        task = self._idle.pop(chat_id, None)
        if task is not None:
            task.cancel()

    async def _expire(self, chat_id: str, session: AcpSession) -> None:
        await asyncio.sleep(self._context.idle_timeout_s)
        async with self.lock(chat_id):
            if self._sessions.get(chat_id) is session:
                del self._sessions[chat_id]
                self._idle.pop(chat_id, None)
                await session.stop()


async def _fits(warm: AcpSession, wanted: Wanted) -> bool:
    """Whether a warm process can serve; it has the wanted model, effort and mode then.

    Raises ChoiceRefused for what another process would refuse as well.
    """
    if warm.fixed != wanted.fixed or wanted.opening.kind != "load":
        return False
    if not warm.reusable or warm.session_id != wanted.opening.session_id:
        return False
    try:
        await warm.apply(wanted.live)
    except ChoiceRefused:
        if warm.known:
            raise
        return False  # it was taken over, and what it offers is not known
    except ProviderError as error:
        _log.info("child=%s: starting the agent anew: %s", warm.handle.child_id, error)
        return False
    return True
