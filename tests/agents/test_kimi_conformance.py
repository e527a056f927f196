"""The promises every adapter owes, with the real Kimi Code.

What the real one never does on request (half a line, words on its way out, an ask that it takes
back by itself) is played in tests/unit/kimi.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.conformance import run_scenario
from jupyter_agentchat.providers.kimi.adapter import KimiAdapter
from tests.agents.kimi_agent import Place, a_place

FORGOTTEN = "session_845742ec-aec9-46c6-880e-f929255a787b"
PROMPTS = {
    "hello": "say hello",
    "tool_ok": "read file",
    "tool_failed": "no such tool",
    "permission": "run ls",
    "cancel": "slow",
    "huge_line": "big",
    "resume_refused": "say hello",
    "unknown": "no such tool",
}

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        (place.project / "notes.txt").write_text("alpha\n", "utf-8")
        yield place


class KimiSubject:
    """A `conformance.Subject` over the real program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: LocalLauncher | None = None

    async def open(self, scenario: str) -> KimiAdapter:
        self._launcher = LocalLauncher()
        return KimiAdapter(self._place.context(self._launcher))

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        refused = scenario == "resume_refused" and not turn
        return RunRequest(
            chat_id="c",
            run_id=f"r{turn}",
            prompt=PROMPTS[scenario] if turn == 0 else "say hello",
            cwd=str(self._place.project),
            provider_session_id=FORGOTTEN if refused else None,
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
        "unknown_type",
    ],
)
def test_the_kimi_adapter_passes(name: str, place: Place) -> None:
    assert asyncio.run(run_scenario(name, KimiSubject(place))) is True
