"""Ends, at the start of a server, the children of servers that died before they could do it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .identity import ProcessIdentity, is_alive
from .rundir import RunDirectory
from .sweep import sweep

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ChildRecord:
    """What must be on disk of a child. Written twice: before the start without an identity, so
    that a child of a server that died in between is still found by its marker, and after it.

    `owner` is the server that started it, or that took it over since. `directory` is where its
    files are, if it writes into files; who its keeper and holder are stands there.
    """

    child_id: str
    argv0: str
    identity: ProcessIdentity | None
    owner: ProcessIdentity | None
    directory: str = ""


class ChildLedger(Protocol):
    """Durable records of children; the store keeps them on its child rows.

    Calls are short and synchronous; an implementation may raise StorageError.
    """

    def record(self, record: ChildRecord) -> None:
        """Keep `record`, in place of an earlier one of the same `child_id`."""

    def forget(self, child_id: str) -> None:
        """The child and all it started are gone. Unknown ids are ignored."""

    def all(self) -> Iterable[ChildRecord]:
        """Every record that this server may reap; none that another host holds."""


@dataclass(frozen=True, slots=True)
class Reaped:
    """One record dealt with: who had to be ended is gone, but for the `survivors`."""

    record: ChildRecord
    was_alive: bool
    survivors: frozenset[ProcessIdentity]


async def reap(ledger: ChildLedger, *, term_s: float = 1.0, kill_s: float = 1.0) -> list[Reaped]:
    """End every recorded child whose server is gone: TERM, after `term_s` KILL; all at once.

    A process is touched only when pid, start time and boot id agree, when it stands below such a
    process or in its group, or when its environment carries the child's marker: a pid that was
    used again is never signalled. Records of living servers are left alone; of the others, those
    without survivors are forgotten. Cancelling leaves the records of unfinished children.
    """
    orphans = [record for record in ledger.all() if not (record.owner and is_alive(record.owner))]
    return list(await asyncio.gather(*(_reap(ledger, it, term_s, kill_s) for it in orphans)))


async def _reap(ledger: ChildLedger, record: ChildRecord, term_s: float, kill_s: float) -> Reaped:
    leader = record.identity
    was_alive = leader is not None and is_alive(leader)
    survivors = await end_child(
        record.child_id,
        leader,
        Path(record.directory) if record.directory else None,
        term_s=term_s,
        kill_s=kill_s,
    )
    if not survivors:
        ledger.forget(record.child_id)
    _log.info("child=%s: reaped, leader was alive: %s", record.child_id, was_alive)
    return Reaped(record, was_alive, survivors)


async def end_child(
    child_id: str,
    leader: ProcessIdentity | None,
    directory: Path | None,
    *,
    term_s: float,
    kill_s: float = 1.0,
) -> frozenset[ProcessIdentity]:
    """End what is left of a child that nobody here holds; returns what survived even KILL.

    With a run `directory`, its keeper and holder are ended too, and it is removed unless there
    are survivors. Cancelling leaves the directory.
    """
    known: set[ProcessIdentity] = set()
    files = None
    # the path comes from a database: only what is called like its child is a run directory
    if directory is not None and directory.name == child_id:
        files = RunDirectory(directory)
        known = files.helpers()
        leader = leader or files.identity("pid")
    survivors = await sweep(
        child_id,
        leader,
        known=known,
        headless_group=False,
        spare_leader=False,
        term_s=term_s,
        kill_s=kill_s,
    )
    if files is not None and not survivors:
        files.remove()
    return frozenset(survivors)
