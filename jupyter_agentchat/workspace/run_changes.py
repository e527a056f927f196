"""What one run changes in its project: a look before, a look after, and the difference.

Called in the threads of `checkpoints`, in order per chat and per project.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .objects import Objects
from .records import Record, Records, file_name
from .restore import look
from .snapshot import NOT_IN_TIME, Limits, Tree, changes_between, read_contents, walk
from .sweep import UNUSED_TREE_S

PROJECTS_IN_MEMORY: Final = 2
LOST: Final = "its checkpoint was lost"


@dataclass(slots=True)
class ActiveRun:
    """A run that has begun and not ended. `began`: of the monotonic clock; `seen`: its prompt may
    be written by now; `given_up`: it was, before its checkpoint was there."""

    chat_id: str
    run_id: str
    root: str
    began: float
    beside: list[tuple[str, str]] = field(default_factory=list)
    seen: bool = False
    given_up: bool = False
    job: Future[None] | None = None


class RunChanges:
    """See the module. `stopped`: the server stops, so end early and note nothing."""

    def __init__(
        self,
        records: Records,
        objects: Objects,
        limits: Limits,
        avoid: frozenset[str],
        stopped: Callable[[], bool],
    ) -> None:
        self._records = records
        self._objects = objects
        self._limits = limits
        self._avoid = avoid
        self._stopped = stopped
        self._trees: dict[str, tuple[str, Tree]] = {}
        self._lock = threading.Lock()
        self._pruned = False

    def begin(self, run: ActiveRun) -> None:
        """Keep the project's files as they are. Raises OSError when that cannot be noted."""
        if not self._pruned:
            self._pruned = True
            self._records.prune_trees(UNUSED_TREE_S)
        self._records.drop_open(run.chat_id, run.run_id)  # an earlier look of the same run
        self.end(run.chat_id, None, 0)
        number = self._records.next_number(run.chat_id)
        record = Record(run.chat_id, run.run_id, run.root, number, open=True, beside=run.beside)
        try:
            name, known = self._newest(run.root)
            tree = self._look(run.root, known, run.began + self._limits.before_s)
            record.tree = self._remember(run.root, tree, name, known)
        except OSError as error:
            record.none = f"the folder cannot be read ({error.strerror})"
        if run.given_up:
            record.none = NOT_IN_TIME
        self._records.save(record)

    def end(self, chat_id: str, run: ActiveRun | None, ended_ns: int) -> list[Record]:
        """Note what the chat's runs that were begun have changed; those that were open.

        `ended_ns`: when `run` ended, or (None) one that was taken over; 0: some time ago.
        """
        own = file_name(run.run_id) if run else ""
        closed = []
        for run_id in self._records.open_runs(chat_id):
            record = self._records.find(chat_id, run_id)
            if record is None or not record.open:
                continue
            mine = run if run_id == own else None
            self._end(record, mine, ended_ns if mine or not run else 0)
            closed.append(record)
        return closed

    def _end(self, record: Record, run: ActiveRun | None, ended_ns: int) -> None:
        record.open = False
        if run is not None:
            record.beside = run.beside
            record.none = NOT_IN_TIME if run.given_up else record.none
        before = None if record.none else self._tree(record.root, record.tree)
        if before is None:
            record.none = record.none or LOST
        else:
            try:
                self._compare(record, before, ended_ns)
            except OSError as error:
                record.none = f"the folder cannot be read ({error.strerror})"
        if not self._stopped():  # cut short: the next server looks again
            self._records.save(record)

    def _compare(self, record: Record, before: Tree, ended_ns: int) -> None:
        root = Path(record.root)
        after = self._look(record.root, before, time.monotonic() + self._limits.after_s)
        record.changes = changes_between(
            before, after, lambda path: look(root, path, 0) is not None
        )
        # a person may be quicker than this look; of what was deleted the time is not known
        record.late = [
            path
            for path, (_, later) in record.changes.items()
            if not ended_ns or (later is not None and later.ctime_ns > ended_ns)
        ]
        self._remember(record.root, after, record.tree, before)

    def _look(self, root: str, known: Tree, deadline: float) -> Tree:
        path = Path(root)
        tree = walk(path, self._limits, deadline, self._avoid, self._stopped)
        read_contents(
            path, tree, known.entries, self._objects, self._limits, deadline, self._stopped
        )
        return tree

    # ---- snapshots --------------------------------------------------------------------------

    def tidy(self, record: Record, active: list[ActiveRun]) -> None:
        """Remove the snapshot that `record` began with, unless it is still needed."""
        in_use = {self._newest(record.root)[0]}
        for run in active:
            other = self._records.find(run.chat_id, run.run_id)
            if other is None:
                return  # it has not noted its snapshot yet: which one is not known
            in_use.add(other.tree)
        if record.tree and record.tree not in in_use:
            self._records.forget_tree(record.root, record.tree)

    def _newest(self, root: str) -> tuple[str, Tree]:
        with self._lock:
            found = self._trees.get(root)
        return found or self._records.newest_tree(root) or ("", Tree())

    def _tree(self, root: str, name: str) -> Tree | None:
        newest, tree = self._newest(root)
        return tree if newest == name else self._records.tree(root, name)

    def _remember(self, root: str, tree: Tree, name: str, known: Tree) -> str:
        """Keep the snapshot, on disk where it differs from the last one; its name."""
        if not name or tree != known:
            name = self._records.save_tree(root, tree)
        with self._lock:
            self._trees.pop(root, None)
            self._trees[root] = (name, tree)
            while len(self._trees) > PROJECTS_IN_MEMORY:
                del self._trees[next(iter(self._trees))]
        return name
