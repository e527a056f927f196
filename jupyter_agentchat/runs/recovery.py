"""Closes runs that were found unfinished and cannot be gone on with: their server is gone.

Their stored events are absorbed by a fresh tracker, so they are closed like any other run, as
`interrupted`. Runs whose holder is alive (another server on the same store) are left alone.
"""

from __future__ import annotations

import logging

from ..protocol.events import Complete
from ..store.base import Draft, RunRecord, Store, StoredEvent
from .reattach import orphaned, rebuild, take_lease

__all__ = ["close_interrupted", "orphaned"]

log = logging.getLogger(__name__)


def close_interrupted(
    store: Store, run: RunRecord, holder: str
) -> tuple[list[StoredEvent], Complete]:
    """Close one run as `holder`; what was stored for it.

    The lease is taken over first: of two servers that find the same run only one closes it. Raises
    Busy for the other one, StorageError, NotFound when its chat is gone.
    """
    lease = take_lease(store, run, holder)
    tracker, _ = rebuild(store, run)
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
