"""The recordings of the real Kimi Code, translated: as reviewed, twice, and with strange events."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Complete
from tests.goldens import Recorded, golden_of, read_recording, recordings, render

from .replaying import kimi_runs

RECORDINGS = recordings("kimi")
NAMES = [path.stem for path in RECORDINGS]
STRANGE = [
    {"type": "from.the.future", "seq": 1, "payload": {"agentId": "main"}},
    {"type": "tool.call.started", "seq": 1, "payload": {"agentId": "main", "toolCallId": 7}},
    {"type": "tool.result", "seq": "x", "payload": {"toolCallId": "nobody"}},
    {"type": "assistant.delta", "volatile": True, "payload": {"turnId": 77, "delta": "no"}},
    {"type": "assistant.delta", "volatile": True, "payload": {"delta": 5}},
    {"type": "event.approval.requested", "payload": None},
    {"type": 7},
    {},
]


def test_there_are_recordings() -> None:
    assert len(RECORDINGS) > 20


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_a_recording_gives_its_golden_events(path: Path) -> None:
    text = render(kimi_runs(read_recording(path)))
    if os.environ.get("GOLDENS") == "write":
        golden_of(path).write_text(text, "utf-8")
    assert text == golden_of(path).read_text("utf-8"), "if meant: make goldens"


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_every_recorded_run_has_one_end_and_read_twice_it_is_the_same(path: Path) -> None:
    runs = kimi_runs(read_recording(path))
    assert runs
    for bodies in runs:
        assert [body for body in bodies if isinstance(body, Complete)] == bodies[-1:]
    assert render(kimi_runs(read_recording(path))) == render(runs)


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_events_that_nobody_knows_change_nothing(path: Path) -> None:
    recorded = read_recording(path)
    whole = render(kimi_runs(recorded))
    strange = [Recorded("out", json.dumps(frame)) for frame in STRANGE]
    for at in range(0, len(recorded), max(1, len(recorded) // 8)):
        assert render(kimi_runs([*recorded[:at], *strange, *recorded[at:]])) == whole
