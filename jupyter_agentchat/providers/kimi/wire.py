"""Reads what Kimi Code's server says: JSON that is trusted in nothing.

Answers and events stay plain dictionaries: the interface is called experimental by its makers and
grows with each release. The accessors give an empty value where a field is missing or of another
type. Source of the shapes: recordings in tests/transcripts/kimi, and the server's own description.
"""

from __future__ import annotations

import hashlib
import re
from typing import Final, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = dict[str, JsonValue]

PROVIDER: Final = "kimi"
NAME: Final = "Kimi Code"
MIN_VERSION: Final = "2.0.0"
"""Oldest release that we drive: from it on the server has the interface that is used here."""
TESTED_VERSION: Final = "2.1.0"
MIN_NODE: Final = (22, 19)
MAIN: Final = "main"
"""The agent that talks with the person; all others are its helpers."""

_ID_LIMIT = 200
# what JSON can spell and no store can keep: NUL, and halves of surrogate pairs
_UNSOUND = re.compile("[\0\ud800-\udfff]")


def text_of(message: Json, key: str) -> str:
    """The string at `key`, else ""; fit for the store."""
    value = message.get(key)
    return sound(value) if isinstance(value, str) else ""


def object_of(message: Json, key: str) -> Json:
    """The object at `key`, else an empty one."""
    value = message.get(key)
    return value if isinstance(value, dict) else {}


def list_of(message: Json, key: str) -> list[JsonValue]:
    """The list at `key`, else an empty one."""
    value = message.get(key)
    return value if isinstance(value, list) else []


def objects_of(message: Json, key: str) -> list[Json]:
    """The objects in the list at `key`; what is no object is left out."""
    return [item for item in list_of(message, key) if isinstance(item, dict)]


def texts_of(message: Json, key: str) -> list[str]:
    """The strings in the list at `key`."""
    return [sound(item) for item in list_of(message, key) if isinstance(item, str)]


def int_of(message: Json, key: str) -> int | None:
    """The whole number at `key`, else None."""
    value = message.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def float_of(message: Json, key: str) -> float | None:
    """The number at `key`, else None."""
    value = message.get(key)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def true_at(message: Json, key: str) -> bool:
    """Whether `key` is exactly true."""
    return message.get(key) is True


def sound(text: str) -> str:
    """`text` without what no store can keep."""
    return _UNSOUND.sub("\N{REPLACEMENT CHARACTER}", text) if _UNSOUND.search(text) else text


def sound_value(value: JsonValue) -> JsonValue:
    """`value` with all its texts fit for the store."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [sound_value(item) for item in value]
    if isinstance(value, dict):
        return {sound(key): sound_value(item) for key, item in value.items()}
    return value


def sound_id(value: str) -> str:
    """`value` as an id that events can carry: one that is too long becomes its hash."""
    if len(value) <= _ID_LIMIT:
        return value
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def units(text: str) -> int:
    """The length of `text` as Kimi Code counts it: in units of UTF-16."""
    return len(text) + sum(char > "\uffff" for char in text)
