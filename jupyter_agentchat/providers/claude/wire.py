"""Reads what the Claude Code CLI writes: one JSON object a line, trusted in nothing.

Messages stay plain dictionaries, since the stream has more than sixty kinds and grows weekly. The
accessors give an empty value where a field is missing or of another type. Source of the message
shapes: recordings in tests/transcripts/claude.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = dict[str, JsonValue]

MIN_VERSION: Final = "2.1.212"
"""Oldest CLI that we drive: since then TERM ends its shell commands too."""
TESTED_VERSION: Final = "2.1.332"

_ID_LIMIT = 200
# what JSON can spell and no store can keep: NUL, and halves of surrogate pairs
_UNSOUND = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def parse(line: str) -> Json | None:
    """The message in `line`; None when it is no JSON object (the CLI also prints plain lines)."""
    if not line.startswith("{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    if _UNSOUND.search(line):
        cleaned = _sound(value)
        return cleaned if isinstance(cleaned, dict) else None
    return value


def dump(message: Json) -> str:
    """`message` as a line without its newline."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":"))


def canonical(value: Json) -> str:
    """`value` as text that is the same for equal values."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def text_of(message: Json, key: str) -> str:
    """The string at `key`, else ""."""
    value = message.get(key)
    return value if isinstance(value, str) else ""


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
    return [item for item in list_of(message, key) if isinstance(item, str)]


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


def sound_id(value: str) -> str:
    """`value` as an id that events can carry: one that is too long becomes its hash."""
    if len(value) <= _ID_LIMIT:
        return value
    return hashlib.sha256(value.encode("utf-8", "replace")).hexdigest()


def _sound(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {str(_sound(key)): _sound(item) for key, item in value.items()}
    return value
