"""The Kimi adapter keeps what every adapter owes, with the stand-in of its program."""

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
from jupyter_agentchat.providers.kimi.adapter import KimiAdapter

from .stage import context

PROMPTS = {
    "hello": ["say hello to all"],
    "tool_ok": ["call"],
    "tool_failed": ["failing call"],
    "permission": ["ask"],
    "withdrawn": ["withdraw"],
    "cancel": ["endless", "say more"],
    "huge_line": ["big"],
    "torn": ["torn"],
    "crash": ["crash", "say again"],
    "resume_refused": ["say x", "say anew"],
    "unknown": ["odd"],
    "attach": ["steady"],
    "attach_ask": ["ask"],
    "attach_over": ["say one", "say two"],
    "resend": ["say one", "say two"],
    "steer": ["steady", "and-this"],
    "rewind": ["say one", "say two", "recall"],
    "fork": ["say one", "say two", "recall"],
}


class FakeSubject:
    """A `DurableSubject` over the stand-in."""

    def __init__(self, tmp_path: Path, *, durable: bool) -> None:
        self._tmp_path = tmp_path
        self._durable = durable
        self._launcher: LocalLauncher | SpoolLauncher | None = None

    async def open(self, scenario: str) -> KimiAdapter:
        spool = SpoolLauncher(self._tmp_path / "spool") if self._durable else None
        self._launcher = spool or LocalLauncher()
        return KimiAdapter(context(self._tmp_path, self._launcher))

    async def replaced(self) -> KimiAdapter:
        assert isinstance(self._launcher, SpoolLauncher)
        await self._launcher.leave()
        return await self.open("")

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        prompts = PROMPTS[scenario]
        if turn >= len(prompts):
            return None
        branch = scenario == "fork" and turn == 1
        refused = scenario == "resume_refused" and not turn
        return RunRequest(
            chat_id="branch" if branch else "c",
            run_id=f"r{turn}",
            prompt=prompts[turn],
            cwd=str(self._tmp_path / "project"),
            fork=branch,
            provider_session_id="session_gone" if refused else None,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_kimi_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, FakeSubject(tmp_path, durable=False))) is True


@pytest.mark.parametrize("name", DURABLE_SCENARIOS)
def test_the_kimi_adapter_passes_over_another_server(name: str, tmp_path: Path) -> None:
    subject = FakeSubject(tmp_path, durable=True)
    assert asyncio.run(run_durable_scenario(name, subject)) is True
