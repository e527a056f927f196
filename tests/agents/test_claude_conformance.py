"""The promises every adapter owes, with the real Claude Code CLI.

What the real one never does on request (half a line, unknown kinds, an ask that it takes back by
itself) is played in tests/unit/claude.
"""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.conformance import run_scenario
from tests.agents.claude_agent import Place

SESSION = "5f0c7a52-0000-4000-8000-000000000000"
FORGOTTEN = "845742ec-aec9-46c6-880e-f929255a787b"
PROMPTS = {
    "hello": "say hello",
    "tool_ok": "run ls",
    "tool_failed": "bad tool",
    "permission": "touch",
    "cancel": "slow",
    "huge_line": "big",
    "resume_refused": "say hello",
}


class ClaudeSubject:
    """A `conformance.Subject` over the real CLI."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: LocalLauncher | None = None

    async def open(self, scenario: str) -> ClaudeAdapter:
        self._launcher = LocalLauncher()
        return ClaudeAdapter(self._place.context(self._launcher))

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        session = SESSION if turn else None
        if scenario == "resume_refused":
            session = None if turn else FORGOTTEN
        return RunRequest(
            chat_id="c",
            run_id=f"r{turn}",
            prompt=PROMPTS[scenario] if turn == 0 else "say hello",
            cwd=str(self._place.project),
            provider_session_id=session,
            transcript="Before: nothing.\n" if scenario == "resume_refused" and turn else None,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


@pytest.mark.parametrize(
    "name",
    [
        "hello",
        "tool_ok",
        "tool_failed",
        "permission_granted",
        "permission_denied",
        "cancel",
        "huge_line",
        "resume_refused",
    ],
)
def test_the_claude_adapter_passes(name: str, place: Place) -> None:
    assert asyncio.run(run_scenario(name, ClaudeSubject(place))) is True
