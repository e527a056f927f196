"""A chat's metadata as a database row, both ways."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, Final

from pydantic import ValidationError

from ..protocol.resources import Chat
from .base import ChatRecord

COLUMNS: Final = (
    "id, last_seq, updated, deleted, project_path, loose, auto_title, "
    "permission_before_full_auto, chat"
)
"""What `to_record` reads, in this order."""

METADATA: Final = (
    "project_path",
    "title_folded",
    "loose",
    "auto_title",
    "permission_before_full_auto",
    "chat",
)
_SET: Final = ", ".join(f"{name} = ?" for name in METADATA)

LOG_FIELDS: Final = {"last_seq", "updated"}
"""Fields of Chat that belong to the log: never written with the metadata."""
PERSONAL: Final = {"archived", "pinned"}
"""Fields of Chat that belong to each person (marks)."""

_KEPT: Final = set(Chat.model_fields) - PERSONAL


def fold(text: str) -> str:
    """`text` as it is searched: without case."""
    return text.casefold()


def insert_chat(connection: sqlite3.Connection, record: ChatRecord) -> None:
    """Add a chat with an empty log. Raises sqlite3.IntegrityError when its id is taken."""
    names = ", ".join(("id", "updated", *METADATA))
    marks = ", ".join("?" * (len(METADATA) + 2))
    # the two columns of m001 that are no longer used
    connection.execute(
        f"INSERT INTO chats ({names}, archived, read_seq) VALUES ({marks}, 0, '{{}}')",  # noqa: S608
        (record.chat.id, record.chat.updated, *_metadata(record)),
    )


def update_chat(connection: sqlite3.Connection, record: ChatRecord) -> bool:
    """Replace a chat's metadata; False when there is no such chat."""
    done = connection.execute(
        f"UPDATE chats SET {_SET} WHERE id = ? AND deleted IS NULL",  # noqa: S608
        (*_metadata(record), record.chat.id),
    )
    return done.rowcount == 1


def to_record(row: tuple[Any, ...]) -> ChatRecord:
    """The record of a row of COLUMNS. A damaged one gives a chat that says so, never an error."""
    (chat_id, last_seq, updated, deleted, project_path, loose, auto_title, before, text) = row
    try:
        stored = json.loads(text)
        # fields that this version no longer knows are left alone
        known = {key: value for key, value in stored.items() if key in _KEPT}
        chat = Chat.model_validate({**known, "last_seq": last_seq, "updated": updated})
    except (ValidationError, ValueError, AttributeError):
        chat = Chat.model_construct(
            id=chat_id, title="Damaged chat", created=updated, updated=updated, last_seq=last_seq
        )
    return ChatRecord(
        chat=chat,
        project_path=project_path,
        loose=bool(loose),
        deleted=deleted,
        auto_title=bool(auto_title),
        permission_before_full_auto=before,
    )


def _metadata(record: ChatRecord) -> tuple[object, ...]:
    chat = record.chat
    return (
        record.project_path,
        fold(chat.title),
        record.loose,
        record.auto_title,
        record.permission_before_full_auto,
        chat.model_dump_json(exclude=LOG_FIELDS | PERSONAL),
    )
