"""What runs and restores did to files, kept per chat in the order in which it happened.

    trees/<project>/<time>-<pid>.jsonl      a snapshot; the newest one is where the next walk starts
    changes/<chat>/<n>.<kind>.<id>.json     `open` or ended `run`, or `restore`; `n` rises, whatever
                                            the clock says

Every file is replaced in one step. One that cannot be read counts as missing, and whoever needs it
says so.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import count, islice
from pathlib import Path
from typing import Any, Final, Literal

from .objects import GRACE_S, write_private
from .snapshot import Entry, Tree

log = logging.getLogger(__name__)

Changes = dict[str, tuple[Entry | None, Entry | None]]
_DIGEST: Final = re.compile(rb'"([0-9a-f]{64})"')
_RECORD: Final = re.compile(r"\d{8,}\.(open|run|restore)\.[A-Za-z0-9_-]+\.json")
_PLAIN: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")
_LINE_ENTRIES: Final = 500
_numbers = count()


@dataclass(slots=True)
class Record:
    """One run's or one restore's changes in one chat.

    `tree`: the snapshot before a run that has not ended yet. `none`: why there is no checkpoint of
    this run. `late`: paths that were changed after the run, or may have been. `beside`: (chat, run)
    of other runs that were active in the same project at the same time. `overwritten`: paths that a
    person let a restore put back although they had been changed since.
    """

    chat_id: str
    id: str
    root: str
    number: int
    kind: Literal["run", "restore"] = "run"
    open: bool = False
    tree: str = ""
    none: str = ""
    late: list[str] = field(default_factory=list)
    beside: list[tuple[str, str]] = field(default_factory=list)
    overwritten: list[str] = field(default_factory=list)
    changes: Changes = field(default_factory=dict)


def file_name(word: str) -> str:
    """An id as a file's name; ids of ours stay readable, others become a digest."""
    return word if _PLAIN.fullmatch(word) else sha256(word.encode()).hexdigest()


def project_name(root: str) -> str:
    """The folder in `trees` of a project."""
    return sha256(os.fsencode(root)).hexdigest()[:32]


def read_json(path: Path) -> dict[str, Any] | None:
    """The object in a file of ours; None when it is missing or damaged (logged)."""
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        log.warning("checkpoint file %s cannot be read: %s", path, error)
        return None
    return found if isinstance(found, dict) else None


def pack(entry: Entry | None) -> list[object] | None:
    """An entry as JSON."""
    return None if entry is None else list(entry)


def unpack(packed: list[Any] | None) -> Entry | None:
    """The reverse of `pack`. Raises TypeError for what is no entry."""
    return None if packed is None else Entry(*packed)


