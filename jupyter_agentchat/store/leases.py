"""Fencing: an overtaken server can write nothing of its old run, and no prompt runs twice."""

from __future__ import annotations

from collections.abc import Mapping

from ..errors import Busy
from .records import Lease, RunRecord


def refuse_fenced(run_id: str, stored: Lease | None, outcome: str | None, lease: Lease) -> None:
    """Raises Busy when the run with lease `stored` is not `lease`'s to write, or is closed."""
    if stored != lease:
        holder = stored.holder if stored else None
        raise Busy("Another server has taken over this run.", holder=holder, run_id=run_id)
    if outcome is not None:
        raise Busy("This run is closed.", outcome=outcome, run_id=run_id)


def refuse_overtaken(stored: RunRecord, run: RunRecord) -> None:
    """Raises Busy when `run` was read before another server took the stored one over.

    A take-over raises the epoch by one; of two servers that try, the second finds the epoch taken.
    """
    if stored.lease is None or run.lease == stored.lease:
        return
    if run.lease is None or run.lease.epoch <= stored.lease.epoch:
        raise Busy(
            "Another server has taken over this run.",
            holder=stored.lease.holder,
            run_id=run.run_id,
        )


def refuse_accepted(answer: Mapping[str, object]) -> None:
    """Raises Busy, with what the prompt was answered by."""
    told = {name: answer[name] for name in ("run_id", "queue_item") if name in answer}
    raise Busy("This prompt was accepted before.", **told)
