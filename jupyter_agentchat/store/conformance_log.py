"""The part of the suite that is about the log: order, pages, deltas, rewinds, turns."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

from ..errors import LogMoved, NotFound
from ..protocol.events import RewindUndone, Rewound, RunStarted, Thinking, ToolUseStart, User
from .base import Draft, EventPage, Store
from .conformance_samples import (
    Factory,
    delta,
    equal,
    final,
    notice,
    opened,
    prompt,
    record,
    refused,
    seqs,
    started,
    true,
)

HUGE = 10**30
"""A seq as only a confused client sends it."""


def events_come_back_in_order_as_they_were_stored(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        first = store.append("a", [prompt("Grüße 👋\n\t"), started()], run_id="run")
        other = store.append("b", [notice("elsewhere")])
        second = store.append("a", [notice("later")], durable=True)
        equal(seqs([*first, *second]), [1, 2, 3], "seqs of one chat")
        equal(seqs(other), [1], "seqs of another chat")
        equal(store.events_after("a", 0).events, (*first, *second), "what is read back")
        equal([event.run_id for event in first], ["run", "run"], "run")
        body = first[0].body()
        true(isinstance(body, User) and body.text == "Grüße 👋\n\t", "the text is what was typed")
        wire = json.loads(second[0].wire_json(with_chat=True))
        equal((wire["chat_id"], wire["seq"], wire["type"]), ("a", 3, "notice"), "wire form")


def an_unknown_chat_is_said_to_be_unknown(make: Factory) -> None:
    with opened(make) as store:
        for call in (
            lambda: store.append("nowhere", [notice()]),
            lambda: store.events_after("nowhere", 0),
            lambda: store.events_before("nowhere", None),
            lambda: store.turns_before("nowhere", None, turns=1),
            lambda: store.last_seq("nowhere"),
            lambda: store.chat("nowhere"),
            lambda: store.save_chat(record("nowhere")),
            lambda: store.delete_chat("nowhere", when="now"),
            lambda: store.put_blob("nowhere", b"x", "text/plain"),
        ):
            with refused(NotFound):
                call()


def last_seq_counts_every_event_also_streamed_ones(make: Factory) -> None:
    with opened(make, "a") as store:
        equal(store.last_seq("a"), 0, "of an empty log")
        store.append("a", [prompt(), delta("i"), delta("i")])
        equal(store.last_seq("a"), 3, "while an item streams")
        equal(store.chat("a").chat.last_seq, 3, "in the chat's record")
        store.append("a", [])
        equal(store.last_seq("a"), 3, "after an append of nothing")


def an_append_that_counted_from_an_older_end_stores_nothing(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt()], after=0)
        with refused(LogMoved):
            store.append("a", [delta("i")], after=0)
        equal(store.last_seq("a"), 1, "after the refusal")
        store.append("a", [delta("i")], after=1)
        equal(store.last_seq("a"), 2, "counted from the end")


def a_page_says_whether_there_is_more(make: Factory) -> None:
    with opened(make, "a") as store:
        equal(store.events_after("a", 0), EventPage((), False), "an empty log")
        equal(store.events_before("a", None), EventPage((), False), "an empty log, backwards")
        store.append("a", [notice(str(number)) for number in range(10)])
        _page(store.events_after("a", 0, limit=4), [1, 2, 3, 4], True)
        _page(store.events_after("a", 6, limit=4), [7, 8, 9, 10], False)
        _page(store.events_after("a", 10, limit=4), [], False)
        _page(store.events_before("a", None, limit=4), [7, 8, 9, 10], True)
        _page(store.events_before("a", 5, limit=4), [1, 2, 3, 4], False)
        _page(store.events_before("a", 1), [], False)


def impossible_positions_give_empty_or_whole_pages(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt(), notice()])
        _page(store.events_after("a", HUGE), [], False)
        _page(store.events_after("a", -HUGE), [1, 2], False)
        _page(store.events_before("a", HUGE), [1, 2], False)
        _page(store.events_before("a", -HUGE), [], False)
        _page(store.events_before("a", None, limit=0), [2], True)
        _page(store.turns_before("a", HUGE, turns=0), [1, 2], False)


def a_final_replaces_its_own_deltas_only(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt(), delta("i"), delta("other"), notice(), delta("i"), delta("i")])
        store.append("a", [Draft(Thinking(item_id="i", delta="hm"))])
        store.append("a", [final("i", "whole", replaces=(2, 5))])
        _page(store.events_after("a", 0), [1, 3, 4, 6, 7, 8], False)
        equal(store.last_seq("a"), 8, "seqs have holes and go on")
        store.append("a", [final("other", "b", replaces=(3, 3)), final("i", "c", replaces=(1, 9))])
        _page(store.events_after("a", 0), [1, 4, 7, 8, 9, 10], False)
        equal(seqs(store.append("a", [notice()])), [11], "no seq is used twice")


def what_an_agent_sent_as_broken_text_does_not_break_the_log(make: Factory) -> None:
    with opened(make, "a") as store:
        raw = {"odd": "\ud800 half", "nul": "\x00", "number": float("nan")}
        call = ToolUseStart.model_validate(
            {"tool_id": "t", "name": "n", "input": {"kind": "other"}, "raw_input": raw}
        )
        stored = store.append("a", [Draft(call)])
        equal(store.events_after("a", 0).events, tuple(stored), "what is read back")
        true(stored[0].body() is not None, "a typed event")
        equal(json.loads(stored[0].wire_json())["raw_input"]["nul"], "\x00", "NUL inside JSON")


def a_rewind_hides_events_and_undo_brings_them_back(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt(), notice(), prompt(), notice(), notice()])
        store.append("a", [Draft(Rewound(from_seq=3, to_seq=5, method="native"))])
        store.append("a", [prompt()])
        _page(store.events_after("a", 0), [1, 2, 6, 7], False)
        _page(store.events_after("a", 3, limit=1), [6], True)
        _page(store.events_before("a", None, limit=3), [2, 6, 7], True)
        _page(store.events_before("a", 6), [1, 2], False)
        _page(store.events_after("a", 0, include_cut=True), [1, 2, 3, 4, 5, 6, 7], False)
        _page(store.events_before("a", 6, include_cut=True), [1, 2, 3, 4, 5], False)
        _page(store.turns_before("a", None, turns=2), [1, 2, 6, 7], False)
        _page(store.turns_before("a", 7, turns=1, include_cut=True), [3, 4, 5, 6], True)
        store.append("a", [Draft(RewindUndone(from_seq=3, to_seq=5, method="native"))])
        _page(store.events_after("a", 0), [1, 2, 3, 4, 5, 6, 7, 8], False)


def undoing_a_wide_rewind_leaves_the_narrow_one_inside(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt() for _ in range(5)])
        store.append("a", [Draft(Rewound(from_seq=4, to_seq=5, method="transcript"))])
        store.append("a", [Draft(Rewound(from_seq=2, to_seq=6, method="transcript"))])
        _page(store.events_after("a", 0), [1, 7], False)
        store.append("a", [Draft(RewindUndone(from_seq=2, to_seq=6, method="transcript"))])
        _page(store.events_after("a", 0), [1, 2, 3, 6, 7, 8], False)


def pages_by_turns_begin_at_a_turn(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [notice("before any turn")])
        for _ in range(4):
            store.append("a", [prompt(), started(), notice()])
        _page(store.turns_before("a", None, turns=1), [11, 12, 13], True)
        _page(store.turns_before("a", None, turns=2), [8, 9, 10, 11, 12, 13], True)
        _page(store.turns_before("a", 8, turns=2), [2, 3, 4, 5, 6, 7], True)
        _page(store.turns_before("a", 2, turns=2), [1], False)
        _page(store.turns_before("a", None, turns=9), list(range(1, 14)), False)
        _page(store.turns_before("a", None, turns=3, limit=7), list(range(8, 14)), True)
        _page(store.turns_before("a", None, turns=3, limit=2), [12, 13], True)
        _page(store.turns_before("a", 12, turns=1), [11], True)


def a_turn_that_the_agent_began_is_a_turn(make: Factory) -> None:
    with opened(make, "a") as store:
        store.append("a", [prompt(), started(), notice()])
        store.append("a", [Draft(RunStarted(provider="tour", origin="provider")), notice()])
        _page(store.turns_before("a", None, turns=1), [4, 5], True)


def every_event_is_reached_by_paging_back(make: Factory) -> None:
    with opened(make, "a") as store:
        for turn in range(12):
            store.append("a", [prompt(), *[notice() for _ in range(turn)]])
        everything = seqs(store.events_after("a", 0).events)
        equal(_walk_back(lambda seq: store.events_before("a", seq, limit=7)), everything)
        for limit in (3, 5, 500):

            def page(seq: int | None, store: Store = store, limit: int = limit) -> EventPage:
                return store.turns_before("a", seq, turns=3, limit=limit)

            equal(_walk_back(page), everything, f"by turns, at most {limit} events")


def _walk_back(page: Callable[[int | None], EventPage]) -> list[int]:
    found: list[int] = []
    at: int | None = None
    while True:
        part = page(at)
        found = [*seqs(part.events), *found]
        at = part.first_seq
        if not part.has_more:
            return found


def _page(page: EventPage, expected: list[int], has_more: bool) -> None:
    equal((seqs(page.events), page.has_more), (expected, has_more), "page")


LOG: Final = (
    events_come_back_in_order_as_they_were_stored,
    an_unknown_chat_is_said_to_be_unknown,
    last_seq_counts_every_event_also_streamed_ones,
    a_page_says_whether_there_is_more,
    impossible_positions_give_empty_or_whole_pages,
    a_final_replaces_its_own_deltas_only,
    what_an_agent_sent_as_broken_text_does_not_break_the_log,
    a_rewind_hides_events_and_undo_brings_them_back,
    undoing_a_wide_rewind_leaves_the_narrow_one_inside,
    pages_by_turns_begin_at_a_turn,
    a_turn_that_the_agent_began_is_a_turn,
    every_event_is_reached_by_paging_back,
)
