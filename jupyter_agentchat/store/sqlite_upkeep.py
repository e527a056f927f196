"""The store's own thread: checkpoints beside the writer, the check of a large file, the index of
what was stored before there was one, and of what was purged.

It sleeps until it is woken, holds its own connection, and ends with the database that owns it.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from pathlib import Path
from typing import Final

from .search_index import index_step, merge_step
from .sqlite_connection import is_sound

_log = logging.getLogger(__name__)

STOP_DEADLINE_S: Final = 5.0
INDEX_PAUSE_S: Final = 0.1
"""Between two steps: longer than SQLite lets a writer sleep that found the file locked."""


class Upkeep:
    """Owned by a Database; its thread starts when there is something to do for the first time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wake = threading.Event()
        self._stopping = False
        self._check = False
        self._index = False
        self._merge = False
        self._checkpoint = False
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None
        self._connection: sqlite3.Connection | None = None
        self.damaged = False
        """Set when the check found damage; the owner looks at it before each operation."""
        self.idle = threading.Event()
        """Set while there is nothing left to do."""

    def checkpoint(self) -> None:
        """Ask for a passive checkpoint: it waits for nobody and nobody waits for it."""
        self._checkpoint = True
        self._start()

    def index(self) -> None:
        """Ask that older events be indexed for the search, a few at a time."""
        self._index = True
        self._start()

    def check(self) -> None:
        """Ask for a check of the whole file."""
        self._check = True
        self._start()

    def merge(self) -> None:
        """Ask that words which were taken out of the index leave the disk, a few at a time."""
        self._merge = True
        self._start()

    def stop(self, timeout_s: float = STOP_DEADLINE_S) -> None:
        """End the thread, within `timeout_s` seconds; what it is doing is interrupted half-way."""
        self._stopping = True
        self._ended.set()
        thread = self._thread
        if thread is None:
            return
        self._wake.set()
        thread.join(timeout_s / 2)
        connection = self._connection
        if thread.is_alive() and connection is not None:
            connection.interrupt()
            thread.join(timeout_s / 2)
        if thread.is_alive():
            _log.error("the upkeep of %s did not end within %s s", self._path, timeout_s)

    def _start(self) -> None:
        self.idle.clear()
        self._wake.set()
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="agentchat-store", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        try:
            connection = sqlite3.connect(
                f"{self._path.as_uri()}?mode=rw",
                uri=True,
                isolation_level=None,
                timeout=0.2,
                check_same_thread=False,  # `stop` interrupts from outside
            )
        except sqlite3.Error as error:
            _log.warning("no upkeep of %s: %s", self._path, error)
            return
        self._connection = connection
        try:
            connection.execute("PRAGMA wal_autocheckpoint=0")
            connection.execute("PRAGMA secure_delete=ON")
            while self._wake.wait() and not self._stopping:
                self._wake.clear()
                self._work(connection)
                if not self._wake.is_set():
                    self.idle.set()
        except sqlite3.Error as error:
            _log.warning("upkeep of %s ended: %s", self._path, error)
        finally:
            self._connection = None
            connection.close()

    def _work(self, connection: sqlite3.Connection) -> None:
        try:
            if self._check:
                self._check = False
                self.damaged = not is_sound(connection)
                self._checkpoint = True
            if self._checkpoint and not self.damaged:
                self._checkpoint = False
                connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
            if self._index and not self.damaged:
                self._index = index_step(connection)
                self._go_on(connection, more=self._index)
            elif self._merge and not self.damaged:
                self._merge = merge_step(connection)
                self._go_on(connection, more=self._merge)
        except sqlite3.Error as error:
            # a full disk or a stop: what is in the log stays there, the next one tries again
            _log.info("upkeep of %s put off: %s", self._path, error)

    def _go_on(self, connection: sqlite3.Connection, *, more: bool) -> None:
        """The next step after a pause; behind the last one a checkpoint."""
        if not more:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        if (more or self._merge) and not self._ended.wait(INDEX_PAUSE_S):
            self._wake.set()
