"""Reads what Codex' app server says: JSON that is trusted in nothing.

Messages stay plain dictionaries: each release brings new items, notifications and words. The
accessors give an empty value where a field is missing or of another type. Source of the shapes:
recordings in tests/transcripts/codex, and `codex app-server generate-json-schema`.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any, Final, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = dict[str, JsonValue]

MIN_VERSION: Final = "0.163.0"
"""Oldest release that we drive: `thread/revert` and the paged history are there."""
TESTED_VERSION: Final = "0.171.0"

_ID_LIMIT = 200
# what JSON can spell and no store can keep: NUL, and halves of surrogate pairs
_UNSOUND = re.compile("[\0\ud800-\udfff]")


def as_object(value: Any) -> Json:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def text_of(message: Json, key: str) -> str:
    """The string at `key`, else ""; fit for the store."""
    value = message.get(key)
    return sound(value) if isinstance(value, str) else ""


def object_of(message: Json, key: str) -> Json:
    """The object at `key`, else an empty one."""
    return as_object(message.get(key))


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


def thread_of(params: Json) -> str:
    """The thread that a message is about, "" for one about the whole process."""
    return text_of(params, "threadId") or text_of(object_of(params, "thread"), "id")


def turn_of(params: Json) -> str:
    """The turn that a message is about, "" when it names none."""
    return text_of(params, "turnId") or text_of(object_of(params, "turn"), "id")


def sound(value: str) -> str:
    """`value` with replacement characters for what no store can keep."""
    if not _UNSOUND.search(value):
        return value
    whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")


def sound_json(value: JsonValue) -> JsonValue:
    """`sound` for every text in `value`."""
    if isinstance(value, str):
        return sound(value)
    if isinstance(value, list):
        return [sound_json(item) for item in value]
    if isinstance(value, dict):
        return {sound(key): sound_json(item) for key, item in value.items()}
    return value


def sound_id(value: str) -> str:
    """`value` as an id that events can carry: one that is too long becomes its hash."""
    if len(value) <= _ID_LIMIT:
        return value
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def numbers(version: str) -> tuple[int, ...]:
    """A version as numbers that can be compared."""
    return tuple(int(part) for part in version.split("."))
