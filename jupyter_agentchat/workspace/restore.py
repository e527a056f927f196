"""Putting files back: what is to change, and changing it without harm.

A change is (path, what is there, what shall be there). It is carried out only where the first still
holds at that moment; each file is replaced in one step, by descriptors that follow no link. So a
half-done restore can be done again, and the same changes turned round undo it.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from ..errors import BadRequest, Forbidden
from .objects import FULL, Objects, ObjectsFull, digest_of
from .paths import folder_inside
from .snapshot import (
    CHANGED_MEANWHILE,
    SPECIAL,
    TOO_LARGE,
    UNREADABLE,
    Entry,
    entry_of,
    read_unchanged,
    same,
    unknown,
)

CHANGED_SINCE: Final = "It was changed since, by you or another program."
CONTENT_GONE: Final = "Its saved content was removed to save space, or is damaged."
IN_THE_WAY: Final = "A link or a file stands where one of its folders was."
NOT_EMPTY: Final = "Other files are in this folder."
GONE_FOLDER: Final = "Its folder cannot be written."
READ_TRIES: Final = 3


class Change(NamedTuple):
    """One path to change; None: nothing there."""

    path: str
    now: Entry | None
    then: Entry | None

    @property
    def turned(self) -> Change:
        return Change(self.path, self.then, self.now)


@dataclass(frozen=True, slots=True)
class Kept:
    """A path that is left as it is, and why; `overwritable` when a person may decide otherwise."""

    path: str
    reason: str
    overwritable: bool = False


@dataclass(frozen=True, slots=True)
class Plan:
    """What a restore would do. Paths are relative to `root`, sorted.

    `known`: every path of which it is known what the runs did to it.
    """

    root: Path
    changes: tuple[Change, ...] = ()
    kept: tuple[Kept, ...] = ()
    known: frozenset[str] = frozenset()


def look(root: Path, path: str, limit_bytes: int, objects: Objects | None = None) -> Entry | None:
    """What is at `path` now, with its content's digest; None when nothing is.

    With `objects` the content is kept there, synced to the disk. An entry of kind `unknown` says
    why it cannot be told. Never follows a link; raises nothing.
    """
    try:
        with folder_inside(root, path) as folder:
            return _look_in(folder, path.rpartition("/")[2], limit_bytes, objects)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except Forbidden:
        return None  # what was there is not there any more: a link or a file stands on its way
    except BadRequest:
        return unknown(UNREADABLE)
    except ObjectsFull:
        return unknown(FULL)
    except OSError:
        return unknown(UNREADABLE)


def _look_in(folder: int, name: str, limit_bytes: int, objects: Objects | None) -> Entry | None:
    for _ in range(READ_TRIES):
        found = entry_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
        if found is None:
            return unknown(SPECIAL)
        if found.kind == "folder":
            return found
        if found.kind == "link":
            return found._replace(content=os.readlink(name, dir_fd=folder))
        if found.size > limit_bytes:
            return found._replace(why=TOO_LARGE)
        data = read_unchanged(name, found, dir_fd=folder)
        if data is not None:
            digest = objects.put(data, durable=True) if objects else digest_of(data)
            return found._replace(content=digest)
    return unknown(CHANGED_MEANWHILE)


def save_first(plan: Plan, objects: Objects, limit_bytes: int) -> Plan:
    """Keep the content of everything that the plan overwrites or deletes, safe on the disk.

    What cannot be kept, or has changed since the plan was made, is left as it is (see `kept`).
    """
    changes: list[Change] = []
    kept = list(plan.kept)
    for change in plan.changes:
        now = look(plan.root, change.path, limit_bytes, objects)
        if not same(now, change.now):
            kept.append(Kept(change.path, CHANGED_SINCE, overwritable=True))
        elif now is not None and now.kind == "file" and not now.content:
            kept.append(Kept(change.path, f"It cannot be saved first: {now.why}."))
        else:
            changes.append(change._replace(now=now))
    return replace(plan, changes=tuple(changes), kept=tuple(kept))


def apply(
    root: Path, changes: Sequence[Change], objects: Objects, limit_bytes: int
) -> tuple[list[Change], list[Kept]]:
    """Carry out what still fits; (done, kept). What is already as it shall be counts as done.

    Deletes from the deepest up, then folders and files from the top down. Raises nothing.
    """
    done: list[Change] = []
    kept: list[Kept] = []
    by_depth = sorted(changes, key=lambda change: change.path.count("/"))
    # what gives way to another kind of thing, or to nothing, goes first
    going = [c for c in reversed(by_depth) if c.now and (not c.then or c.now.kind != c.then.kind)]
    blocked: set[str] = set()
    for change in going:
        reason = _attempt(root, change, objects, limit_bytes, remove=True)
        if reason:
            kept.append(Kept(change.path, reason))
            blocked.add(change.path)
        elif change.then is None:
            done.append(change)
    for change in by_depth:
        if change.then is None or change.path in blocked:
            continue
        reason = _attempt(root, change, objects, limit_bytes, remove=False)
        if reason:
            kept.append(Kept(change.path, reason))
        else:
            done.append(change)
    return sorted(done), sorted(kept, key=lambda one: one.path)


def _attempt(
    root: Path, change: Change, objects: Objects, limit_bytes: int, *, remove: bool
) -> str:
    """Do one change; "" or the reason why not."""
    path, then = change.path, change.then
    now = look(root, path, limit_bytes)
    if same(now, then):
        return ""
    between = now is None and change.now is not None and then is not None
    replaced = (
        not remove
        and between
        and change.now is not None
        and then is not None
        and (change.now.kind != then.kind)
    )
    if not same(now, change.now) and not replaced:
        return CHANGED_SINCE
    try:
        with folder_inside(root, path, make=not remove) as folder:
            name = path.rpartition("/")[2]
            if remove:
                _remove(folder, name, now)
            elif then is not None:
                return _put(folder, name, now, then, objects)
    except Forbidden:
        return IN_THE_WAY
    except BadRequest:
        return UNREADABLE
    except OSError as error:
        if error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.EISDIR):
            return NOT_EMPTY
        return f"{GONE_FOLDER} ({error.strerror})"
    return ""


def _remove(folder: int, name: str, now: Entry | None) -> None:
    if now is not None and now.kind == "folder":
        os.rmdir(name, dir_fd=folder)
    elif now is not None:
        os.unlink(name, dir_fd=folder)


def _put(folder: int, name: str, now: Entry | None, then: Entry, objects: Objects) -> str:
    if then.kind == "folder":
        if now is None:
            os.mkdir(name, 0o700, dir_fd=folder)
        handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
        try:
            os.fchmod(handle, (os.fstat(handle).st_mode & 0o7000) | then.mode)
        finally:
            os.close(handle)
        return ""
    data = b""
    if then.kind == "file":
        found = objects.get(then.content) if then.content else None
        if found is None:
            return CONTENT_GONE
        data = found
    beside = f".agentchat-{secrets.token_hex(8)}"
    try:
        if then.kind == "link":
            os.symlink(then.content, beside, dir_fd=folder)
        else:
            _write(folder, beside, data, then.mode)
        os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=folder)
        raise
    return ""


def _write(folder: int, name: str, data: bytes, mode: int) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    handle = os.open(name, flags, 0o600, dir_fd=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(handle, mode)
        os.fsync(handle)
