"""A project's files at one moment: who they are by stat, and what is in them by digest.

`walk` looks at names and stat only and follows no link; `read_contents` then reads what is new or
changed since the last snapshot, small files first, until its limits. What was left out is named
with its reason, never passed over: a restore says it again.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple

from .objects import FULL, Objects, ObjectsFull

Kind = Literal["file", "link", "folder", "unknown"]

SKIPPED_NAMES: Final = frozenset(
    {
        ".git", ".hg", ".svn", "node_modules", "__pycache__", ".ipynb_checkpoints", ".tox", ".nox",
        ".mypy_cache", ".ruff_cache", ".pytest_cache",
    }
)  # fmt: skip
ENVIRONMENT_MARKS: Final = frozenset({"pyvenv.cfg", "conda-meta"})
"""A folder that holds one of these is a virtual environment: made again, not restored."""

RACY_NS: Final = 100_000_000
COARSE_RACY_NS: Final = 2_000_000_000
"""A file touched this shortly before it was read may change again under the same time stamp (on
file systems that count whole seconds: 2 s): its content is not taken for granted later."""

NOT_IN_TIME: Final = "it could not be read in time"
TOO_LARGE: Final = "it is too large for a checkpoint"
TOO_MANY: Final = "the project has too many files for checkpoints of all"
TOO_MUCH: Final = "the project is too large for checkpoints of all files"
UNREADABLE: Final = "it cannot be read"
CHANGED_MEANWHILE: Final = "it changed while it was read"
SPECIAL: Final = "it is no ordinary file"
ENVIRONMENT: Final = "virtual environments are left out"
OTHER_MOUNT: Final = "it is another file system"
BAD_NAME: Final = "its name is not valid Unicode"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a checkpoint may take. Bytes and seconds; counts per project."""

    files: int = 20_000
    file_bytes: int = 10 * 1024 * 1024
    project_bytes: int = 1024**3
    total_bytes: int = 5 * 1024**3
    before_s: float = 2.0
    after_s: float = 20.0


class Entry(NamedTuple):
    """One name. `content`: a file's digest, a link's target; "" with `why` when not known.

    `sure`: the stat fields prove the content as long as they stay the same.
    """

    kind: Kind
    mode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    content: str = ""
    why: str = ""
    sure: bool = True

    @property
    def stat(self) -> tuple[int, int, int, int]:
        return self.size, self.mtime_ns, self.ctime_ns, self.inode


