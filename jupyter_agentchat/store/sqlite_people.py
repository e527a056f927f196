"""What persons decided and named, in SQLite: trust, projects, selections; and the blobs."""

from __future__ import annotations

import json

from ..errors import NotFound
from .base import TrustRecord
from .rows import blob_id_of
from .sqlite_events import OnDatabase


class SqlitePeople(OnDatabase):
    """The trust, projects, selections and blobs of a ChatStore."""

    def trust(self, username: str, path: str) -> TrustRecord | None:
        rows = self.database.rows(
            "SELECT digest, trusted, decided FROM trust WHERE username = ? AND path = ?",
            (username, path),
        )
        if not rows:
            return None
        digest, trusted, decided = rows[0]
        return TrustRecord(username, path, digest, bool(trusted), decided)

    def save_trust(self, record: TrustRecord) -> None:
        with self.database.transaction(durable=True) as connection:
            connection.execute(
                "INSERT OR REPLACE INTO trust (username, path, digest, trusted, decided) "
                "VALUES (?, ?, ?, ?, ?)",
                (record.username, record.path, record.digest, record.trusted, record.decided),
            )

    def projects(self) -> list[tuple[str, int]]:
        return self.database.rows(
            "SELECT path, max(chats) FROM (SELECT path, 0 AS chats FROM projects UNION ALL "
            "SELECT project_path, count(*) FROM chats "
            "WHERE deleted IS NULL AND project_path IS NOT NULL GROUP BY project_path) "
            "GROUP BY path ORDER BY path"
        )

    def add_project(self, path: str) -> None:
        with self.database.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO projects VALUES (?)", (path,))

    def selection(self, username: str) -> dict[str, object]:
        rows = self.database.rows(
            "SELECT selection FROM selections WHERE username = ?", (username,)
        )
        return dict(json.loads(rows[0][0])) if rows else {}

    def save_selection(self, username: str, selection: dict[str, object]) -> None:
        with self.database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO selections VALUES (?, ?)",
                (username, json.dumps(selection)),
            )

    def put_blob(self, chat_id: str, data: bytes, mime: str) -> str:
        blob_id = blob_id_of(data, mime)
        with self.database.transaction() as connection:
            if not connection.execute("SELECT 1 FROM chats WHERE id = ?", (chat_id,)).fetchone():
                raise NotFound("There is no such chat.", chat_id=chat_id)
            connection.execute(
                "INSERT OR IGNORE INTO blobs VALUES (?, ?, ?, ?)", (chat_id, blob_id, mime, data)
            )
        self.database.checkpoint()
        return blob_id

    def blob(self, chat_id: str, blob_id: str) -> tuple[bytes, str]:
        rows = self.database.rows(
            "SELECT data, mime FROM blobs WHERE chat_id = ? AND blob_id = ?", (chat_id, blob_id)
        )
        if not rows:
            raise NotFound("There is no such blob.", chat_id=chat_id, blob_id=blob_id)
        data, kind = rows[0]
        return data, kind
