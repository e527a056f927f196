"""The native adapter keeps the promises every adapter owes, with the scenario agent behind it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import AssistantText, Complete, Error
from jupyter_agentchat.providers.conformance import (
    SCENARIOS,
    ConformanceError,
    play,
    run_scenario,
)
from tests.unit.native.scenario_subject import SCRIPTS, ScenarioSubject


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_native_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, ScenarioSubject(tmp_path))) is True


@pytest.mark.parametrize(
    ("name", "spoiled"),
    [
        ("hello", [{"fail": "no"}]),
        ("tool_ok", [{"tool": {"status": "failed"}}]),
        ("tool_failed", [{"tool": {"status": "completed"}}]),
        ("permission_granted", [{"say": "nobody asked"}]),
        ("permission_denied", [{"ask": {}}, {"ask": {}}]),
        ("permission_withdrawn", [{"say": "no ask"}]),
        ("cancel", [{"fail": "no text at all"}]),
        ("huge_line", [{"huge_line": 1000}]),
        ("torn_line", [{"say": "torn no more"}]),
        ("crash", [{"say": "alive"}]),
        ("resume_refused", [{"say": "I remember"}]),
        ("unknown_type", [{"say": "all known"}]),
    ],
)
def test_the_suite_notices_an_agent_that_does_something_else(
    name: str, spoiled: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = SCENARIOS[name][0]
    monkeypatch.setitem(SCRIPTS, word, [spoiled, spoiled])
    with pytest.raises(ConformanceError):
        asyncio.run(run_scenario(name, ScenarioSubject(tmp_path)))


def test_what_an_agent_does_not_owe_is_not_run(tmp_path: Path) -> None:
    class Modest(ScenarioSubject):
        def request(self, scenario: str, turn: int) -> None:
            return None

    assert asyncio.run(run_scenario("cancel", Modest(tmp_path))) is False


def test_play_reports_what_a_person_would_read(tmp_path: Path) -> None:
    async def main() -> None:
        subject = ScenarioSubject(tmp_path)
        adapter = await subject.open("hello")
        request = subject.request("hello", 0)
        assert request is not None
        played = await play(adapter, request)
        await adapter.close()
        await subject.close()
        assert played.text == "Here is the answer."
        assert len(played.of(AssistantText)) == 5
        assert played.of(Complete)[0].outcome == played.outcome == "completed"
        assert not played.of(Error)

    asyncio.run(main())
