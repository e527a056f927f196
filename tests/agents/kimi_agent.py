"""Drives the Kimi adapter with the real program, the way the hub does, for the tests beside it."""

from __future__ import annotations

import asyncio
import subprocess
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
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
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.kimi.adapter import KimiAdapter
from jupyter_agentchat.providers.kimi.run import KimiRun
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.conftest import ROOT, missing_agent
from tests.fakes.kimi_models import KimiModels

VERSION = "2.1.0"
PROGRAM = ROOT / ".clis/kimi/node_modules/.bin/kimi"
Answer = Callable[[Ask], AskAnswer]

CONFIG = """
default_model = "fake/fake-model"
default_permission_mode = "manual"
telemetry = false
[providers.fake]
type = "openai"
base_url = "{url}/v1"
api_key = "sk-fake"
[models."fake/fake-model"]
provider = "fake"
model = "fake-model"
display_name = "Fake Model"
max_context_size = 128000
capabilities = ["tool_use", "thinking", "image_in"]
support_efforts = ["low", "high"]
default_effort = "low"
{more}
"""


@dataclass
class Place:
    """Where one test's agent lives: a fresh home, a project, nothing of the developer's."""

    program: Path
    fake: KimiModels
    home: Path
    project: Path
    more: str = ""
    idle_timeout_s: float = 600.0
    begin_unasked: Any = None
    settings: dict[str, Any] = field(default_factory=dict)

    def prepare(self) -> None:
        """Kimi Code's settings, and a git work tree as the project."""
        self.fake.workdir = str(self.project)
        folder = self.home / ".kimi-code"
        folder.mkdir(parents=True, exist_ok=True)
        text = CONFIG.format(url=self.fake.url, more=self.more)
        (folder / "config.toml").write_text(text, "utf-8")
        if not (self.project / ".git").exists():
            subprocess.run(["git", "init", "-q", str(self.project)], check=True, timeout=20)

    def context(self, launcher: Launcher) -> AdapterContext:
        """What the adapter is made with."""
        self.prepare()
        scratch = self.home / "scratch"
        scratch.mkdir(exist_ok=True)
        more = {"begin_unasked": self.begin_unasked} if self.begin_unasked else {}
        return AdapterContext(
            launcher=launcher,
            environment={
                "HOME": str(self.home),
                "PATH": "/usr/bin:/bin",
                "LANG": "C.UTF-8",
                "TERM": "dumb",
                "TMPDIR": str(self.home),
            },
            settings=ProviderSettings(
                **{
                    "command": (str(self.program),),
                    "env": {"KIMI_DISABLE_TELEMETRY": "1", "KIMI_LOOP_MAX_ATTEMPTS_PER_STEP": "2"},
                    **self.settings,
                }
            ),
            scratch=scratch,
            idle_timeout_s=self.idle_timeout_s,
            **more,
        )


@contextmanager
def a_place(tmp_path: Path, **how: Any) -> Iterator[Place]:
    """A place of a test's own, with a fake model server. Skips where the program is not there."""
    if not PROGRAM.exists():
        missing_agent("kimi")
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    with KimiModels() as fake:
        place = Place(PROGRAM, fake, home, project, **how)
        place.prepare()
        yield place


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
    def streamed(self) -> str:
        """All pieces of text, one behind the other."""
        return "".join(body.delta or "" for body in self.all(AssistantText))

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
        """The calls with their arguments; announcements are left out."""
        return [body for body in self.all(ToolUseStart) if body.raw_input is not None]

    @property
    def ends(self) -> list[ToolUseEnd]:
        """The ends of the calls."""
        return self.all(ToolUseEnd)

    @property
    def codes(self) -> list[str]:
        """The codes of the notices."""
        return [notice.code for notice in self.all(Notice)]


