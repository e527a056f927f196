"""The Kimi adapter with the stand-in of its program, for the tests beside it."""

from __future__ import annotations

import asyncio
import sys
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import AssistantText, Complete, EventBody, Notice, Session
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AdapterContext, ChildMark, RunContext, Step
from jupyter_agentchat.providers.kimi.adapter import KimiAdapter
from jupyter_agentchat.providers.kimi.run import KimiRun
from jupyter_agentchat.providers.settings import ProviderSettings

PROGRAM = Path(__file__).parents[2] / "fakes" / "fake_kimi.py"


def context(tmp_path: Path, launcher: LocalLauncher | SpoolLauncher, **how: Any) -> AdapterContext:
    """What the adapter is made with; `env` is the program's, the rest replaces parts of it."""
    home = tmp_path / "home"
    home.mkdir(exist_ok=True)
    (tmp_path / "project").mkdir(exist_ok=True)
    scratch = tmp_path / "scratch"
    scratch.mkdir(exist_ok=True)
    env = how.pop("env", {})
    made = AdapterContext(
        launcher=launcher,
        environment={"HOME": str(home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        settings=ProviderSettings(command=(sys.executable, str(PROGRAM)), env=env),
        scratch=scratch,
    )
    return replace(made, **how)


@dataclass
class Played:
    """What a run brought."""

    steps: list[Step] = field(default_factory=list)

    @property
    def bodies(self) -> list[EventBody]:
        return [body for step in self.steps for body in step.bodies]

    @property
    def outcome(self) -> str:
        (end,) = [body for body in self.bodies if isinstance(body, Complete)]
        assert self.bodies[-1] is end
        return end.outcome

    @property
    def text(self) -> str:
        """The answer as it streamed; its finals must say the same."""
        said = [body for body in self.bodies if isinstance(body, AssistantText)]
        streamed = "".join(body.delta or "" for body in said)
        assert streamed == "".join(body.text or "" for body in said if body.final)
        return streamed

    @property
    def codes(self) -> list[str]:
        return [body.code for body in self.bodies if isinstance(body, Notice)]


@dataclass
class Chat:
    """One chat with the stand-in."""

    adapter: KimiAdapter
    launcher: LocalLauncher | SpoolLauncher
    cwd: str
    id: str = "chat"
    session_id: str | None = None
    trusted: bool = True
    mark: ChildMark | None = None
    last: RunRequest | None = None

    async def start(self, prompt: str, **how: Any) -> KimiRun:
        given = {"run_id": uuid.uuid4().hex, "provider_session_id": self.session_id, **how}
        self.last = RunRequest(chat_id=self.id, prompt=prompt, cwd=self.cwd, **given)
        return await self.adapter.start(self.last, self.context())

    def context(self) -> RunContext:
        return RunContext(self.trusted, str(uuid.uuid4()), on_child=self._on_child)

    async def _on_child(self, mark: ChildMark) -> None:
        self.mark = mark

    async def attach(self, stored: int = 0) -> KimiRun:
        assert self.last is not None
        assert self.mark is not None
        mark = replace(self.mark, stored=stored)
        return await self.adapter.attach(self.last, self.context(), mark)

    async def say(self, prompt: str, **how: Any) -> Played:
        return await self.follow(await self.start(prompt, **how))

    async def follow(
        self,
        run: KimiRun,
        react: Callable[[EventBody], Any] | None = None,
        *,
        upto: int | None = None,
        until: Callable[[], bool] | None = None,
    ) -> Played:
        """The run to its end, its first `upto` steps, or `until` a moment; what `react` returns is
        awaited."""
        played = Played()
        async with asyncio.timeout(20), aclosing(run.steps()) as steps:
            async for step in steps:
                played.steps.append(step)
                for body in step.bodies:
                    if isinstance(body, Session):
                        self.session_id = body.provider_session_id
                    if react is not None and (waiting := react(body)) is not None:
                        await waiting
                if len(played.steps) == upto or (until is not None and until()):
                    break
        return played


@asynccontextmanager
async def open_chat(tmp_path: Path, **how: Any) -> AsyncIterator[Chat]:
    """A chat whose server is gone afterwards."""
    launcher = LocalLauncher()
    adapter = KimiAdapter(context(tmp_path, launcher, **how))
    try:
        yield Chat(adapter, launcher, str(tmp_path / "project"))
    finally:
        await adapter.close()
        await launcher.close()
    assert launcher.children == []


class Servers:
    """One Jupyter server after the other."""

    def __init__(self, tmp_path: Path, **how: Any) -> None:
        self._tmp_path, self._how = tmp_path, how
        self.launcher = SpoolLauncher(tmp_path / "spool")
        adapter = KimiAdapter(context(tmp_path, self.launcher, **how))
        self.chat = Chat(adapter, self.launcher, str(tmp_path / "project"))

    async def replaced(self) -> Chat:
        """The chat in the next server; the agent was told nothing."""
        await self.launcher.leave()
        self.launcher = SpoolLauncher(self._tmp_path / "spool")
        adapter = KimiAdapter(context(self._tmp_path, self.launcher, **self._how))
        self.chat = replace(self.chat, adapter=adapter, launcher=self.launcher)
        return self.chat


@asynccontextmanager
async def open_servers(tmp_path: Path, **how: Any) -> AsyncIterator[Servers]:
    """Servers whose last one ends the agent."""
    servers = Servers(tmp_path, **how)
    try:
        yield servers
    finally:
        await servers.chat.adapter.close()
        await servers.launcher.close()
    assert servers.launcher.children == []
