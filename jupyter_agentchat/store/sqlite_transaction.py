"""A transaction or a snapshot on the database, as a `with` block that says clearly what failed.

Classes, not generators: an append costs 20 µs, and a generator's `with` would be 5 of them.
"""

from __future__ import annotations

import sqlite3
from types import TracebackType
from typing import Protocol

from ..errors import StoreClosed
from .damage import FAILURES


class Owner(Protocol):
    """What a block needs of its Database."""

    def ready(self, *, write: bool) -> sqlite3.Connection: ...
    def failure(self, error: Exception) -> Exception: ...
    def committed(self) -> None: ...


class Block:
    """`with Block(...) as connection`: begun on entering, committed or rolled back on leaving.

    `durable` also survives power loss. Raises StorageError, BadRequest for what cannot be stored,
    and whatever the body raises; nothing of it is stored then.
    """

    __slots__ = ("_connection", "_durable", "_owner", "_write")

    def __init__(self, owner: Owner, *, write: bool, durable: bool = False) -> None:
        self._owner = owner
        self._write = write
        self._durable = durable
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> sqlite3.Connection:
        connection = self._connection = self._owner.ready(write=self._write)
        try:
            if self._durable:
                connection.execute("PRAGMA synchronous=FULL")
            connection.execute("BEGIN IMMEDIATE" if self._write else "BEGIN")
        except FAILURES as error:
            self._end(connection)
            raise self._owner.failure(error) from error
        return connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        connection = self._connection
        if connection is None:
            raise StoreClosed
        if error is None and self._write:
            try:
                connection.execute("COMMIT")
            except FAILURES as failed:
                error = failed
        self._end(connection)
        if isinstance(error, (*FAILURES, UnicodeEncodeError, OverflowError)):
            raise self._owner.failure(error) from error
        if error is None and self._write:
            self._owner.committed()

    def _end(self, connection: sqlite3.Connection) -> None:
        """Leave nothing open: what was not committed is rolled back."""
        try:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            if self._durable:
                connection.execute("PRAGMA synchronous=NORMAL")
        except FAILURES as error:
            raise self._owner.failure(error) from error
