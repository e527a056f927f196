"""What every adapter owes over another server, with the real Qwen Code and the real Gemini CLI.

The protocol has no steering and no rewind, and neither of the two can fork: all three are declared
in what the probe tells (test_acp_facts), and what an attempt brings is shown here.
"""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.acp.adapter import AcpAdapter
from jupyter_agentchat.providers.conformance import ConformanceError
from jupyter_agentchat.providers.conformance_durable import run_durable_scenario
from tests.agents.acp_agent import Place

PROMPTS = {
    "attach": ["steady"],
    "attach_ask": ["run cmd: touch made"],
    "attach_over": ["run ls", "say hello"],
    "resend": ["say hello", "echo again"],
    "steer": ["steady", "echo and this"],
    "rewind": ["echo one", "echo two", "recall"],
    "fork": ["echo one", "echo two", "recall"],
}
GAPS = {
    "steer": "it cannot be steered",
    "rewind": "it rewinds by transcript only",
    "fork": "it forks by transcript only",
}


class DurableAcpSubject:
    """A `DurableSubject` over a real agent."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> AcpAdapter:
        self._launcher = SpoolLauncher(self._place.home / "spool")
        return self._place.adapter(self._launcher)

    async def replaced(self) -> AcpAdapter:
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


@pytest.mark.parametrize("name", [name for name in PROMPTS if name not in GAPS])
def test_a_real_acp_agent_passes(name: str, acp_place: Place) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableAcpSubject(acp_place))) is True


@pytest.mark.parametrize("name", GAPS)
def test_what_it_cannot_do_it_says(name: str, acp_place: Place) -> None:
    with pytest.raises(ConformanceError, match=GAPS[name]):
        asyncio.run(run_durable_scenario(name, DurableAcpSubject(acp_place)))
