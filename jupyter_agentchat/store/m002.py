"""Migration m002: the queue, drafts, marks of each person, the texts of the search, and what the
next server needs to attach to a run.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any, Final

from .keyed_rows import marks_row
from .records import PersonMarks

STATEMENTS: Final = (
    "ALTER TABLE runs ADD COLUMN request TEXT NOT NULL DEFAULT ''",
    "ALTER TABLE runs ADD COLUMN context TEXT NOT NULL DEFAULT ''",
    """CREATE TABLE queue (
        chat_id TEXT NOT NULL,
        item_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        item TEXT NOT NULL,
        PRIMARY KEY (chat_id, item_id)) WITHOUT ROWID""",
    """CREATE TABLE queue_pauses (
        chat_id TEXT PRIMARY KEY,
        reason TEXT NOT NULL) WITHOUT ROWID""",
    """CREATE TABLE drafts (
        chat_id TEXT NOT NULL,
        username TEXT NOT NULL,
        revision INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        draft TEXT NOT NULL,
        PRIMARY KEY (chat_id, username)) WITHOUT ROWID""",
    """CREATE TABLE marks (
        chat_id TEXT NOT NULL,
        username TEXT NOT NULL,
        read_seq INTEGER NOT NULL,
        sum INTEGER NOT NULL,
        flags TEXT NOT NULL,
        PRIMARY KEY (chat_id, username)) WITHOUT ROWID""",
    """CREATE TABLE texts (
        id INTEGER PRIMARY KEY,
        chat_id TEXT NOT NULL,
        seq INTEGER NOT NULL,
        words TEXT NOT NULL,
        UNIQUE (chat_id, seq))""",
    """CREATE TABLE unindexed (
        chat_id TEXT PRIMARY KEY,
        upto INTEGER NOT NULL) WITHOUT ROWID""",
)


def m002_queue_marks_search(connection: sqlite3.Connection) -> None:
    """Rows of `queue`, `drafts` and `marks` are keyed_rows.KeyedRow; `texts` holds the words of an
    event (seq 0: of the title), `unindexed` the chats whose events up to `upto` have none yet.

    What was read, archived and pinned moves from the chat to its persons. The two columns that held
    it stay, empty: a ruined header is replaced by that of m001 (salvage), whose rows have them.
    """
    for statement in STATEMENTS:
        connection.execute(statement)
    rows = connection.execute("SELECT id, archived, read_seq, chat FROM chats").fetchall()
    for chat_id, archived, read_text, chat_text in rows:
        for username, marks in _marks(bool(archived), read_text, chat_text):
            connection.execute(
                "INSERT INTO marks VALUES (?, ?, ?, ?, ?)", marks_row(chat_id, username, marks)
            )
    connection.execute("UPDATE chats SET archived = 0, read_seq = '{}'")


def _marks(archived: bool, read_text: Any, chat_text: Any) -> Iterator[tuple[str, PersonMarks]]:
    """Everybody who has read the chat, and its owner, who pinned it and put it away."""
    read, chat = _object(read_text), _object(chat_text)
    owner = chat.get("owner")
    owner = owner if isinstance(owner, str) else "owner"
    for username in {owner, *read}:
        seq = read.get(username, 0)
        yield (
            username,
            PersonMarks(
                read_seq=seq if isinstance(seq, int) else 0,
                pinned=username == owner and chat.get("pinned") is True,
                archived=username == owner and archived,
            ),
        )


def _object(text: Any) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
