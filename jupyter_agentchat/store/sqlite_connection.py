"""Connections to the database file, and what SQLite's errors mean for a person."""

from __future__ import annotations

import errno
import logging
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from ..errors import StorageError
from .damage import FAILURES, is_damage
from .filesystem import JournalMode, beside
from .migrations import check_version, migrate

_log = logging.getLogger(__name__)

BUSY_TIMEOUT_S: Final = 1.0
"""How long a write waits for another server's; the event loop waits with it."""

NO_SPACE: Final = (errno.ENOSPC, errno.EDQUOT)
NOT_ALLOWED: Final = (errno.EPERM, errno.EACCES, errno.EROFS, errno.ENOTDIR)

MAX_READ_IN: Final = 256 * 1024 * 1024
"""An older version's file that cannot be written is upgraded in memory, up to this size."""

Values = Sequence[Any] | Mapping[str, Any]


def connect(address: str) -> sqlite3.Connection:
    """A connection with our settings. Raises sqlite3.Error."""
    connection = sqlite3.connect(
        address,
        uri=True,
        isolation_level=None,
        timeout=BUSY_TIMEOUT_S,
        check_same_thread=False,  # opened in one thread, used in another, never in two at once
        cached_statements=256,
    )
    connection.execute("PRAGMA trusted_schema=OFF")
    connection.execute("PRAGMA cell_size_check=ON")
    return connection


def set_journal_mode(connection: sqlite3.Connection, mode: JournalMode) -> bool:
    """Switch to `mode` where possible; True when the database is in WAL mode now."""
    try:
        found = connection.execute(f"PRAGMA journal_mode={mode}").fetchone()[0]
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        # another server has it open in the other mode: one mode for all
        found = connection.execute("PRAGMA journal_mode").fetchone()[0]
    return bool(found == "wal")


def is_sound(connection: sqlite3.Connection) -> bool:
    """SQLite's own check of the file's structure."""
    try:
        return bool(connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))
    except FAILURES as error:
        if is_damage(error):
            return False
        raise


def open_for_reading(path: Path) -> tuple[sqlite3.Connection | None, bool]:
    """(connection or None, whether the newest part may be missing) of a file we cannot write."""
    for options in ("mode=ro", "immutable=1"):
        connection = None
        try:
            connection = connect(f"{path.as_uri()}?{options}")
            pending = check_version(connection)
            log = beside(path, "-wal")
            left = options == "immutable=1" and log.exists() and log.stat().st_size > 0
            return _upgraded(connection, path) if pending else connection, left
        except (*FAILURES, StorageError, OSError) as error:
            _log.info("%s cannot be read with %s: %s", path, options, error)
        if connection is not None:
            connection.close()
    return None, False


def _upgraded(connection: sqlite3.Connection, path: Path) -> sqlite3.Connection:
    """An older version's file, as a copy in memory that can be read like a new one."""
    if path.stat().st_size > MAX_READ_IN:
        raise StorageError("It is of an older version and too large to be upgraded in memory.")
    copy = connect(":memory:")
    try:
        connection.backup(copy)
        migrate(copy)
    except BaseException:
        copy.close()
        raise
    connection.close()
    return copy


def fetch(connection: sqlite3.Connection, sql: str, values: Values = ()) -> list[Any]:
    """All rows; text that is no longer UTF-8 comes with U+FFFD instead of failing the page."""
    try:
        return connection.execute(sql, values).fetchall()
    except sqlite3.OperationalError as error:
        if "decode" not in str(error):
            raise
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.text_factory = str


def explain(error: Exception, path: Path) -> str:
    """One or two sentences: what happened, and what to do."""
    if isinstance(error, StorageError):
        return error.message
    code = getattr(error, "sqlite_errorcode", None)
    primary = code & 0xFF if isinstance(code, int) else None
    number = getattr(error, "errno", None)
    if primary == sqlite3.SQLITE_FULL or number in NO_SPACE:
        return f"There is no space left for {path}: free some, then try again."
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return f"{path} is locked by another program: try again."
    if primary in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM) or (
        number in NOT_ALLOWED
    ):
        return (
            f"{path.parent} cannot be written: make it writable for this user, "
            "or set another data_dir, then restart the server."
        )
    return f"{path} failed ({error}): check the disk, then restart the server."
