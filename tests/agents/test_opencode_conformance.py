"""The promises every adapter owes, with the real opencode.

What the real one never does on request (half a line, unknown kinds, an ask that it takes back by
itself) is played in tests/unit/opencode.
"""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import Attachment, RunRequest
from jupyter_agentchat.providers.conformance import run_scenario
from jupyter_agentchat.providers.conformance_rich import RICH_SCENARIOS, run_rich_scenario
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from tests.agents.opencode_agent import Place, open_warm

pytestmark = pytest.mark.timeout(180)

FORGOTTEN = "ses_dd00000000000000000000000"
PROMPTS = {
    "hello": ["say hello"],
    "tool_ok": ["run ls"],
    "tool_failed": ["run failing shell"],
    "permission": ["run ls"],
    "cancel": ["slow", "say hello"],
    "huge_line": ["big"],
    "resume_refused": ["say hello", "say hello"],
    "two_chats": ["mirror one and only", "mirror the other one"],
    "huge_output": ["huge output"],
    "question": ["choose"],
    "image": ["how many images"],
    "mcp": ["mcp tool"],
    "child_killed": ["steady", "say hello"],
}
FREE = {"tool_ok", "tool_failed", "huge_output"}


class OpencodeSubject:
    """A `conformance.RichSubject` over the real program."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._launcher: LocalLauncher | None = None

    async def open(self, scenario: str) -> OpencodeAdapter:
        self._launcher = LocalLauncher()
        return await open_warm(self._place, self._launcher)

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        if scenario not in PROMPTS:
            return None
        place = self._place
        return RunRequest(
            chat_id=f"c{turn}" if scenario == "two_chats" else "c",
            run_id=f"r{turn}",
            prompt=PROMPTS[scenario][turn],
            cwd=str(place.project),
            permission="full" if scenario in FREE else "ask",
            model="fake/fake-thinker" if scenario == "image" else None,
            provider_session_id=FORGOTTEN if (scenario, turn) == ("resume_refused", 0) else None,
            transcript="Before: nothing.\n" if scenario == "resume_refused" and turn else None,
            attachments=[place.image()] if scenario == "image" else [],
            mcp_servers=place.mcp_server() if scenario == "mcp" else {},
        )

    async def kill_child(self) -> None:
        assert self._launcher is not None
        (child,) = self._launcher.children
        os.kill(child.identity.pid, signal.SIGKILL)

    async def close(self) -> None:
        if self._launcher is not None:
            assert self._launcher.children == []
            await self._launcher.close()


def test_an_attached_image_is_one(opencode_place: Place) -> None:
    image: Attachment = opencode_place.image()
    assert image.kind == "image"


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
def test_the_opencode_adapter_passes(name: str, opencode_place: Place) -> None:
    assert asyncio.run(run_scenario(name, OpencodeSubject(opencode_place))) is True


@pytest.mark.parametrize("name", RICH_SCENARIOS)
def test_the_opencode_adapter_does(name: str, opencode_place: Place) -> None:
    assert asyncio.run(run_rich_scenario(name, OpencodeSubject(opencode_place))) is True
