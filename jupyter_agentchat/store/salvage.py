"""What can still be read of a damaged database, row by row, into a new one.

Works on a copy: opening a file lets SQLite play its log into it, and the damaged one is evidence.
Counters, turns and cuts are not copied: they are derived anew from the events that are left.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ..protocol.base import now
from ..protocol.events import Notice
from ..protocol.resources import Chat
from .carve import carve
from .chat_rows import insert_chat
from .damage import FAILURES
from .filesystem import beside, prepare_file
from .migrations import MIGRATIONS, PAGE_SIZE, migrate
from .records import ChatRecord
from .rows import checksum, encode_body
from .salvage_keyed import salvage_keyed
from .sqlite_connection import connect

Row = tuple[Any, ...]

KEYS: Final = {
    "chats": "rowid",
    "runs": "rowid",
    "children": "rowid",
    "blobs": "rowid",
    "prompts": "chat_id, username, client_id",
    "trust": "username, path",
    "projects": "path",
    "selections": "username",
    "queue": "chat_id, item_id",
    "drafts": "chat_id, username",
    "marks": "chat_id, username",
}
"""How each table but the log's is ordered on disk. New tables belong here (a test says so)."""

EVENT: Final = "chat_id, seq, time, run_id, type, item_id, sum, body"
INSERT_EVENT: Final = f"INSERT OR IGNORE INTO events ({EVENT}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"  # noqa: S608
LASTING: Final = """SELECT count(*) FROM events
    WHERE chat_id = ? AND item_id IS NULL AND type <> 'tool_use_update'"""
"""Events that a chat's counter counts (rows.Row.streamed)."""


class _Unreadable(Exception):
    """The source is damaged here."""


@dataclass(frozen=True, slots=True)
class Saved:
    """What was saved, and how many events the chats had counted beyond that."""

    chats: int = 0
    events: int = 0
    lost: int = 0


