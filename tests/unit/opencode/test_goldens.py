"""The recordings of the real opencode, translated: as reviewed, twice, and with strange lines."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.goldens import Recorded, golden_of, present_text, read_recording, recordings, render
from tests.opencode_replay import opencode_runs

RECORDINGS = recordings("opencode")
NAMES = [path.stem for path in RECORDINGS]
STRANGE = [
    '{"payload":{"type":7,"properties":[]}}',
    '{"payload":[],"directory":5}',
    '{"got":"run-1:status","status":500,"body":null}',
    '{"got":"run-9:status","status":200,"body":{}}',
    '{"feed":"down"}',
    '{"payload":{"type":"message.updated","properties":{"info":{"id":5}}}}',
    '{"payload":{"type":"message.part.updated","properties":{"part":"x"}}}',
    '{"payload":{"type":"session.idle","properties":{"sessionID":"ses_of_another"}}}',
    "[1, 2]",
    "{broken",
    "",
]


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_a_recording_gives_its_golden_events(path: Path) -> None:
    text = present_text(path)
    if os.environ.get("GOLDENS") == "write":
        golden_of(path).write_text(text, "utf-8")
    assert text == golden_of(path).read_text("utf-8"), "if meant: python -m tests.goldens --rewrite"


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_read_again_or_every_line_twice_it_tells_the_same(path: Path) -> None:
    recorded = read_recording(path)
    whole = render(opencode_runs(recorded))
    assert render(opencode_runs(recorded)) == whole
    doubled = [
        again for item in recorded for again in ([item, item] if _may_come_twice(item) else [item])
    ]
    assert render(opencode_runs(doubled)) == whole


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_lines_that_nobody_knows_change_nothing(path: Path) -> None:
    recorded = read_recording(path)
    whole = render(opencode_runs(recorded))
    strange = [Recorded("out", line) for line in STRANGE]
    for at in range(0, len(recorded), max(1, len(recorded) // 8)):
        assert render(opencode_runs([*recorded[:at], *strange, *recorded[at:]])) == whole


def _may_come_twice(item: Recorded) -> bool:
    """After a cut of the connection, all but deltas, checklists and retries are read again."""
    once = ("message.part.delta", "todo.updated", '"retry"', "session.compacted")
    return item.dir == "out" and not any(kind in item.line for kind in once)
