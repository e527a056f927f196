"""Chats in SQLite: metadata, the list, and which prompts were accepted."""

from __future__ import annotations

import json
from typing import Any, Final

from ..errors import BadRequest, NotFound
from .base import ChatRecord
from .chat_rows import COLUMNS, fold, insert_chat, to_record, update_chat
from .sqlite_events import OnDatabase

MAX_LIST: Final = 500

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
        rows = self.database.rows(
            f"SELECT {COLUMNS} FROM chats WHERE id = ? AND deleted IS NULL",  # noqa: S608
            (chat_id,),
        )
        if not rows:
            raise NotFound("There is no such chat.", chat_id=chat_id)
        return to_record(rows[0])

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
        limit = min(max(limit, 1), MAX_LIST)
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


def next_cursor(records: list[ChatRecord], limit: int) -> str | None:
    """Where the page after the first `limit` of `records` begins; None when there is none."""
    if len(records) <= limit:
        return None
    last = records[limit - 1].chat
    return f"{last.updated}~{last.id}"


def read_cursor(cursor: str | None) -> tuple[str | None, str | None]:
    """(updated, chat id) of the last chat seen. Raises BadRequest."""
    if cursor is None:
        return None, None
    updated, mark, chat_id = cursor.partition("~")
    if not mark:
        raise BadRequest("The cursor is not one of this list: begin without it.")
    return updated, chat_id
