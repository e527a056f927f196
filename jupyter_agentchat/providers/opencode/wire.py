"""Reads what `feed` writes: one JSON object a line, trusted in nothing.

Messages stay plain dictionaries, since opencode has more than a hundred kinds of event and grows
weekly. The accessors give an empty value where a field is missing or of another type. Source of the
message shapes: recordings in tests/transcripts/opencode.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from typing import Final, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = dict[str, JsonValue]

PROVIDER: Final = "opencode"
MIN_VERSION: Final = "1.0.216"
"""Since then no web page can start a server's shell without its password (CVE-2026-22812)."""
TESTED_VERSION: Final = "1.18.33"

_SUFFIX_LENGTH: Final = 14
_TIME_BITS: Final = 48
# what JSON can spell and no store can keep: NUL, and halves of surrogate pairs
_UNSOUND = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def parse(line: str) -> Json | None:
    """The message in `line`; None when it is no JSON object."""
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


def suffix_of(run_id: str, number: int = 0) -> str:
    """What the id of a run's prompt ends with (`number` 0), or of its nth message put in later.

    It follows from the run's id, so that every server recognises the message. opencode sorts by
    ids, so that their beginning must be the time.
    """
    digest = hashlib.sha256(f"{run_id}/{number}".encode()).hexdigest()
    return digest[:_SUFFIX_LENGTH]


def message_id(suffix: str, now_s: float | None = None) -> str:
    """An id for a message that is sent now."""
    ms = int((time.time() if now_s is None else now_s) * 1000)
    return f"msg_{(ms << 12) % (1 << _TIME_BITS):012x}{suffix}"


def text_of(message: Json, key: str) -> str:
    """The string at `key`, else ""."""
    value = message.get(key)
    return value if isinstance(value, str) else ""


def object_of(message: Json, key: str) -> Json:
    """The object at `key`, else an empty one."""
    value = message.get(key)
    return value if isinstance(value, dict) else {}


def objects_of(message: Json, key: str) -> list[Json]:
    """The objects in the list at `key`; what is no object is left out."""
    return objects_in(message.get(key))


def objects_in(value: JsonValue) -> list[Json]:
    """The objects in `value` when it is a list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts_of(message: Json, key: str) -> list[str]:
    """The strings in the list at `key`."""
    value = message.get(key)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


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


def as_object(value: JsonValue) -> Json:
    """`value` when it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def _sound(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {str(_sound(key)): _sound(item) for key, item in value.items()}
    return value
