"""Rows of a person's own work in a chat: prompts that wait, drafts, marks. One shape, one sum.

The sum names the table, so that a row is known for what it is on a page that no tree leads to any
more (`carve`), and a queued prompt that was damaged on disk is never sent.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict
from typing import Any, Final

from .records import DraftRecord, PersonMarks, QueuedPrompt

QUEUE: Final = "queue"
DRAFTS: Final = "drafts"
MARKS: Final = "marks"
TABLES: Final = (QUEUE, DRAFTS, MARKS)

KeyedRow = tuple[str, str, int, int, str]
"""chat_id; item id or user name; position, revision or read seq; sum; what is kept."""

PINNED: Final = "p"
ARCHIVED: Final = "a"


def keyed_row(table: str, chat_id: str, key: str, number: int, text: str) -> KeyedRow:
    """The row with its sum."""
    total = zlib.crc32(f"{table}\n{chat_id}\n{key}\n{number}\n{text}".encode())
    return chat_id, key, number, total, text


def is_whole(table: str, row: KeyedRow) -> bool:
    """Whether the row is what was stored in `table`. Raises UnicodeEncodeError."""
    chat_id, key, number, _, text = row
    return keyed_row(table, chat_id, key, number, text) == row


def queue_row(item: QueuedPrompt, position: int) -> KeyedRow:
    kept = {**asdict(item), "attachments": list(item.attachments)}
    del kept["id"], kept["chat_id"]
    return keyed_row(QUEUE, item.chat_id, item.id, position, json.dumps(kept))


def to_queued(row: KeyedRow) -> QueuedPrompt | None:
    """The prompt of a row; None when it is not what was stored."""
    try:
        if not is_whole(QUEUE, row):
            return None
        kept: dict[str, Any] = json.loads(row[4])
        attachments = tuple(kept.pop("attachments"))
        return QueuedPrompt(id=row[1], chat_id=row[0], attachments=attachments, **kept)
    except (ValueError, TypeError, KeyError):
        return None


def draft_row(chat_id: str, username: str, draft: DraftRecord) -> KeyedRow:
    kept = json.dumps({"text": draft.text, "attachments": draft.attachments_json})
    return keyed_row(DRAFTS, chat_id, username, draft.revision, kept)


def to_draft(row: KeyedRow) -> DraftRecord:
    """A draft with damaged bytes comes as far as it can be read: it is its writer's to judge."""
    try:
        kept = json.loads(row[4])
        return DraftRecord(str(kept["text"]), str(kept["attachments"]), row[2])
    except (ValueError, TypeError, KeyError):
        return DraftRecord(row[4], "[]", row[2])


def marks_row(chat_id: str, username: str, marks: PersonMarks) -> KeyedRow:
    flags = PINNED * marks.pinned + ARCHIVED * marks.archived
    return keyed_row(MARKS, chat_id, username, marks.read_seq, flags)


def to_marks(read_seq: int | None, flags: str | None) -> PersonMarks:
    return PersonMarks(read_seq or 0, PINNED in (flags or ""), ARCHIVED in (flags or ""))
