"""The database file: opening it, transactions on it, and what a failing medium means for a person.

A Database never raises on opening: it ends up writable, read-only or empty, and says why.
"""

from __future__ import annotations

import logging
import secrets
import sqlite3
from pathlib import Path
from typing import Any, Final

from ..errors import BadRequest, StorageError, StoreClosed
from . import recovery
from .base import StoreHealth
from .damage import FAILURES, Damaged, is_damage
from .filesystem import JournalMode, beside, prepare_directory, prepare_file
from .migrations import PAGE_SIZE, check_version, migrate
from .search_index import (
    IndexDamaged,
    has_unindexed,
    is_index_damage,
    prepare_index,
    renew_index,
)
from .sqlite_connection import (
    Values,
    connect,
    explain,
    fetch,
    is_sound,
    open_for_reading,
    set_journal_mode,
)
from .sqlite_transaction import Block
from .sqlite_upkeep import Upkeep

_log = logging.getLogger(__name__)

INLINE_CHECK_BYTES: Final = 16 * 1024 * 1024
"""Up to here the file is checked while it opens (about 1 ms per MB), above in the background."""

COMMITS_PER_CHECKPOINT: Final = 500
WAL_LIMIT_BYTES: Final = 64 * 1024 * 1024


class Database:
    """One file and one connection to it. Not for two threads at once."""

    def __init__(self, path: Path, journal_mode: JournalMode = "wal") -> None:
        self.path = path
        self.health = StoreHealth()
        self.epoch = ""
        self.searchable = False
        """Whether there is an index; without one the words of events are not kept."""
        self._journal_mode = journal_mode
        self._wal = False
        self._identity: tuple[int, int] | None = None
        self._connection: sqlite3.Connection | None = None
        self.upkeep: Upkeep | None = None
        self._commits = 0
        self._open()

    # ---- operations ------------------------------------------------------------------------------

    @property
    def connection(self) -> sqlite3.Connection:
        """The live connection. Raises StorageError when the store is closed."""
        if self._connection is None:
            raise StoreClosed
        return self._connection

    def transaction(self, *, durable: bool = False) -> Block:
        """One write transaction; `durable` also survives power loss. Raises StorageError."""
        return Block(self, write=True, durable=durable and self._wal)

    def snapshot(self) -> Block:
        """Several reads of one state. Raises StorageError."""
        return Block(self, write=False)

    def rows(self, sql: str, values: Values = ()) -> list[Any]:
        """All rows of one query. Raises StorageError."""
        connection = self.ready(write=False)
        try:
            return fetch(connection, sql, values)
        except (*FAILURES, UnicodeEncodeError, OverflowError) as error:
            raise self.failure(error) from error

    def checkpoint(self) -> None:
        """Have the write-ahead log carried into the file: in the background, if not too long."""
        if self.upkeep is None:
            return
        self.upkeep.checkpoint()
        try:
            size = beside(self.path, "-wal").stat().st_size
        except OSError:
            return
        if size > WAL_LIMIT_BYTES:  # the writer never paused, so the log could not begin anew
            self.rows("PRAGMA wal_checkpoint(PASSIVE)")

    def close(self) -> None:
        """Close, with everything in the one file where possible. May be called twice."""
        if self.upkeep is not None:
            self.upkeep.stop()
            self.upkeep = None
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    # ---- opening ---------------------------------------------------------------------------------

    def _open(self) -> None:
        try:
            try:
                self._attach()
            except FAILURES as error:
                if not is_damage(error):
                    raise
                self._rebuild()
        except (*FAILURES, OSError, StorageError) as error:
            reason = error.message if isinstance(error, StorageError) else explain(error, self.path)
            _log.error("the chat store %s is read-only: %s", self.path, reason)
            self._attach_read_only(reason, known=not isinstance(error, StorageError))

    def _attach(self) -> None:
        """Open for writing. Raises sqlite3.Error, OSError, StorageError (a newer file)."""
        self.close()
        prepare_directory(self.path.parent)
        recovery.settle_remains(self.path)
        prepare_file(self.path)
        connection = self._connection = connect(f"{self.path.as_uri()}?mode=rw")
        check_version(connection)  # before anything is written
        size = self.path.stat().st_size
        if size <= INLINE_CHECK_BYTES and not is_sound(connection):
            raise Damaged
        connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
        self._wal = set_journal_mode(connection, self._journal_mode)
        connection.execute(f"PRAGMA synchronous={'NORMAL' if self._wal else 'FULL'}")
        connection.execute("PRAGMA wal_autocheckpoint=0")
        connection.execute("PRAGMA journal_size_limit=16777216")
        migrate(connection)
        self._identify(connection)
        self.searchable = prepare_index(connection)
        if self._wal:
            self.upkeep = Upkeep(self.path)
            if size > INLINE_CHECK_BYTES:
                self.upkeep.check()
            if self.searchable and has_unindexed(connection):
                self.upkeep.index()

    def _identify(self, connection: sqlite3.Connection) -> None:
        """Read the epoch; a new one when this is another file than the one it was given to."""
        found = self.path.stat()
        self._identity = (found.st_dev, found.st_ino)
        kept = dict(connection.execute("SELECT key, value FROM meta").fetchall())
        if kept.get("inode") != str(found.st_ino) or "epoch" not in kept:
            kept["epoch"] = secrets.token_hex(8)
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
                [("epoch", kept["epoch"]), ("inode", str(found.st_ino))],
            )
            connection.execute("COMMIT")
        self.epoch = kept["epoch"]

    def _rebuild(self) -> None:
        """Move a damaged file aside, save what can be read, open the new one."""
        self.close()
        notice = recovery.rebuild(self.path)
        if notice is not None:
            _log.error("%s", notice)
            self.health = StoreHealth(notice=notice)
        self._attach()

    def _attach_read_only(self, reason: str, *, known: bool) -> None:
        """Show what can be read without writing; nothing at all when that is not `known` to us."""
        self.close()
        self._identity, self._wal = None, False
        connection, stale = open_for_reading(self.path) if known else (None, False)
        if connection is None:
            connection = connect(":memory:")
            migrate(connection)
            prepare_index(connection)
        elif stale:
            reason += " What was stored last may be missing."
        self._connection = connection
        kept = None
        try:
            kept = connection.execute("SELECT value FROM meta WHERE key = 'epoch'").fetchone()
            connection.execute("SELECT rowid FROM search LIMIT 0")
            self.searchable = True
        except FAILURES:
            self.searchable = False
        self.epoch = kept[0] if kept else secrets.token_hex(8)
        self.health = StoreHealth(writable=False, notice=f"Chats are read-only. {reason}")

    # ---- before and after an operation -----------------------------------------------------------

    def ready(self, *, write: bool) -> sqlite3.Connection:
        """The connection; a damaged or replaced file is seen to first. Raises StorageError."""
        if self._connection is None:
            raise StoreClosed
        if self.upkeep is not None and self.upkeep.damaged:
            self._repair()
        if self._identity is not None and not self._same_file():
            notice = f"{self.path} was replaced or removed; it was opened anew."
            _log.error("%s", notice)
            self.health = StoreHealth(notice=notice)
            self._open()
        if write and not self.health.writable:
            raise StorageError(self.health.notice or "The chat store is read-only.")
        return self.connection

    def committed(self) -> None:
        """Count a commit: from time to time the log is carried into the file."""
        self._commits += 1
        if self._commits % COMMITS_PER_CHECKPOINT == 0:
            self.checkpoint()

    def failure(self, error: Exception) -> Exception:
        """What to raise instead of `error`; a damaged file is rebuilt first."""
        if isinstance(error, UnicodeEncodeError | OverflowError):
            return BadRequest("A text or number in this request cannot be stored.")
        message = explain(error, self.path)
        if is_index_damage(error):
            return self._renew_index(error)
        if is_damage(error) and self._identity is not None:
            self._repair()
            message = self.health.notice or "The chat store could not be read: try again."
        return StorageError(message, path=str(self.path))

    def _same_file(self) -> bool:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            return False
        except OSError as error:
            raise StorageError(explain(error, self.path), path=str(self.path)) from error
        return (found.st_dev, found.st_ino) == self._identity

    def _renew_index(self, error: Exception) -> Exception:
        _log.error("the index of the search was damaged and is made anew: %s", error)
        try:
            self.searchable = self.health.writable and renew_index(self.connection)
        except FAILURES as failed:
            self.searchable = False
            _log.error("it could not be made anew: %s", failed)
        if self.upkeep is not None and self.searchable:
            self.upkeep.index()
        return IndexDamaged("The index of the search was damaged: try again.")

    def _repair(self) -> None:
        try:
            self._rebuild()
        except (*FAILURES, OSError, StorageError) as error:
            self._attach_read_only(explain(error, self.path), known=True)
