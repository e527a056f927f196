"""A server with a run at work is not culled; one with a forgotten run is."""

from __future__ import annotations

import pytest

from jupyter_agentchat.runs import activity, running
from jupyter_agentchat.runs.activity import QUIET_LIMIT_S, Wakefulness
from tests.waiting import until

from .staged import DONE, Stage, on_stage, say


class Clock:
    now = 0.0

    def monotonic(self) -> float:
        return self.now


def test_a_run_keeps_its_server_awake_while_it_says_something_and_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock()
    monkeypatch.setattr(activity, "time", clock)
    awake = Wakefulness(limit_s=4 * QUIET_LIMIT_S, began=0.0, last_output=0.0)
    assert awake.holds(waiting=False)
    assert not awake.holds(waiting=True)  # a person is asked: it is theirs to keep it
    clock.now = QUIET_LIMIT_S + 1
    assert not awake.holds(waiting=False)
    awake.output()
    assert awake.holds(waiting=False)
    clock.now = 4 * QUIET_LIMIT_S + 1
    awake.output()
    assert not awake.holds(waiting=False)


def test_a_silent_run_is_reported_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "REPORT_S", 0.01)

    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(say("a long build begins"))
        await until(lambda: any(e["type"] == "assistant_text" for e in stage.log()))
        stage.told.clear()
        await until(lambda: stage.told.count(("progress", None)) >= 3)
        run.end(DONE)
        await stage.until_idle()
        stage.told.clear()

    on_stage(scenario)
