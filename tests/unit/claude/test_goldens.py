"""The recordings of the real CLI, translated: as reviewed, twice, in pieces, and torn."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_agentchat.process.framing import Line, LineFramer
from jupyter_agentchat.protocol.events import Complete
from tests.goldens import (
    Recorded,
    claude_runs,
    golden_of,
    present_text,
    read_recording,
    recordings,
    render,
)

RECORDINGS = recordings("claude")
NAMES = [path.stem for path in RECORDINGS]
STRANGE = [
    '{"type":"from_the_future","text":"?"}',
    '{"type":"system","subtype":"from_the_future"}',
    '{"type":"stream_event","event":{"type":"from_the_future","index":"x","delta":7}}',
    '{"type":"assistant","message":[]}',
    '{"type":"user","message":{"content":[{"type":"tool_result"},5,null]}}',
    '{"type":7}',
    "[1, 2]",
    "[SandboxDebug] not json",
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
def test_read_twice_or_cut_anywhere_it_gives_the_same(path: Path) -> None:
    recorded = read_recording(path)
    whole = render(claude_runs(recorded))
    assert render(claude_runs(recorded)) == whole
    output = "".join(item.line + "\n" for item in recorded if item.dir == "out").encode()
    for cut in range(1, len(output), max(1, len(output) // 25)):
        framer = LineFramer()
        lines = []
        for piece in (output[:cut], output[cut:]):
            framer.feed(piece)
            lines += [frame.text for frame in framer.frames() if isinstance(frame, Line)]
        pieces = iter(lines)
        again = [Recorded("out", next(pieces)) if i.dir == "out" else i for i in recorded]
        assert render(claude_runs(again)) == whole


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_lines_that_nobody_knows_change_nothing(path: Path) -> None:
    recorded = read_recording(path)
    whole = render(claude_runs(recorded))
    for at in range(0, len(recorded), max(1, len(recorded) // 8)):
        strange = [Recorded("out", line) for line in STRANGE]
        assert render(claude_runs([*recorded[:at], *strange, *recorded[at:]])) == whole


def test_a_torn_last_line_invents_no_end() -> None:
    path = next(path for path in RECORDINGS if path.stem == "hello_ls")
    recorded = read_recording(path)
    last = max(i for i, item in enumerate(recorded) if '"type":"result"' in item.line)
    torn = recorded[last].line
    for cut in range(len(torn)):
        runs = claude_runs([*recorded[:last], Recorded("out", torn[:cut])])
        assert not any(isinstance(body, Complete) for body in runs[-1])
