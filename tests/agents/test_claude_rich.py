"""What every adapter owes beside talking, with the real Claude Code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import Any

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.conformance_rich import RICH_SCENARIOS, run_rich_scenario
from tests.agents.claude_agent import Place
from tests.agents.test_claude_facts import PNG
from tests.fakes import anthropic_mcp
from tests.waiting import until

DEMO = {"command": sys.executable, "args": [anthropic_mcp.__file__], "env": {}}
PROMPTS: dict[str, list[str]] = {
    "two_chats": ["echo first words", "echo other words"],
    "huge_output": ["huge tool"],
    "question": ["ask me"],
    "image": ["What is in this image?"],
    "mcp": ["use mcp"],
    "child_killed": ["slow", "say hello"],
}
MORE: dict[str, dict[str, Any]] = {
    "huge_output": {"permission": "full"},
    "mcp": {"mcp_servers": {"demo": DEMO}},
}
SESSION = "5f0c7a52-0000-4000-8000-000000000000"


class ClaudeRichSubject:
    """A `RichSubject` over the real CLI."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher = LocalLauncher()

    async def open(self, scenario: str) -> ClaudeAdapter:
        return ClaudeAdapter(self._place.context(self._launcher))

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        apart = scenario == "two_chats"
        given: dict[str, Any] = {
            "chat_id": f"c{turn}" if apart else "c",
            "run_id": f"r{turn}",
            "prompt": PROMPTS[scenario][turn],
            "cwd": str(self._place.project),
            "provider_session_id": SESSION if turn and not apart else None,
            **MORE.get(scenario, {}),
        }
        if scenario == "image":
            path = self._place.project / "plot.png"
            path.write_bytes(PNG)
            image = {"id": "a", "name": path.name, "path": str(path), "kind": "image"}
            given["attachments"] = [{**image, "mime": "image/png"}]
        return RunRequest.model_validate(given)

    async def kill_child(self) -> None:
        # the CLI writes a conversation down a moment after its first words
        records = self._place.home / ".claude" / "projects"
        await until(lambda: list(records.glob(f"*/{SESSION}.jsonl")))
        for child in self._launcher.children:
            os.kill(child.identity.pid, signal.SIGKILL)

    async def close(self) -> None:
        await self._launcher.close()


@pytest.mark.parametrize("name", RICH_SCENARIOS)
def test_the_claude_adapter_passes(name: str, place: Place) -> None:
    assert asyncio.run(run_rich_scenario(name, ClaudeRichSubject(place))) is True
