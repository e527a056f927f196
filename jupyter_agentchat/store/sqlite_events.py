"""The log in SQLite: appends in one transaction, pages by the primary key."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from ..errors import LogMoved, NotFound
from ..protocol.base import now
from ..protocol.words import Outcome
from . import pages
from .base import Draft, EventPage, Lease, StoredEvent
from .leases import refuse_fenced
from .rows import Range, Row, checksum, damaged_event, to_row
from .search_index import IndexDamaged, put_words
from .sqlite_connection import fetch
from .sqlite_database import Database

_EVENTS: Final = """SELECT seq, time, run_id, type, sum, body FROM events
    WHERE chat_id = ? AND seq BETWEEN ? AND ? ORDER BY seq {} LIMIT ?"""
RISING: Final = _EVENTS.format("ASC")
FALLING: Final = _EVENTS.format("DESC")
STARTS: Final = """SELECT seq FROM turns
    WHERE chat_id = ? AND seq BETWEEN ? AND ? ORDER BY seq DESC LIMIT ?"""
CUTS: Final = "SELECT first_seq, last_seq FROM cuts WHERE chat_id = ?"
LAST: Final = """SELECT max(last_seq, coalesce(
        (SELECT seq FROM events WHERE chat_id = ?1 ORDER BY seq DESC LIMIT 1), 0))
    FROM chats WHERE id = ?1 AND deleted IS NULL"""
"""One step into the key: the chat's counter does not move for streamed rows."""
INSERT: Final = """INSERT INTO events (chat_id, seq, time, run_id, type, item_id, sum, body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)"""
CLOSE: Final = """UPDATE runs SET outcome = ?, ended = ?, request = '', context = ''
    WHERE run_id = ?"""
DROP: Final = """DELETE FROM events
    WHERE chat_id = ? AND seq BETWEEN ? AND ? AND item_id = ? AND type = ?"""


T = TypeVar("T")


class OnDatabase:
    """What the parts of SqliteStore share."""

    def __init__(self, database: Database, clock: Callable[[], str] = now) -> None:
        self.database = database
        self.clock = clock

    def despite_index(self, work: Callable[[], T]) -> T:
        """`work`, once more when only the index of the search was in its way."""
        try:
            return work()
        except IndexDamaged:
            return work()

    def to_rows(self, drafts: Sequence[Draft]) -> list[Row]:
        """Encode what is to be stored; nothing is indexed where nothing can be searched."""
        rows = [to_row(draft) for draft in drafts]
        if not self.database.searchable:
            for row in rows:
                row.words = ""
        return rows


class SqliteEvents(OnDatabase):
    """EventStore on a Database."""

    @property
    def epoch(self) -> str:
        return self.database.epoch

    def append(
        self,
        chat_id: str,
        drafts: Sequence[Draft],
        *,
        run_id: str | None = None,
        offset: int | None = None,
        lease: Lease | None = None,
        durable: bool = False,
        outcome: Outcome | None = None,
        after: int | None = None,
    ) -> list[StoredEvent]:
        try:
            return self._append(
                chat_id, self.to_rows(drafts), run_id, offset, lease, durable, outcome, after
            )
        except IndexDamaged:  # as `despite_index`, without what a closure costs each delta
            return self._append(
                chat_id, self.to_rows(drafts), run_id, offset, lease, durable, outcome, after
            )

    def _append(
        self,
        chat_id: str,
        rows: Sequence[Row],
        run_id: str | None,
        offset: int | None,
        lease: Lease | None,
        durable: bool,
        outcome: Outcome | None,
        after: int | None,
    ) -> list[StoredEvent]:
        with self.database.transaction(durable=durable) as connection:
            time = self.clock()
            if lease is not None:
                _check_lease(connection, run_id, lease)
            events = write_rows(connection, chat_id, run_id, time, rows, after)
            if offset is not None:
                done = connection.execute(
                    "UPDATE runs SET spool_stored = ? WHERE run_id = ?", (offset, run_id)
                )
                _found_run(done, run_id)
            if outcome is not None:
                done = connection.execute(CLOSE, (outcome, time, run_id))
                _found_run(done, run_id)
        return events

    def events_after(
        self, chat_id: str, seq: int, *, limit: int = 1000, include_cut: bool = False
    ) -> EventPage:
        with self.database.snapshot() as connection:
            cuts = _cuts(connection, chat_id, include_cut)
            return pages.page_after(_events(connection, RISING, chat_id), cuts, seq, limit)

    def events_before(
        self, chat_id: str, seq: int | None, *, limit: int = 500, include_cut: bool = False
    ) -> EventPage:
        with self.database.snapshot() as connection:
            cuts = _cuts(connection, chat_id, include_cut)
            return pages.page_before(_events(connection, FALLING, chat_id), cuts, seq, limit)

    def turns_before(
        self,
        chat_id: str,
        seq: int | None,
        *,
        turns: int,
        limit: int = 2000,
        include_cut: bool = False,
    ) -> EventPage:
        with self.database.snapshot() as connection:
            cuts = _cuts(connection, chat_id, include_cut)

            def starts(first: int, last: int, count: int) -> list[int]:
                return [row[0] for row in fetch(connection, STARTS, (chat_id, first, last, count))]

            events = _events(connection, FALLING, chat_id)
            return pages.page_of_turns(events, starts, cuts, seq, turns, limit)

    def last_seq(self, chat_id: str) -> int:
        rows = self.database.rows(LAST, (chat_id,))
        if not rows:
            raise NotFound("There is no such chat.", chat_id=chat_id)
        return int(rows[0][0])


