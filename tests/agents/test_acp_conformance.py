"""The promises every adapter owes, with the real Qwen Code and the real Gemini CLI.

What the real ones never do on request (half a line, unknown kinds, an ask that is taken back) is
played in tests/unit/acp.
"""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.acp.adapter import AcpAdapter
from jupyter_agentchat.providers.conformance import run_scenario
from tests.agents.acp_agent import Place

FORGOTTEN = "845742ec-aec9-46c6-880e-f929255a787b"
PROMPTS = {
    "hello": "say hello",
    "tool_ok": "run ls",
    "tool_failed": "read file",
    "permission": "run cmd: touch made",
    "cancel": "slow",
    "huge_line": "big",
    "resume_refused": "say hello",
}
SHOWN = [
    "hello",
    "tool_ok",
    "tool_failed",
    "permission_granted",
    "permission_denied",
    "cancel",
    "huge_line",
    "resume_refused",
]


class AcpSubject:
    """A `conformance.Subject` over a real agent. Its second turn goes on in the open process."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: LocalLauncher | None = None

    async def open(self, scenario: str) -> AcpAdapter:
        self._launcher = LocalLauncher()
        return self._place.adapter(self._launcher)

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        forgotten = scenario == "resume_refused" and turn == 0
        return RunRequest(
            chat_id="c",
            run_id=f"r{turn}",
            prompt=PROMPTS[scenario] if turn == 0 else "say hello",
            cwd=str(self._place.project),
            provider_session_id=FORGOTTEN if forgotten else None,
            transcript="Before: nothing.\n" if scenario == "resume_refused" and turn else None,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


@pytest.mark.parametrize("name", SHOWN)
def test_a_real_acp_agent_passes(name: str, acp_place: Place) -> None:
    assert asyncio.run(run_scenario(name, AcpSubject(acp_place))) is True