def salvage(damaged: Path, fresh: Path) -> Saved:
    """Write what is readable in `damaged` and its log to the new database `fresh`, synced to disk.

    Raises OSError and sqlite3.Error only for what concerns writing (no space, no permission).
    """
    with tempfile.TemporaryDirectory(prefix="salvage-", dir=damaged.parent) as folder:
        copy = Path(folder, "copy.sqlite3")
        for suffix in ("", "-wal", "-journal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(beside(damaged, suffix), beside(copy, suffix))
        prepare_file(fresh)
        target = connect(f"{fresh.as_uri()}?mode=rw")
        source = None
        try:
            target.execute(f"PRAGMA page_size={PAGE_SIZE}")
            target.execute("PRAGMA synchronous=FULL")
            source = _open_source(copy)
            migrate(target, [m for m in MIGRATIONS if m.__name__ in _applied(source)] or MIGRATIONS)
            target.execute("BEGIN IMMEDIATE")
            saved = _copy(source, copy, target) if source else Saved()
            target.execute("COMMIT")
            migrate(target)
            target.execute("BEGIN IMMEDIATE")
            salvage_keyed(copy, target)
            target.execute("COMMIT")
            return saved
        finally:
            target.close()
            if source is not None:
                source.close()


def _open_source(copy: Path) -> sqlite3.Connection | None:
    # beside an empty file SQLite throws the log away, and the log may hold everything
    source = _try_source(copy) if copy.stat().st_size else None
    if source is None:
        _renew_schema(copy)
        source = _try_source(copy)
    return source


def _try_source(copy: Path) -> sqlite3.Connection | None:
    connection = None
    try:
        connection = connect(f"{copy.as_uri()}?mode=rw")
        connection.text_factory = lambda data: data.decode("utf-8", "replace")
        names = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
        if {"chats", "events"} <= names:
            return connection
    except FAILURES:
        pass
    if connection is not None:
        connection.close()
    return None


def _renew_schema(copy: Path) -> None:
    """Replace a ruined header and schema by those of a new database.

    Tables get their pages in the order of the migrations, so those of the first lie where a new
    database has them; rows of any other page do not fit their table and are left out.
    """
    template = copy.with_name("template.sqlite3")
    connection = connect(template.as_uri())
    connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
    connection.execute("PRAGMA journal_mode=WAL")
    migrate(connection, MIGRATIONS[:1])
    of_tables = {row[0] for row in connection.execute("SELECT rootpage FROM sqlite_master")}
    connection.close()
    data = bytearray(template.read_bytes())
    with copy.open("r+b") as file:
        size = max(file.seek(0, 2), len(data))
        data[28:32] = (size // PAGE_SIZE).to_bytes(4, "big")
        data[24:28] = data[92:96]  # else SQLite does not believe the size
        for start in range(0, len(data), PAGE_SIZE):
            if start // PAGE_SIZE + 1 not in of_tables:
                file.seek(start)
                file.write(data[start : start + PAGE_SIZE])
        file.truncate(size // PAGE_SIZE * PAGE_SIZE)


def _applied(source: sqlite3.Connection | None) -> set[str]:
    if source is None:
        return set()
    try:
        return {row[0] for row in source.execute("SELECT name FROM migrations")}
    except FAILURES:
        return set()


def _copy(source: sqlite3.Connection, copy: Path, target: sqlite3.Connection) -> Saved:
    for table, key in KEYS.items():
        _copy_table(source, target, table, key)
    with suppress(*FAILURES):
        source.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    for row in carve(copy):  # also where the tree looks whole: it may have lost a branch
        _insert(target, INSERT_EVENT, row)
    _drop_dropped(target)
    with suppress(_Unreadable):
        for row in _walk(source, f"SELECT {EVENT} FROM events ORDER BY chat_id, seq"):  # noqa: S608
            _insert(target, INSERT_EVENT, row)
    saved = Saved(events=target.execute("SELECT count(*) FROM events").fetchone()[0])
    query = "SELECT id FROM chats UNION SELECT DISTINCT chat_id FROM events"
    for (chat_id,) in target.execute(query).fetchall():
        saved = replace(saved, chats=saved.chats + 1, lost=saved.lost + _settle(target, chat_id))
    return saved


def _copy_table(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, key: str
) -> None:
    # a schema that was renewed is that of the first version: later columns are lost then
    present = _columns(source, table)
    columns = [name for name in _columns(target, table) if name in present]
    if not columns:
        return
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
    backwards = ", ".join(f"{name} DESC" for name in key.split(", "))
    hint = "NOT INDEXED" if key == "rowid" else ""
    for order in (key, backwards):
        query = f"SELECT {names} FROM {table} {hint} ORDER BY {order}"  # noqa: S608
        try:
            for row in _walk(source, query):
                _insert(target, insert, row)
        except _Unreadable:
            continue  # from the other end, up to the damage
        break


def _columns(connection: sqlite3.Connection, table: str) -> list[str]:
    try:
        return [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    except FAILURES:
        return []


def _walk(source: sqlite3.Connection, query: str) -> Iterator[Row]:
    """Rows up to the damage. Raises _Unreadable there, and nothing of what the taker does."""
    try:
        yield from source.execute(query)
    except FAILURES as error:
        raise _Unreadable from error


def _insert(target: sqlite3.Connection, insert: str, row: Row) -> None:
    with suppress(sqlite3.IntegrityError):  # not a row of this table
        target.execute(insert, row)


def _drop_dropped(target: sqlite3.Connection) -> None:
    """Drop deltas again whose final is there: a page that was given up may still hold them."""
    finals = "SELECT chat_id, type, body FROM events WHERE type IN ('assistant_text', 'thinking')"
    items = [
        (chat_id, kind, _parse(body).get("item_id"))
        for chat_id, kind, body in target.execute(f"{finals} AND item_id IS NULL")
    ]
    target.executemany("DELETE FROM events WHERE chat_id = ? AND type = ? AND item_id = ?", items)


def _settle(target: sqlite3.Connection, chat_id: str) -> int:
    """Derive what a chat's events imply; returns how many the chat had counted beyond them."""
    found = "SELECT max(seq) FROM events WHERE chat_id = ?"
    last = target.execute(found, (chat_id,)).fetchone()[0]
    for seq, kind, text in target.execute(
        "SELECT seq, type, body FROM events WHERE chat_id = ? AND type IN "
        "('user', 'run_started', 'rewound', 'rewind_undone') ORDER BY seq",
        (chat_id,),
    ).fetchall():
        _derive(target, chat_id, seq, kind, _parse(text))
    counters = "SELECT last_seq, events FROM chats WHERE id = ?"
    row = target.execute(counters, (chat_id,)).fetchone()
    lasting = target.execute(LASTING, (chat_id,)).fetchone()[0]
    last = max(last or 0, row[0] if row else 0)
    lost = max(row[1] - lasting, 0) if row else 0
    if row is None:
        chat = Chat(
            id=chat_id,
            title="Recovered chat",
            created=now(),
            updated=now(),
            owner=_owner(target, chat_id),
        )
        insert_chat(target, ChatRecord(chat, loose=True))
        last, lasting = last + 1, lasting + 1
        _mark_loss(target, chat_id, last, "Title and settings of this chat were lost.")
    if lost:
        last, lasting = last + 1, lasting + 1
        _mark_loss(target, chat_id, last, f"{lost} events of this chat were lost.")
    target.execute(
        "UPDATE chats SET last_seq = ?, events = ? WHERE id = ?", (last, lasting, chat_id)
    )
    return lost


def _owner(target: sqlite3.Connection, chat_id: str) -> str:
    """Who wrote the first prompt: the chat must not become another person's."""
    row = target.execute(
        "SELECT body FROM events WHERE chat_id = ? AND type = 'user' ORDER BY seq", (chat_id,)
    ).fetchone()
    author = _parse(row[0]).get("author") if row else None
    name = author.get("username") if isinstance(author, dict) else None
    return name if isinstance(name, str) else "owner"


def _derive(
    target: sqlite3.Connection, chat_id: str, seq: int, kind: str, body: dict[str, Any]
) -> None:
    if kind == "user" or (kind == "run_started" and body.get("origin") == "provider"):
        target.execute("INSERT OR IGNORE INTO turns VALUES (?, ?)", (chat_id, seq))
    cut = (chat_id, body.get("from_seq"), body.get("to_seq"))
    if kind == "rewound" and None not in cut:
        target.execute("INSERT OR IGNORE INTO cuts VALUES (?, ?, ?)", cut)
    elif kind == "rewind_undone":
        target.execute("DELETE FROM cuts WHERE chat_id = ? AND first_seq = ? AND last_seq = ?", cut)


def _mark_loss(target: sqlite3.Connection, chat_id: str, seq: int, text: str) -> None:
    """Say it in the chat itself: a log with holes must not look whole."""
    body = encode_body(Notice(level="warning", code="events_lost", text=text))
    time = now()
    target.execute(
        INSERT_EVENT,
        (chat_id, seq, time, None, "notice", None, checksum(seq, time, None, "notice", body), body),
    )


def _parse(text: Any) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}
