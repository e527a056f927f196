"""The real opencode keeps what every adapter owes over another server."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.conformance_durable import (
    DURABLE_SCENARIOS,
    run_durable_scenario,
)
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from tests.agents.opencode_agent import Place, open_warm

pytestmark = pytest.mark.timeout(180)

PROMPTS = {
    "attach": ["steady"],
    "attach_ask": ["run ls"],
    "attach_over": ["say hello", "say hello again"],
    "resend": ["say hello", "echo again"],
    "steer": ["steady", "mirror and this"],
    "rewind": ["echo one", "echo two", "recall"],
    "fork": ["echo one", "echo two", "recall"],
}


class DurableOpencodeSubject:
    """A `DurableSubject` over the real program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> OpencodeAdapter:
        self._launcher = SpoolLauncher(self._place.home / "spool")
        return await open_warm(self._place, self._launcher)

    async def replaced(self) -> OpencodeAdapter:
        assert self._launcher is not None
        await self._launcher.leave()
        self._launcher = SpoolLauncher(self._place.home / "spool")
        return OpencodeAdapter(self._place.context(self._launcher))

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
def test_the_opencode_adapter_passes(name: str, opencode_place: Place) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableOpencodeSubject(opencode_place))) is True
