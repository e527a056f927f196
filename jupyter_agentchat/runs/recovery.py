"""Closes runs that were found unfinished: the server that ran them is gone.

Their stored events are absorbed by a fresh tracker, so they are closed like any other run, as
`interrupted`. Runs whose holder is alive (another server on the same store) are left alone.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from ..protocol.events import Complete
from ..store.base import Draft, Lease, RunRecord, Store, StoredEvent
from .tracker import RunTracker

log = logging.getLogger(__name__)

PAGE = 2_000


def close_interrupted(
    store: Store, run: RunRecord, holder: str
) -> tuple[list[StoredEvent], Complete]:
    """Close one run as `holder`; what was stored for it.

    The lease is taken over first: of two servers that find the same run only one closes it. Raises
    Busy for the other one, StorageError, NotFound when its chat is gone.
    """
    store.last_seq(run.chat_id)
    lease = Lease(holder, run.lease.epoch + 1 if run.lease else 1)
    store.save_run(replace(run, lease=lease))
    tracker = RunTracker()
    after = max(run.first_seq - 1, 0)
    while True:
        page = store.events_after(run.chat_id, after, limit=PAGE)
        tracker.absorb([event for event in page.events if event.run_id == run.run_id])
        if not page.has_more or page.last_seq is None:
            break
        after = page.last_seq
    drafts = tracker.drafts(tracker.closing("interrupted"), store.last_seq(run.chat_id) + 1)
    complete = Complete(outcome="interrupted", usage=tracker.usage)
    stored = store.append(
        run.chat_id,
        [*drafts, Draft(complete)],
        run_id=run.run_id,
        lease=lease,
        durable=True,
        outcome="interrupted",
    )
    log.info("chat=%s run=%s closed as interrupted", run.chat_id, run.run_id)
    return stored, complete


def orphaned(store: Store, holder_alive: Callable[[str], bool]) -> list[RunRecord]:
    """Open runs that no living server holds."""
    return [
        run for run in store.open_runs() if run.lease is None or not holder_alive(run.lease.holder)
    ]
