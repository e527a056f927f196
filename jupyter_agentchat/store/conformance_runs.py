"""The part of the suite that is about runs, leases and children."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..errors import Busy, NotFound
from .base import ChildRecord, Lease
from .conformance_samples import (
    Factory,
    equal,
    notice,
    opened,
    prompt,
    refused,
    run_of,
    seqs,
    started,
    true,
)

HERE, THERE = Lease("here", 1), Lease("there", 2)


def a_chat_runs_one_run_at_a_time(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        store.append("a", [notice()])
        events = store.start_run(run_of("a", "r1", HERE), [prompt(), started()])
        equal([(event.seq, event.run_id) for event in events], [(2, "r1"), (3, "r1")])
        with refused(Busy):
            store.start_run(run_of("a", "r2"), [prompt(), started()])
        equal(store.last_seq("a"), 3, "a refused run stores nothing")
        equal(store.run("r2"), None, "a refused run leaves no row")
        store.start_run(run_of("b", "r3"), [started()])
        equal([run.run_id for run in store.open_runs()], ["r1", "r3"], "open runs")
        run = store.run("r1")
        true(run is not None and run.first_seq == 2 and run.started == events[0].time, "its row")
        store.append("a", [notice()], run_id="r1", outcome="completed", durable=True)
        equal([run.run_id for run in store.open_runs()], ["r3"], "after its end")
        equal(seqs(store.start_run(run_of("a", "r2"), [prompt()])), [5], "the next run")
        with refused(NotFound):
            store.start_run(run_of("nowhere", "r4"), [prompt()])


def a_run_is_closed_together_with_its_last_event(make: Factory) -> None:
    with opened(make, "a") as store:
        store.start_run(run_of("a", "r1", HERE), [prompt(client_id="c")])
        end = store.append("a", [notice()], run_id="r1", lease=HERE, offset=42, outcome="failed")
        run = store.run("r1")
        true(run is not None, "the row is there")
        if run is not None:
            found = (run.outcome, run.ended, run.spool_stored, run.lease)
            equal(found, ("failed", end[0].time, 42, HERE), "its row")


def an_accepted_prompt_never_runs_twice(make: Factory) -> None:
    with opened(make, "a") as store:
        run = replace(run_of("a", "r1"), client_id="c1")
        store.start_run(run, [prompt(client_id="c1"), started()])
        equal(store.find_prompt("a", "owner", "c1"), {"run_id": "r1"}, "remembered with the run")
        store.append("a", [notice()], run_id="r1", outcome="completed")
        with refused(Busy):
            store.start_run(replace(run, run_id="r2"), [prompt(client_id="c1"), started()])
        equal(store.last_seq("a"), 3, "nothing was stored for the resend")
        equal(store.open_runs(), [], "and nothing runs")


def offsets_and_outcomes_need_a_run(make: Factory) -> None:
    with opened(make, "a") as store:
        for call in (
            lambda: store.append("a", [notice()], run_id="nothing", offset=1),
            lambda: store.append("a", [notice()], run_id="nothing", outcome="failed"),
            lambda: store.append("a", [notice()], run_id="nothing", lease=HERE),
            lambda: store.append("a", [notice()], lease=HERE),
            lambda: store.save_run(run_of("a", "nothing")),
        ):
            with refused(NotFound):
                call()
        equal(store.last_seq("a"), 0, "nothing was stored")
        equal(store.run("nothing"), None)


def an_overtaken_server_writes_nothing_more(make: Factory) -> None:
    with opened(make, "a") as store:
        store.start_run(run_of("a", "r1", HERE), [prompt()])
        store.append("a", [notice()], run_id="r1", lease=HERE, offset=10)
        mine = store.run("r1")
        if mine is None:
            raise AssertionError("the run is gone")
        store.save_run(replace(mine, lease=THERE))
        with refused(Busy):
            store.append("a", [notice()], run_id="r1", lease=HERE, offset=20)
        with refused(Busy):
            store.save_run(replace(mine, spool_first=5))
        with refused(Busy):  # a second server that tried to take over at the same time
            store.save_run(replace(mine, lease=Lease("third", 2)))
        equal(store.last_seq("a"), 2, "nothing was stored")
        equal(store.run("r1"), replace(mine, lease=THERE), "the row is the new owner's")
        store.append("a", [notice()], run_id="r1", lease=THERE, outcome="interrupted")
        with refused(Busy):
            store.append("a", [notice()], run_id="r1", lease=THERE)


def children_are_kept_until_they_are_forgotten(make: Factory) -> None:
    with opened(make) as store:
        one = ChildRecord("c1", "claude", "chat", "a", 12, "345", "boot", 12, "/d", "claude", "me")
        two = ChildRecord("c2", "codex", "server", None, 13, "346", "boot", 13)
        store.save_child(two)
        store.save_child(one)
        equal(store.children(), [two, one], "both")
        moved = replace(one, pid=99)
        store.save_child(moved)
        equal(store.children(), [two, moved], "saved again")
        store.forget_child("c2")
        store.forget_child("nothing")
        equal(store.children(), [moved], "one forgotten")


RUNS: Final = (
    a_chat_runs_one_run_at_a_time,
    a_run_is_closed_together_with_its_last_event,
    an_accepted_prompt_never_runs_twice,
    offsets_and_outcomes_need_a_run,
    an_overtaken_server_writes_nothing_more,
    children_are_kept_until_they_are_forgotten,
)
