"""Which files a rewind puts back, and which it leaves to a person.

For each path that the cut runs changed: what was there before the first of them comes back, where
there is now what the last of them (or an earlier restore) left. Anything else is somebody's own
work and is kept, until they say that it may be overwritten. Nothing is changed here.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .records import Record, Records
from .restore import CHANGED_SINCE, Change, Kept, Plan, look
from .snapshot import Entry, same

BESIDE: Final = "Another chat's agent worked in this folder at the same time: it may be its work."
LATE: Final = "It was, or may have been, changed after the run, by you or another program."


def choose(
    records: Records,
    chat_id: str,
    root: Path,
    runs: Sequence[str],
    overwrite: frozenset[str],
    limit_bytes: int,
) -> Plan:
    """The plan for cutting `runs` (oldest first) from a chat; see the module."""
    own = [record for record in records.of_chat(chat_id) if record.root == str(root)]
    known = {record.id: record for record in own if not record.none}
    kept = _unknown_runs(runs, known, own)
    first = min((known[run].number for run in runs if run in known), default=None)
    if first is None:
        return Plan(root, (), tuple(kept))
    window = [record for record in own if record.number >= first]
    doubtful = _doubtful(records, window)
    changes: list[Change] = []
    paths = frozenset(path for record in window for path in record.changes)
    for path in sorted(paths):
        ends = [record.changes[path] for record in window if path in record.changes]
        target, expected = ends[0][0], ends[-1][1]
        now = look(root, path, limit_bytes)
        if same(now, target):
            continue
        allowed = path in overwrite
        refusal = _refusal(path, now, target)
        if refusal is None and not allowed and not same(now, expected):
            refusal = Kept(path, CHANGED_SINCE, overwritable=True)
        if refusal is None and not allowed and path in doubtful:
            refusal = Kept(path, doubtful[path], overwritable=True)
        if refusal is None:
            changes.append(Change(path, now, target))
        elif not _is_folder(now, target, expected):
            kept.append(refusal)
    return Plan(root, tuple(changes), tuple(kept), paths)


def overwritten(plan: Plan, overwrite: Sequence[str]) -> list[str]:
    """The paths of the plan that are in it only because a person allowed it (or might be)."""
    allowed = set(overwrite)
    return [change.path for change in plan.changes if change.path in allowed]


def _refusal(path: str, now: Entry | None, target: Entry | None) -> Kept | None:
    """Why `path` can in no case be put back."""
    if target is not None and target.kind != "folder" and not target.content:
        return Kept(path, f"Its earlier content was not kept: {target.why}.")
    if now is not None and now.kind != "folder" and not now.content:
        return Kept(path, f"What is there now cannot be saved first: {now.why}.")
    return None


def _is_folder(*entries: Entry | None) -> bool:
    """Folders come and go with what is in them: nobody wants to read of them."""
    return all(entry is None or entry.kind == "folder" for entry in entries)


def _unknown_runs(runs: Sequence[str], known: dict[str, Record], own: list[Record]) -> list[Kept]:
    missing = [run for run in runs if run not in known]
    if not missing:
        return []
    whys = {record.none for record in own if record.id in missing}
    count = "one prompt" if len(missing) == 1 else f"{len(missing)} prompts"
    why = f": {whys.pop()}" if len(whys) == 1 else ""
    return [Kept("", f"What {count} changed is not known, there is no checkpoint{why}.")]


def _doubtful(records: Records, window: Sequence[Record]) -> dict[str, str]:
    """Paths that may not be these runs' work, and why."""
    own = {record.id for record in window}
    doubtful: dict[str, str] = {}
    for record in window:
        doubtful |= dict.fromkeys(record.late, LATE)
        for chat_id, run_id in record.beside:
            other = None if run_id in own else records.find(chat_id, run_id)
            if run_id in own:
                continue
            # one that goes on, or of which nothing is known, may have changed anything
            shared = (
                record.changes
                if other is None or other.open or other.none
                else (record.changes.keys() & other.changes.keys())
            )
            doubtful |= dict.fromkeys(shared, BESIDE)
    return doubtful
