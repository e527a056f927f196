"""The adapter over the scripted opencode of tests/fakes, for the tests beside this file."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.launcher import Launcher
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import Ask, EventBody
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import AdapterContext, RunContext
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from jupyter_agentchat.providers.opencode.run import OpencodeRun
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.conftest import ROOT

PROGRAM = ROOT / "tests/fakes/fake_opencode.py"
SESSION = "5f0c7a52-0000-4000-8000-000000000000"


def context(launcher: Launcher, folder: Path, **how: Any) -> AdapterContext:
    """What the adapter is made with."""
    env = how.pop("env", {})
    return AdapterContext(
        launcher=launcher,
        environment={"HOME": str(folder), "PATH": "/usr/bin:/bin"},
        settings=ProviderSettings(command=(sys.executable, str(PROGRAM)), env=env),
        scratch=folder,
        secret_of=lambda child_id: f"{child_id}-and-a-long-secret",
        **how,
    )


def request(prompt: str, folder: Path, **how: Any) -> RunRequest:
    """A request; `run_id` is r0 unless given."""
    given = {"chat_id": "c", "run_id": "r0", "prompt": prompt, "cwd": str(folder), **how}
    return RunRequest.model_validate(given)


@asynccontextmanager
async def local(folder: Path, **how: Any) -> AsyncIterator[OpencodeAdapter]:
    """An adapter whose opencode is gone afterwards."""
    launcher = LocalLauncher()
    adapter = OpencodeAdapter(context(launcher, folder, **how))
    try:
        yield adapter
    finally:
        await adapter.close()
        await launcher.close()
    assert launcher.children == []


async def say(adapter: OpencodeAdapter, asked: RunRequest, *, trusted: bool = True) -> list[Any]:
    """A whole run; every permission is allowed once."""
    return await follow(await adapter.start(asked, RunContext(trusted, SESSION)))


async def follow(run: OpencodeRun) -> list[Any]:
    """The rest of a run."""
    bodies: list[EventBody] = []
    async for step in run.steps():
        bodies += step.bodies
        for body in step.bodies:
            if isinstance(body, Ask):
                answer = AskAnswer(decision="allow", option_id="allow_once")
                await run.answer(body.ask_id, answer)
    return bodies


def of(kind: type[Any], bodies: list[Any]) -> list[Any]:
    """The bodies of one kind."""
    return [body for body in bodies if isinstance(body, kind)]


def spool(folder: Path) -> SpoolLauncher:
    """A launcher whose children outlive it."""
    return SpoolLauncher(folder / "spool")
