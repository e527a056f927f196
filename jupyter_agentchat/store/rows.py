"""What a draft becomes in the log: the row both stores keep, encoded once and checked by a sum."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError

from ..protocol.events import (
    AssistantText,
    EventBody,
    Notice,
    Rewound,
    RewindUndone,
    RunStarted,
    Thinking,
    User,
)
from .base import Draft, StoredEvent

Range = tuple[int, int]
"""Seqs from first to last, both included."""


@dataclass(frozen=True, slots=True)
class Row:
    """A draft, ready to be stored. `item_id` is set on deltas only: these can be dropped."""

    type: str
    body_json: str
    item_id: str | None = None
    begins_turn: bool = False
    drops: tuple[int, int, str] | None = None
    hides: Range | None = None
    shows: Range | None = None


def to_row(draft: Draft) -> Row:
    """Encode `draft` and read from its body what the log must do beside storing it."""
    body = draft.body
    text = encode_body(body)
    match body:
        case AssistantText() | Thinking():
            if not body.final:
                return Row(body.type, text, item_id=body.item_id)
            if draft.replaces is None:
                return Row(body.type, text)
            return Row(body.type, text, drops=(*draft.replaces, body.item_id))
        case User():
            return Row(body.type, text, begins_turn=True)
        case RunStarted():
            return Row(body.type, text, begins_turn=body.origin == "provider")
        case Rewound():
            return Row(body.type, text, hides=(body.from_seq, body.to_seq))
        case RewindUndone():
            return Row(body.type, text, shows=(body.from_seq, body.to_seq))
        case _:
            return Row(body.type, text)


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
