"""The promises every adapter owes, over the fake `agy`. It cannot ask, steer, fork or rewind."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.antigravity.adapter import AntigravityAdapter
from jupyter_agentchat.providers.conformance import SCENARIOS, ConformanceError, run_scenario
from jupyter_agentchat.providers.conformance_durable import run_durable_scenario

from .agy_stage import context_of, request

FORGOTTEN = "conv-of-long-ago"
PROMPTS = {
    "hello": "hello",
    "tool_ok": "tool",
    "tool_failed": "fail",
    "cancel": "slow",
    "huge_line": "huge",
    "torn": "torn",
    "crash": "crash",
    "resume_refused": "hello",
    "unknown": "future",
}
NOT_OWED = ("permission_granted", "permission_denied", "permission_withdrawn")


class AgySubject:
    """A `conformance.DurableSubject` over the fake."""

    def __init__(self, directory: Path, *, spooled: bool = False) -> None:
        self._directory = directory
        self._spooled = spooled
        self._launcher: LocalLauncher | SpoolLauncher | None = None

    async def open(self, scenario: str) -> AntigravityAdapter:
        spool = self._directory / "spool"
        self._launcher = SpoolLauncher(spool) if self._spooled else LocalLauncher()
        return AntigravityAdapter(context_of(self._launcher, self._directory))

    async def replaced(self) -> AntigravityAdapter:
        assert isinstance(self._launcher, SpoolLauncher)
        await self._launcher.leave()
        return await self.open("")

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        if scenario in DURABLE:
            return request(self._directory, DURABLE[scenario][turn], run_id=f"r{turn}")
        if scenario not in PROMPTS:
            return None
        forgotten = scenario == "resume_refused" and turn == 0
        return request(
            self._directory,
            PROMPTS[scenario] if turn == 0 else "hello",
            run_id=f"r{turn}",
            provider_session_id=FORGOTTEN if forgotten else None,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            await self._launcher.close()


DURABLE = {
    "attach": ["steady"],
    "steer": ["steady", "and this"],
    "fork": ["one"],
    "rewind": ["a"] * 3,
}


@pytest.mark.parametrize("name", [name for name in SCENARIOS if name not in NOT_OWED])
def test_the_antigravity_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, AgySubject(tmp_path))) is True


def test_a_turn_is_gone_on_with_by_the_next_server(tmp_path: Path) -> None:
    assert asyncio.run(run_durable_scenario("attach", AgySubject(tmp_path, spooled=True))) is True


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("steer", "it cannot be steered"),
        ("fork", "it forks by transcript only"),
        ("rewind", "it rewinds by transcript only"),
    ],
)
def test_what_it_cannot_do_it_says(name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(ConformanceError, match=why):
        asyncio.run(run_durable_scenario(name, AgySubject(tmp_path, spooled=True)))


def test_it_is_not_said_to_ask(tmp_path: Path) -> None:
    async def probed() -> None:
        subject = AgySubject(tmp_path)
        adapter = await subject.open("")
        features = (await adapter.probe()).features
        assert not (features.asks or features.questions or features.steer)
        assert (features.fork, features.rewind) == ("transcript", "transcript")
        await adapter.close()
        await subject.close()

    asyncio.run(probed())
