"""The native adapter keeps what every adapter owes over another server, with the scenario agent."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AdapterContext
from jupyter_agentchat.providers.conformance import ConformanceError
from jupyter_agentchat.providers.conformance_durable import (
    DURABLE_SCENARIOS,
    run_durable_scenario,
)
from jupyter_agentchat.providers.native.adapter import NativeAdapter
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.unit.native.scenario_subject import SAY, make_agent, make_request

STREAM = [{"say": "on and on " * 20, "chunks": 40, "rate": 80}]
SCRIPTS: dict[str, list[Any]] = {
    "attach": [STREAM],
    "attach_ask": [[{"ask": {"title": "Run it?"}}, *SAY]],
    "attach_over": [SAY, SAY],
    "resend": [SAY, [{"say": "The second answer."}]],
    "steer": [STREAM, "and this"],
}


class DurableScenarioSubject:
    """A `DurableSubject` of the native adapter."""

    def __init__(self, folder: Path, scripts: dict[str, list[Any]] = SCRIPTS) -> None:
        self._folder = folder
        self._scripts = scripts
        self._launcher: SpoolLauncher | None = None

    async def open(self, scenario: str) -> NativeAdapter:
        self._launcher = SpoolLauncher(self._folder / "spool")
        settings = ProviderSettings()
        context = AdapterContext(self._launcher, dict(os.environ), settings, self._folder)
        return NativeAdapter(context, make_agent())

    async def replaced(self) -> NativeAdapter:
        assert self._launcher is not None
        await self._launcher.leave()
        return await self.open("")

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        if scenario not in self._scripts:
            return None
        return make_request(self._folder, self._scripts[scenario][turn], turn)

    async def close(self) -> None:
        if self._launcher is not None:
            await self._launcher.close()


@pytest.mark.parametrize("name", SCRIPTS)
def test_the_native_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableScenarioSubject(tmp_path))) is True


@pytest.mark.parametrize("name", DURABLE_SCENARIOS.keys() - SCRIPTS.keys())
def test_what_the_agent_cannot_do_is_not_run(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_durable_scenario(name, DurableScenarioSubject(tmp_path))) is False


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [
        ("attach", [[{"fail": "no"}]]),
        ("attach_ask", [[{"say": "nobody asked"}]]),
        ("attach_over", [SAY, [{"fail": "no"}]]),
        ("resend", [SAY, [{"fail": "no"}]]),
        ("steer", [[{"fail": "no text"}], "and this"]),
    ],
)
def test_the_suite_notices_an_agent_that_does_something_else(
    name: str, spoiled: list[Any], tmp_path: Path
) -> None:
    subject = DurableScenarioSubject(tmp_path, {name: spoiled})
    with pytest.raises(ConformanceError):
        asyncio.run(run_durable_scenario(name, subject))
