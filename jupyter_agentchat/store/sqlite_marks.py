"""What each person has of a chat, in SQLite: marks (read, pinned, archived) and the draft."""

from __future__ import annotations

from ..errors import Stale
from .keyed_rows import DRAFTS, MARKS, KeyedRow, draft_row, marks_row, to_draft, to_marks
from .records import DraftRecord, PersonMarks
from .sqlite_connection import fetch
from .sqlite_events import OnDatabase, last_seq


class SqliteMarks(OnDatabase):
    """The marks of a ChatStore and the drafts of a QueueStore."""

    def marks(self, chat_id: str, username: str) -> PersonMarks:
        row = self._kept(MARKS, chat_id, username)
        return PersonMarks() if row is None else to_marks(row[2], row[4])

    def save_marks(self, chat_id: str, username: str, marks: PersonMarks) -> None:
        with self.database.transaction() as connection:
            last_seq(connection, chat_id)
            connection.execute(
                "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?, ?)",
                marks_row(chat_id, username, marks),
            )

    def draft(self, chat_id: str, username: str) -> DraftRecord:
        row = self._kept(DRAFTS, chat_id, username)
        return DraftRecord() if row is None else to_draft(row)

    def save_draft(
        self, chat_id: str, username: str, text: str, attachments_json: str, revision: int
    ) -> int:
        with self.database.transaction() as connection:
            last_seq(connection, chat_id)
            kept = connection.execute(
                "SELECT revision FROM drafts WHERE chat_id = ? AND username = ?",
                (chat_id, username),
            ).fetchone()
            present = kept[0] if kept else 0
            if revision != present:
                raise Stale("This draft was changed elsewhere meanwhile.", revision=present)
            draft = DraftRecord(text, attachments_json, revision + 1)
            connection.execute(
                "INSERT OR REPLACE INTO drafts VALUES (?, ?, ?, ?, ?)",
                draft_row(chat_id, username, draft),
            )
        return revision + 1

    def _kept(self, table: str, chat_id: str, username: str) -> KeyedRow | None:
        query = f"SELECT * FROM {table} WHERE chat_id = ? AND username = ?"  # noqa: S608
        with self.database.snapshot() as connection:
            last_seq(connection, chat_id)
            rows = fetch(connection, query, (chat_id, username))
        return rows[0] if rows else None
