"""The adapter for any program that speaks the native agent protocol: one process per chat."""

from __future__ import annotations

import asyncio
import logging
import uuid
from contextlib import suppress
from pathlib import Path

from ...errors import ChildGone, NotInstalled, ProcessExited, ProviderError
from ...process.ladder import Ladder
from ...process.launcher import Launcher
from ...process.spool import SpoolLauncher
from ...process.tasks import TaskOwner
from ...protocol.native import AgentHello, OpRun
from ...protocol.resources import ProjectLoad, Provider, ProviderFeatures, RunRequest
from ...protocol.words import PERMISSIONS, Mode
from ..base import AdapterContext, AgentRun, ChildMark, RunContext, Scope
from .child import NativeChild
from .launch import NativeAgent, build_spawn
from .run import NativeRun

_log = logging.getLogger(__name__)

MODES: list[Mode] = ["chat", "plan", "code", "review", "debug", "full_auto"]

_PROBE_HELLO_S = 3.0
_LEARN_S = 1.0
_PROBE_LADDER = Ladder(0.5, 0.5, 0.5)


class NativeAdapter:
    """Implements `base.Adapter` for one `NativeAgent`.

    A chat's process is kept between its runs until it was idle for the context's time-out. One that
    died meanwhile is replaced without a word.
    """

    scope = Scope.CHAT
    rewinder = None
    forker = None

    def __init__(self, context: AdapterContext, agent: NativeAgent) -> None:
        self.id = agent.id
        self.name = agent.name
        self._agent = agent
        self._context = context
        self._children: dict[str, NativeChild] = {}
        self._hello: AgentHello | None = None
        self._tasks = TaskOwner(f"native {agent.id}")

    async def probe(self) -> Provider:
        """See `Adapter.probe`: starts the program and reads its hello."""
        try:
            child = await self._open(
                self._context.scratch, _PROBE_HELLO_S, self._context.for_probes
            )
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
                "features": self._features(child.hello.features),
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

    def _features(self, features: ProviderFeatures) -> ProviderFeatures:
        """With what is ours to say: whether its process outlives the server."""
        reattach = isinstance(self._context.launcher, SpoolLauncher)
        return features.model_copy(update={"reattach": reattach})

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `Adapter.loads`: nothing that we know of."""
        return []

    async def start(self, request: RunRequest, context: RunContext) -> AgentRun:
        """See `Adapter.start`."""
        child = await self._wake(request)
        if child is not None:
            try:
                return await self._begin(child, request, context)
            except ProcessExited as error:
                # it died while idle; nothing of the prompt can have been worked on
                _log.info("chat=%s: starting %s anew: %s", request.chat_id, self.id, error)
        launcher = self._context.launcher
        child = await self._open(Path(request.cwd), self._agent.hello_s, launcher)
        return await self._begin(child, request, context)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> AgentRun:
        """See `Adapter.attach`. A run of which nothing is stored is written again, to an agent that
        says of itself (feature `reattach` of its hello) that it begins each run once; of another
        nobody knows whether the prompt has arrived, and it is ended."""
        launcher = self._context.launcher
        if not isinstance(launcher, SpoolLauncher):
            raise ChildGone(f"The process of {self.name} ended with its server.")
        handle = await launcher.attach(mark.child_id, offset=mark.first)
        child = NativeChild(handle, self._agent.ladder, name=self.name, cwd=request.cwd)
        child.busy = True
        if self._hello is not None:
            child.hello = self._hello
        elif mark.stored > mark.first:
            # its own stands before the run and may be gone: another of its kind says the same
            self._tasks.spawn(self._learn(child), name=f"hello {handle.child_id}")
        try:
            if mark.stored <= mark.first:
                await self._run_again(child, request)
        except BaseException:
            await self._abandon(child)
            raise
        return self._run(child, request)

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

    async def _open(self, cwd: Path, hello_s: float, launcher: Launcher) -> NativeChild:
        """Start a process and greet it. On any failure, cancel included, it is stopped."""
        spawn = build_spawn(
            self._agent,
            self._context.settings,
            self._context.environment,
            cwd=cwd,
            child_id=uuid.uuid4().hex,
        )
        handle = await launcher.spawn(spawn)
        child = NativeChild(handle, self._agent.ladder, name=self.name, cwd=str(cwd))
        try:
            await child.greet(hello_s)
        except BaseException:
            await self._abandon(child)
            raise
        self._hello = child.hello
        return child

    async def _begin(
        self, child: NativeChild, request: RunRequest, context: RunContext
    ) -> NativeRun:
        child.busy = True
        handle = child.handle
        try:
            # the runs before this one have their end: nobody will read them again
            handle.settle(handle.position)
            await context.on_child(ChildMark(handle.child_id, handle.position))
            await child.send(OpRun(request=request))
        except BaseException:
            await self._abandon(child)
            raise
        return self._run(child, request)

    def _run(self, child: NativeChild, request: RunRequest) -> NativeRun:
        self._children[request.chat_id] = child

        def on_gone() -> None:
            if self._children.get(request.chat_id) is child:
                del self._children[request.chat_id]

        def on_end() -> None:
            child.rest(self._tasks, self._context.idle_timeout_s, on_gone)

        return NativeRun(self._agent, child, request, self._tasks, on_end)

    async def _run_again(self, child: NativeChild, request: RunRequest) -> None:
        """Write a run that may not have arrived. Raises ChildGone where that could run it twice."""
        if self._hello is None:
            with suppress(TimeoutError):
                async with asyncio.timeout(_LEARN_S):
                    await self._learn(child)
        if not child.hello.features.reattach:
            raise ChildGone(f"Whether {self.name} got the prompt is not known.")
        with suppress(ProcessExited):  # its end comes with its last words
            await child.send(OpRun(request=request))

    async def _learn(self, child: NativeChild) -> None:
        """What the agent can do, for a process whose hello we have not read."""
        await self.probe()
        child.hello = self._hello or child.hello

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