@dataclass(slots=True)
class Tree:
    """What a walk found, by path relative to the project with `/` between names.

    `unseen`: what was left out, a folder for all that is in it ("": everything), and why.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    unseen: dict[str, str] = field(default_factory=dict)

    def why_unseen(self, path: str) -> str:
        """Why the walk would not have seen `path`, had it been there; "": it would have."""
        at = path
        while at and at not in self.unseen:
            at = at.rpartition("/")[0]
        return self.unseen.get(at, "")


def unknown(why: str) -> Entry:
    """Stands for what was there, when that is not known."""
    return Entry("unknown", 0, 0, 0, 0, 0, "", why, sure=False)


def same(one: Entry | None, other: Entry | None) -> bool:
    """Whether both are the same thing to a person: kind, permission bits and content."""
    if one is None or other is None:
        return one is other
    if one.kind != other.kind or one.mode != other.mode:
        return False
    if one.kind == "folder":
        return True
    if one.content and other.content:
        return one.content == other.content
    return one.kind != "unknown" and one.stat == other.stat


def walk(
    root: Path,
    limits: Limits,
    deadline: float,
    avoid: Collection[str] = (),
    stopped: Callable[[], bool] = lambda: False,
) -> Tree:
    """Every name below `root`, by stat; until `deadline` (monotonic) and at most `limits.files`.

    `avoid`: real paths that are not entered. Raises OSError when `root` itself cannot be listed.
    """
    tree = Tree()
    device = root.stat().st_dev
    pending = deque([""])
    while pending:
        folder = pending.popleft()
        if time.monotonic() > deadline or stopped():
            tree.unseen |= dict.fromkeys([folder, *pending], NOT_IN_TIME)
            break
        try:
            with os.scandir(root / folder) as listing:
                found = list(listing)
        except OSError:
            if not folder:
                raise
            tree.unseen[folder] = UNREADABLE
            continue
        if folder and any(item.name in ENVIRONMENT_MARKS for item in found):
            tree.unseen[folder] = ENVIRONMENT
            continue
        if len(tree.entries) + len(found) > limits.files:
            tree.unseen[folder] = TOO_MANY
            continue
        prefix = f"{folder}/" if folder else ""
        for item in found:
            if item.name in SKIPPED_NAMES:
                continue
            path = prefix + item.name
            entry, why = _look(item, device, avoid)
            if entry is None:
                tree.unseen[path] = why
                continue
            tree.entries[path] = entry
            if entry.kind == "folder":
                pending.append(path)
    return tree


def _look(item: os.DirEntry[str], device: int, avoid: Collection[str]) -> tuple[Entry | None, str]:
    try:
        item.name.encode()
    except UnicodeEncodeError:
        return None, BAD_NAME
    try:
        found = item.stat(follow_symlinks=False)
        entry = entry_of(found)
        if entry is None:
            return None, SPECIAL
        if entry.kind == "link":
            entry = entry._replace(content=os.fspath(Path(item.path).readlink()))
            entry.content.encode()
        elif entry.kind == "folder" and found.st_dev != device:
            return None, OTHER_MOUNT
        elif entry.kind == "folder" and avoid and item.path in avoid:
            return None, "it is this extension's own"
    except UnicodeEncodeError:
        return None, BAD_NAME
    except OSError:
        return None, UNREADABLE
    return entry, ""


def entry_of(found: os.stat_result) -> Entry | None:
    """The entry of a name without its content; None for what is neither file, link nor folder."""
    kinds: dict[int, Kind] = {stat.S_IFREG: "file", stat.S_IFLNK: "link", stat.S_IFDIR: "folder"}
    kind = kinds.get(stat.S_IFMT(found.st_mode))
    if kind is None:
        return None
    # a link's own bits mean nothing, and a folder's size and times move with what is in it;
    # what runs as somebody else (set-uid) is never brought back
    mode = 0 if kind == "link" else found.st_mode & 0o777
    if kind == "folder":
        return Entry(kind, mode, 0, 0, 0, 0)
    size, inode = found.st_size, found.st_ino
    return Entry(kind, mode, size, found.st_mtime_ns, found.st_ctime_ns, inode)


def read_contents(
    root: Path,
    tree: Tree,
    known: Mapping[str, Entry],
    objects: Objects,
    limits: Limits,
    deadline: float,
    stopped: Callable[[], bool] = lambda: False,
) -> None:
    """Fill in the contents of `tree`'s files and keep them in `objects`.

    A file whose stat is as in `known` is not read again. Never raises for a file: what could not
    be kept says `why`.
    """
    entries = tree.entries
    to_read: list[tuple[int, str, Entry]] = []
    taken = 0
    for path, entry in entries.items():
        if entry.kind != "file":
            continue
        earlier = known.get(path)
        if earlier is not None and earlier.sure and earlier.content and earlier.stat == entry.stat:
            # the same object, so that comparing two snapshots is mostly a look at identity
            entries[path] = (
                earlier if earlier.mode == entry.mode else entry._replace(content=earlier.content)
            )
            taken += entry.size
        elif entry.size > limits.file_bytes:
            entries[path] = entry._replace(why=TOO_LARGE)
        else:
            to_read.append((entry.size, path, entry))
    to_read.sort()
    for number, (size, path, entry) in enumerate(to_read):
        why = ""
        if time.monotonic() > deadline or stopped():
            why = NOT_IN_TIME
        elif taken + size > limits.project_bytes:
            why = TOO_MUCH
        if why:
            for _, left, rest in to_read[number:]:
                entries[left] = rest._replace(why=why)
            return
        entries[path] = _read(root / path, entry, objects)
        taken += size


def _read(path: Path, entry: Entry, objects: Objects) -> Entry:
    began = time.time_ns()
    try:
        data = read_unchanged(os.fspath(path), entry)
        if data is None:
            return entry._replace(why=CHANGED_MEANWHILE)
        digest = objects.put(data)
    except ObjectsFull:
        return entry._replace(why=FULL)
    except OSError:
        return entry._replace(why=UNREADABLE)
    return entry._replace(content=digest, sure=_is_sure(entry, began))


def read_unchanged(path: str, entry: Entry, *, dir_fd: int | None = None) -> bytes | None:
    """The file's content, if it is and stays the one that `entry` describes; else None.

    Opens neither links nor special files. Raises OSError.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    handle = os.open(path, flags, dir_fd=dir_fd)
    with os.fdopen(handle, "rb", buffering=0) as file:
        before = entry_of(os.fstat(handle))
        if before is None or before.kind != "file" or before.stat != entry.stat:
            return None
        data = file.read(entry.size + 1)
        after = entry_of(os.fstat(handle))
    return (
        data
        if after is not None
        and after.stat == entry.stat == before.stat
        and (len(data) == entry.size)
        else None
    )


def _is_sure(entry: Entry, read_at_ns: int) -> bool:
    latest = max(entry.mtime_ns, entry.ctime_ns)
    coarse = entry.mtime_ns % 1_000_000_000 == 0 and entry.ctime_ns % 1_000_000_000 == 0
    return latest < read_at_ns - (COARSE_RACY_NS if coarse else RACY_NS)


def changes_between(
    before: Tree, after: Tree, exists: Callable[[str], bool]
) -> dict[str, tuple[Entry | None, Entry | None]]:
    """What differs, by path: (earlier, later). None: was not there; kind `unknown`: not known.

    `exists` looks at the disk: a file that only left the walk's view (its folder became a virtual
    environment) is not taken for deleted, nor one that came into view for new.
    """
    changes: dict[str, tuple[Entry | None, Entry | None]] = {}
    for path, later in after.entries.items():
        earlier = before.entries.get(path)
        if earlier is later or (earlier is not None and same(earlier, later)):
            continue
        if earlier is None and (why := before.why_unseen(path)):
            earlier = unknown(why)
        changes[path] = (earlier, later)
    for path, earlier in before.entries.items():
        if path not in after.entries and not exists(path):
            changes[path] = (earlier, None)
    return changes
