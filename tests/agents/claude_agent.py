"""Drives the Claude adapter with the real CLI, the way the hub does, for the tests beside it."""

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
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Notice,
    Session,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import (
    AdapterContext,
    AgentRun,
    Begin,
    ChildMark,
    RunContext,
)
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.claude.run import ClaudeRun
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.fakes.fake_anthropic import FakeAnthropic

Answer = Callable[[Ask], AskAnswer]


@dataclass
class Place:
    """Where one test's agent lives: a fresh home, a project, nothing of the developer's."""

    program: Path
    fake: FakeAnthropic
    home: Path
    project: Path
    env: dict[str, str] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    idle_timeout_s: float = 600.0
    hosted: list[AgentRun] | None = None
    """Runs of turns that the agent began by itself; None: it is not allowed to."""

    def context(self, launcher: Launcher) -> AdapterContext:
        """What the adapter is made with: the address and key come as a person would set them."""
        scratch = self.home / "scratch"
        scratch.mkdir(exist_ok=True)
        return AdapterContext(
            launcher=launcher,
            environment={
                "HOME": str(self.home),
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "TERM": "dumb",
                "TMPDIR": str(self.home),
                "ANTHROPIC_BASE_URL": self.fake.url,
                "ANTHROPIC_API_KEY": "sk-fake",
                **self.env,
            },
            settings=ProviderSettings(
                command=(str(self.program),),
                env={
                    "DISABLE_TELEMETRY": "1",
                    "DISABLE_ERROR_REPORTING": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "CLAUDE_CODE_MAX_RETRIES": "1",
                    **self.settings,
                },
            ),
            scratch=scratch,
            idle_timeout_s=self.idle_timeout_s,
            begin_unasked=self._begin_unasked,
        )

    async def _begin_unasked(self, chat_id: str, begin: Begin) -> bool:
        if self.hosted is None:
            return False
        request = RunRequest(
            chat_id=chat_id, run_id=f"own-{len(self.hosted)}", prompt="", cwd=str(self.project)
        )
        self.hosted.append(await begin(request, RunContext(True, str(uuid.uuid4()))))
        return True


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
    def texts(self) -> list[str]:
        """The finished texts."""
        return [body.text for body in self.all(AssistantText) if body.final]

    @property
    def error(self) -> Error:
        """The one error."""
        (error,) = self.all(Error)
        return error

    @property
    def session_id(self) -> str:
        """The conversation's id."""
        return self.all(Session)[-1].provider_session_id

    @property
    def starts(self) -> list[ToolUseStart]:
        """The calls with their inputs; announcements are left out."""
        return [body for body in self.all(ToolUseStart) if body.raw_input is not None]

    @property
    def ends(self) -> list[ToolUseEnd]:
        """The ends of the calls."""
        return self.all(ToolUseEnd)

    @property
    def notices(self) -> list[Notice]:
        """The notices."""
        return self.all(Notice)

    @property
    def withdrawn(self) -> list[AskResolved]:
        """The asks that the agent took back."""
        return self.all(AskResolved)


@dataclass
class Chat:
    """A chat with the agent: each prompt is a run, as the hub would start it."""

    adapter: ClaudeAdapter
    launcher: LocalLauncher | SpoolLauncher
    place: Place
    id: str = "chat-1"
    session_id: str | None = None
    trusted: bool = False
    mark: ChildMark | None = None
    last: RunRequest | None = None
    first_session_id: str = ""
    runs: list[str] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The process of the one CLI that is running."""
        (child,) = self.launcher.children
        return child.identity.pid

    def request(self, prompt: str, **how: Any) -> RunRequest:
        """A request of this chat; `run_id` is new unless given."""
        given = {"run_id": f"run-{uuid.uuid4().hex}", "provider_session_id": self.session_id}
        return RunRequest(
            chat_id=self.id, prompt=prompt, cwd=str(self.place.project), **{**given, **how}
        )

    def context(self, *, never_completed: bool = False) -> RunContext:
        """What the hub adds to a request; `mark` keeps what it is told."""
        return RunContext(
            trusted=self.trusted,
            first_session_id=self.first_session_id,
            never_completed=never_completed,
            on_child=self._on_child,
        )

    async def start(self, prompt: str, *, never_completed: bool = False, **how: Any) -> ClaudeRun:
        """Start a run."""
        self.last = self.request(prompt, **how)
        self.first_session_id = str(uuid.uuid4())
        self.runs.append(self.last.run_id)
        return await self.adapter.start(self.last, self.context(never_completed=never_completed))

    async def _on_child(self, mark: ChildMark) -> None:
        self.mark = mark

    async def attach(self, *, stored: int = 0) -> ClaudeRun:
        """Take the newest run over, as the server after the one that started it."""
        assert self.mark is not None
        assert self.last is not None
        mark = replace(self.mark, stored=stored)
        return await self.adapter.attach(self.last, self.context(), mark)

    async def say(self, prompt: str, answer: Answer | None = None, **how: Any) -> Told:
        """A whole run, every ask answered by `answer`."""
        return await self.follow(await self.start(prompt, **how), answer)

    async def follow(self, run: AgentRun, answer: Answer | None = None) -> Told:
        """The rest of a run that was started."""
        told = Told()
        async for step in run.steps():
            told.bodies += step.bodies
            for body in step.bodies:
                if isinstance(body, Session):
                    self.session_id = body.provider_session_id
                if isinstance(body, Ask):
                    assert answer is not None, f"an ask that the test does not expect: {body}"
                    await run.answer(body.ask_id, answer(body))
        return told

    async def stop_at(self, run: ClaudeRun, moment: Callable[[EventBody], bool]) -> Told:
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
    """A chat whose CLI is gone afterwards, with all it started."""
    launcher = LocalLauncher()
    adapter = ClaudeAdapter(place.context(launcher))
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
        self.chat = Chat(ClaudeAdapter(place.context(self.launcher)), self.launcher, place)

    async def replaced(self) -> Chat:
        """The server is gone, without a word to its agents; the next one knows what was stored."""
        old = self.chat
        await self.launcher.leave()
        self.launcher = SpoolLauncher(self._spool)
        adapter = ClaudeAdapter(self._place.context(self.launcher))
        self.chat = replace(old, adapter=adapter, launcher=self.launcher)
        return self.chat


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


async def watch(run: ClaudeRun, moment: Callable[[EventBody], bool]) -> tuple[Told, int]:
    """Follow a run up to the `moment` and leave it; what it told, and the offset reached."""
    told, offset = Told(), 0
    async with aclosing(run.steps()) as steps:
        async for step in steps:
            told.bodies += step.bodies
            offset = step.offset or offset
            if any(moment(body) for body in step.bodies):
                return told, offset
    raise AssertionError("the moment never came")


def allow(option: str = "allow_once") -> Answer:
    """Answers every ask with an option that allows."""
    return lambda ask: AskAnswer(decision="allow", option_id=option)


def deny(message: str | None = None) -> Answer:
    """Denies every ask."""
    return lambda ask: AskAnswer(decision="deny", option_id="deny", message=message)
