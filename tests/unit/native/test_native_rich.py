"""The native adapter keeps what every adapter owes for what its agent can do beside talking."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import ProviderFeatures, RunRequest
from jupyter_agentchat.providers.conformance import ConformanceError
from jupyter_agentchat.providers.conformance_rich import (
    HUGE_BYTES,
    RICH_SCENARIOS,
    check_gap,
    run_rich_scenario,
)
from jupyter_agentchat.providers.native.adapter import NativeAdapter
from tests.unit.native.scenario_subject import SAY, make_agent, make_context, make_request

QUESTION = {"questions": [{"id": "q", "question": "Which?", "options": [{"label": "Red"}]}]}
MUCH = {"tool": {"kind": "shell", "input": {"command": "seq"}, "output": "x" * HUGE_BYTES}}
SCRIPTS: dict[str, list[Any]] = {
    "two_chats": ["first words", "other words"],
    "huge_output": [[MUCH, *SAY]],
    "question": [[{"question": QUESTION}, {"say": "You chose {answer}."}]],
    "child_killed": [[{"say": "on and on " * 50, "chunks": 100, "rate": 80}], SAY],
}
FEATURES = ProviderFeatures(asks=True, questions=True)


class RichScenarioSubject:
    """A `RichSubject` of the native adapter."""

    def __init__(self, folder: Path, scripts: dict[str, list[Any]] = SCRIPTS) -> None:
        self._folder = folder
        self._scripts = scripts
        self._launcher = LocalLauncher()

    async def open(self, scenario: str) -> NativeAdapter:
        return NativeAdapter(make_context(self._launcher, self._folder), make_agent())

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        if scenario not in self._scripts:
            return None
        chat = f"chat{turn}" if scenario == "two_chats" else "chat"
        return make_request(self._folder, self._scripts[scenario][turn], turn, chat_id=chat)

    async def kill_child(self) -> None:
        for child in self._launcher.children:
            os.kill(child.identity.pid, signal.SIGKILL)

    async def close(self) -> None:
        await self._launcher.close()


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_native_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_rich_scenario(name, RichScenarioSubject(tmp_path))) is True


@pytest.mark.parametrize("name", RICH_SCENARIOS.keys() - SCRIPTS.keys())
def test_what_the_agent_cannot_do_is_not_run_and_declared(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_rich_scenario(name, RichScenarioSubject(tmp_path))) is False
    check_gap(name, FEATURES)


@pytest.mark.parametrize("name", ["question", "two_chats"])
def test_a_gap_that_is_not_declared_is_noticed(name: str) -> None:
    with pytest.raises(ConformanceError):
        check_gap(name, FEATURES)


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [
        ("two_chats", [SAY, "other words"]),
        ("huge_output", [[{"tool": {"status": "failed", "output": "no"}}, *SAY]]),
        ("question", [[{"question": QUESTION}, {"say": "You chose nothing."}]]),
        ("child_killed", [SAY, [{"fail": "no"}]]),
    ],
)
def test_the_suite_notices_an_agent_that_does_something_else(
    name: str, spoiled: list[Any], tmp_path: Path
) -> None:
    subject = RichScenarioSubject(tmp_path, {name: spoiled})
    with pytest.raises(ConformanceError):
        asyncio.run(run_rich_scenario(name, subject))
