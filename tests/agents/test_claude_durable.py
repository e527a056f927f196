"""The real Claude Code CLI keeps what every adapter owes over another server."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.conformance_durable import (
    DURABLE_SCENARIOS,
    run_durable_scenario,
)
from tests.agents.claude_agent import Place

PROMPTS = {
    "attach": ["steady"],
    "attach_ask": ["touch"],
    "attach_over": ["run ls", "say hello"],
    "resend": ["say hello", "echo again"],
    "steer": ["steady", "echo and this"],
    "rewind": ["echo one", "echo two", "recall"],
    "fork": ["echo one", "echo two", "recall"],
}


class DurableClaudeSubject:
    """A `DurableSubject` over the real CLI."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> ClaudeAdapter:
        self._launcher = SpoolLauncher(self._place.home / "spool")
        return ClaudeAdapter(self._place.context(self._launcher))

    async def replaced(self) -> ClaudeAdapter:
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
def test_the_claude_adapter_passes(name: str, place: Place) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableClaudeSubject(place))) is True