class Records:
    """The files above, below one folder. Calls for one chat come one after another."""

    def __init__(self, folder: Path) -> None:
        self._changes = folder / "changes"
        self._trees = folder / "trees"

    # ---- runs and restores ------------------------------------------------------------------

    def of_chat(self, chat_id: str) -> list[Record]:
        """Oldest first."""
        # an ended run sorts behind its open twin, which a crash may have left
        paths = sorted(self._listing(self._changes / file_name(chat_id)))
        found = {}
        for path in paths:
            record = self._load(path, chat_id)
            if record is not None:
                found[record.number] = record
        return [found[number] for number in sorted(found)]

    def find(self, chat_id: str, record_id: str) -> Record | None:
        """One run or restore by its id."""
        name = file_name(record_id)
        paths = sorted(self._listing(self._changes / file_name(chat_id)))
        own = [path for path in paths if path.name.split(".")[2] == name]
        return self._load(own[-1], chat_id) if own else None

    def open_runs(self, chat_id: str) -> list[str]:
        """Files' ids of runs whose end was not looked at; reads names only."""
        names = [path.name.split(".") for path in self._listing(self._changes / file_name(chat_id))]
        ended = {name[0] for name in names if name[1] != "open"}
        return [name[2] for name in names if name[1] == "open" and name[0] not in ended]

    def next_number(self, chat_id: str) -> int:
        """One above the last."""
        names = [path.name for path in self._listing(self._changes / file_name(chat_id))]
        return max((int(name.split(".")[0]) for name in names), default=0) + 1

    def save(self, record: Record) -> None:
        """Raises OSError. Survives power loss, but for the note that a run has begun: without its
        snapshot, which is not synced either, that note is worth nothing, and the run waits for it.
        """
        packed = {path: [pack(a), pack(b)] for path, (a, b) in record.changes.items()}
        data = {
            "id": record.id,
            "root": record.root,
            "tree": record.tree,
            "none": record.none,
            "late": record.late,
            "beside": record.beside,
            "overwritten": record.overwritten,
            "changes": packed,
        }
        folder = self._changes / file_name(record.chat_id)
        kind = "open" if record.open else record.kind
        name = f"{record.number:08d}.{{}}.{file_name(record.id)}.json"
        write_private(
            folder / name.format(kind), json.dumps(data).encode(), durable=not record.open
        )
        if kind == "run":
            (folder / name.format("open")).unlink(missing_ok=True)

    def drop_open(self, chat_id: str, run_id: str) -> None:
        """Forget that a run was begun. Idempotent."""
        for path in self._listing(self._changes / file_name(chat_id)):
            if path.name.split(".")[1:3] == ["open", file_name(run_id)]:
                path.unlink(missing_ok=True)

    def drop_chat(self, chat_id: str) -> None:
        """Forget all of a chat. Idempotent."""
        shutil.rmtree(self._changes / file_name(chat_id), ignore_errors=True)

    def _listing(self, folder: Path) -> Iterator[Path]:
        try:
            found = list(folder.iterdir())
        except (FileNotFoundError, NotADirectoryError):
            return
        for path in found:
            if _RECORD.fullmatch(path.name):
                yield path

    def _load(self, path: Path, chat_id: str) -> Record | None:
        data = read_json(path)
        if data is None:
            return None
        number, kind, *_ = path.name.split(".")
        try:
            return Record(
                chat_id=chat_id,
                id=data["id"],
                root=data["root"],
                number=int(number),
                kind="restore" if kind == "restore" else "run",
                open=kind == "open",
                tree=data["tree"],
                none=data["none"],
                late=data["late"],
                beside=[(chat, run) for chat, run in data["beside"]],
                overwritten=data["overwritten"],
                changes={name: (unpack(a), unpack(b)) for name, (a, b) in data["changes"].items()},
            )
        except (KeyError, TypeError, ValueError) as error:
            log.warning("checkpoint file %s cannot be read: %s", path, error)
            return None

    # ---- snapshots --------------------------------------------------------------------------

    def save_tree(self, root: str, tree: Tree) -> str:
        """Keep a snapshot; its name. Not synced: a lost one only means reading anew."""
        name = f"{time.time_ns():020d}-{os.getpid()}-{next(_numbers)}"
        lines = [json.dumps({"root": root, "unseen": tree.unseen})]
        items = iter(tree.entries.items())
        # in pieces: an encoder that runs for long holds up every other thread
        while piece := {path: list(entry) for path, entry in islice(items, _LINE_ENTRIES)}:
            lines.append(json.dumps(piece))
        lines.append('"end"')
        path = self._trees_of(root) / f"{name}.jsonl"
        write_private(path, "\n".join(lines).encode(), durable=False)
        return name

    def tree(self, root: str, name: str) -> Tree | None:
        """A snapshot; None when it is gone or damaged."""
        path = self._trees_of(root) / f"{name}.jsonl"
        try:
            head, *pieces, end = path.read_bytes().split(b"\n")
            first = json.loads(head)
            if end != b'"end"' or first["root"] != root:
                return None
            tree = Tree({}, first["unseen"])
            for piece in pieces:
                for name_, packed in json.loads(piece).items():
                    tree.entries[name_] = Entry(*packed)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return tree

    def newest_tree(self, root: str) -> tuple[str, Tree] | None:
        """(name, snapshot) of the newest one that can be read."""
        for path in sorted(self._trees_of(root).glob("[0-9]*.jsonl"), reverse=True):
            tree = self.tree(root, path.stem)
            if tree is not None:
                return path.stem, tree
        return None

    def forget_tree(self, root: str, name: str) -> None:
        """Idempotent."""
        (self._trees_of(root) / f"{name}.jsonl").unlink(missing_ok=True)

    def _trees_of(self, root: str) -> Path:
        return self._trees / project_name(root)

    # ---- what is in use ---------------------------------------------------------------------

    def change_files(self) -> list[Path]:
        """All records of all chats, newest last."""
        found = [path for path in self._changes.glob("*/[0-9]*.json") if path.is_file()]
        return sorted(found, key=lambda path: (_modified(path), path.name))

    def prune_trees(self, age_s: float) -> list[Path]:
        """Remove old snapshots that no open run needs, all but the newest per project; and those of
        projects that nobody has used for `age_s`. What is left."""
        needed = set()
        for path in self.change_files():
            data = read_json(path) if ".open." in path.name else None
            if data:
                needed.add(data.get("tree"))
        left = []
        for folder in self._trees.iterdir() if self._trees.is_dir() else ():
            snapshots = sorted(folder.glob("[0-9]*.jsonl"))
            for path in snapshots:
                age = time.time() - _modified(path)
                last = path is snapshots[-1] and age < age_s
                if path.stem in needed or last or age < GRACE_S:
                    left.append(path)
                else:
                    path.unlink(missing_ok=True)
        return left


def digests_in(path: Path) -> set[str]:
    """Every object that a file of ours names."""
    try:
        return {found.decode() for found in _DIGEST.findall(path.read_bytes())}
    except OSError:
        return set()


def _modified(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
