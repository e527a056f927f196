"""The real Kimi Code keeps what every adapter owes over another server."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.conformance_durable import (
    DURABLE_SCENARIOS,
    run_durable_scenario,
)
from jupyter_agentchat.providers.kimi.adapter import KimiAdapter
from tests.agents.kimi_agent import Place, a_place

PROMPTS = {
    "attach": ["steady"],
    "attach_ask": ["run ls"],
    # its text comes in one piece: how a finished answer was cut into pieces, nobody knows any more
    "attach_over": ["quick one", "quick two"],
    "resend": ["quick one", "echo again"],
    "steer": ["steady", "repeat this"],
    "rewind": ["echo one", "echo two", "recall"],
    "fork": ["echo one", "echo two", "recall"],
}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


class DurableKimiSubject:
    """A `DurableSubject` over the real program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> KimiAdapter:
        self._launcher = SpoolLauncher(self._place.home / "spool")
        return KimiAdapter(self._place.context(self._launcher))

    async def replaced(self) -> KimiAdapter:
        assert self._launcher is not None
        await self._launcher.leave()
        return await self.open("")

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        branch = scenario == "fork" and turn == 1
        return RunRequest(
            chat_id="branch" if branch else "chat",
            run_id=f"r{turn}",
            prompt=PROMPTS[scenario][turn],
            cwd=str(self._place.project),
            fork=branch,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


@pytest.mark.parametrize("name", DURABLE_SCENARIOS)
def test_the_kimi_adapter_passes(name: str, place: Place) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableKimiSubject(place))) is True
