"""Both stores show the same after the same history, whatever the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jupyter_agentchat.errors import AgentChatError
from jupyter_agentchat.protocol.events import RewindUndone, Rewound, RunStarted
from jupyter_agentchat.store.base import Draft, Lease, PersonMarks, Store
from jupyter_agentchat.store.conformance_samples import (
    delta,
    final,
    notice,
    prompt,
    queued,
    record,
    run_of,
)
from jupyter_agentchat.store.memory import MemoryStore
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore
from jupyter_agentchat.store.sqlite_database import Database

CHATS = ["a", "b", "c"]
WHEN = "2020-01-01T00:00:00.000Z"


class _Clock:
    """The same time for both stores; it stands still for some steps."""

    step = 0

    def __call__(self) -> str:
        return f"2026-01-01T00:00:{self.step // 4:02}.000Z"


def _drafts(random: Random, last: int) -> list[Draft]:
    first = random.randint(1, last + 1)
    until = random.randint(first, last + 1)
    item = random.choice("xyz")
    return random.choices(
        [
            prompt(),
            notice(),
            delta(item),
            final(item, "whole", replaces=(first, until)),
            Draft(RunStarted(provider="tour", origin=random.choice(["prompt", "provider"]))),
            Draft(Rewound(from_seq=first, to_seq=until, method="native")),
            Draft(RewindUndone(from_seq=first, to_seq=until, method="native")),
        ],
        weights=[2, 3, 6, 2, 1, 1, 1],
        k=random.randint(0, 5),
    )


def _change(store: Store, random: Random, step: int) -> object:
    """One change, drawn from `random`; what it answered."""
    chat_id = random.choice(CHATS)
    last = store.last_seq(chat_id)
    match random.randrange(11):
        case 0:
            return store.start_run(run_of(chat_id, f"run-{step}"), _drafts(random, last))
        case 1 if runs := store.open_runs():
            run, lease = random.choice(runs), Lease("here", random.randint(1, 2))
            return store.append(run.chat_id, [], run_id=run.run_id, lease=lease)
        case 2 if runs := store.open_runs():
            run = random.choice(runs)
            drafts = _drafts(random, store.last_seq(run.chat_id))
            return store.append(run.chat_id, drafts, run_id=run.run_id, outcome="completed")
        case 3:
            marks = PersonMarks(step, random.random() < 0.3, random.random() < 0.3)
            store.save_marks(chat_id, "owner", marks)
            return store.save_chat(store.chat(chat_id).with_chat(title=f"T{step} long"))
        case 4:
            return store.enqueue(queued(chat_id, f"item-{step}", random.choice(["x", "y z"])))
        case 5 if waiting := store.queue(chat_id):
            item = random.choice(waiting)
            return store.unqueue(chat_id, item.id) if random.random() < 0.5 else None
        case 6 if waiting := store.queue(chat_id):
            ids = [item.id for item in waiting]
            random.shuffle(ids)
            return store.order_queue(chat_id, ids[random.randint(0, 1) :])
        case 7:
            item_id = random.choice([item.id for item in store.queue(chat_id)] or ["none"])
            run = replace(run_of(chat_id, f"run-{step}"), client_id=f"client-{item_id}")
            return store.start_run(run, [prompt()], queued=item_id)
        case 8:
            copy = record(f"copy-{step}", title="T", created=WHEN, updated=WHEN)
            return store.copy_events(chat_id, copy, random.randint(0, last + 1))
        case 9:
            revision = store.draft(chat_id, "owner").revision - random.randint(0, 1)
            return store.save_draft(chat_id, "owner", f"typed {step}", "[]", revision)
        case _:
            return store.append(chat_id, _drafts(random, last), durable=random.random() < 0.1)


def _answer(call: Callable[[], object]) -> object:
    try:
        return call()
    except AgentChatError as error:
        return type(error), error.message, error.details


def _view(store: Store, random: Random) -> list[Any]:
    """What a person could look at, with sizes drawn from `random`."""
    shown: list[Any] = [store.list_chats(archived=flag, username="owner") for flag in (False, True)]
    shown += [store.list_chats(limit=1), store.projects(), store.open_runs()]
    shown += [store.queued_chats(), store.queue_sizes(CHATS)]
    shown += [store.find_prompt("a", "owner", "client-item-1")]
    hits = store.search(
        random.choice(["hello", "whole", "t1", "lon"]), project_paths=None, limit=99
    )
    shown.append(sorted((hit.chat_id, hit.seq, hit.snippet, hit.time) for hit in hits))
    copies = [item.chat.id for item in store.list_chats()[0] if item.chat.id not in CHATS]
    shown += [store.events_after(copy, 0, limit=500) for copy in copies[:1]]
    for chat_id in CHATS:
        shown += [store.queue(chat_id), store.draft(chat_id, "owner")]
        at = random.choice([None, random.randint(0, store.last_seq(chat_id) + 2)])
        limit, cut = random.randint(1, 30), random.random() < 0.3
        shown += [
            store.chat(chat_id),
            store.events_after(chat_id, at or 0, limit=limit, include_cut=cut),
            store.events_before(chat_id, at, limit=limit, include_cut=cut),
            store.turns_before(
                chat_id, at, turns=random.randint(1, 4), limit=limit, include_cut=cut
            ),
        ]
    return shown


@pytest.mark.parametrize("seed", range(12))
def test_both_stores_show_the_same_after_the_same_history(seed: int, tmp_path: Path) -> None:
    database = Database(tmp_path / "data" / FILE_NAME)
    clock = _Clock()
    stores: list[Store] = [MemoryStore(clock), SqliteStore(database, clock)]
    randoms = [Random(seed), Random(seed)]
    try:
        for store in stores:
            for chat_id in CHATS:
                store.create_chat(record(chat_id, created=WHEN, updated=WHEN))
        for step in range(60):
            clock.step = step
            answers = [
                _answer(lambda s=store, r=random, n=step: _change(s, r, n))
                for store, random in zip(stores, randoms, strict=True)
            ]
            assert answers[0] == answers[1], f"step {step}"
            views = [_view(store, random) for store, random in zip(stores, randoms, strict=True)]
            assert views[0] == views[1], f"after step {step}"
    finally:
        for store in stores:
            store.close()
