"""Drives the opencode adapter with the real program, as the hub does, for the tests beside it."""

from __future__ import annotations

import asyncio
import base64
import json
import subprocess
import sys
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
from jupyter_agentchat.protocol.resources import AskAnswer, Attachment, RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from jupyter_agentchat.providers.opencode.launch import TRUSTED
from jupyter_agentchat.providers.opencode.run import OpencodeRun
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.conftest import ROOT, missing_agent
from tests.fakes.opencode_models import OpencodeModels, config

VERSION = "1.18.33"
PROGRAM = ROOT / ".clis/opencode/node_modules/opencode-ai/bin/opencode.exe"
SECRET_KEY = "sk-fake-secret-key"
MCP_SERVER = ROOT / "tests/fakes/anthropic_mcp.py"
_DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJg"
    "gg=="
)
Answer = Callable[[Ask], AskAnswer]


def program() -> Path:
    """The real, pinned program that `make agents` installed."""
    if not PROGRAM.exists():
        missing_agent("opencode")
    return PROGRAM


@dataclass
class Place:
    """Where one test's agent lives: a fresh home, a project, nothing of the developer's."""

    fake: OpencodeModels
    home: Path
    project: Path
    config: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    idle_timeout_s: float = 600.0

    def write_config(self, **more: Any) -> None:
        """A person's own configuration."""
        folder = self.home / ".config/opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps(config(self.fake.url, **more)))

    def git(self, *arguments: str, at: Path | None = None) -> None:
        """Run git in the project."""
        who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
        subprocess.run(["git", *who, *arguments], cwd=at or self.project, check=True, timeout=20)

    def another_project(self, name: str) -> Path:
        """One more directory, a git work tree of its own."""
        path = self.home.parent / name
        path.mkdir()
        (path / "README.md").write_text(f"{name}\n")
        self.git("init", "-q", at=path)
        self.git("add", "-A", at=path)
        self.git("commit", "-q", "-m", "first", at=path)
        return path

    def image(self) -> Attachment:
        """A picture of one dot, as a person attaches it."""
        path = self.home / "dot.png"
        path.write_bytes(base64.b64decode(_DOT))
        return Attachment(id="dot", name="dot.png", path=str(path), mime="image/png", kind="image")

    def mcp_server(self) -> dict[str, Any]:
        """A server of a chat's, named demo, with the tool `add`."""
        return {"demo": {"command": sys.executable, "args": [str(MCP_SERVER)], "env": {"A": "b"}}}

    def context(self, launcher: Launcher) -> AdapterContext:
        """What the adapter is made with: the configuration is a person's, in their home."""
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
            },
            settings=ProviderSettings(
                command=(str(program()),),
                env={
                    "OPENCODE_DISABLE_MODELS_FETCH": "1",
                    "npm_config_registry": "http://127.0.0.1:1/",
                    **self.settings,
                },
            ),
            scratch=scratch,
            idle_timeout_s=self.idle_timeout_s,
            secret_of=lambda child_id: f"{child_id}-and-a-long-secret",
        )


@contextmanager
def new_place(tmp_path: Path) -> Iterator[Place]:
    """A home and a git work tree, with a fake model server."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    with OpencodeModels(str(project)) as fake:
        place = Place(fake, home, project)
        place.write_config()
        (project / "README.md").write_text("A project.\n")
        place.git("init", "-q")
        place.git("add", "-A")
        place.git("commit", "-q", "-m", "first")
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
    def text(self) -> str:
        """The finished texts."""
        return "".join(body.text for body in self.all(AssistantText) if body.final)

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
        """The calls."""
        return self.all(ToolUseStart)

    @property
    def ends(self) -> list[ToolUseEnd]:
        """The ends of the calls."""
        return self.all(ToolUseEnd)

    @property
    def asks(self) -> list[Ask]:
        """The asks."""
        return self.all(Ask)

    @property
    def notices(self) -> list[Notice]:
        """The notices."""
        return self.all(Notice)


@dataclass
class Chat:
    """A chat with the agent: each prompt is a run, as the hub would start it."""

    adapter: OpencodeAdapter
    launcher: LocalLauncher | SpoolLauncher
    place: Place
    id: str = "chat-1"
    cwd: Path | None = None
    session_id: str | None = None
    trusted: bool = False
    mark: ChildMark | None = None
    last: RunRequest | None = None
    runs: list[str] = field(default_factory=list)

    def request(self, prompt: str, **how: Any) -> RunRequest:
        """A request of this chat; `run_id` is new unless given."""
        given = {"run_id": f"run-{uuid.uuid4().hex}", "provider_session_id": self.session_id}
        cwd = str(self.cwd or self.place.project)
        return RunRequest(chat_id=self.id, prompt=prompt, cwd=cwd, **{**given, **how})

    def context(self) -> RunContext:
        """What the hub adds to a request; `mark` keeps what it is told."""
        return RunContext(self.trusted, str(uuid.uuid4()), on_child=self._on_child)

    async def _on_child(self, mark: ChildMark) -> None:
        self.mark = mark

    async def start(self, prompt: str, **how: Any) -> OpencodeRun:
        """Start a run."""
        self.last = self.request(prompt, **how)
        self.runs.append(self.last.run_id)
        return await self.adapter.start(self.last, self.context())

    async def attach(self, *, stored: int = 0) -> OpencodeRun:
        """Take the newest run over, as the server after the one that started it."""
        assert self.mark is not None
        assert self.last is not None
        mark = replace(self.mark, stored=stored)
        return await self.adapter.attach(self.last, self.context(), mark)

    async def say(self, prompt: str, answer: Answer | None = None, **how: Any) -> Told:
        """A whole run, every ask answered by `answer`."""
        return await self.follow(await self.start(prompt, **how), answer)

    async def follow(self, run: OpencodeRun, answer: Answer | None = None) -> Told:
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

    async def stop_at(self, run: OpencodeRun, moment: Callable[[EventBody], bool]) -> Told:
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

    def pid(self) -> int:
        """The one process that was started."""
        (child,) = self.launcher.children
        return child.identity.pid


async def open_warm(
    place: Place, launcher: LocalLauncher | SpoolLauncher, key: str = TRUSTED
) -> OpencodeAdapter:
    """An adapter whose process is up: a first start in a fresh home takes seconds."""
    adapter = OpencodeAdapter(place.context(launcher))
    await adapter.children.hold(key, "warm")
    adapter.children.release("warm")
    return adapter


@asynccontextmanager
async def open_chat(place: Place, **how: Any) -> AsyncIterator[Chat]:
    """A chat whose opencode is gone afterwards, with all it started."""
    launcher = LocalLauncher()
    adapter = OpencodeAdapter(place.context(launcher))
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
        self.chat = Chat(OpencodeAdapter(place.context(self.launcher)), self.launcher, place)

    async def replaced(self) -> Chat:
        """The server is gone, without a word to its agents; the next one knows what was stored."""
        old = self.chat
        await self.launcher.leave()
        self.launcher = SpoolLauncher(self._spool)
        adapter = OpencodeAdapter(self._place.context(self.launcher))
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


async def watch(run: OpencodeRun, moment: Callable[[EventBody], bool]) -> tuple[Told, int]:
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
