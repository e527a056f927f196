"""The promises every adapter owes, with a scripted opencode: also what the real one never does."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.conformance import SCENARIOS, run_scenario
from jupyter_agentchat.providers.conformance_durable import (
    DURABLE_SCENARIOS,
    run_durable_scenario,
)
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from tests.unit.opencode.stage import context, request, spool

PROMPTS = {
    "hello": ["hello"],
    "tool_ok": ["tool"],
    "tool_failed": ["failing"],
    "permission": ["ask"],
    "withdrawn": ["withdrawn"],
    "cancel": ["slow", "hello"],
    "huge_line": ["huge"],
    "torn": ["torn"],
    "crash": ["crash", "hello"],
    "resume_refused": ["hello", "hello"],
    "unknown": ["unknown"],
}
DURABLE = {
    "attach": ["steady"],
    "attach_ask": ["ask"],
    "attach_over": ["hello", "hello"],
    "resend": ["hello", "hello"],
    "steer": ["steady", "mirror"],
    "rewind": ["hello one", "hello two", "recall"],
    "fork": ["hello one", "hello two", "recall"],
}


class Subject:
    """A `conformance.Subject` over the scripted opencode."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._launcher: LocalLauncher | None = None

    async def open(self, scenario: str) -> OpencodeAdapter:
        self._launcher = LocalLauncher()
        return OpencodeAdapter(context(self._launcher, self._folder))

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        forgotten = (scenario, turn) == ("resume_refused", 0)
        return request(
            PROMPTS[scenario][turn],
            self._folder,
            run_id=f"r{turn}",
            provider_session_id="ses_forgotten" if forgotten else None,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


class Durable:
    """A `DurableSubject` over the scripted opencode."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> OpencodeAdapter:
        self._launcher = spool(self._folder)
        return OpencodeAdapter(context(self._launcher, self._folder))

    async def replaced(self) -> OpencodeAdapter:
        assert self._launcher is not None
        await self._launcher.leave()
        return await self.open("")

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        branch = scenario == "fork" and turn == 1
        return request(
            DURABLE[scenario][turn],
            self._folder,
            chat_id="branch" if branch else "chat",
            run_id=f"r{turn}",
            fork=branch,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_opencode_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, Subject(tmp_path))) is True


@pytest.mark.parametrize("name", DURABLE_SCENARIOS)
def test_the_opencode_adapter_keeps(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_durable_scenario(name, Durable(tmp_path))) is True
