"""Drives the ACP adapter with the real Gemini CLI or Qwen Code, the way the hub does."""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.launcher import Launcher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import Ask, Complete, Error, EventBody, Session
from jupyter_agentchat.protocol.resources import AskAnswer, Provider, RunRequest
from jupyter_agentchat.providers.acp.adapter import AcpAdapter
from jupyter_agentchat.providers.acp.facts import SLOW
from jupyter_agentchat.providers.acp.presets import presets
from jupyter_agentchat.providers.acp.run import AcpRun
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.conftest import ROOT, missing_agent
from tests.fakes.fake_models import FakeModels

Answer = Callable[[Ask], AskAnswer]
AGENTS = ("qwen", "gemini")
PACKAGES = {
    "qwen": ("@qwen-code/qwen-code", "0.24.4"),
    "gemini": ("@google/gemini-cli", "0.61.0"),
}
"""The npm package of each, and the version that the tests were written against."""


def program(agent: str) -> Path:
    """The real, pinned program that `make agents` installed; skips, or fails where it is owed."""
    package, version = PACKAGES[agent]
    modules = ROOT / ".clis" / agent / "node_modules"
    described = modules / package / "package.json"
    if not described.exists():
        missing_agent(agent)
    found = json.loads(described.read_text("utf-8"))["version"]
    assert found == version, f"{package} is {found}, expected {version}: make agents"
    return modules / ".bin" / agent


@dataclass
class Place:
    """Where one test's agent lives: a fresh home, a project, nothing of the developer's."""

    agent: str
    program: Path
    fake: FakeModels
    home: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)

    def context(self, launcher: Launcher) -> AdapterContext:
        """What the adapter is made with: the minimum that an agent needs beside a key."""
        scratch = self.home / "scratch"
        scratch.mkdir(exist_ok=True)
        of_agent = {
            "qwen": {
                "OPENAI_API_KEY": "sk-fake",
                "OPENAI_BASE_URL": f"{self.fake.url}/v1",
                "OPENAI_MODEL": "fake-model",
            },
            "gemini": {"GEMINI_API_KEY": "fake", "GOOGLE_GEMINI_BASE_URL": self.fake.url},
        }
        return AdapterContext(
            launcher=launcher,
            environment={
                "HOME": str(self.home),
                # `node` lies beside the program
                "PATH": f"{self.program.parent}:/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "TERM": "dumb",
                "TMPDIR": str(self.home),
                **of_agent[self.agent],
                **self.env,
            },
            settings=ProviderSettings(),
            scratch=scratch,
        )

    def adapter(self, launcher: Launcher) -> AcpAdapter:
        """The adapter of this agent."""
        return AcpAdapter(self.context(launcher), presets()[self.agent])


@dataclass
class Told:
    """What one run brought."""

    bodies: list[EventBody] = field(default_factory=list)

    def all(self, kind: type[Any]) -> list[Any]:
        """The bodies of one kind, in order."""
        return [body for body in self.bodies if isinstance(body, kind)]

    @property
    def complete(self) -> Complete:
        """The one end."""
        (complete,) = self.all(Complete)
        assert self.bodies[-1] is complete
        return complete

    @property
    def error(self) -> Error:
        """The one error."""
        (error,) = self.all(Error)
        return error

    @property
    def session_id(self) -> str:
        """The conversation's id."""
        return str(self.all(Session)[-1].provider_session_id)

    @property
    def text(self) -> str:
        """The finished answer texts."""
        return "".join(
            body.text or "" for body in self.bodies if body.type == "assistant_text" and body.final
        )


@dataclass
class Chat:
    """A chat with the agent: each prompt is a run, as the hub would start it."""

    adapter: AcpAdapter
    launcher: SpoolLauncher
    place: Place
    id: str = "chat-1"
    session_id: str | None = None
    trusted: bool = True
    marks: list[ChildMark] = field(default_factory=list)

    def request(self, prompt: str, **how: Any) -> RunRequest:
        """A request of this chat."""
        given = {"run_id": f"run-{uuid.uuid4().hex}", "provider_session_id": self.session_id}
        return RunRequest(
            chat_id=self.id, prompt=prompt, cwd=str(self.place.project), **{**given, **how}
        )

    def context(self) -> RunContext:
        """What the hub adds to a request; `marks` keeps what it is told of the child."""

        async def on_child(mark: ChildMark) -> None:
            self.marks.append(mark)

        return RunContext(self.trusted, str(uuid.uuid4()), on_child=on_child)

    async def start(self, prompt: str, **how: Any) -> AcpRun:
        """Start a run."""
        return await self.adapter.start(self.request(prompt, **how), self.context())

    async def say(self, prompt: str, answer: Answer | None = None, **how: Any) -> Told:
        """A whole run, every ask answered by `answer`."""
        return await self.follow(await self.start(prompt, **how), answer)

    async def follow(self, run: AcpRun, answer: Answer | None = None) -> Told:
        """The rest of a run that was started."""
        told = Told()
        async with aclosing(run.steps()) as steps:  # type: ignore[type-var]
            async for step in steps:
                told.bodies += step.bodies
                for body in step.bodies:
                    if isinstance(body, Session):
                        self.session_id = body.provider_session_id
                    if isinstance(body, Ask):
                        assert answer is not None, f"an ask that the test does not expect: {body}"
                        await run.answer(body.ask_id, answer(body))
        return told

    async def stop_at(self, run: AcpRun, moment: Callable[[EventBody], bool]) -> Told:
        """Follow a run and press Stop at the first body that is the `moment`."""
        told = Told()
        stopping: asyncio.Task[None] | None = None
        async for step in run.steps():
            told.bodies += step.bodies
            if stopping is None and any(moment(body) for body in step.bodies):
                stopping = asyncio.create_task(run.cancel())
        assert stopping is not None, "the moment never came"
        await stopping
        return told


@asynccontextmanager
async def open_chat(place: Place, **how: Any) -> AsyncIterator[Chat]:
    """A chat whose agent is gone afterwards, with all it started."""
    launcher = SpoolLauncher(place.home / "spool")
    adapter = place.adapter(launcher)
    try:
        yield Chat(adapter, launcher, place, **how)
    finally:
        await adapter.close()
        await launcher.close()
    assert launcher.children == []


async def replaced(chat: Chat) -> Chat:
    """The server is gone, without a word to its agents; the next one's view of the chat."""
    await chat.launcher.leave()
    launcher = SpoolLauncher(chat.place.home / "spool")
    return replace(chat, adapter=chat.place.adapter(launcher), launcher=launcher)


def allow(ask: Ask) -> AskAnswer:
    """Answers an ask with its narrowest option that allows."""
    option = next(one for one in ask.options if one.decision == "allow")
    return AskAnswer(decision="allow", option_id=option.id)


def deny(ask: Ask) -> AskAnswer:
    """Denies an ask."""
    return AskAnswer(decision="deny")


async def probed(adapter: AcpAdapter) -> Provider:
    """What the adapter tells once the agent has answered, however slow the machine is."""
    async with asyncio.timeout(60):
        while (provider := await adapter.probe()).reason == SLOW:
            pass  # each probe waits some seconds itself
    return provider
