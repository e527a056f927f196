"""Chats in SQLite: metadata, the list, and the making of chats, also as copies of others."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Any, Final

from ..errors import NotFound
from .chat_rows import COLUMNS, fold, insert_chat, to_record, update_chat
from .copying import copy_log
from .keyed_rows import to_marks
from .pages import list_limit, next_cursor, read_cursor
from .records import ChatRecord
from .search_index import put_title
from .sqlite_connection import fetch
from .sqlite_events import OnDatabase, last_seq

PAGE: Final = """SELECT id, updated, read_seq, flags FROM (
        SELECT chats.id, updated, project_path, title_folded, marks.read_seq, marks.flags
        FROM chats LEFT JOIN marks ON marks.chat_id = chats.id AND marks.username = :username
        WHERE deleted IS NULL)
    WHERE (coalesce(instr(flags, 'a'), 0) > 0) = :archived
    AND (:project IS NULL OR project_path = :project)
    AND (:query = '' OR instr(title_folded, :query) > 0)
    AND (:updated IS NULL OR (updated, id) < (:updated, :id))
    ORDER BY updated DESC, id DESC LIMIT :limit"""
LIST: Final = (
    f"WITH page AS ({PAGE}) "  # noqa: S608
    f"SELECT {', '.join('chats.' + name for name in COLUMNS.split(', '))}, "
    "page.read_seq, page.flags FROM page JOIN chats ON chats.id = page.id "
    "ORDER BY page.updated DESC, page.id DESC"
)


class SqliteChats(OnDatabase):
    """The chats of a ChatStore."""

    def create_chat(self, record: ChatRecord) -> None:
        def write() -> None:
            with self.database.transaction(durable=True) as connection:
                self.insert(connection, record)

        self.despite_index(write)

    def copy_events(self, from_chat: str, to_record: ChatRecord, upto_seq: int) -> int:
        def write() -> int:
            with self.database.transaction(durable=True) as connection:
                last_seq(connection, from_chat)
                self.insert(connection, to_record)
                return copy_log(
                    connection,
                    from_chat,
                    to_record.chat.id,
                    upto_seq,
                    searchable=self.database.searchable,
                )

        last = self.despite_index(write)
        if self.database.upkeep is not None and self.database.searchable:
            self.database.upkeep.index()
        return last

    def insert(self, connection: sqlite3.Connection, record: ChatRecord) -> None:
        """A new chat inside the caller's transaction. Raises ValueError when its id is taken."""
        chat_id = record.chat.id
        if connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat_id,)).fetchone():
            raise ValueError(f"chat {chat_id} exists")
        insert_chat(connection, record)
        if self.database.searchable:
            put_title(connection, record)

    def chat(self, chat_id: str) -> ChatRecord:
        query = f"SELECT {COLUMNS} FROM chats WHERE id = ? AND deleted IS NULL"  # noqa: S608
        with self.database.snapshot() as connection:
            last = last_seq(connection, chat_id)
            return to_record(fetch(connection, query, (chat_id,))[0]).with_chat(last_seq=last)

    def save_chat(self, record: ChatRecord) -> None:
        def write() -> None:
            with self.database.transaction() as connection:
                if not update_chat(connection, record):
                    raise NotFound("There is no such chat.", chat_id=record.chat.id)
                if self.database.searchable:
                    put_title(connection, record)

        self.despite_index(write)

    def list_chats(
        self,
        *,
        username: str = "",
        project_path: str | None = None,
        archived: bool = False,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[list[ChatRecord], str | None]:
        limit = list_limit(limit)
        updated, chat_id = read_cursor(cursor)
        values: dict[str, Any] = {
            "username": username,
            "archived": archived,
            "project": project_path,
            "query": fold(query),
            "updated": updated,
            "id": chat_id,
            "limit": limit + 1,
        }
        records = [
            replace(to_record(row), marks=to_marks(read_seq, flags))
            for *row, read_seq, flags in self.database.rows(LIST, values)
        ]
        return records[:limit], next_cursor(records, limit)
