"""Reads what an ACP agent writes: JSON-RPC, one object a line, trusted in nothing.

Messages stay plain dictionaries: agents add fields and kinds of their own, and what they send where
differs more than the schema says. The accessors give an empty value where a field is missing or of
another type. Source of the shapes: recordings in tests/transcripts/acp.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = dict[str, JsonValue]

PROTOCOL_VERSION: Final = 1
AUTH_REQUIRED: Final = -32000

_ID_LIMIT = 200
# what JSON can spell and no store can keep: NUL, and halves of surrogate pairs
_UNSOUND = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def parse(line: str) -> Json | None:
    """The message in `line`; None when it is no JSON object (some print plain lines too)."""
    if not line.lstrip().startswith("{"):
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
    value = message.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def int_of(message: Json, key: str) -> int | None:
    """The whole number at `key`, else None."""
    value = message.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def first_text(message: Json, *keys: str) -> str:
    """The first of `keys` that holds a string that is not empty."""
    return next((text for key in keys if (text := text_of(message, key))), "")


def id_text(message: Json) -> str:
    """The id of a request or answer as text; "" where there is none."""
    value = message.get("id")
    return str(value) if isinstance(value, int | str) and not isinstance(value, bool) else ""


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
