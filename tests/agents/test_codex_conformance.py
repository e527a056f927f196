"""The promises every adapter owes, with the real Codex.

What the real one never does on request (half a line, unknown kinds, a crash with last words) is
played in tests/unit/codex.
"""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from jupyter_agentchat.providers.conformance import run_scenario
from jupyter_agentchat.providers.conformance_durable import (
    DURABLE_SCENARIOS,
    run_durable_scenario,
)
from tests.agents.codex_agent import Place

FORGOTTEN = "01a22f12-0000-7000-8000-e929255a787b"
PROMPTS = {
    "hello": "say hello",
    "tool_ok": "run ls",
    "tool_failed": "run false",
    "permission": "run touch made-by-agent.txt",
    "cancel": "slow",
    "huge_line": "big",
    "resume_refused": "say hello",
}
DURABLE_PROMPTS = {
    "attach": ["steady"],
    "attach_ask": ["run touch made-by-agent.txt"],
    "attach_over": ["run ls", "say hello"],
    "resend": ["say hello", "echo again"],
    "steer": ["steady", "echo and this"],
    "rewind": ["echo one", "echo two", "recall"],
    "fork": ["echo one", "echo two", "recall"],
}


class CodexSubject:
    """A `conformance.Subject` over the real program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: LocalLauncher | None = None

    async def open(self, scenario: str) -> CodexAdapter:
        self._launcher = LocalLauncher()
        return CodexAdapter(self._place.context(self._launcher))

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        refused = scenario == "resume_refused"
        return RunRequest(
            chat_id="c",
            run_id=f"r{turn}",
            prompt=PROMPTS[scenario] if turn == 0 else "say hello",
            cwd=str(self._place.project),
            # what only reads is not asked for then
            permission="accept_edits" if scenario.startswith("tool") else "ask",
            provider_session_id=FORGOTTEN if refused and turn == 0 else None,
            transcript="Before: nothing.\n" if refused and turn else None,
        )

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


class DurableCodexSubject:
    """A `DurableSubject` over the real program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> CodexAdapter:
        self._launcher = SpoolLauncher(self._place.home / "spool")
        return CodexAdapter(self._place.context(self._launcher))

    async def replaced(self) -> CodexAdapter:
        assert self._launcher is not None
        await self._launcher.leave()
        return await self.open("")

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        branch = scenario == "fork" and turn == 1
        return RunRequest(
            chat_id="branch" if branch else "chat",
            run_id=f"r{turn}",
            prompt=DURABLE_PROMPTS[scenario][turn],
            cwd=str(self._place.project),
            permission="accept_edits" if scenario == "attach_over" else "ask",
            fork=branch,
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
def test_codex_passes(name: str, codex_place: Place) -> None:
    assert asyncio.run(run_scenario(name, CodexSubject(codex_place))) is True


@pytest.mark.parametrize("name", DURABLE_SCENARIOS)
def test_codex_passes_over_another_server(name: str, codex_place: Place) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableCodexSubject(codex_place))) is True
