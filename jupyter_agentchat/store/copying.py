"""What a fork takes with it: the visible events of a chat up to a seq, numbered anew.

The new numbers keep the order, also that of places that only a final's `first_seq` names: a final
stands in the copy where it stood.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .pages import visible_ranges
from .rows import checksum, damaged_event
from .search_index import put_words
from .sqlite_connection import fetch

LEFT_OUT: Final = ("rewound", "rewind_undone")
"""They speak of seqs that the copy does not have."""
TEXTS_AT_ONCE: Final = 200
"""Above that the copy's words are indexed after it: they are most of what a copy costs."""
_FINALS: Final = ("assistant_text", "thinking")
_BLOB: Final = re.compile(r'"blob_id":\s?"([0-9a-f]{32})"')
_VISIBLE: Final = """SELECT seq, time, run_id, type, item_id, sum, body FROM events
    WHERE chat_id = ? AND seq BETWEEN ? AND ? ORDER BY seq"""


@dataclass(slots=True)
class CopiedEvent:
    """An event of the copy. `from_seq`: its seq in the chat it comes from."""

    from_seq: int
    seq: int
    time: str
    run_id: str | None
    type: str
    item_id: str | None
    body_json: str


def numbered_anew(events: Sequence[CopiedEvent]) -> list[CopiedEvent]:
    """`events` with seqs from 1 on; each `seq` that comes in is the old one."""
    kept = [event for event in events if event.type not in LEFT_OUT]
    bodies = {event.from_seq: found for event in kept if (found := _body_of_final(event))}
    places = {event.from_seq for event in kept} | {body["first_seq"] for body in bodies.values()}
    numbers = {old: new for new, old in enumerate(sorted(places), 1)}
    for event in kept:
        event.seq = numbers[event.from_seq]
        body = bodies.get(event.from_seq)
        if body is not None:
            body["first_seq"] = numbers[body["first_seq"]]
            event.body_json = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return kept


def blobs_of(events: Iterable[CopiedEvent]) -> set[str]:
    """The ids of the blobs that these events name."""
    return {found for event in events for found in _BLOB.findall(event.body_json)}


def copy_log(
    connection: sqlite3.Connection, source: str, target: str, upto_seq: int, *, searchable: bool
) -> int:
    """Copy the log of `source` to the new chat `target`, in the caller's transaction; its last seq.

    The words of the search are copied too, or left to be indexed where there are many, or where
    `source` waits for that itself.
    """
    events = numbered_anew(_visible(connection, source, upto_seq))
    connection.executemany(
        "INSERT INTO events (chat_id, seq, time, run_id, type, item_id, sum, body) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (target, e.seq, e.time, e.run_id, e.type, e.item_id, _sum(e), e.body_json)
            for e in events
        ),
    )
    numbers = {event.from_seq: event.seq for event in events}
    turns = connection.execute("SELECT seq FROM turns WHERE chat_id = ?", (source,)).fetchall()
    connection.executemany(
        "INSERT INTO turns VALUES (?, ?)",
        ((target, numbers[seq]) for (seq,) in turns if seq in numbers),
    )
    connection.executemany(
        "INSERT INTO blobs SELECT ?, blob_id, mime, data FROM blobs "
        "WHERE chat_id = ? AND blob_id = ?",
        ((target, source, blob_id) for blob_id in sorted(blobs_of(events))),
    )
    lasting = [e.seq for e in events if e.item_id is None and e.type != "tool_use_update"]
    connection.execute(
        "UPDATE chats SET last_seq = ?, events = ? WHERE id = ?",
        (lasting[-1] if lasting else 0, len(lasting), target),
    )
    last = events[-1].seq if events else 0
    if searchable:
        _copy_words(connection, source, target, numbers, last)
    return last


def _visible(connection: sqlite3.Connection, chat_id: str, upto_seq: int) -> list[CopiedEvent]:
    cuts = connection.execute(
        "SELECT first_seq, last_seq FROM cuts WHERE chat_id = ?", (chat_id,)
    ).fetchall()
    events = []
    for first, last in visible_ranges(cuts, 1, upto_seq):
        for row in fetch(connection, _VISIBLE, (chat_id, first, last)):
            seq, time, run_id, kind, item_id, total, body = row
            if checksum(seq, time, run_id, kind, body) != total:
                found = damaged_event(chat_id, seq)
                time, run_id, kind, item_id = found.time, None, found.type, None
                body = found.body_json
            events.append(CopiedEvent(seq, seq, time, run_id, kind, item_id, body))
    return events


def _copy_words(
    connection: sqlite3.Connection, source: str, target: str, numbers: dict[int, int], last: int
) -> None:
    waits = "SELECT 1 FROM unindexed WHERE chat_id = ?"
    kept = "SELECT seq, words FROM texts WHERE chat_id = ? AND seq > 0 ORDER BY id LIMIT ?"
    texts = connection.execute(kept, (source, TEXTS_AT_ONCE + 1)).fetchall()
    if len(texts) > TEXTS_AT_ONCE or connection.execute(waits, (source,)).fetchone():
        connection.execute("INSERT OR REPLACE INTO unindexed VALUES (?, ?)", (target, last))
        return
    for seq, text in texts:
        if seq in numbers:
            put_words(connection, target, numbers[seq], text)


def _body_of_final(event: CopiedEvent) -> dict[str, Any] | None:
    """The body of a final that names its first seq; None for every other event."""
    if event.type not in _FINALS or event.item_id is not None:
        return None
    try:
        body = json.loads(event.body_json)
    except (ValueError, RecursionError):
        return None
    named = isinstance(body, dict) and isinstance(body.get("first_seq"), int)
    return body if named else None


def _sum(event: CopiedEvent) -> int:
    return checksum(event.seq, event.time, event.run_id, event.type, event.body_json)
