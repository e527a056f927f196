"""The recordings of the real Codex, translated: as reviewed, and unmoved by what nobody knows."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import AssistantText, Complete, Error, ToolUseEnd
from tests.codex_replay import codex_runs
from tests.goldens import (
    Recorded,
    golden_of,
    present_text,
    read_recording,
    recordings,
    render,
)

RECORDINGS = recordings("codex")
NAMES = [f"{path.parent.name}-{path.stem}" for path in RECORDINGS]
STRANGE = [
    '{"method":"turn/started","params":{"threadId":"of-nobody","turn":{"id":"x"}}}',
    '{"method":"item/completed","params":{"threadId":"of-nobody","item":{"type":"plan"}}}',
    '{"method":"account/rateLimits/updated","params":{"rateLimits":{"primary":null}}}',
    '{"id":"agentchat-late","result":{"turn":{"id":"x"}}}',
    '{"id":99999,"error":{"code":-32600,"message":"?"}}',
    '{"method":"from/the/future","params":[1]}',
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
def test_read_twice_it_gives_the_same(path: Path) -> None:
    recorded = read_recording(path)
    assert render(codex_runs(recorded)) == render(codex_runs(recorded))


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_lines_of_nobody_change_nothing(path: Path) -> None:
    recorded = read_recording(path)
    whole = render(codex_runs(recorded))
    for at in range(0, len(recorded), max(1, len(recorded) // 6)):
        strange = [Recorded("out", line) for line in STRANGE]
        assert render(codex_runs([*recorded[:at], *strange, *recorded[at:]])) == whole


def _runs(name: str) -> list[list[object]]:
    path = next(path for path in RECORDINGS if path.stem == name)
    return [list(run) for run in codex_runs(read_recording(path))]


def test_every_run_ends_once_and_an_error_stands_only_before_a_failure() -> None:
    for path in RECORDINGS:
        for run in codex_runs(read_recording(path)):
            ends = [body for body in run if isinstance(body, Complete)]
            assert len(ends) <= 1
            failed = bool(ends) and ends[0].outcome == "failed"
            assert any(isinstance(body, Error) for body in run) == failed


def test_a_steered_message_stays_in_its_run() -> None:
    first, second = _runs("steer")
    texts = [body.text for body in second if isinstance(body, AssistantText) and body.final]
    assert len(texts) == 1
    assert [body.outcome for body in second if isinstance(body, Complete)] == ["completed"]
    assert isinstance(first[-1], Complete)


def test_each_of_many_threads_has_only_its_own_words() -> None:
    for run in _runs("many_threads"):
        turns = {
            body.item_id.split(":")[0]
            for body in run
            if isinstance(body, AssistantText) and body.item_id
        }
        assert len(turns) == 1


def test_declined_and_failed_calls_are_told_apart() -> None:
    runs = _runs("command_approval")
    ends = [[body.status for body in run if isinstance(body, ToolUseEnd)] for run in runs]
    assert ends[0] == ["completed"]
    assert ends[1] == ["denied"]
