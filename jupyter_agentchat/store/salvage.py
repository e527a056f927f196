"""What can still be read of a damaged database, row by row, into a new one.

Works on a copy: opening a file lets SQLite play its log into it, and the damaged one is evidence.
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
from .base import ChatRecord
from .chat_rows import insert_chat
from .filesystem import beside, prepare_file
from .migrations import MIGRATIONS, PAGE_SIZE, migrate
from .rows import checksum, encode_body
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
}
"""How each table but the log's is ordered on disk. New tables belong here (a test says so)."""

EVENT: Final = "chat_id, seq, time, run_id, type, item_id, sum, body"


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
            saved = _copy(source, target) if source else Saved()
            target.execute("COMMIT")
            return saved
        finally:
            target.close()
            if source is not None:
                source.close()


def _open_source(copy: Path) -> sqlite3.Connection | None:
    source = _try_source(copy)
    if source is None:
        _renew_first_page(copy)
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
    except sqlite3.DatabaseError:
        pass
    if connection is not None:
        connection.close()
    return None


def _renew_first_page(copy: Path) -> None:
    """Replace a ruined header and schema by those of a new database.

    Tables get their pages in the order of the migrations, so those of the first lie where a new
    database has them; rows of any other page do not fit their table and are left out.
    """
    template = copy.with_name("template.sqlite3")
    connection = connect(template.as_uri())
    connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
    connection.execute("PRAGMA journal_mode=WAL")
    migrate(connection, MIGRATIONS[:1])
    connection.close()
    page = bytearray(template.read_bytes()[:PAGE_SIZE])
    with copy.open("r+b") as file:
        size = file.seek(0, 2)
        page[28:32] = (max(size, PAGE_SIZE) // PAGE_SIZE).to_bytes(4, "big")
        page[24:28] = page[92:96]  # else SQLite does not believe the size
        file.seek(0)
        file.write(page)


def _applied(source: sqlite3.Connection | None) -> set[str]:
    if source is None:
        return set()
    try:
        return {row[0] for row in source.execute("SELECT name FROM migrations")}
    except sqlite3.DatabaseError:
        return set()


def _copy(source: sqlite3.Connection, target: sqlite3.Connection) -> Saved:
    for table, key in KEYS.items():
        _copy_table(source, target, table, key)
    saved = Saved()
    known = {
        row[0] for row in target.execute("SELECT id FROM chats UNION SELECT chat_id FROM runs")
    }
    for chat_id in sorted(known | _chats_of_log(source)):
        events, lost = _copy_log(source, target, chat_id)
        saved = replace(saved, events=saved.events + events, lost=saved.lost + lost)
    chats = target.execute("SELECT count(*) FROM chats").fetchone()[0]
    return replace(saved, chats=chats)


def _copy_table(
    source: sqlite3.Connection, target: sqlite3.Connection, table: str, key: str
) -> None:
    columns = [row[1] for row in target.execute(f"PRAGMA table_info({table})")]
    names, marks = ", ".join(columns), ", ".join("?" * len(columns))
    insert = f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})"  # noqa: S608
    backwards = ", ".join(f"{name} DESC" for name in key.split(", "))
    hint = "NOT INDEXED" if key == "rowid" else ""
    for order in (key, backwards):
        try:
            for row in source.execute(
                f"SELECT {names} FROM {table} {hint} ORDER BY {order}"  # noqa: S608
            ):
                _insert(target, insert, row)
        except sqlite3.DatabaseError:
            continue  # from the other end, up to the damage
        break


def _insert(target: sqlite3.Connection, insert: str, row: Row) -> bool:
    try:
        return target.execute(insert, row).rowcount == 1
    except sqlite3.IntegrityError:
        return False  # not a row of this table


def _chats_of_log(source: sqlite3.Connection) -> set[str]:
    """Chats that have events, also such whose own row is gone."""
    found: set[str] = set()
    for sign, order, at in ((">", "ASC", ""), ("<", "DESC", "\U0010ffff")):
        query = (
            f"SELECT chat_id FROM events WHERE chat_id {sign} ? ORDER BY chat_id {order} LIMIT 1"  # noqa: S608
        )
        with suppress(sqlite3.DatabaseError):
            while (row := source.execute(query, (at,)).fetchone()) and isinstance(row[0], str):
                at = row[0]
                found.add(at)
    return found


def _copy_log(
    source: sqlite3.Connection, target: sqlite3.Connection, chat_id: str
) -> tuple[int, int]:
    """(events saved, events lost) of one chat; its counters, turns and cuts are derived anew."""
    row = target.execute("SELECT last_seq, events FROM chats WHERE id = ?", (chat_id,)).fetchone()
    last, counted = row or (0, 0)
    saved, lasting, owner = 0, 0, "owner"
    for event in _readable(source, chat_id, last):
        if not _insert(target, f"INSERT INTO events ({EVENT}) VALUES (?,?,?,?,?,?,?,?)", event):  # noqa: S608
            continue
        _, seq, _, _, kind, _, _, text = event
        saved, last = saved + 1, max(last, seq)
        lasting += kind != "tool_use_update" and event[5] is None
        body = _parse(text)
        if kind == "user" and saved <= 2:
            owner = (body.get("author") or {}).get("username") or owner
        _derive(target, chat_id, seq, kind, body)
    if row is None:
        if not saved:
            return 0, 0
        chat = Chat(id=chat_id, title="Recovered chat", created=now(), updated=now(), owner=owner)
        insert_chat(target, ChatRecord(chat, loose=True))
        _mark_loss(target, chat_id, last + 1, "Title and settings of this chat were lost.")
        last, lasting, counted = last + 1, lasting + 1, 0
    lost = max(counted - lasting, 0)
    if lost:
        last, lasting = last + 1, lasting + 1
        _mark_loss(target, chat_id, last, f"{lost} events of this chat were lost.")
    target.execute(
        "UPDATE chats SET last_seq = ?, events = ? WHERE id = ?", (last, lasting, chat_id)
    )
    return saved, lost


def _readable(source: sqlite3.Connection, chat_id: str, last: int) -> Iterator[Row]:
    """A chat's events in order, jumping over what is damaged."""
    where = f"SELECT {EVENT} FROM events WHERE chat_id = ? AND seq"  # noqa: S608
    with suppress(sqlite3.DatabaseError):
        found = source.execute("SELECT max(seq) FROM events WHERE chat_id = ?", (chat_id,))
        last = max(last, found.fetchone()[0] or 0)
    after, step = 0, 0
    while after + step <= last:
        try:
            for row in source.execute(f"{where} > ? ORDER BY seq", (chat_id, after + step)):
                if step:  # a jump may have gone too far: what lies between
                    yield from _back_to(source, where, chat_id, row[1], after)
                    step = 0
                after = row[1]
                yield row
        except sqlite3.DatabaseError:
            step = step * 2 or 1
        else:
            return


def _back_to(
    source: sqlite3.Connection, where: str, chat_id: str, seq: int, after: int
) -> list[Row]:
    rows: list[Row] = []
    with suppress(sqlite3.DatabaseError):
        query = f"{where} < ? AND seq > ? ORDER BY seq DESC"
        for row in source.execute(query, (chat_id, seq, after)):
            rows.append(row)
    return rows[::-1]


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
        f"INSERT INTO events ({EVENT}) VALUES (?, ?, ?, NULL, 'notice', NULL, ?, ?)",  # noqa: S608
        (chat_id, seq, time, checksum(seq, time, None, "notice", body), body),
    )


def _parse(text: Any) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}
