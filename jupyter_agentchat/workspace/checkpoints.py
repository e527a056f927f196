"""Checkpoints of a project around each run, whatever the agent, git or not: what a run changed.

Before a run's prompt is written the project's files are kept; after the run a second look finds
what differs. All of it happens in a few threads of one executor, in order per project, beside the
agent's start. A checkpoint that is late, or has gaps, says so: it never holds up a run for more
than `Limits.before_s`, and never claims to know what it does not.

Its folder is private to the user. Contents: `objects`; what happened: `records`; putting files
back: `restore`.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .jobs import OrderedJobs, finished
from .objects import Objects
from .records import Record, Records, unpack
from .restore import CHANGED_SINCE, Change, Kept, Plan, apply, look, save_first
from .run_changes import ActiveRun, RunChanges
from .selection import choose
from .snapshot import Entry, Limits, same
from .sweep import sweep

log = logging.getLogger(__name__)

SETTLE_S: Final = 60.0
CLOSE_S: Final = 2.0
FULL_SHARE: Final = 0.9
STALE_S: Final = 5.0
SLACK_S: Final = 0.5
"""A walk looks at its deadline between two files."""


class Checkpoints:
    """See the module. Methods are called on one loop; `close` when the server stops."""

    def __init__(
        self, folder: Path, *, avoid: Sequence[Path] = (), limits: Limits | None = None
    ) -> None:
        """`folder` is made when it is first needed; `avoid`: folders of ours, never looked into."""
        self.folder = folder
        self.limits = limits or Limits()
        self._records = Records(folder)
        self._objects = Objects(folder / "objects", self.limits.total_bytes)
        self._jobs = OrderedJobs("checkpoints")
        own = frozenset(str(path) for path in (folder, *avoid))
        self._runs = RunChanges(
            self._records, self._objects, self.limits, own, lambda: self._jobs.stopped
        )
        self._active: dict[str, ActiveRun] = {}
        self._dropping = 0

    # ---- runs -------------------------------------------------------------------------------

    def begin(self, chat_id: str, run_id: str, directory: str) -> None:
        """A run starts: keep the files. Returns at once; see `ready`."""
        if self._jobs.stopped:
            return
        if any(one.chat_id == chat_id for one in self._active.values()):
            self.end(chat_id, late=True)  # its end was never heard of
        active = ActiveRun(chat_id, run_id, directory, time.monotonic())
        for other in self._active.values():
            if other.root == directory and other.chat_id != chat_id:
                other.beside.append((chat_id, run_id))
                active.beside.append((other.chat_id, other.run_id))
        self._active[run_id] = active
        active.job = self._jobs.submit(chat_id, directory, lambda: self._runs.begin(active))

    async def ready(self, run_id: str) -> None:
        """Wait until the files are kept, `Limits.before_s` after `begin` at the longest: from then
        on the agent may change them. Raises nothing."""
        active = self._active.get(run_id)
        if active is None or active.seen or active.job is None:
            return
        active.seen = True
        if time.monotonic() - active.began > STALE_S:
            # it has waited for its turn: what people did meanwhile is not the agent's work
            active.began = time.monotonic()
            active.job = self._jobs.submit(
                active.chat_id, active.root, lambda: self._runs.begin(active)
            )
        left = active.began + self.limits.before_s + SLACK_S - time.monotonic()
        if not await finished(active.job, max(0.0, left)):
            active.given_up = True
            log.warning("chat=%s run=%s: no checkpoint in time", active.chat_id, run_id)

    def end(self, chat_id: str, *, late: bool = False) -> None:
        """The chat's run is over, also one that an earlier server began: find what it changed.

        `late`: it ended some time ago. Returns at once; see `settled`.
        """
        if self._jobs.stopped:
            return
        active = next((one for one in self._active.values() if one.chat_id == chat_id), None)
        if active is not None:
            del self._active[active.run_id]
        ended_ns = 0 if late else time.time_ns()
        root = active.root if active else ""
        self._jobs.submit(chat_id, root, lambda: self._end(chat_id, active, ended_ns))

    async def settled(self, chat_id: str) -> None:
        """Wait until what was begun for this chat is done, a minute at most."""
        if not await self._jobs.settled(chat_id, SETTLE_S):
            log.warning("chat=%s: its checkpoints are not done yet", chat_id)

    # ---- putting back -----------------------------------------------------------------------

    async def plan(
        self, chat_id: str, root: Path, runs: Sequence[str], overwrite: Sequence[str] = ()
    ) -> Plan:
        """What puts the files back to where they were before these runs (oldest first).

        Changes nothing. `overwrite`: paths that a person allows although they changed since.
        """
        await self.settled(chat_id)
        return await self._jobs.run(
            chat_id, str(root), lambda: self._plan(chat_id, root, runs, frozenset(overwrite))
        )

    async def save_first(self, chat_id: str, plan: Plan) -> Plan:
        """Keep what the plan overwrites or deletes; what cannot be kept leaves the plan."""
        return await self._jobs.run(
            chat_id,
            str(plan.root),
            lambda: save_first(plan, self._objects, self.limits.file_bytes),
        )

    async def restore(
        self,
        chat_id: str,
        root: Path,
        changes: Sequence[Change],
        restore_id: str,
        overwritten: Sequence[str] = (),
        personal: Sequence[str] = (),
    ) -> tuple[list[Change], list[Kept]]:
        """Carry the changes out and note it under `restore_id`; (done, kept).

        May be repeated after a crash: what is done already counts as done. `overwritten`: paths
        put back with a person's leave; `personal`: paths that get a person's own content again, so
        that a later restore asks once more. Raises OSError when it cannot be noted.
        """
        return await self._jobs.run(
            chat_id,
            str(root),
            lambda: self.restore_now(chat_id, root, changes, restore_id, overwritten, personal),
        )

    def restore_now(
        self,
        chat_id: str,
        root: Path,
        changes: Sequence[Change],
        restore_id: str,
        overwritten: Sequence[str] = (),
        personal: Sequence[str] = (),
    ) -> tuple[list[Change], list[Kept]]:
        """`restore`, in the calling thread: for the start of a server."""
        done, kept = apply(root, changes, self._objects, self.limits.file_bytes)
        earlier = self._records.find(chat_id, restore_id)
        if done or earlier:
            number = earlier.number if earlier else self._records.next_number(chat_id)
            record = Record(chat_id, restore_id, str(root), number, "restore")
            record.overwritten = list(overwritten)
            record.changes = {
                change.path: (change.now, change.then)
                for change in done
                if change.path not in personal
            }
            self._records.save(record)
        return done, kept

    async def undo_plan(self, chat_id: str, root: Path, restore_id: str) -> tuple[Plan, list[str]]:
        """What undoes a restore: (plan, the paths in it that held a person's own content)."""
        return await self._jobs.run(
            chat_id, str(root), lambda: self._undo_plan(chat_id, root, restore_id)
        )

    async def save_paths(
        self, chat_id: str, root: Path, paths: Sequence[str]
    ) -> dict[str, Entry | None]:
        """Keep what is there now, before somebody else changes it."""
        limit = self.limits.file_bytes
        return await self._jobs.run(
            chat_id,
            str(root),
            lambda: {path: look(root, path, limit, self._objects) for path in paths},
        )

    async def changed_since(
        self, chat_id: str, root: Path, saved: Mapping[str, list[Any] | None]
    ) -> list[Change]:
        """What somebody else has changed since `save_paths` (entries packed), as changes."""
        now = await self.save_paths(chat_id, root, list(saved))
        found = [Change(path, unpack(before), now[path]) for path, before in saved.items()]
        return [change for change in found if not same(change.now, change.then)]

    # ---- garbage ----------------------------------------------------------------------------

    def drop_chat(self, chat_id: str) -> None:
        """The chat is gone for good: forget what was kept for it. Returns at once."""
        if not self._jobs.stopped:
            self._dropping += 1
            self._jobs.submit(chat_id, "", lambda: self._drop(chat_id))

    async def close(self) -> None:
        """Finish what takes a moment, stop the rest: ends that were not looked at are found later.

        Idempotent.
        """
        await self._jobs.close(CLOSE_S)

    # ---- in the threads ---------------------------------------------------------------------

    def _end(self, chat_id: str, run: ActiveRun | None, ended_ns: int) -> None:
        for record in self._runs.end(chat_id, run, ended_ns):
            self._runs.tidy(record, list(self._active.values()))
        full = self._objects.total > FULL_SHARE * self.limits.total_bytes
        if full or self._objects.added > self.limits.project_bytes // 4:
            self._sweep()

    def _plan(
        self, chat_id: str, root: Path, runs: Sequence[str], overwrite: frozenset[str]
    ) -> Plan:
        if all(active.chat_id != chat_id for active in list(self._active.values())):
            self._end(chat_id, None, 0)
        return choose(self._records, chat_id, root, runs, overwrite, self.limits.file_bytes)

    def _undo_plan(self, chat_id: str, root: Path, restore_id: str) -> tuple[Plan, list[str]]:
        record = self._records.find(chat_id, restore_id)
        if record is None:
            return Plan(root), []
        changes: list[Change] = []
        kept: list[Kept] = []
        for path, (now, then) in sorted(record.changes.items()):
            turned = Change(path, now, then).turned
            found = look(root, path, self.limits.file_bytes)
            if same(found, turned.then):
                continue
            if same(found, turned.now):
                changes.append(turned)
            else:
                kept.append(Kept(path, CHANGED_SINCE))
        return Plan(root, tuple(changes), tuple(kept)), record.overwritten

    def _drop(self, chat_id: str) -> None:
        self._dropping -= 1
        self._records.drop_chat(chat_id)
        if self._dropping == 0:  # else the last of them sweeps for all
            self._sweep()

    def _sweep(self) -> None:
        sweep(self.folder, self._records, self._objects, self.limits)
