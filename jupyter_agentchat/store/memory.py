"""The twin of the SQLite store that keeps nothing: for tests, and as the shortest description of
what a store does. Passes the same suite.
"""

from __future__ import annotations

import secrets
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from ..errors import Busy, NotFound, StorageError
from ..protocol.base import now
from ..protocol.events import User
from ..protocol.words import Outcome
from . import pages
from .base import (
    ChatRecord,
    ChildRecord,
    Draft,
    EventPage,
    Lease,
    RunRecord,
    StoredEvent,
    StoreHealth,
    TrustRecord,
)
from .chat_rows import fold
from .leases import refuse_fenced, refuse_overtaken
from .pages import list_limit, next_cursor, read_cursor
from .rows import Range, Row, blob_id_of, to_row


@dataclass(slots=True)
class _Log:
    """One chat: its record and its events; `items` names the deltas.

    `last_seq` and `updated` in the record pass over streamed rows, as in the other store.
    """

    record: ChatRecord
    last_seq: int = 0
    events: list[StoredEvent] = field(default_factory=list)
    items: dict[int, str] = field(default_factory=dict)
    starts: list[int] = field(default_factory=list)
    cuts: set[Range] = field(default_factory=set)
    blobs: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def rising(self, first: int, last: int, count: int) -> list[StoredEvent]:
        return self._between(first, last)[:count]

    def falling(self, first: int, last: int, count: int) -> list[StoredEvent]:
        return self._between(first, last)[: -count - 1 : -1]

    def starts_falling(self, first: int, last: int, count: int) -> list[int]:
        low, high = bisect_left(self.starts, first), bisect_right(self.starts, last)
        return self.starts[low:high][: -count - 1 : -1]

    def _between(self, first: int, last: int) -> list[StoredEvent]:
        low = bisect_left(self.events, first, key=_seq)
        return self.events[low : bisect_right(self.events, last, key=_seq)]

    def write(self, run_id: str | None, time: str, rows: Iterable[Row]) -> list[StoredEvent]:
        chat_id, stored, lasting = self.record.chat.id, [], False
        for row in rows:
            self.last_seq = seq = self.last_seq + 1
            event = StoredEvent(chat_id, seq, time, run_id, row.type, row.body_json)
            self.events.append(event)
            stored.append(event)
            lasting = lasting or not row.streamed
            if row.item_id is not None:
                self.items[seq] = row.item_id
            if row.begins_turn:
                self.starts.append(seq)
            if row.drops is not None:
                self._drop(row.type, *row.drops)
            if row.hides is not None:
                self.cuts.add(row.hides)
            if row.shows is not None:
                self.cuts.discard(row.shows)
        if lasting:
            self.record = self.record.with_chat(last_seq=self.last_seq, updated=time)
        return stored

    def _drop(self, kind: str, first: int, last: int, item_id: str) -> None:
        low = bisect_left(self.events, first, key=_seq)
        high = bisect_right(self.events, last, key=_seq)
        self.events[low:high] = [
            event
            for event in self.events[low:high]
            if event.type != kind or self.items.get(event.seq) != item_id
        ]


