"""The schema, as named migrations: old and new databases take one path.

A migration is never changed once it was released; the next one is added to MIGRATIONS.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from typing import Final

from ..errors import StorageError
from ..protocol.base import now
from .damage import Damaged
from .m002 import m002_queue_marks_search

Migration = Callable[[sqlite3.Connection], None]

PAGE_SIZE: Final = 2048
"""Bytes. Half of SQLite's default: an append rewrites a whole page (performance P10). It is never
changed, since a damaged store is read by it."""
NAME: Final = re.compile(r"m\d{3}_[a-z0-9_]+")


def m001_chats_events_runs(connection: sqlite3.Connection) -> None:
    """Chats with their logs, runs, children, and what persons decided.

    `events.item_id` is set on deltas only; `events.sum` is rows.checksum. `turns` and `cuts` are
    derived from events in the same transaction, so that a page costs O(page). `chats.last_seq`,
    `chats.events` and `chats.updated` pass over streamed rows (rows.Row).
    """
    for statement in (
        "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
        """CREATE TABLE chats (
            id TEXT PRIMARY KEY,
            last_seq INTEGER NOT NULL DEFAULT 0,
            events INTEGER NOT NULL DEFAULT 0,
            updated TEXT NOT NULL,
            deleted TEXT,
            archived INTEGER NOT NULL,
            project_path TEXT,
            title_folded TEXT NOT NULL,
            loose INTEGER NOT NULL,
            auto_title INTEGER NOT NULL,
            permission_before_full_auto TEXT,
            read_seq TEXT NOT NULL,
            chat TEXT NOT NULL)""",
        """CREATE TABLE events (
            chat_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            time TEXT NOT NULL,
            run_id TEXT,
            type TEXT NOT NULL,
            item_id TEXT,
            sum INTEGER NOT NULL,
            body TEXT NOT NULL,
            PRIMARY KEY (chat_id, seq)) WITHOUT ROWID""",
        """CREATE TABLE turns (
            chat_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            PRIMARY KEY (chat_id, seq)) WITHOUT ROWID""",
        """CREATE TABLE cuts (
            chat_id TEXT NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (chat_id, first_seq, last_seq)) WITHOUT ROWID""",
        """CREATE TABLE runs (
            run_id TEXT PRIMARY KEY,
            chat_id TEXT NOT NULL,
            provider TEXT NOT NULL,
            child_id TEXT,
            client_id TEXT,
            first_seq INTEGER NOT NULL,
            spool_first INTEGER NOT NULL,
            spool_stored INTEGER NOT NULL,
            outcome TEXT,
            started TEXT NOT NULL,
            ended TEXT,
            lease_holder TEXT,
            lease_epoch INTEGER)""",
        # the database itself keeps two servers from running one chat twice
        "CREATE UNIQUE INDEX open_runs ON runs (chat_id) WHERE outcome IS NULL",
        """CREATE TABLE children (
            child_id TEXT PRIMARY KEY,
            provider TEXT NOT NULL,
            scope TEXT NOT NULL,
            chat_id TEXT,
            pid INTEGER NOT NULL,
            start_time TEXT NOT NULL,
            boot_id TEXT NOT NULL,
            pgid INTEGER NOT NULL,
            directory TEXT NOT NULL,
            argv0 TEXT NOT NULL,
            holder TEXT NOT NULL)""",
        """CREATE TABLE prompts (
            chat_id TEXT NOT NULL,
            username TEXT NOT NULL,
            client_id TEXT NOT NULL,
            answer TEXT NOT NULL,
            PRIMARY KEY (chat_id, username, client_id)) WITHOUT ROWID""",
        """CREATE TABLE trust (
            username TEXT NOT NULL,
            path TEXT NOT NULL,
            digest TEXT NOT NULL,
            trusted INTEGER NOT NULL,
            decided TEXT NOT NULL,
            PRIMARY KEY (username, path)) WITHOUT ROWID""",
        "CREATE TABLE projects (path TEXT PRIMARY KEY) WITHOUT ROWID",
        """CREATE TABLE selections (
            username TEXT PRIMARY KEY,
            selection TEXT NOT NULL) WITHOUT ROWID""",
        """CREATE TABLE blobs (
            chat_id TEXT NOT NULL,
            blob_id TEXT NOT NULL,
            mime TEXT NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (chat_id, blob_id))""",
    ):
        connection.execute(statement)


MIGRATIONS: Final[tuple[Migration, ...]] = (m001_chats_events_runs, m002_queue_marks_search)


def check_version(
    connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS
) -> list[Migration]:
    """The migrations that are still to be applied. Writes nothing.

    Raises StorageError when a newer version, or another program, wrote this database; Damaged.
    """
    known = [migration.__name__ for migration in migrations]
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    if not tables:
        return list(migrations)
    if "migrations" not in tables:
        raise StorageError(
            "This database is not a chat store: move it away, or set another data_dir."
        )
    applied = [row[0] for row in connection.execute("SELECT name FROM migrations ORDER BY number")]
    unknown = [name for name in applied if name not in known]
    if not all(isinstance(name, str) and NAME.fullmatch(name) for name in unknown):
        raise Damaged("the names of the migrations are broken")
    if unknown:
        raise StorageError(
            f"The chats were written by a newer version of jupyter_agentchat ({unknown[-1]}): "
            "install that version again, or set another data_dir. Nothing was changed.",
            migrations=unknown,
        )
    return [migration for migration in migrations if migration.__name__ not in applied]


def migrate(connection: sqlite3.Connection, migrations: Sequence[Migration] = MIGRATIONS) -> None:
    """Apply what is missing, all of it or nothing. Raises StorageError as `check_version` does.

    Always takes the write lock once, so that a database which cannot be written is known at once.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        pending = check_version(connection, migrations)  # another server may have been faster
        if pending:
            connection.execute(
                "CREATE TABLE IF NOT EXISTS migrations ("
                "number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, applied TEXT NOT NULL)"
            )
        for migration in pending:
            migration(connection)
            connection.execute(
                "INSERT INTO migrations (name, applied) VALUES (?, ?)", (migration.__name__, now())
            )
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
