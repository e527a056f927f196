"""The twin of the SQLite store that keeps nothing: for tests, and as the shortest description of
what a store does. Passes the same suite.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import LogMoved, NotFound
from ..protocol.base import now
from ..protocol.words import Outcome
from . import pages
from .chat_rows import PERSONAL, fold
from .leases import refuse_fenced
from .memory_log import Log
from .memory_people import MemoryPeople
from .memory_runs import MemoryRuns, without_secrets
from .pages import MAX_SEQ, list_limit, next_cursor, read_cursor
from .records import (
    ChatRecord,
    Draft,
    EventPage,
    FoundEvent,
    Lease,
    PersonMarks,
    StoredEvent,
    StoreHealth,
)
from .rows import Range, to_row
from .words import MAX_HITS, Phrase, matches, phrases, snippet, text_of, words


class MemoryStore(MemoryRuns, MemoryPeople):
    """A Store in dictionaries. Nothing of it survives the process.

    With a `health` that is not writable it stays empty and refuses every write, saying why.
    """

    def __init__(
        self, clock: Callable[[], str] = now, *, health: StoreHealth | None = None
    ) -> None:
        super().__init__(clock, health or StoreHealth())
        self.epoch = secrets.token_hex(8)
        self._trust = {}
        self._projects = set()
        self._selections = {}

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
        after: int | None = None,
    ) -> list[StoredEvent]:
        self.check_writable()
        rows = [to_row(draft) for draft in drafts]
        log, time = self.log(chat_id), self.clock()
        run = self._runs.get(run_id) if run_id is not None else None
        if run is None and not (offset is None and lease is None and outcome is None):
            raise NotFound("There is no such run.", run_id=run_id)
        if run is not None and lease is not None:
            refuse_fenced(run.run_id, run.lease, run.outcome, lease)
        if after is not None and after != log.last_seq:
            raise LogMoved(log.last_seq)
        if run is not None:
            if offset is not None:
                run = replace(run, spool_stored=offset)
            if outcome is not None:
                run = replace(run, outcome=outcome, ended=time)
            self._runs[run.run_id] = without_secrets(run)
        return log.write(run_id, time, rows)

    def events_after(
        self, chat_id: str, seq: int, *, limit: int = 1000, include_cut: bool = False
    ) -> EventPage:
        log = self.log(chat_id)
        return pages.page_after(log.rising, cuts_of(log, include_cut), seq, limit)

    def events_before(
        self, chat_id: str, seq: int | None, *, limit: int = 500, include_cut: bool = False
    ) -> EventPage:
        log = self.log(chat_id)
        return pages.page_before(log.falling, cuts_of(log, include_cut), seq, limit)

    def turns_before(
        self,
        chat_id: str,
        seq: int | None,
        *,
        turns: int,
        limit: int = 2000,
        include_cut: bool = False,
    ) -> EventPage:
        log = self.log(chat_id)
        cuts = cuts_of(log, include_cut)
        return pages.page_of_turns(log.falling, log.starts_falling, cuts, seq, turns, limit)

    def last_seq(self, chat_id: str) -> int:
        return self.log(chat_id).last_seq

    # ---- chats -----------------------------------------------------------------------------------

    def create_chat(self, record: ChatRecord) -> None:
        self.check_writable()
        if record.chat.id in self._chats:
            raise ValueError(f"chat {record.chat.id} exists")
        self._chats[record.chat.id] = Log(_kept(record.with_chat(last_seq=0)))

    def copy_events(self, from_chat: str, to_record: ChatRecord, upto_seq: int) -> int:
        source = self.log(from_chat)
        self.create_chat(to_record)
        copy = self.log(to_record.chat.id)
        source.copy_to(copy, upto_seq)
        return copy.last_seq

    def chat(self, chat_id: str) -> ChatRecord:
        log = self.log(chat_id)
        return log.record.with_chat(last_seq=log.last_seq)

    def save_chat(self, record: ChatRecord) -> None:
        self.check_writable()
        log = self.log(record.chat.id)
        kept = log.record.chat
        log.record = _kept(record.with_chat(last_seq=kept.last_seq, updated=kept.updated))

    def list_chats(
        self,
        *,
        username: str = "",
        project_path: str | None = None,
        archived: bool = False,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[list[ChatRecord], str | None]:
        self.check_open()
        limit, (updated, chat_id) = list_limit(limit), read_cursor(cursor)
        records = [
            replace(record, marks=marks)
            for log in self.visible()
            if (marks := log.marks.get(username, PersonMarks())).archived == archived
            and (record := log.record)
            and project_path in (None, record.project_path)
            and fold(query) in fold(record.chat.title)
            and (updated is None or _activity(record) < (updated, chat_id))
        ]
        records.sort(key=_activity, reverse=True)
        return records[:limit], next_cursor(records, limit)

    def delete_chat(self, chat_id: str, *, when: str) -> None:
        log = self.written(chat_id)
        log.record = replace(log.record, deleted=when)

    def trashed(self, chat_id: str) -> ChatRecord:
        return self._trashed(chat_id).record

    def trash(self) -> list[ChatRecord]:
        self.check_open()
        found = [log.record for log in self._chats.values() if log.record.deleted is not None]
        found.sort(key=lambda record: record.chat.id)
        found.sort(key=lambda record: record.deleted or "", reverse=True)
        return found[:500]

    def restore_chat(self, chat_id: str) -> None:
        self.check_writable()
        log = self._trashed(chat_id)
        log.record = replace(log.record, deleted=None)
        if log.queue:
            log.pause = "by_hand"

    def purge_trash(self, before: str, *, limit: int = 10_000) -> list[str]:
        self.check_writable()
        running = {run.chat_id for run in self.open_runs()}
        gone = [
            chat_id
            for chat_id, log in self._chats.items()
            if (log.record.deleted or before) < before and chat_id not in running
        ][: max(limit, 0)]
        for chat_id in gone:
            del self._chats[chat_id]
        self._runs = {key: run for key, run in self._runs.items() if run.chat_id not in gone}
        return gone

    def _trashed(self, chat_id: str) -> Log:
        self.check_open()
        log = self._chats.get(chat_id)
        if log is None or log.record.deleted is None:
            raise NotFound("There is no such chat in the trash.", chat_id=chat_id)
        return log

    # ---- search ----------------------------------------------------------------------------------

    def search(
        self, query: str, *, project_paths: Sequence[str | None] | None, limit: int
    ) -> list[FoundEvent]:
        """Titles first, then in falling order of time."""
        wanted = phrases(query)
        hits = [
            hit
            for log in self.visible()
            if project_paths is None or log.record.project_path in project_paths
            for hit in _hits(log, wanted)
        ]
        hits.sort(key=lambda hit: (hit.seq == 0, hit.time, hit.seq), reverse=True)
        return hits[: min(max(limit, 1), MAX_HITS)]


def _hits(log: Log, wanted: list[Phrase]) -> list[FoundEvent]:
    """Everything in a chat that has the words."""
    chat = log.record.chat
    if not wanted:
        return []
    hits = []
    title = words(chat.title)
    if matches(wanted, title):
        line = snippet(chat.title, wanted)
        hits.append(FoundEvent(chat.id, 0, chat.title, line, chat.updated))
    for event in log.visible(MAX_SEQ):
        if matches(wanted, log.words.get(event.seq, [])):
            line = snippet(text_of(event.type, event.body_json), wanted)
            hits.append(FoundEvent(chat.id, event.seq, chat.title, line, event.time))
    return hits


def _kept(record: ChatRecord) -> ChatRecord:
    """What is stored of a record: nothing that is a person's, and no mark of the trash."""
    return replace(record.with_chat(**dict.fromkeys(PERSONAL, False)), deleted=None, marks=None)


def _activity(record: ChatRecord) -> tuple[str, str | None]:
    return record.chat.updated, record.chat.id


def cuts_of(log: Log, include_cut: bool) -> list[Range]:
    return [] if include_cut else sorted(log.cuts)
