"""A server that can be killed: queues prompts, runs them in turn, says what was acknowledged.

Run as `python -m tests.unit.store.queue_writer DATA_DIR`; the rest is as in `writer`, but every
line begins a server that first closes the run that an earlier one left open.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from random import Random

from jupyter_agentchat.errors import Busy, NotFound
from jupyter_agentchat.store.base import Store
from jupyter_agentchat.store.conformance_samples import notice, prompt, queued, run_of
from jupyter_agentchat.store.sqlite import SqliteStore, open_store
from tests.unit.store.writer import say, serve


def work(data_dir: Path, chat_id: str, seed: int, count: int) -> None:
    random = Random(seed)
    store = open_store(data_dir)
    assert isinstance(store, SqliteStore)
    # on a loaded machine each may have the lock for longer than a person would wait for it
    store.database.connection.execute("PRAGMA busy_timeout=20000")
    for run in store.open_runs():
        _close(store, chat_id, run.run_id)
    done = 0
    while not count or done < count:
        done += 1
        name = f"{seed}.{done}"
        if random.random() < 0.5:
            store.enqueue(queued(chat_id, name, text=name))
            say(queued=name)
        else:
            _run_next(store, chat_id, name)
    store.close()


def _run_next(store: Store, chat_id: str, run_id: str) -> None:
    """Take the first prompt and run it; another server may be faster at any step."""
    waiting = store.queue(chat_id)
    if not waiting:
        return
    item = waiting[0]
    run = replace(run_of(chat_id, run_id), client_id=item.client_id)
    try:
        store.start_run(run, [prompt(item.text, item.client_id)], queued=item.id)
    except (Busy, NotFound):
        return
    say(ran=item.id)
    _close(store, chat_id, run_id)


def _close(store: Store, chat_id: str, run_id: str) -> None:
    store.append(chat_id, [notice()], run_id=run_id, outcome="completed")


if __name__ == "__main__":
    serve(Path(sys.argv[1]), work)