class MemoryStore:
    """A Store in dictionaries. Nothing of it survives the process.

    With a `health` that is not writable it stays empty and refuses every write, saying why.
    """

    def __init__(
        self, clock: Callable[[], str] = now, *, health: StoreHealth | None = None
    ) -> None:
        self.clock = clock
        self.epoch = secrets.token_hex(8)
        self.health = health or StoreHealth()
        self._closed = False
        self._chats: dict[str, _Log] = {}
        self._runs: dict[str, RunRecord] = {}
        self._children: dict[str, ChildRecord] = {}
        self._prompts: dict[tuple[str, str, str], dict[str, object]] = {}
        self._trust: dict[tuple[str, str], TrustRecord] = {}
        self._projects: set[str] = set()
        self._selections: dict[str, dict[str, object]] = {}

    # ---- the log ---------------------------------------------------------------------------------

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
    ) -> list[StoredEvent]:
        self._check_writable()
        rows = [to_row(draft) for draft in drafts]
        log, time = self._log(chat_id), self.clock()
        run = self._runs.get(run_id) if run_id is not None else None
        if run is None and not (offset is None and lease is None and outcome is None):
            raise NotFound("There is no such run.", run_id=run_id)
        if run is not None:
            if lease is not None:
                refuse_fenced(run.run_id, run.lease, run.outcome, lease)
            if offset is not None:
                run = replace(run, spool_stored=offset)
            if outcome is not None:
                run = replace(run, outcome=outcome, ended=time)
            self._runs[run.run_id] = run
        return log.write(run_id, time, rows)

    def events_after(
        self, chat_id: str, seq: int, *, limit: int = 1000, include_cut: bool = False
    ) -> EventPage:
        log = self._log(chat_id)
        return pages.page_after(log.rising, _cuts(log, include_cut), seq, limit)

    def events_before(
        self, chat_id: str, seq: int | None, *, limit: int = 500, include_cut: bool = False
    ) -> EventPage:
        log = self._log(chat_id)
        return pages.page_before(log.falling, _cuts(log, include_cut), seq, limit)

    def turns_before(
        self,
        chat_id: str,
        seq: int | None,
        *,
        turns: int,
        limit: int = 2000,
        include_cut: bool = False,
    ) -> EventPage:
        log = self._log(chat_id)
        cuts = _cuts(log, include_cut)
        return pages.page_of_turns(log.falling, log.starts_falling, cuts, seq, turns, limit)

    def last_seq(self, chat_id: str) -> int:
        return self._log(chat_id).last_seq

    # ---- chats -----------------------------------------------------------------------------------

    def create_chat(self, record: ChatRecord) -> None:
        self._check_writable()
        if record.chat.id in self._chats:
            raise ValueError(f"chat {record.chat.id} exists")
        self._chats[record.chat.id] = _Log(replace(record.with_chat(last_seq=0), deleted=None))

    def chat(self, chat_id: str) -> ChatRecord:
        log = self._log(chat_id)
        return log.record.with_chat(last_seq=log.last_seq)

    def save_chat(self, record: ChatRecord) -> None:
        self._check_writable()
        log = self._log(record.chat.id)
        kept = log.record.chat
        log.record = replace(
            record.with_chat(last_seq=kept.last_seq, updated=kept.updated), deleted=None
        )

    def list_chats(
        self,
        *,
        project_path: str | None = None,
        archived: bool = False,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[list[ChatRecord], str | None]:
        self._check_open()
        limit, (updated, chat_id) = list_limit(limit), read_cursor(cursor)
        records = [
            record
            for record in self._visible()
            if record.chat.archived == archived
            and project_path in (None, record.project_path)
            and fold(query) in fold(record.chat.title)
            and (updated is None or _activity(record) < (updated, chat_id))
        ]
        records.sort(key=_activity, reverse=True)
        return records[:limit], next_cursor(records, limit)

    def delete_chat(self, chat_id: str, *, when: str) -> None:
        self._check_writable()
        log = self._log(chat_id)
        log.record = replace(log.record, deleted=when)

    def find_prompt(self, chat_id: str, username: str, client_id: str) -> dict[str, object] | None:
        self._check_open()
        return self._prompts.get((chat_id, username, client_id))

    def remember_prompt(
        self, chat_id: str, username: str, client_id: str, answer: dict[str, object]
    ) -> None:
        self._check_writable()
        self._prompts.setdefault((chat_id, username, client_id), dict(answer))

    # ---- runs and children -----------------------------------------------------------------------

    def start_run(self, run: RunRecord, drafts: Sequence[Draft]) -> list[StoredEvent]:
        self._check_writable()
        rows = [to_row(draft) for draft in drafts]
        log, time = self._log(run.chat_id), self.clock()
        for other in self.open_runs():
            if other.chat_id == run.chat_id:
                holder = other.lease.holder if other.lease else None
                raise Busy("A run is active in this chat.", run_id=other.run_id, holder=holder)
        if run.run_id in self._runs:
            raise ValueError(f"run {run.run_id} exists")
        if run.client_id is not None and drafts and isinstance(drafts[0].body, User):
            key = (run.chat_id, drafts[0].body.author.username, run.client_id)
            if key in self._prompts:
                before = self._prompts[key].get("run_id")
                raise Busy("This prompt was accepted before.", run_id=before)
            self._prompts[key] = {"run_id": run.run_id}
        events = log.write(run.run_id, time, rows)
        first = run.first_seq or (events[0].seq if events else 0)
        self._runs[run.run_id] = replace(run, first_seq=first, started=run.started or time)
        return events

    def run(self, run_id: str) -> RunRecord | None:
        self._check_open()
        return self._runs.get(run_id)

    def save_run(self, run: RunRecord) -> None:
        self._check_writable()
        stored = self.run(run.run_id)
        if stored is None:
            raise NotFound("There is no such run.", run_id=run.run_id)
        refuse_overtaken(stored, run)
        self._runs[run.run_id] = run

    def open_runs(self) -> list[RunRecord]:
        self._check_open()
        return [run for run in self._runs.values() if run.outcome is None]

    def save_child(self, child: ChildRecord) -> None:
        self._check_writable()
        self._children.pop(child.child_id, None)
        self._children[child.child_id] = child

    def forget_child(self, child_id: str) -> None:
        self._check_writable()
        self._children.pop(child_id, None)

    def children(self) -> list[ChildRecord]:
        self._check_open()
        return list(self._children.values())

    # ---- persons and blobs -----------------------------------------------------------------------

    def trust(self, username: str, path: str) -> TrustRecord | None:
        self._check_open()
        return self._trust.get((username, path))

    def save_trust(self, record: TrustRecord) -> None:
        self._check_writable()
        self._trust[record.username, record.path] = record

    def projects(self) -> list[tuple[str, int]]:
        self._check_open()
        counts = dict.fromkeys(self._projects, 0)
        for record in self._visible():
            if record.project_path is not None:
                counts[record.project_path] = counts.get(record.project_path, 0) + 1
        return sorted(counts.items())

    def add_project(self, path: str) -> None:
        self._check_writable()
        self._projects.add(path)

    def selection(self, username: str) -> dict[str, object]:
        self._check_open()
        return dict(self._selections.get(username, {}))

    def save_selection(self, username: str, selection: dict[str, object]) -> None:
        self._check_writable()
        self._selections[username] = dict(selection)

    def put_blob(self, chat_id: str, data: bytes, mime: str) -> str:
        self._check_writable()
        blob_id = blob_id_of(data, mime)
        self._log(chat_id).blobs[blob_id] = (data, mime)
        return blob_id

    def blob(self, chat_id: str, blob_id: str) -> tuple[bytes, str]:
        try:
            return self._log(chat_id).blobs[blob_id]
        except KeyError:
            raise NotFound("There is no such blob.", chat_id=chat_id, blob_id=blob_id) from None

    def close(self) -> None:
        self._closed = True

    def _check_open(self) -> None:
        if self._closed:
            raise StorageError("The chat store is closed.")

    def _check_writable(self) -> None:
        self._check_open()
        if not self.health.writable:
            raise StorageError(self.health.notice or "The chat store is read-only.")

    def _log(self, chat_id: str) -> _Log:
        self._check_open()
        log = self._chats.get(chat_id)
        if log is None or log.record.deleted is not None:
            raise NotFound("There is no such chat.", chat_id=chat_id)
        return log

    def _visible(self) -> Iterable[ChatRecord]:
        return (log.record for log in self._chats.values() if log.record.deleted is None)


def _seq(event: StoredEvent) -> int:
    return event.seq


def _activity(record: ChatRecord) -> tuple[str, str | None]:
    return record.chat.updated, record.chat.id


def _cuts(log: _Log, include_cut: bool) -> list[Range]:
    return [] if include_cut else sorted(log.cuts)
