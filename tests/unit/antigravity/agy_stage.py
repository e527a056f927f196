"""The Antigravity adapter over the fake `agy`, with the test as the hub."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.launcher import Launcher
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.antigravity.adapter import AntigravityAdapter
from jupyter_agentchat.providers.base import AdapterContext, RunContext
from jupyter_agentchat.providers.settings import ProviderSettings

FAKE = Path(__file__).parent.parent.parent / "fakes" / "fake_agy.py"


def context_of(launcher: Launcher, directory: Path, **env: str) -> AdapterContext:
    """What the adapter is made with."""
    return AdapterContext(
        launcher=launcher,
        environment={"PATH": "/usr/bin:/bin", "HOME": str(directory), "ANTIGRAVITY_X": "1"},
        settings=ProviderSettings(command=(sys.executable, str(FAKE)), env=env),
        scratch=directory,
    )


def request(directory: Path, prompt: str, **more: Any) -> RunRequest:
    """A request of the one chat."""
    given = {"chat_id": "c", "run_id": "r0", "prompt": prompt, "cwd": str(directory), **more}
    return RunRequest.model_validate(given)


@dataclass
class Stage:
    """An adapter, and what its runs brought."""

    adapter: AntigravityAdapter
    launcher: LocalLauncher
    directory: Path
    bodies: list[EventBody] = field(default_factory=list)

    async def say(self, prompt: str, *, trusted: bool = True, **more: Any) -> list[EventBody]:
        """A whole run. Raises what ended it."""
        context = RunContext(trusted, "5f0c7a52-0000-4000-8000-000000000000")
        run = await self.adapter.start(request(self.directory, prompt, **more), context)
        self.bodies = []
        async for step in run.steps():
            self.bodies += step.bodies
        return self.bodies


@asynccontextmanager
async def open_stage(
    directory: Path, *, silence_s: float = 60.0, **env: str
) -> AsyncIterator[Stage]:
    """A stage whose program is gone afterwards."""
    launcher = LocalLauncher()
    adapter = AntigravityAdapter(context_of(launcher, directory, **env), silence_s=silence_s)
    try:
        yield Stage(adapter, launcher, directory)
    finally:
        await adapter.close()
        await launcher.close()
    assert launcher.children == []