@dataclass
class Chat:
    """A chat with the agent: each prompt is a run, as the hub would start it."""

    adapter: KimiAdapter
    launcher: LocalLauncher | SpoolLauncher
    place: Place
    id: str = "chat-1"
    session_id: str | None = None
    trusted: bool = False
    mark: ChildMark | None = None
    last: RunRequest | None = None
    runs: list[str] = field(default_factory=list)

    @property
    def pid(self) -> int:
        """The one server."""
        (child,) = self.launcher.children
        return child.identity.pid

    def other(self, name: str = "chat-2") -> Chat:
        """Another chat with the same agent."""
        return Chat(self.adapter, self.launcher, self.place, name)

    def request(self, prompt: str, **how: Any) -> RunRequest:
        """A request of this chat; `run_id` is new unless given."""
        given = {
            "run_id": f"run-{uuid.uuid4().hex}",
            "provider_session_id": self.session_id,
            "cwd": str(self.place.project),
        }
        return RunRequest(chat_id=self.id, prompt=prompt, **{**given, **how})

    def context(self) -> RunContext:
        """What the hub adds to a request; `mark` keeps what it is told."""
        return RunContext(self.trusted, str(uuid.uuid4()), on_child=self._on_child)

    async def _on_child(self, mark: ChildMark) -> None:
        self.mark = mark

    async def start(self, prompt: str, **how: Any) -> KimiRun:
        """Start a run."""
        self.last = self.request(prompt, **how)
        self.runs.append(self.last.run_id)
        return await self.adapter.start(self.last, self.context())

    async def attach(self, *, stored: int = 0) -> KimiRun:
        """Take the newest run over, as the server after the one that started it."""
        assert self.mark is not None
        assert self.last is not None
        mark = replace(self.mark, stored=stored)
        return await self.adapter.attach(self.last, self.context(), mark)

    async def say(self, prompt: str, answer: Answer | None = None, **how: Any) -> Told:
        """A whole run, every ask answered by `answer`."""
        return await self.follow(await self.start(prompt, **how), answer)

    async def follow(self, run: KimiRun, answer: Answer | None = None) -> Told:
        """The rest of a run that was started."""
        told = Told()
        async with asyncio.timeout(60), aclosing(run.steps()) as steps:
            async for step in steps:
                told.bodies += step.bodies
                for body in step.bodies:
                    if isinstance(body, Session):
                        self.session_id = body.provider_session_id
                    if isinstance(body, Ask):
                        assert answer is not None, f"an ask that the test does not expect: {body}"
                        await run.answer(body.ask_id, answer(body))
        return told

    async def stop_at(self, run: KimiRun, moment: Callable[[EventBody], bool]) -> Told:
        """Follow a run and press Stop at the first body that is the `moment`."""
        told, stopped = Told(), False
        async with asyncio.timeout(60), aclosing(run.steps()) as steps:
            async for step in steps:
                told.bodies += step.bodies
                if not stopped and any(moment(body) for body in step.bodies):
                    stopped = True
                    await run.cancel()
        assert stopped, "the moment never came"
        return told


@asynccontextmanager
async def open_chat(place: Place, **how: Any) -> AsyncIterator[Chat]:
    """A chat whose server is gone afterwards, with all it started."""
    launcher = LocalLauncher()
    adapter = KimiAdapter(place.context(launcher))
    try:
        yield Chat(adapter, launcher, place, **how)
    finally:
        await adapter.close()
        await launcher.close()
    assert launcher.children == []


class Servers:
    """One Jupyter server after the other on the same place; the agent outlives them."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._spool = place.home / "spool"
        self.launcher = SpoolLauncher(self._spool)
        self.chat = Chat(KimiAdapter(place.context(self.launcher)), self.launcher, place)

    async def replaced(self) -> Chat:
        """The server is gone, without a word to its agents; the next one knows what was stored."""
        old = self.chat
        await self.launcher.leave()
        self.launcher = SpoolLauncher(self._spool)
        adapter = KimiAdapter(self._place.context(self.launcher))
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


async def watch(run: KimiRun, moment: Callable[[EventBody], bool]) -> tuple[Told, int]:
    """Follow a run up to the `moment` and leave it; what it told, and the offset reached."""
    told, offset = Told(), 0
    async with asyncio.timeout(60), aclosing(run.steps()) as steps:
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


def is_text(body: EventBody) -> bool:
    """A piece of an answer."""
    return isinstance(body, AssistantText)
