"""Reads what `agy` writes with `--output-format stream-json`: one JSON object a line.

Trusted in nothing: unknown events are passed over, missing fields are empty. No public package
ships the program: the shapes are those that public drivers of it read, and tests play them.
"""

from __future__ import annotations

import json
import re
from typing import Final, TypeAlias

from pydantic import JsonValue

Json: TypeAlias = dict[str, JsonValue]

MIN_VERSION: Final = "1.1.8"
"""The first that writes `stream-json`; before it, a program without a terminal prints nothing."""

# NUL, and halves of surrogate pairs
_UNSOUND = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")


def parse(line: str) -> Json | None:
    """The event in `line`; None when it is no JSON object."""
    if not line.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if _UNSOUND.search(line):
        value = _sound(value)
    return value if isinstance(value, dict) else None


def text_of(message: Json, key: str) -> str:
    """The string at `key`, else ""."""
    value = message.get(key)
    return value if isinstance(value, str) else ""


def object_of(message: Json, key: str) -> Json:
    """The object at `key`, else an empty one."""
    value = message.get(key)
    return value if isinstance(value, dict) else {}


def int_of(message: Json, *keys: str) -> int | None:
    """The first of `keys` that holds a whole number, else None."""
    for key in keys:
        value = message.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None


def first_text(message: Json, *keys: str) -> str:
    """The first of `keys` that holds a string that is not empty."""
    return next((text for key in keys if (text := text_of(message, key))), "")


def numbers(version: str) -> tuple[int, ...]:
    """The parts of a version; empty for what is none."""
    found = re.search(r"(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?", version)
    return tuple(int(part or 0) for part in found.groups()) if found else ()


def _sound(value: JsonValue) -> JsonValue:
    """Without what JSON can spell and no store can keep."""
    if isinstance(value, str):
        whole = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        return whole.replace("\0", "\N{REPLACEMENT CHARACTER}")
    if isinstance(value, list):
        return [_sound(item) for item in value]
    if isinstance(value, dict):
        return {str(_sound(key)): _sound(item) for key, item in value.items()}
    return value
