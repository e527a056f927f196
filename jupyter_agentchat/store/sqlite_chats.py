"""Chats in SQLite: metadata, the list, and which prompts were accepted."""

from __future__ import annotations

import json
from typing import Any, Final

from ..errors import NotFound
from .base import ChatRecord
from .chat_rows import COLUMNS, fold, insert_chat, to_record, update_chat
from .pages import list_limit, next_cursor, read_cursor
from .sqlite_connection import fetch
from .sqlite_events import OnDatabase, last_seq

PAGE: Final = """SELECT id, updated FROM chats WHERE deleted IS NULL AND archived = :archived
    AND (:project IS NULL OR project_path = :project)
    AND (:query = '' OR instr(title_folded, :query) > 0)
    AND (:updated IS NULL OR (updated, id) < (:updated, :id))
    ORDER BY updated DESC, id DESC LIMIT :limit"""
LIST: Final = (
    f"WITH page AS ({PAGE}) "  # noqa: S608
    f"SELECT {', '.join('chats.' + name for name in COLUMNS.split(', '))} "
    "FROM page JOIN chats ON chats.id = page.id ORDER BY page.updated DESC, page.id DESC"
)


class SqliteChats(OnDatabase):
    """The chats of a ChatStore."""

    def create_chat(self, record: ChatRecord) -> None:
        with self.database.transaction(durable=True) as connection:
            chat_id = record.chat.id
            if connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat_id,)).fetchone():
                raise ValueError(f"chat {chat_id} exists")
            insert_chat(connection, record)

    def chat(self, chat_id: str) -> ChatRecord:
        query = f"SELECT {COLUMNS} FROM chats WHERE id = ? AND deleted IS NULL"  # noqa: S608
        with self.database.snapshot() as connection:
            last = last_seq(connection, chat_id)
            return to_record(fetch(connection, query, (chat_id,))[0]).with_chat(last_seq=last)

    def save_chat(self, record: ChatRecord) -> None:
        with self.database.transaction() as connection:
            if not update_chat(connection, record):
                raise NotFound("There is no such chat.", chat_id=record.chat.id)

    def list_chats(
        self,
        *,
        project_path: str | None = None,
        archived: bool = False,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[list[ChatRecord], str | None]:
        limit = list_limit(limit)
        updated, chat_id = read_cursor(cursor)
        values: dict[str, Any] = {
            "archived": archived,
            "project": project_path,
            "query": fold(query),
            "updated": updated,
            "id": chat_id,
            "limit": limit + 1,
        }
        records = [to_record(row) for row in self.database.rows(LIST, values)]
        return records[:limit], next_cursor(records, limit)

    def delete_chat(self, chat_id: str, *, when: str) -> None:
        with self.database.transaction(durable=True) as connection:
            done = connection.execute(
                "UPDATE chats SET deleted = ? WHERE id = ? AND deleted IS NULL", (when, chat_id)
            )
            if done.rowcount == 0:
                raise NotFound("There is no such chat.", chat_id=chat_id)

    def find_prompt(self, chat_id: str, username: str, client_id: str) -> dict[str, object] | None:
        rows = self.database.rows(
            "SELECT answer FROM prompts WHERE chat_id = ? AND username = ? AND client_id = ?",
            (chat_id, username, client_id),
        )
        return json.loads(rows[0][0]) if rows else None

    def remember_prompt(
        self, chat_id: str, username: str, client_id: str, answer: dict[str, object]
    ) -> None:
        with self.database.transaction(durable=True) as connection:
            connection.execute(
                "INSERT OR IGNORE INTO prompts VALUES (?, ?, ?, ?)",
                (chat_id, username, client_id, json.dumps(answer)),
            )
