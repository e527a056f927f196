"""Drives the Codex adapter with the real program, the way the hub does, for the tests beside it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.launcher import Launcher
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Notice,
    Session,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from jupyter_agentchat.providers.codex.run import CodexRun
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.fakes.fake_openai import FakeOpenAI

Answer = Callable[[Ask], AskAnswer]


def environment_of(home: Path) -> dict[str, str]:
    """Nothing of the developer's."""
    return {
        "HOME": str(home),
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": str(home),
    }


@dataclass
class Place:
    """Where one test's agent lives: a fresh home, a project, nothing of the developer's."""

    program: Path
    fake: FakeOpenAI
    home: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)
    settings: ProviderSettings = field(default_factory=ProviderSettings)
    idle_timeout_s: float = 600.0

    @property
    def config(self) -> Path:
        """The person's config.toml."""
        return self.home / ".codex" / "config.toml"

    def configure(self, more: str = "") -> None:
        """Write the person's config.toml, as one who uses the fake server has it."""
        self.config.parent.mkdir(exist_ok=True)
        self.config.write_text(self.fake.config() + more)

    def context(self, launcher: Launcher) -> AdapterContext:
        """What the adapter is made with."""
        scratch = self.home / "scratch"
        scratch.mkdir(exist_ok=True)
        if not self.config.exists():
            self.configure()
        return AdapterContext(
            launcher=launcher,
            environment={**environment_of(self.home), **self.env},
            settings=replace(self.settings, command=(str(self.program),)),
            scratch=scratch,
            idle_timeout_s=self.idle_timeout_s,
        )


@dataclass
class Told:
    """What one run brought."""

    bodies: list[EventBody] = field(default_factory=list)
    offset: int = 0

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
    def texts(self) -> list[str]:
        """The finished texts."""
        return [body.text for body in self.all(AssistantText) if body.final]

    @property
    def thoughts(self) -> list[str]:
        """The finished reasonings."""
        return [body.text for body in self.all(Thinking) if body.final]

    @property
    def error(self) -> Error:
        """The one error."""
        (error,) = self.all(Error)
        return error

    @property
    def asks(self) -> list[Ask]:
        """The asks."""
        return self.all(Ask)

    @property
    def starts(self) -> list[ToolUseStart]:
        """The beginnings of calls."""
        return self.all(ToolUseStart)

    @property
    def ends(self) -> list[ToolUseEnd]:
        """The ends of calls."""
        return self.all(ToolUseEnd)

    @property
    def notices(self) -> list[Notice]:
        """The notices."""
        return self.all(Notice)


