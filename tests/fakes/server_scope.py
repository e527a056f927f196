"""Adapters whose one process serves every chat, with `scenario_server.py` behind them.

What they show is that the seam carries such agents, over a FIFO and over a port (`shared_links`).
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

from jupyter_agentchat.errors import ChildGone, ProcessExited, ProviderError
from jupyter_agentchat.process.framing import Line
from jupyter_agentchat.process.launcher import Handle, Spawn
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.process.tasks import TaskOwner
from jupyter_agentchat.protocol.native import OpAnswer, OpCancel, OpRun, OpSteer
from jupyter_agentchat.protocol.resources import (
    AskAnswer,
    Attachment,
    ProjectLoad,
    Provider,
    RunRequest,
)
from jupyter_agentchat.protocol.words import Permission
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext, Scope, Step
from jupyter_agentchat.providers.native.translate import Translator
from tests.fakes.shared_links import FifoLink, Lines, Link, PortLink

PROGRAM = Path(__file__).with_name("scenario_server.py")


class SharedRun:
    """Implements `base.AgentRun` over lines that were told apart already."""

    can_steer = True

    def __init__(self, link: Link, run_id: str, lines: Lines) -> None:
        self._link = link
        self._run_id = run_id
        self._lines = lines
        self._translator = Translator("shared", "Shared")

    async def steps(self) -> AsyncIterator[Step]:
        while (item := await self._lines.get()) is not None:
            text, offset = item
            yield Step(self._translator.feed(Line(text, offset)), offset)
            if self._translator.complete:
                return
        raise await self._link.handle.failure()

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        await self._link.send(self._run_id, OpAnswer(ask_id=ask_id, **answer.model_dump()))

    async def cancel(self, *, force: bool = False) -> None:
        # never by the ladder: others work in this process
        self._translator.cancelling()
        await self._link.send(self._run_id, OpCancel())

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        await self._link.send(self._run_id, OpSteer(text=text, attachments=attachments))
        return True

    async def set_permission(self, permission: Permission) -> bool:
        return False


class SharedAdapter:
    """Implements `base.Adapter` with one child for all chats."""

    id = name = "shared"
    scope = Scope.SERVER
    rewinder = None
    forker = None
    port = False

    def __init__(self, context: AdapterContext) -> None:
        self._context = context
        self._tasks = TaskOwner("shared")
        self._opening = asyncio.Lock()
        self._link: Link | None = None

    async def probe(self) -> Provider:
        return Provider(id=self.id, name=self.name, state="ready", available=True)

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        return []

    async def start(self, request: RunRequest, context: RunContext) -> SharedRun:
        link = await self._spawned()
        first = 0 if self.port else link.handle.position
        await context.on_child(ChildMark(link.handle.child_id, first))
        return await self._run(link, request, first)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> SharedRun:
        # runs are attached to in the order of their beginning: the first one's mark is the lowest
        link = await self._attached(mark)
        return await self._run(link, request, mark.first)

    async def close_chat(self, chat_id: str) -> None:
        return None

    async def close(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            await link.close()
            await link.handle.stop()
        await self._tasks.close()

    async def _run(self, link: Link, request: RunRequest, first: int) -> SharedRun:
        run = SharedRun(link, request.run_id, link.lines_of(request.run_id))
        with contextlib.suppress(ProcessExited):  # its end comes with its last words
            await link.follow(request.run_id, first)
            await link.send(request.run_id, OpRun(request=request))
        return run

    async def _spawned(self) -> Link:
        async with self._opening:
            if self._link is None or self._link.handle.exit is not None:
                argv = (sys.executable, str(PROGRAM), *(("--port",) if self.port else ()))
                home = self._context.environment.get("HOME", "/")
                spawn = Spawn(
                    argv,
                    self._context.scratch,
                    {"PATH": self._context.environment.get("PATH", ""), "HOME": home},
                    uuid.uuid4().hex,
                    stdin="null" if self.port else "pipe",
                )
                self._link = await self._linked(await self._context.launcher.spawn(spawn))
            return self._link

    async def _attached(self, mark: ChildMark) -> Link:
        async with self._opening:
            if self._link is None or self._link.handle.child_id != mark.child_id:
                launcher = self._context.launcher
                if not isinstance(launcher, SpoolLauncher):
                    raise ChildGone("It ended with its server.")
                offset = 0 if self.port else mark.first
                handle = await launcher.attach(mark.child_id, offset=offset)
                self._link = await self._linked(handle)
            return self._link

    async def _linked(self, handle: Handle) -> Link:
        try:
            if self.port:
                by_port = PortLink(handle, self._tasks)
                await by_port.connect()
                return by_port
        except ProviderError:
            await handle.stop()
            raise
        by_fifo = FifoLink(handle, self._tasks)
        by_fifo.begin()
        return by_fifo


class SharedPortAdapter(SharedAdapter):
    """The same over a port."""

    id = name = "shared-port"
    port = True
