"""What a draft becomes in the log: the row both stores keep, encoded once and checked by a sum."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError

from ..protocol.events import (
    AssistantText,
    EventBody,
    Notice,
    RewindUndone,
    Rewound,
    RunStarted,
    Thinking,
    ToolUseUpdate,
    User,
)
from .records import Draft, StoredEvent
from .words import text_of, words

Range = tuple[int, int]
"""Seqs from first to last, both included."""


@dataclass(slots=True)
class Row:
    """A draft, ready to be stored.

    `item_id` is set on deltas only: these can be dropped. `streamed` rows come many a second and
    are summed up by a later row: they do not move the chat's own counters, which would double what
    an append costs and writes. `words` is what a search finds in it, with spaces between.
    """

    type: str
    body_json: str
    streamed: bool = False
    item_id: str | None = None
    begins_turn: bool = False
    drops: tuple[int, int, str] | None = None
    hides: Range | None = None
    shows: Range | None = None
    words: str = ""


def to_row(draft: Draft) -> Row:
    """Encode `draft` and read from its body what the log must do beside storing it."""
    body = draft.body
    row = Row(body.type, encode_body(body))
    match body:
        case AssistantText() | Thinking() if not body.final:
            row.item_id = body.item_id
            row.streamed = True
        case AssistantText() | Thinking() if draft.replaces is not None:
            row.drops = (*draft.replaces, body.item_id)
        case ToolUseUpdate():
            row.streamed = True
        case User():
            row.begins_turn = True
        case RunStarted():
            row.begins_turn = body.origin == "provider"
        case Rewound():
            row.hides = (body.from_seq, body.to_seq)
        case RewindUndone():
            row.shows = (body.from_seq, body.to_seq)
    if not row.streamed:
        row.words = " ".join(words(text_of(row.type, row.body_json)))
    return row


def encode_body(body: EventBody) -> str:
    """`body` as JSON text. Lone surrogates inside unchecked JSON become U+FFFD, never an error."""
    try:
        return body.model_dump_json()
    except PydanticSerializationError:
        return json.dumps(_sound(body.model_dump(mode="json")), ensure_ascii=False)


def _sound(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {_sound(key): _sound(item) for key, item in value.items()}
    return value


def checksum(seq: int, time: str, run_id: str | None, kind: str, body_json: str) -> int:
    """Sum over everything that a client is shown: SQLite itself does not notice a flipped bit."""
    return zlib.crc32(f"{seq}\n{time}\n{run_id}\n{kind}\n{body_json}".encode())


def damaged_event(chat_id: str, seq: int) -> StoredEvent:
    """Stands where an event's bytes no longer fit their sum: said, not guessed."""
    body = Notice(
        level="error",
        code="event_damaged",
        text="This event was damaged on disk and cannot be shown.",
    )
    return StoredEvent(
        chat_id, seq, "1970-01-01T00:00:00.000Z", None, body.type, body.model_dump_json()
    )


def blob_id_of(data: bytes, mime: str) -> str:
    """The same bytes give the same id: a run that is translated again stores nothing twice."""
    return hashlib.sha256(mime.encode() + b"\0" + data).hexdigest()[:32]
