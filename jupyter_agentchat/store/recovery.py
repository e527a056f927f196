"""A damaged database file: kept aside under another name, replaced by what could be read of it."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ..protocol.base import now
from .damage import FAILURES, Damaged, is_damage
from .filesystem import beside
from .migrations import check_version
from .salvage import salvage
from .sqlite_connection import connect, is_sound

LOCK_DEADLINE_S = 30.0


def settle_remains(path: Path) -> None:
    """See to what a crash or a person left beside a missing or empty file.

    A log without its database is put aside: SQLite would play it into the new one. Raises Damaged
    when the database was emptied but its log is there, OSError.
    """
    logs = [log for log in (beside(path, "-wal"), beside(path, "-journal")) if _size(log)]
    if not logs or _size(path):
        return
    if path.exists():
        raise Damaged
    aside = unused_name(path)
    for log in logs:
        log.rename(beside(aside, log.name.removeprefix(path.name)))


def rebuild(path: Path) -> str | None:
    """Keep the damaged file aside and put what can be read of it in its place.

    Returns what to tell a person; None when the file is sound after all (another server was
    faster). The damaged file and its log are never written to. Raises OSError, sqlite3.Error,
    StorageError; the damaged file is then where it was.
    """
    with _alone(path):
        if _is_sound_file(path):
            return None
        fresh = beside(path, ".new")
        _remove(fresh)
        try:
            saved = salvage(path, fresh)
            aside = unused_name(path)
            _keep(path, aside)
            fresh.replace(path)
            _sync_directory(path.parent)
        finally:
            _remove(fresh)
    lost = f", {saved.lost} events could not be read" if saved.lost else ""
    return (
        f"The chat store was damaged. {saved.chats} chats with {saved.events} events were saved"
        f"{lost}. The damaged file is kept as {aside}."
    )


def unused_name(path: Path) -> Path:
    """`<name>.corrupt-<time>`, with a number where that is taken: nothing is ever overwritten."""
    stamp = now()[:19].replace("-", "").replace(":", "")
    first = beside(path, f".corrupt-{stamp}Z")
    name, number = first, 1
    while any(os.path.lexists(beside(name, suffix)) for suffix in ("", "-wal", "-journal")):
        number += 1
        name = beside(first, f"-{number}")
    return name


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold the lock of the rebuild; of several servers one does the work, the others wait."""
    handle = os.open(beside(path, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        deadline = time.monotonic() + LOCK_DEADLINE_S
        while True:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.05)
        yield
    finally:
        os.close(handle)


def _is_sound_file(path: Path) -> bool:
    if not _size(path):
        return False
    try:
        connection = connect(f"{path.as_uri()}?mode=ro")
    except sqlite3.Error:
        return False
    try:
        check_version(connection)
        return is_sound(connection)
    except FAILURES as error:
        if is_damage(error):
            return False
        raise
    finally:
        connection.close()


def _keep(path: Path, aside: Path) -> None:
    """Give the file and its log their second name first, so that a crash here loses nothing."""
    present = [suffix for suffix in ("", "-wal", "-journal") if _size(beside(path, suffix))]
    try:
        for suffix in present:
            os.link(beside(path, suffix), beside(aside, suffix))
    except OSError:  # no hard links here
        for suffix in present:
            with suppress(FileNotFoundError):
                beside(path, suffix).rename(beside(aside, suffix))
    for suffix in ("-wal", "-journal", "-shm"):
        _remove(beside(path, suffix))
    _sync_directory(path.parent)


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _sync_directory(directory: Path) -> None:
    handle = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
