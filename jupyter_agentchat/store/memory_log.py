"""One chat in memory: its record, its log, and what else belongs to it and goes with it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, field

from .copying import CopiedEvent, blobs_of, numbered_anew
from .pages import visible_ranges
from .records import ChatRecord, DraftRecord, PersonMarks, QueuedPrompt, StoredEvent
from .rows import Range, Row


@dataclass(slots=True)
class Log:
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
    words: dict[int, list[str]] = field(default_factory=dict)
    prompts: dict[tuple[str, str], dict[str, object]] = field(default_factory=dict)
    queue: dict[str, QueuedPrompt] = field(default_factory=dict)
    pause: str | None = None
    marks: dict[str, PersonMarks] = field(default_factory=dict)
    drafts: dict[str, DraftRecord] = field(default_factory=dict)

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
            if row.words:
                self.words[seq] = row.words.split(" ")
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

    def visible(self, upto_seq: int) -> list[StoredEvent]:
        """What no rewind has cut, in order."""
        ranges = visible_ranges(self.cuts, 1, upto_seq)
        return [event for first, last in ranges for event in self._between(first, last)]

    def copy_to(self, other: Log, upto_seq: int) -> None:
        """Fill `other`, which is new, as EventStore.copy_events says."""
        copied = numbered_anew(
            [
                CopiedEvent(
                    e.seq, e.seq, e.time, e.run_id, e.type, self.items.get(e.seq), e.body_json
                )
                for e in self.visible(upto_seq)
            ]
        )
        numbers = {event.from_seq: event.seq for event in copied}
        chat_id, lasting = other.record.chat.id, 0
        for e in copied:
            other.events.append(StoredEvent(chat_id, e.seq, e.time, e.run_id, e.type, e.body_json))
            if e.item_id is not None:
                other.items[e.seq] = e.item_id
            elif e.type != "tool_use_update":
                lasting = e.seq
        other.starts = [numbers[seq] for seq in self.starts if seq in numbers]
        other.words = {numbers[seq]: found for seq, found in self.words.items() if seq in numbers}
        other.blobs = {
            blob_id: self.blobs[blob_id] for blob_id in blobs_of(copied) & set(self.blobs)
        }
        other.last_seq = copied[-1].seq if copied else 0
        other.record = other.record.with_chat(last_seq=lasting)


def _seq(event: StoredEvent) -> int:
    return event.seq
