"""The Codex adapter on a stage: its app server is scripted, and the test is the hub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from jupyter_agentchat.providers.codex.run import CodexRun
from jupyter_agentchat.providers.settings import ProviderSettings

from .scripted import Act, ScriptedApp, ScriptedLauncher

DEADLINE_S = 20.0


@dataclass
class Stage:
    """An adapter whose app server is scripted."""

    adapter: CodexAdapter
    launcher: ScriptedLauncher
    project: Path
    bodies: list[EventBody] = field(default_factory=list)
    marks: dict[str, ChildMark] = field(default_factory=dict)

    @property
    def app(self) -> ScriptedApp:
        """The newest app server."""
        return self.launcher.apps[-1]

    def request(self, **more: Any) -> RunRequest:
        """A request of the chat."""
        given = {"chat_id": "c", "run_id": "r", "prompt": "Do it", **more}
        return RunRequest.model_validate({"cwd": str(self.project), **given})

    def context(self, run_id: str = "r", *, trusted: bool = True) -> RunContext:
        """What the hub adds; `marks` keeps what it is told of the child."""

        async def on_child(mark: ChildMark) -> None:
            self.marks[run_id] = mark

        return RunContext(trusted, "5f0c7a52-0000-4000-8000-000000000000", on_child=on_child)

    async def start(self, *, trusted: bool = True, **more: Any) -> CodexRun:
        """Start a run."""
        request = self.request(**more)
        return await self.adapter.start(request, self.context(request.run_id, trusted=trusted))

    async def say(self, **more: Any) -> list[EventBody]:
        """A whole run."""
        return await self.follow(await self.start(**more))

    async def follow(self, run: CodexRun) -> list[EventBody]:
        """All bodies to the end."""
        bodies: list[EventBody] = []
        async for step in run.steps():
            bodies += step.bodies
        return bodies

    def next_server(self) -> Stage:
        """What the next server has: the same children, the same marks."""
        adapter = CodexAdapter(context_of(self.launcher, self.project))
        return replace(self, adapter=adapter)

    async def attach(self, **more: Any) -> CodexRun:
        """What the next server does with a run."""
        request = self.request(**more)
        mark = self.marks[request.run_id]
        return await self.adapter.attach(request, self.context(request.run_id), mark)


def context_of(launcher: ScriptedLauncher, directory: Path) -> AdapterContext:
    """What the adapter is made with."""
    program = directory / "codex"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    return AdapterContext(
        launcher=launcher,
        environment={"HOME": str(directory), "PATH": "/usr/bin"},
        settings=ProviderSettings(command=(str(program),)),
        scratch=directory,
    )


@asynccontextmanager
async def open_stage(directory: Path, act: Act | None = None) -> AsyncIterator[Stage]:
    """A stage with its adapter, which is closed at the end."""
    launcher = ScriptedLauncher(act)
    adapter = CodexAdapter(context_of(launcher, directory))
    try:
        yield Stage(adapter, launcher, directory)
    finally:
        await adapter.close()


def play(
    directory: Path, scene: Callable[[Stage], Awaitable[None]], act: Act | None = None
) -> None:
    """Act out a scene, within the deadline."""

    async def played() -> None:
        async with asyncio.timeout(DEADLINE_S), open_stage(directory, act) as stage:
            await scene(stage)

    asyncio.run(played())
