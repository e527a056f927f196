"""The ACP adapter on a stage: its agents are scripted, and the test is the hub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.launcher import Launcher
from jupyter_agentchat.protocol.events import Ask, EventBody
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.acp.adapter import AcpAdapter
from jupyter_agentchat.providers.acp.agents import AcpAgent, Untrusted
from jupyter_agentchat.providers.acp.run import AcpRun
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.settings import ProviderSettings

from .scripted import Play, ScriptedAgent, ScriptedLauncher

AGENT = AcpAgent(
    id="acp",
    name="Agent",
    argv=("agent", "--acp"),
    sign_in_hint="agent login",
    untrusted=Untrusted(),
    cancel_s=2.0,
)
FIRST = "00000000-0000-4000-8000-000000000001"


@dataclass
class Stage:
    """An adapter whose agents are scripted."""

    adapter: AcpAdapter
    launcher: ScriptedLauncher
    project: Path
    bodies: list[EventBody] = field(default_factory=list)
    marks: list[ChildMark] = field(default_factory=list)
    trusted: bool = True

    @property
    def agent(self) -> ScriptedAgent:
        """The newest agent."""
        return self.launcher.agents[-1]

    def request(self, prompt: str = "Do it", **more: Any) -> RunRequest:
        """A request of the chat."""
        given = {"chat_id": "c", "run_id": "r", "prompt": prompt, **more}
        return RunRequest.model_validate({"cwd": str(self.project), **given})

    def context(self) -> RunContext:
        """What the hub adds; `marks` keeps what it is told of the child."""

        async def mark(told: ChildMark) -> None:
            self.marks.append(told)

        return RunContext(self.trusted, FIRST, on_child=mark)

    async def start(self, prompt: str = "Do it", **more: Any) -> AcpRun:
        """Start a run."""
        return await self.adapter.start(self.request(prompt, **more), self.context())

    async def attach(self, prompt: str = "Do it", **more: Any) -> AcpRun:
        """What the next server does with the run of the newest mark."""
        agent = replace(AGENT)
        self.adapter = AcpAdapter(context_of(self.launcher, self.project), agent)
        return await self.adapter.attach(
            self.request(prompt, **more), self.context(), self.marks[-1]
        )

    async def follow(self, run: AcpRun, answer: AskAnswer | None = None) -> list[EventBody]:
        """All bodies to the end; every ask is answered by `answer`."""
        bodies: list[EventBody] = []
        async for step in run.steps():
            bodies += step.bodies
            for body in step.bodies:
                if isinstance(body, Ask) and answer is not None:
                    await run.answer(body.ask_id, answer)
        self.bodies = bodies
        return bodies

    async def say(
        self, prompt: str = "Do it", answer: AskAnswer | None = None, **more: Any
    ) -> list[EventBody]:
        """A whole run."""
        return await self.follow(await self.start(prompt, **more), answer)


@asynccontextmanager
async def open_stage(
    directory: Path, play: Play | None = None, agent: AcpAgent = AGENT
) -> AsyncIterator[Stage]:
    """A stage with its adapter, which is closed at the end."""
    launcher = ScriptedLauncher()
    launcher.play = play
    adapter = AcpAdapter(context_of(launcher, directory), agent)
    stage = Stage(adapter, launcher, directory)
    try:
        yield stage
    finally:
        await stage.adapter.close()


def context_of(launcher: Launcher, directory: Path) -> AdapterContext:
    """What an adapter on a stage is made with."""
    program = directory / "agent"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    scratch = directory / "scratch"
    scratch.mkdir(exist_ok=True)
    return AdapterContext(
        launcher=launcher,
        environment={"PATH": "/usr/bin", "HOME": str(directory)},
        settings=ProviderSettings(command=(str(program), "--acp")),
        scratch=scratch,
    )


Act = Callable[[Stage], Awaitable[None]]


def acted(directory: Path, act: Act, play: Play | None = None, agent: AcpAgent = AGENT) -> None:
    """Act on a stage in `directory`."""

    async def whole() -> None:
        async with asyncio.timeout(30):
            async with open_stage(directory, play, agent) as stage:
                await act(stage)

    asyncio.run(whole())


def told(bodies: list[EventBody], kind: type[Any]) -> list[Any]:
    """The bodies of one kind."""
    return [body for body in bodies if isinstance(body, kind)]