def write_rows(
    connection: sqlite3.Connection,
    chat_id: str,
    run_id: str | None,
    time: str,
    rows: Sequence[Row],
    after: int | None = None,
) -> list[StoredEvent]:
    """Number `rows` and store them, inside the caller's transaction. Raises NotFound, and LogMoved
    when the first would not stand right behind `after`."""
    seq = last_seq(connection, chat_id)
    if after is not None and after != seq:
        raise LogMoved(seq)
    if not rows:
        return []
    events = []
    lasting = 0
    for row in rows:
        seq += 1
        body = row.body_json
        total = checksum(seq, time, run_id, row.type, body)
        connection.execute(INSERT, (chat_id, seq, time, run_id, row.type, row.item_id, total, body))
        events.append(StoredEvent(chat_id, seq, time, run_id, row.type, body))
        if row.streamed:
            continue
        lasting += 1
        if row.begins_turn:
            connection.execute("INSERT INTO turns VALUES (?, ?)", (chat_id, seq))
        if row.drops is not None:
            first, last, item_id = row.drops
            connection.execute(DROP, (chat_id, first, min(last, seq), item_id, row.type))
        _move_cut(connection, chat_id, row)
        if row.words:
            put_words(connection, chat_id, seq, row.words)
    if lasting:
        connection.execute(
            "UPDATE chats SET last_seq = ?, events = events + ?, updated = ? WHERE id = ?",
            (seq, lasting, time, chat_id),
        )
    return events


def _check_lease(connection: sqlite3.Connection, run_id: str | None, lease: Lease) -> None:
    found = connection.execute(
        "SELECT lease_holder, lease_epoch, outcome FROM runs WHERE run_id = ?", (run_id,)
    ).fetchone()
    if found == (lease.holder, lease.epoch, None):
        return
    if found is None or run_id is None:
        raise NotFound("There is no such run.", run_id=run_id)
    holder, epoch, outcome = found
    stored = None if holder is None else Lease(holder, epoch)
    refuse_fenced(run_id, stored, outcome, lease)


def _move_cut(connection: sqlite3.Connection, chat_id: str, row: Row) -> None:
    if row.hides is not None:
        connection.execute("INSERT OR IGNORE INTO cuts VALUES (?, ?, ?)", (chat_id, *row.hides))
    if row.shows is not None:
        connection.execute(
            "DELETE FROM cuts WHERE chat_id = ? AND first_seq = ? AND last_seq = ?",
            (chat_id, *row.shows),
        )


def _found_run(done: sqlite3.Cursor, run_id: str | None) -> None:
    if done.rowcount == 0:
        raise NotFound("There is no such run.", run_id=run_id)


def last_seq(connection: sqlite3.Connection, chat_id: str) -> int:
    """The chat's highest seq so far, 0 for an empty log. Raises NotFound."""
    found = connection.execute(LAST, (chat_id,)).fetchone()
    if found is None:
        raise NotFound("There is no such chat.", chat_id=chat_id)
    return int(found[0])


def _cuts(connection: sqlite3.Connection, chat_id: str, include_cut: bool) -> list[Range]:
    last_seq(connection, chat_id)
    return [] if include_cut else connection.execute(CUTS, (chat_id,)).fetchall()


def _events(
    connection: sqlite3.Connection, sql: str, chat_id: str
) -> Callable[[int, int, int], list[StoredEvent]]:
    def page(first: int, last: int, count: int) -> list[StoredEvent]:
        rows = fetch(connection, sql, (chat_id, first, last, count))
        events = [_event(chat_id, row) for row in rows]
        if None not in events:
            return events  # type: ignore[return-value]
        # a notice where an event is damaged, if its seq can be believed at all
        seqs = [row[0] for row in rows if isinstance(row[0], int) and first <= row[0] <= last]
        found = {seq: damaged_event(chat_id, seq) for seq in seqs}
        found |= {event.seq: event for event in events if event is not None}
        return [found[seq] for seq in sorted(found, reverse=sql == FALLING)]

    return page


def _event(chat_id: str, row: tuple[Any, ...]) -> StoredEvent | None:
    """The event of a row; None when it is not what was stored."""
    seq, time, run_id, kind, total, body = row
    if checksum(seq, time, run_id, kind, body) != total:
        return None
    return StoredEvent(chat_id, seq, time, run_id, kind, body)
