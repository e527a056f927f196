"""The trash in SQLite: chats go in, come back, or are removed for good with all that is theirs."""

from __future__ import annotations

import sqlite3
from typing import Final

from ..errors import NotFound
from .chat_rows import COLUMNS, to_record
from .records import ChatRecord
from .search_index import drop_words, merge_step
from .sqlite_events import OnDatabase
from .sqlite_queue import PAUSE

BELONGING: Final = (
    "events",
    "turns",
    "cuts",
    "runs",
    "prompts",
    "queue",
    "queue_pauses",
    "drafts",
    "marks",
    "blobs",
    "unindexed",
    "texts",
)
"""Tables with rows of a chat, by `chat_id` (a test says so)."""


class SqliteTrash(OnDatabase):
    """Deleting and restoring of a ChatStore."""

    def delete_chat(self, chat_id: str, *, when: str) -> None:
        with self.database.transaction(durable=True) as connection:
            done = connection.execute(
                "UPDATE chats SET deleted = ? WHERE id = ? AND deleted IS NULL", (when, chat_id)
            )
            if done.rowcount == 0:
                raise NotFound("There is no such chat.", chat_id=chat_id)

    def trashed(self, chat_id: str) -> ChatRecord:
        rows = self.database.rows(
            f"SELECT {COLUMNS} FROM chats WHERE id = ? AND deleted IS NOT NULL",  # noqa: S608
            (chat_id,),
        )
        if not rows:
            raise _not_trashed(chat_id)
        return to_record(rows[0])

    def trash(self) -> list[ChatRecord]:
        rows = self.database.rows(
            f"SELECT {COLUMNS} FROM chats WHERE deleted IS NOT NULL "  # noqa: S608
            "ORDER BY deleted DESC, id LIMIT 500"
        )
        return [to_record(row) for row in rows]

    def restore_chat(self, chat_id: str) -> None:
        with self.database.transaction(durable=True) as connection:
            done = connection.execute(
                "UPDATE chats SET deleted = NULL WHERE id = ? AND deleted IS NOT NULL", (chat_id,)
            )
            if done.rowcount == 0:
                raise _not_trashed(chat_id)
            # nothing starts by itself because a chat is looked at again
            if connection.execute("SELECT 1 FROM queue WHERE chat_id = ?", (chat_id,)).fetchone():
                connection.execute(PAUSE, (chat_id, "by_hand"))

    def purge_trash(self, before: str, *, limit: int = 10_000) -> list[str]:
        rows = self.database.rows(
            "SELECT id FROM chats WHERE deleted < ? AND NOT EXISTS "
            "(SELECT 1 FROM runs WHERE chat_id = chats.id AND outcome IS NULL) ORDER BY rowid "
            "LIMIT ?",
            (before, max(limit, 0)),
        )
        # overwritten, so that no damaged store is ever salvaged with it
        self.database.rows("PRAGMA secure_delete=ON")
        try:
            gone = [row[0] for row in rows if self._purge(row[0], before)]
            if gone and self.database.searchable:
                self._forget_words()
        finally:
            self.database.rows("PRAGMA secure_delete=OFF")
        return gone

    def _forget_words(self) -> None:
        upkeep = self.database.upkeep
        if upkeep is not None:
            upkeep.merge()
            return

        def merge() -> bool:
            with self.database.transaction() as connection:
                return merge_step(connection)

        while self.despite_index(merge):
            pass

    def _purge(self, chat_id: str, before: str) -> bool:
        """Each chat for itself: the others are not held up for longer than one takes."""
        searchable = self.database.searchable

        def remove() -> bool:
            with self.database.transaction() as connection:
                found = "SELECT 1 FROM chats WHERE id = ? AND deleted < ?"
                if not connection.execute(found, (chat_id, before)).fetchone():
                    return False  # restored, or purged by another server
                _remove(connection, chat_id, searchable=searchable)
                return True

        return self.despite_index(remove)


def _remove(connection: sqlite3.Connection, chat_id: str, *, searchable: bool) -> None:
    if searchable:
        drop_words(connection, chat_id)
    for table in BELONGING:
        connection.execute(f"DELETE FROM {table} WHERE chat_id = ?", (chat_id,))  # noqa: S608
    connection.execute("DELETE FROM chats WHERE id = ?", (chat_id,))


def _not_trashed(chat_id: str) -> NotFound:
    return NotFound("There is no such chat in the trash.", chat_id=chat_id)
