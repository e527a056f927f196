"""The oracle itself: each fault that it is there for is found, and a sound chat has none."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.faults import oracle
from tests.faults.rendering import render

Json = dict[str, Any]
TOOL = {"tool_id": "t", "name": "Bash", "title": "ls"}
DONE = {"type": "tool_use_end", "tool_id": "t", "status": "completed"}
OUTPUT = [{"type": "text", "text": "a b"}]


def text(**fields: Any) -> Json:
    return {"type": "assistant_text", "item_id": "i", **fields}


EMITTED: list[Json] = [
    {"type": "tool_use_start", **TOOL},
    {"type": "tool_use_update", "tool_id": "t", "output_delta": "a"},
    {**DONE, "output": OUTPUT},
    text(delta="Hel"),
    text(delta="lo"),
    text(text="Hello", final=True),
    {"type": "complete", "outcome": "completed"},
]
JOURNAL = [{"seq": number, **body} for number, body in enumerate(EMITTED, 1)]
LOG: list[Json] = [
    {"seq": 1, "run_id": "r", "type": "user", "client_id": "c"},
    {"seq": 2, "run_id": "r", "type": "run_started"},
    {"seq": 3, "run_id": "r", **EMITTED[0]},
    {"seq": 5, "run_id": "r", **EMITTED[2]},
    {"seq": 8, "run_id": "r", **text(text="Hello", final=True, first_seq=6)},
    {"seq": 9, "run_id": "r", "type": "complete", "outcome": "completed"},
]
SEEN: list[Json] = [
    *LOG[:3],
    {"seq": 4, "run_id": "r", **EMITTED[1]},
    LOG[3],
    {"seq": 6, "run_id": "r", **EMITTED[3]},
    {"seq": 7, "run_id": "r", **EMITTED[4]},
    *LOG[4:],
]


def seen() -> dict[int, Json]:
    return {event["seq"]: event for event in SEEN}


def against_journal(log: list[Json], **options: bool) -> list[str]:
    options = {"whole": True, "tail_may_miss": False} | options
    return oracle.journal_faults(JOURNAL, log, "r", **options)


def test_a_sound_chat_has_no_fault() -> None:
    assert oracle.log_faults(LOG) == []
    assert oracle.client_faults(seen(), LOG) == []
    assert oracle.rendering_faults(render(SEEN), LOG) == []
    assert against_journal(LOG) == []


def without(seq: int) -> Callable[[list[Json]], list[Json]]:
    return lambda log: [event for event in log if event["seq"] != seq]


def twice(seq: int) -> Callable[[list[Json]], list[Json]]:
    def change(log: list[Json]) -> list[Json]:
        again = next(event for event in log if event["seq"] == seq)
        return [*log[:-1], {**again, "seq": 8.5}, log[-1]]

    return change


LOG_FAULTS = {
    "has no complete": without(9),
    "2 completes": twice(9),
    "was left open": without(5),
    "stands 2 times": twice(1),
    "seqs do not rise": lambda log: [*log[:3], log[4], log[3], log[5]],
    "behind the end": lambda log: [*log, {"seq": 10, "run_id": "r", **text(delta="late")}],
}


@pytest.mark.parametrize("said", LOG_FAULTS)
def test_a_log_that_is_wrong_in_itself_is_found(said: str) -> None:
    faults = oracle.log_faults(LOG_FAULTS[said](copy.deepcopy(LOG)))
    assert any(said in fault for fault in faults), faults


@pytest.mark.parametrize("seq", [3, 5, 8, 9])
def test_an_event_that_was_shown_and_is_gone_is_found(seq: int) -> None:
    assert oracle.client_faults(seen(), without(seq)(LOG))


def test_a_page_that_shows_something_else_is_found() -> None:
    shown = render(SEEN)
    shown.apply({"seq": 8, "run_id": "r", **text(text="Hello!", final=True, first_seq=6)})
    assert oracle.rendering_faults(shown, LOG)
    assert oracle.rendering_faults(render(SEEN[:-1]), LOG)


@pytest.mark.parametrize("deltas", ["HelHel", "lo"])
def test_deltas_that_were_shown_twice_or_not_are_found_though_the_final_is_right(
    deltas: str,
) -> None:
    shown = [{**event, "delta": deltas} if event["seq"] == 6 else event for event in SEEN]
    assert oracle.rendering_faults(render(without(7)(shown)), LOG)


def test_tool_output_that_was_shown_otherwise_is_found() -> None:
    assert oracle.streamed_faults(render(SEEN), JOURNAL) == []
    shown = [{**e, "output_delta": "aa"} if e["seq"] == 4 else e for e in SEEN]
    assert oracle.streamed_faults(render(shown), JOURNAL)


def changed(seq: int, **fields: Any) -> list[Json]:
    return [{**event, **fields} if event["seq"] == seq else event for event in LOG]


JOURNAL_FAULTS = {
    "a delta came twice": changed(8, text="HelHello"),
    "a delta is missing": changed(8, text="Hel"),
    "a tool is missing": [event for event in LOG if event.get("tool_id") != "t"],
    "another output": changed(5, output=[{"type": "text", "text": "a"}]),
    "order is wrong": changed(8, first_seq=2.5),
    "the text is missing": without(8)(LOG),
    "more than was said": [*LOG[:-1], {"seq": 8.5, "run_id": "r", **text(item_id="j", text="?")}],
}


@pytest.mark.parametrize("what", JOURNAL_FAULTS)
def test_a_store_that_says_something_else_than_the_agent_is_found(what: str) -> None:
    assert against_journal(JOURNAL_FAULTS[what])


def test_a_run_that_was_cut_short_may_lack_its_end_and_nothing_else() -> None:
    cut = changed(8, text="Hel")
    assert against_journal(cut, whole=False) == []
    assert against_journal(changed(8, text="Hxl"), whole=False)
    lacks_all = [event for event in LOG if event["seq"] in (1, 2, 9)]
    assert against_journal(lacks_all, whole=False) == []
    assert against_journal(lacks_all, whole=False, tail_may_miss=True)
