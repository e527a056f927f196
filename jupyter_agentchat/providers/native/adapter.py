"""The adapter for any program that speaks the native agent protocol: one process per chat."""

from __future__ import annotations

import asyncio
import logging
import uuid
from pathlib import Path

from ...errors import NotInstalled, ProcessExited, ProviderError
from ...process.ladder import Ladder
from ...process.tasks import TaskOwner
from ...protocol.native import OpRun
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ...protocol.words import PERMISSIONS, Mode
from ..base import AdapterContext, AgentRun, RunContext, Scope
from .child import NativeChild
from .launch import NativeAgent, build_spawn
from .run import NativeRun

_log = logging.getLogger(__name__)

MODES: list[Mode] = ["chat", "plan", "code", "review", "debug", "full_auto"]

_PROBE_HELLO_S = 3.0
_PROBE_LADDER = Ladder(0.5, 0.5, 0.5)


class NativeAdapter:
    """Implements `base.Adapter` for one `NativeAgent`.

    A chat's process is kept between its runs until it was idle for the context's time-out. One that
    died meanwhile is replaced without a word.
    """

    scope = Scope.CHAT

    def __init__(self, context: AdapterContext, agent: NativeAgent) -> None:
        self.id = agent.id
        self.name = agent.name
        self._agent = agent
        self._context = context
        self._children: dict[str, NativeChild] = {}
        self._tasks = TaskOwner(f"native {agent.id}")

    async def probe(self) -> Provider:
        """See `Adapter.probe`: starts the program and reads its hello."""
        try:
            child = await self._open(self._context.scratch, _PROBE_HELLO_S)
        except NotInstalled as error:
            return self._provider("missing", error)
        except ProviderError as error:
            return self._provider("error", error)
        await child.stop(_PROBE_LADDER)
        return self.describe().model_copy(
            update={
                "state": "ready",
                "available": True,
                "version": child.hello.version or None,
                "models": child.hello.models,
                "features": child.hello.features,
            }
        )

    def describe(self) -> Provider:
        """What is known without starting anything."""
        return Provider(
            id=self.id,
            name=self.name,
            description=self._agent.description,
            modes=MODES,
            permissions=list(PERMISSIONS),
        )

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `Adapter.loads`: nothing that we know of."""
        return []

    async def start(self, request: RunRequest, context: RunContext) -> AgentRun:
        """See `Adapter.start`."""
        child = await self._wake(request)
        if child is not None:
            try:
                return await self._begin(child, request)
            except ProcessExited as error:
                # it died while idle; nothing of the prompt can have been worked on
                _log.info("chat=%s: starting %s anew: %s", request.chat_id, self.id, error)
        child = await self._open(Path(request.cwd), self._agent.hello_s)
        return await self._begin(child, request)

    async def close_chat(self, chat_id: str) -> None:
        """See `Adapter.close_chat`."""
        child = self._children.pop(chat_id, None)
        if child is not None:
            await child.stop()

    async def close(self) -> None:
        """See `Adapter.close`."""
        await asyncio.gather(*(self.close_chat(chat_id) for chat_id in list(self._children)))
        await self._tasks.close()

    async def _wake(self, request: RunRequest) -> NativeChild | None:
        """The chat's warm process, if it can take this run; otherwise it is ended."""
        child = self._children.get(request.chat_id)
        if child is None:
            return None
        if await child.wake() and child.cwd == request.cwd and not request.fork:
            return child
        await self.close_chat(request.chat_id)
        return None

    async def _open(self, cwd: Path, hello_s: float) -> NativeChild:
        """Start a process and greet it. On any failure, cancel included, it is stopped."""
        spawn = build_spawn(
            self._agent,
            self._context.settings,
            self._context.environment,
            cwd=cwd,
            child_id=uuid.uuid4().hex,
        )
        handle = await self._context.launcher.spawn(spawn)
        child = NativeChild(handle, self._agent.ladder, name=self.name, cwd=str(cwd))
        try:
            await child.greet(hello_s)
        except BaseException:
            await self._abandon(child)
            raise
        return child

    async def _begin(self, child: NativeChild, request: RunRequest) -> NativeRun:
        child.busy = True
        try:
            await child.send(OpRun(request=request))
        except BaseException:
            await self._abandon(child)
            raise
        self._children[request.chat_id] = child

        def on_gone() -> None:
            if self._children.get(request.chat_id) is child:
                del self._children[request.chat_id]

        def on_end() -> None:
            child.rest(self._tasks, self._context.idle_timeout_s, on_gone)

        return NativeRun(self._agent, child, request, self._tasks, on_end)

    async def _abandon(self, child: NativeChild) -> None:
        """Stop a process whose start failed; goes on when the caller is cancelled meanwhile."""
        stopping = self._tasks.spawn(child.stop(_PROBE_LADDER), name="abandon")
        await asyncio.shield(stopping)

    def _provider(self, state: str, error: ProviderError) -> Provider:
        return self.describe().model_copy(
            update={
                "state": state,
                "reason": error.message,
                "install_hint": self._agent.install_hint or error.hint,
            }
        )
