"""The Claude adapter on a stage: its CLIs are scripted, and the test is the hub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.launcher import Launcher
from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.claude.run import ClaudeRun
from jupyter_agentchat.providers.settings import ProviderSettings

from .scripted import ScriptedHandle, ScriptedLauncher, assistant

FIRST = "00000000-0000-4000-8000-000000000001"
OLD = "845742ec-aec9-46c6-880e-f929255a787b"
HELLO = assistant("m1", {"type": "text", "text": "Hello."})


@dataclass
class Stage:
    """An adapter whose CLIs are scripted."""

    adapter: ClaudeAdapter
    launcher: ScriptedLauncher
    project: Path
    bodies: list[EventBody] = field(default_factory=list)
    marks: list[ChildMark] = field(default_factory=list)
    on_mark: Callable[[ChildMark], Awaitable[None]] | None = None

    @property
    def cli(self) -> ScriptedHandle:
        """The newest CLI."""
        return self.launcher.handles[-1]

    def request(self, **more: Any) -> RunRequest:
        """A request of the chat."""
        given = {"chat_id": "c", "run_id": "r", "prompt": "Do it", **more}
        return RunRequest.model_validate({"cwd": str(self.project), **given})

    def context(self, *, never_completed: bool = False) -> RunContext:
        """What the hub adds; `marks` keeps what it is told of the child."""
        return RunContext(
            trusted=True,
            first_session_id=FIRST,
            never_completed=never_completed,
            on_child=self._mark,
        )

    async def start(self, *, never_completed: bool = False, **more: Any) -> ClaudeRun:
        """Start a run."""
        context = self.context(never_completed=never_completed)
        return await self.adapter.start(self.request(**more), context)

    async def attach(self, **more: Any) -> ClaudeRun:
        """What the next server does with the run of the newest mark."""
        adapter = ClaudeAdapter(context_of(self.launcher, self.project))
        return await adapter.attach(self.request(**more), self.context(), self.marks[-1])

    async def follow(self, run: ClaudeRun) -> list[str]:
        """The types of all bodies to the end."""
        async for step in run.steps():
            self.bodies += step.bodies
        return [body.type for body in self.bodies]

    async def _mark(self, mark: ChildMark) -> None:
        self.marks.append(mark)
        if self.on_mark is not None:
            await self.on_mark(mark)


@asynccontextmanager
async def open_stage(directory: Path) -> AsyncIterator[Stage]:
    """A stage with its adapter, which is closed at the end."""
    program = directory / "claude"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    launcher = ScriptedLauncher()
    adapter = ClaudeAdapter(context_of(launcher, directory))
    try:
        yield Stage(adapter, launcher, directory)
    finally:
        await adapter.close()


def context_of(launcher: Launcher, directory: Path) -> AdapterContext:
    """What an adapter on a stage is made with."""
    return AdapterContext(
        launcher=launcher,
        environment={"PATH": "/usr/bin", "HOME": str(directory)},
        settings=ProviderSettings(command=(str(directory / "claude"),)),
        scratch=directory,
    )


Act = Callable[[Stage], Awaitable[None]]
Play = Callable[[Act], None]


def playing(directory: Path) -> Play:
    """`play(act)` acts on a stage in `directory`."""

    def play(act: Act) -> None:
        async def whole() -> None:
            async with open_stage(directory) as stage:
                await act(stage)

        asyncio.run(whole())

    return play
