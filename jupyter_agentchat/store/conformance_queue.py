"""The part of the suite that is about prompts that wait: order, once, pause; and about drafts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ..errors import Busy, NotFound, Stale
from .base import Store
from .conformance_samples import (
    Factory,
    equal,
    notice,
    opened,
    prompt,
    queued,
    refused,
    run_of,
    started,
    true,
)
from .records import DraftRecord, QueuedPrompt, QueueSize


def prompts_wait_in_the_order_in_which_they_came(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        full = replace(
            queued("a", "1", text="Grüße 👋\n\x00"),
            attachments=({"id": "x", "kind": "file", "path": "/ä b"},),
            permission="full",
            expect={"mode": "code", "n": [1, None]},
            held_reason="The agent is missing.",
        )
        for item in (full, queued("b", "2"), queued("a", "3")):
            store.enqueue(item)
        equal(store.queue("a"), [full, queued("a", "3")], "one chat's queue")
        equal(store.queued_chats(), ["a", "b"], "chats where something waits")
        changed = replace(full, text="better", held_reason=None)
        store.save_queued(replace(changed, username="somebody", created="later"))
        equal(store.queue("a"), [changed, queued("a", "3")], "only what may change has changed")
        store.order_queue("a", ["3", "1"])
        equal(_ids(store, "a"), ["3", "1"], "a new order")
        store.enqueue(queued("a", "4"))
        equal(_ids(store, "a"), ["3", "1", "4"], "the next one comes last")
        equal(store.unqueue("a", "1"), changed, "what was taken out")
        equal(_ids(store, "a"), ["3", "4"], "what is left")
        store.unqueue("b", "2")
        equal(store.queued_chats(), ["a"], "an empty queue is none")


def the_sizes_of_many_queues_are_told_at_once(make: Factory) -> None:
    with opened(make, "a", "b", "c") as store:
        for item in (queued("a", "1"), queued("b", "2"), queued("a", "3")):
            store.enqueue(item)
        store.pause_queue("b", "stopped")
        store.pause_queue("c", "stopped")
        many = [*(f"unknown-{n}" for n in range(1200)), "c", "b", "a"]
        sizes = {"a": QueueSize(2), "b": QueueSize(1, paused=True)}
        equal(store.queue_sizes(many), sizes, "where something waits, however many are asked for")
        equal(store.queue_sizes(["a"]), {"a": QueueSize(2)}, "only those that are asked for")
        equal(store.queue_sizes([]), {}, "nobody asks")


def a_queue_refuses_what_is_no_longer_so(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        store.enqueue(queued("a", "1"))
        store.enqueue(queued("a", "2"))
        for ids in ([], ["1"], ["1", "2", "2"], ["1", "3"]):
            with refused(Stale):
                store.order_queue("a", ids)
        equal(_ids(store, "a"), ["1", "2"], "nothing was moved")
        with refused(ValueError):
            store.enqueue(replace(queued("a", "1"), client_id="another"))
        equal(store.find_prompt("a", "owner", "another"), None, "and nothing remembered")
        for call in (
            lambda: store.unqueue("a", "3"),
            lambda: store.unqueue("b", "1"),
            lambda: store.save_queued(queued("a", "3")),
            lambda: store.queue("nowhere"),
            lambda: store.enqueue(queued("nowhere", "1")),
            lambda: store.pause_queue("nowhere", "stopped"),
            lambda: store.queue_pause("nowhere"),
        ):
            with refused(NotFound):
                call()


def a_prompt_is_accepted_once_however_often_it_is_sent(make: Factory) -> None:
    with opened(make, "a") as store:
        store.enqueue(queued("a", "1"))
        equal(store.find_prompt("a", "owner", "client-1"), {"queue_item": "1"}, "it waits")
        equal(_busy(store, replace(queued("a", "2"), client_id="client-1")), {"queue_item": "1"})
        run = replace(run_of("a", "r1"), client_id="client-1")
        with refused(Busy):  # past the queue, by a client that sent it again
            store.start_run(run, [prompt(client_id="client-1")])
        store.start_run(run, [prompt(client_id="client-1"), started()], queued="1")
        equal(store.find_prompt("a", "owner", "client-1"), {"run_id": "r1"}, "it runs")
        equal(_busy(store, replace(queued("a", "2"), client_id="client-1")), {"run_id": "r1"})
        equal(store.queue("a"), [], "it waits no more")
        store.enqueue(replace(queued("a", "2"), client_id="client-1", username="guest"))
        store.unqueue("a", "2")
        found = store.find_prompt("a", "guest", "client-1")
        equal(found, {"queue_item": "2"}, "removed, and still not accepted again")


def a_run_takes_its_prompt_out_of_the_queue_or_does_not_start(make: Factory) -> None:
    with opened(make, "a") as store:
        for number in ("1", "2"):
            store.enqueue(queued("a", number))
        first = replace(run_of("a", "r1"), client_id="client-1")
        store.start_run(first, [prompt(client_id="client-1"), started()], queued="1")
        second = replace(run_of("a", "r2"), client_id="client-2")
        with refused(Busy):  # one run at a time
            store.start_run(second, [prompt(client_id="client-2")], queued="2")
        equal(_ids(store, "a"), ["2"], "a refused run takes nothing")
        store.append("a", [notice()], run_id="r1", outcome="completed")
        with refused(NotFound):  # another server was faster
            store.start_run(second, [prompt(client_id="client-1")], queued="1")
        equal(store.last_seq("a"), 3, "a run without its prompt stores nothing")
        equal(store.run("r2"), None, "and leaves no row")
        store.start_run(second, [prompt(client_id="client-2")], queued="2")
        equal(store.queue("a"), [], "all have run")


def a_queue_stays_paused_until_it_is_let_go_on(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        equal(store.queue_pause("a"), None, "at first")
        store.pause_queue("a", "stopped")
        store.pause_queue("a", "failed")
        equal((store.queue_pause("a"), store.queue_pause("b")), ("failed", None), "one chat's")
        store.enqueue(queued("a", "1"))
        equal(store.queued_chats(), ["a"], "a paused queue is one, too")
        store.pause_queue("a", None)
        store.pause_queue("a", None)
        equal(store.queue_pause("a"), None, "let go on")


def a_closed_run_keeps_nothing_to_attach_to(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        for chat_id in ("a", "b"):
            run = replace(run_of(chat_id, f"r-{chat_id}"), request='{"prompt":"x"}', context="{}")
            store.start_run(run, [prompt()])
        runs = {run.run_id: run for run in store.open_runs()}
        equal([run.request for run in runs.values()], ['{"prompt":"x"}'] * 2, "while they run")
        store.save_run(replace(runs["r-a"], child_id="c", spool_first=5))
        store.append("a", [notice()], run_id="r-a", outcome="completed")
        store.save_run(replace(runs["r-b"], outcome="failed"))
        for run_id in runs:
            run = store.run(run_id)  # type: ignore[assignment]
            equal((run.request, run.context), ("", ""), "after the outcome")


def a_draft_is_kept_and_never_overwritten_unseen(make: Factory) -> None:
    with opened(make, "a", "b") as store:
        equal(store.draft("a", "owner"), DraftRecord(), "nothing typed")
        equal(store.save_draft("a", "owner", "Hello 👋", '[{"id":"x"}]', 0), 1, "first revision")
        equal(store.draft("a", "owner"), DraftRecord("Hello 👋", '[{"id":"x"}]', 1), "kept")
        equal(store.draft("a", "guest"), DraftRecord(), "another person")
        equal(store.draft("b", "owner"), DraftRecord(), "another chat")
        for revision in (0, 2, 10**6):
            try:
                store.save_draft("a", "owner", "lost", "[]", revision)
            except Stale as stale:
                equal(stale.details["revision"], 1, "it says which one is kept")
            else:
                true(False, "a draft that nobody saw was overwritten")
        equal(store.save_draft("a", "owner", "", "[]", 1), 2, "sent: it is empty now")
        equal(store.draft("a", "owner"), DraftRecord("", "[]", 2), "the revision goes on")
        for call in (
            lambda: store.draft("nowhere", "owner"),
            lambda: store.save_draft("nowhere", "owner", "", "[]", 0),
        ):
            with refused(NotFound):
                call()


def _ids(store: Store, chat_id: str) -> list[str]:
    return [item.id for item in store.queue(chat_id)]


def _busy(store: Store, item: QueuedPrompt) -> dict[str, object]:
    """What a refused prompt is told."""
    try:
        store.enqueue(item)
    except Busy as busy:
        return busy.details
    return {}


QUEUE: Final = (
    prompts_wait_in_the_order_in_which_they_came,
    the_sizes_of_many_queues_are_told_at_once,
    a_queue_refuses_what_is_no_longer_so,
    a_prompt_is_accepted_once_however_often_it_is_sent,
    a_run_takes_its_prompt_out_of_the_queue_or_does_not_start,
    a_queue_stays_paused_until_it_is_let_go_on,
    a_closed_run_keeps_nothing_to_attach_to,
    a_draft_is_kept_and_never_overwritten_unseen,
)
