"""Searching in SQLite: the index names events, the log has their text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from ..errors import Unsupported
from .damage import FAILURES
from .records import FoundEvent
from .rows import checksum
from .search_index import index_step
from .sqlite_events import OnDatabase
from .words import MAX_HITS, Phrase, match_expression, phrases, snippet, text_of

# by number, which FTS5 gives for nothing: to weigh every match takes half a second in 30,000 texts
HITS: Final = """WITH hits AS MATERIALIZED (
        SELECT texts.chat_id, texts.seq, chats.chat, chats.updated, search.rowid AS id
        FROM search CROSS JOIN texts ON texts.id = search.rowid
        CROSS JOIN chats ON chats.id = texts.chat_id
        WHERE search MATCH ? AND deleted IS NULL AND {where} AND NOT EXISTS (
            SELECT 1 FROM cuts WHERE cuts.chat_id = texts.chat_id
            AND texts.seq BETWEEN first_seq AND cuts.last_seq)
        ORDER BY search.rowid DESC LIMIT ?)
    SELECT hits.chat_id, hits.seq, chat, updated, time, run_id, type, sum, body
    FROM hits LEFT JOIN events ON events.chat_id = hits.chat_id AND events.seq = hits.seq
    ORDER BY id DESC"""


class SqliteSearch(OnDatabase):
    """The search of a ChatStore."""

    def search(
        self, query: str, *, project_paths: Sequence[str | None] | None, limit: int
    ) -> list[FoundEvent]:
        if not self.database.searchable:
            raise Unsupported("Chats cannot be searched here: this SQLite has no FTS5.")
        wanted = phrases(query)
        if not wanted:
            return []
        where, paths = _of_projects(project_paths)
        values = (match_expression(wanted), *paths, min(max(limit, 1), MAX_HITS))

        def find() -> list[FoundEvent]:
            self._index_some()
            rows = self.database.rows(HITS.format(where=where), values)
            return [hit for row in rows if (hit := _to_hit(row, wanted)) is not None]

        return self.despite_index(find)

    def _index_some(self) -> None:
        """One step, for a store that has no thread to do it (journal mode `delete`)."""
        if self.database.upkeep is not None or not self.database.health.writable:
            return
        connection = self.database.ready(write=True)
        try:
            index_step(connection)
        except FAILURES as error:
            raise self.database.failure(error) from error


def _of_projects(paths: Sequence[str | None] | None) -> tuple[str, list[str]]:
    """(condition, values) for the chats of these projects; None among them: those without one."""
    if paths is None:
        return "1", []
    named = sorted({path for path in paths if path is not None})
    marks = ", ".join("?" * len(named))
    loose = " OR project_path IS NULL" if None in paths else ""
    return f"(project_path IN ({marks}){loose})", named


def _to_hit(row: tuple[Any, ...], wanted: Sequence[Phrase]) -> FoundEvent | None:
    """The hit of a row; None when its event is not what was stored."""
    chat_id, seq, chat, updated, time, run_id, kind, total, body = row
    title = _title(chat)
    if seq == 0:
        return FoundEvent(chat_id, 0, title, snippet(title, wanted), updated)
    if body is None or checksum(seq, time, run_id, kind, body) != total:
        return None
    return FoundEvent(chat_id, seq, title, snippet(text_of(kind, body), wanted), time)


def _title(chat_json: str) -> str:
    try:
        return str(json.loads(chat_json)["title"])
    except (ValueError, KeyError, TypeError):
        return "Damaged chat"
