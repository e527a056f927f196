"""The recordings of real agents, translated: as reviewed, twice, and among strange lines."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Complete
from jupyter_agentchat.providers.acp.translate import Translator, Turn
from jupyter_agentchat.providers.acp.wire import parse
from tests.acp_replay import acp_runs
from tests.goldens import golden_of, read_recording, recordings, render

RECORDINGS = recordings("acp")
NAMES = [f"{path.parent.name}-{path.stem}" for path in RECORDINGS]
STRANGE = [
    '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"x"}}}',
    '{"jsonrpc":"2.0","method":"session/update","params":[]}',
    '{"jsonrpc":"2.0","method":"session/update","params":{"update":{"sessionUpdate":"tool_call"}}}',
    '{"jsonrpc":"2.0","method":"_vendor/thing"}',
    '{"jsonrpc":"2.0","method":7}',
    '{"id":null,"result":1}',
    "[1]",
    "Loaded cached credentials.",
    "{broken",
    "",
]


def _lines(path: Path) -> list[tuple[str, str]]:
    return [(one.dir, one.line) for one in read_recording(path)]


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_a_recording_gives_its_golden_events(path: Path) -> None:
    text = render(acp_runs(_lines(path)))
    if os.environ.get("GOLDENS") == "write":
        golden_of(path).write_text(text, "utf-8")
    assert text == golden_of(path).read_text("utf-8"), "if meant: GOLDENS=write"


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_strange_lines_between_change_nothing_but_a_notice(path: Path) -> None:
    lines = _lines(path)
    plain = [[one for one in run if one.type != "notice"] for run in acp_runs(lines)]
    mixed = [pair for line in lines for pair in (line, *(("out", odd) for odd in STRANGE))]
    again = [[one for one in run if one.type != "notice"] for run in acp_runs(mixed)]
    assert render(again) == render(plain)


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_every_run_that_was_answered_ends_once(path: Path) -> None:
    for run in acp_runs(_lines(path)):
        ends = [body for body in run if isinstance(body, Complete)]
        assert len(ends) <= 1
        assert not ends or run[-1] is ends[0]


def test_text_that_no_store_can_keep_is_mended() -> None:
    reader = Translator(Turn("acp", "r", "/w", "p", "ready:"))
    inner = {
        "sessionUpdate": "agent_message_chunk",
        "content": {"type": "text", "text": "a\0\ud800"},
    }
    line = json.dumps({"method": "session/update", "params": {"sessionId": "s", "update": inner}})
    message = parse(line)
    assert message is not None
    assert [getattr(body, "delta", None) for body in reader.read(message)] == [
        None,
        "a\ufffd\ufffd",
    ]
