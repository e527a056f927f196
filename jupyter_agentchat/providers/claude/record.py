"""Reads the CLI's own record of a conversation, for the ids of its messages. Trusts nothing in it.

One JSON object a line in `<config>/projects/<directory>/<session id>.jsonl`; the format is the
CLI's private matter, so that whatever is missing or strange is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from .wire import Json, list_of, object_of, parse, text_of

_SIZE_LIMIT: Final = 256 * 1024 * 1024
_SESSION_ID: Final = re.compile(r"[0-9a-fA-F-]{36}")


@dataclass
class Record:
    """What a record says: every message's uuid, and a person's messages, newest last."""

    uuids: set[str] = field(default_factory=set)
    said: list[str] = field(default_factory=list)


def read_record(environment: Mapping[str, str], session_id: str) -> Record | None:
    """The record of a conversation; None when there is none to be read. Touches files only."""
    if not _SESSION_ID.fullmatch(session_id):
        return None
    record: Record | None = None
    try:
        # by any directory: the CLI resumes a conversation from another one as well
        for path in sorted(config_folder(environment).glob(f"projects/*/{session_id}.jsonl")):
            if not path.is_symlink() and path.stat().st_size <= _SIZE_LIMIT:
                record = record or Record()
                for message in _lines(path):
                    _note(record, message)
    except OSError:
        return None
    return record


def config_folder(environment: Mapping[str, str]) -> Path:
    """The CLI's own folder of settings, skills and records."""
    named = environment.get("CLAUDE_CONFIG_DIR")
    return Path(named) if named else Path(environment.get("HOME") or "/", ".claude")


def _lines(path: Path) -> Iterator[Json]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            message = parse(line)
            if message is not None:
                yield message


def _note(record: Record, message: Json) -> None:
    uuid = text_of(message, "uuid")
    if not uuid:
        return
    record.uuids.add(uuid)
    if text_of(message, "type") == "user" and not _is_tool_result(object_of(message, "message")):
        record.said.append(uuid)


def _is_tool_result(inner: Json) -> bool:
    return any(
        isinstance(block, dict) and text_of(block, "type") == "tool_result"
        for block in list_of(inner, "content")
    )