@dataclass
class Chat:
    """A chat with the agent: each prompt is a run, as the hub would start it."""

    adapter: CodexAdapter
    launcher: LocalLauncher | SpoolLauncher
    place: Place
    id: str = "chat-1"
    session_id: str | None = None
    trusted: bool = False
    mark: ChildMark | None = None
    last: RunRequest | None = None
    runs: list[str] = field(default_factory=list)

    def other(self, name: str) -> Chat:
        """Another chat with the same adapter."""
        return Chat(self.adapter, self.launcher, self.place, id=name, trusted=self.trusted)

    @property
    def pid(self) -> int:
        """The one process that is running."""
        (child,) = self.launcher.children
        return child.identity.pid

    def request(self, prompt: str, **how: Any) -> RunRequest:
        """A request of this chat; `run_id` is new unless given."""
        given = {"run_id": f"run-{uuid.uuid4().hex}", "provider_session_id": self.session_id}
        return RunRequest(
            chat_id=self.id, prompt=prompt, cwd=str(self.place.project), **{**given, **how}
        )

    def context(self) -> RunContext:
        """What the hub adds to a request; `mark` keeps what it is told."""
        return RunContext(self.trusted, str(uuid.uuid4()), on_child=self._on_child)

    async def _on_child(self, mark: ChildMark) -> None:
        self.mark = mark

    async def start(self, prompt: str, **how: Any) -> CodexRun:
        """Start a run."""
        self.last = self.request(prompt, **how)
        self.runs.append(self.last.run_id)
        return await self.adapter.start(self.last, self.context())

    async def attach(self, *, stored: int = 0) -> CodexRun:
        """Take the newest run over, as the server after the one that started it."""
        assert self.mark is not None
        assert self.last is not None
        mark = replace(self.mark, stored=stored)
        return await self.adapter.attach(self.last, self.context(), mark)

    async def say(self, prompt: str, answer: Answer | None = None, **how: Any) -> Told:
        """A whole run, every ask answered by `answer`."""
        return await self.follow(await self.start(prompt, **how), answer)

    async def follow(self, run: CodexRun, answer: Answer | None = None) -> Told:
        """The rest of a run that was started."""
        told = Told()
        async for step in run.steps():
            told.bodies += step.bodies
            told.offset = step.offset or told.offset
            for body in step.bodies:
                if isinstance(body, Session):
                    self.session_id = body.provider_session_id
                if isinstance(body, Ask):
                    assert answer is not None, f"an ask that the test does not expect: {body}"
                    await run.answer(body.ask_id, answer(body))
        return told

    async def stop_at(self, run: CodexRun, moment: Callable[[EventBody], bool]) -> Told:
        """Follow a run and press Stop at the first body that is the `moment`."""
        told = Told()
        stopping: asyncio.Task[None] | None = None
        async for step in run.steps():
            told.bodies += step.bodies
            for body in step.bodies:
                if isinstance(body, Session):
                    self.session_id = body.provider_session_id
            if stopping is None and any(moment(body) for body in step.bodies):
                stopping = asyncio.create_task(run.cancel())
        assert stopping is not None, "the moment never came"
        await stopping
        return told


@asynccontextmanager
async def open_chat(place: Place, make: Any = CodexAdapter, **how: Any) -> AsyncIterator[Chat]:
    """A chat whose app server is gone afterwards, with all it started."""
    launcher = LocalLauncher()
    adapter = make(place.context(launcher))
    try:
        yield Chat(adapter, launcher, place, **how)
    finally:
        await adapter.close()
        await launcher.close()
    assert launcher.children == []


class Servers:
    """One server after the other on the same place; the agents outlive them."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._spool = place.home / "spool"
        self.launcher = SpoolLauncher(self._spool)
        self.chat = Chat(CodexAdapter(place.context(self.launcher)), self.launcher, place)

    async def replaced(self, *chats: Chat) -> list[Chat]:
        """The server is gone, without a word to its agents; its chats as the next one has them."""
        await self.launcher.leave()
        self.launcher = SpoolLauncher(self._spool)
        adapter = CodexAdapter(self._place.context(self.launcher))
        moved = [
            replace(chat, adapter=adapter, launcher=self.launcher) for chat in chats or (self.chat,)
        ]
        self.chat = moved[0]
        return moved


@asynccontextmanager
async def open_servers(place: Place) -> AsyncIterator[Servers]:
    """Servers whose last one ends all agents."""
    servers = Servers(place)
    try:
        yield servers
    finally:
        await servers.chat.adapter.close()
        await servers.launcher.close()
    assert servers.launcher.children == []


async def watch(run: CodexRun, moment: Callable[[EventBody], bool]) -> Told:
    """Follow a run up to the `moment` and leave it."""
    told = Told()
    async with aclosing(run.steps()) as steps:
        async for step in steps:
            told.bodies += step.bodies
            told.offset = step.offset or told.offset
            if any(moment(body) for body in step.bodies):
                return told
    raise AssertionError("the moment never came")


def allow(option: str = "allow_once") -> Answer:
    """Answers every ask with an option that allows."""
    return lambda ask: AskAnswer(decision="allow", option_id=option)


def deny(message: str | None = None) -> Answer:
    """Denies every ask."""
    return lambda ask: AskAnswer(decision="deny", option_id="deny", message=message)


def command_line(pid: int) -> str:
    """What every user of the host can read of a process."""
    return Path(f"/proc/{pid}/cmdline").read_text()
