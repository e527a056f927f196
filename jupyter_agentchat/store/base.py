"""The seam of storage: EventStore (the log), ChatStore (metadata, runs, children, trust) and
QueueStore (prompts that wait, drafts). The values they speak in are in `records`.

Both are implemented by `sqlite` and by `memory` (the twin for tests); `conformance` holds the suite
that both pass. All methods are synchronous on purpose: a commit costs 12-15 µs, and a synchronous
append makes "append -> seq -> publish" one step on the event loop, with no lock to forget.

Every method raises StorageError when the medium fails (disk full, read-only, corrupt) and leaves
what was stored before untouched; NotFound for an unknown chat.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..protocol.words import Outcome
from .records import (
    ChatRecord,
    ChildRecord,
    Draft,
    DraftRecord,
    EventPage,
    FoundEvent,
    Lease,
    PersonMarks,
    QueuedPrompt,
    QueueSize,
    RunRecord,
    StoredEvent,
    StoreHealth,
    TrustRecord,
)

__all__ = [
    "ChatRecord",
    "ChatStore",
    "ChildRecord",
    "Draft",
    "DraftRecord",
    "EventPage",
    "EventStore",
    "FoundEvent",
    "Lease",
    "PersonMarks",
    "QueueSize",
    "QueueStore",
    "QueuedPrompt",
    "RunRecord",
    "Store",
    "StoreHealth",
    "StoredEvent",
    "TrustRecord",
]


class EventStore(Protocol):
    """The append-only log of every chat."""

    @property
    def epoch(self) -> str:
        """Changes when the store was replaced or restored: clients load anew."""
        ...

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
        """Store `drafts` in one transaction and return them with their seqs, in order.

        In the same transaction: the run's `spool_stored` becomes `offset`; rows named by
        `replaces` are dropped (only deltas of that item); the chat's counters are moved;
        with `outcome` the run is closed. `durable` also survives power loss (FULL): for what a
        person was promised (prompt, ask, answer, complete). Seqs are consecutive from
        `last_seq` + 1, which the drafts may hold themselves: with `after`, LogMoved is raised
        when that is not `last_seq`. A `rewound` hides its range and a `rewind_undone` shows it
        again. Raises Busy when `lease` has been taken over or its run is closed, NotFound for an
        unknown chat (or run, with `offset`, `lease` or `outcome`), StorageError when nothing could
        be stored.
        """
        ...

    def events_after(
        self, chat_id: str, seq: int, *, limit: int = 1000, include_cut: bool = False
    ) -> EventPage:
        """Oldest first, seq > `seq`; without what a rewind cut, unless `include_cut`. O(page)."""
        ...

    def events_before(
        self, chat_id: str, seq: int | None, *, limit: int = 500, include_cut: bool = False
    ) -> EventPage:
        """The last `limit` events below `seq` (None: from the end), in rising order. O(page)."""
        ...

    def turns_before(
        self,
        chat_id: str,
        seq: int | None,
        *,
        turns: int,
        limit: int = 2000,
        include_cut: bool = False,
    ) -> EventPage:
        """Whole turns backwards: the page begins at a turn's first event. A turn begins at a
        `user` event, or at a `run_started` with origin provider. At most `limit` events, but at
        least one whole turn (a turn longer than `limit` is cut at its beginning)."""
        ...

    def last_seq(self, chat_id: str) -> int:
        """The highest seq so far, 0 for an empty log. One look-up. Raises NotFound."""
        ...


class ChatStore(Protocol):
    """Chats and everything about runs that must survive the server."""

    def create_chat(self, record: ChatRecord) -> None: ...
    def chat(self, chat_id: str) -> ChatRecord:
        """Raises NotFound, also for a deleted one."""
        ...

    def save_chat(self, record: ChatRecord) -> None:
        """Replace the metadata. `last_seq` and `updated` are the log's own and are not touched."""
        ...

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
        """Newest activity first, with the cursor of the next page. Reads no event.

        `project_path` None means every chat; `archived` chooses one kind, as `username` has put
        them away; `query` is looked for in titles, whatever the case. Each record has the `marks`
        of `username`; pinned ones stand where their activity puts them. Here `updated` and
        `last_seq` stand at the last event that is not streamed (deltas, tool output as it comes).
        Raises BadRequest for a cursor not of ours.
        """
        ...

    def marks(self, chat_id: str, username: str) -> PersonMarks:
        """What this person has read, pinned, put away; nothing at first."""
        ...

    def save_marks(self, chat_id: str, username: str, marks: PersonMarks) -> None: ...

    def delete_chat(self, chat_id: str, *, when: str) -> None:
        """Into the trash: gone from everywhere but `trashed`, and not from the disk."""
        ...

    def trashed(self, chat_id: str) -> ChatRecord:
        """A chat in the trash. Raises NotFound when it is not there."""
        ...

    def trash(self) -> list[ChatRecord]:
        """What lies in the trash, latest first, at most 500."""
        ...

    def restore_chat(self, chat_id: str) -> None:
        """Out of the trash, as it was; prompts that wait in its queue wait for a person now.
        Raises NotFound when it is not in the trash."""
        ...

    def purge_trash(self, before: str, *, limit: int = 10_000) -> list[str]:
        """Remove for good what was put into the trash before this time, with all that belongs to
        it, at most `limit` chats; returns their ids. A chat whose run is not closed stays until it
        is. Takes some 30 ms a chat: ask for one at a time where others wait."""
        ...

    def copy_events(self, from_chat: str, to_record: ChatRecord, upto_seq: int) -> int:
        """Make the chat `to_record` with a copy of what is visible in `from_chat` up to `upto_seq`,
        in one transaction; returns the new chat's last seq.

        Seqs begin anew at 1, in the same order, and `first_seq` of finals follows; times and run
        ids stay, the blobs they name are copied. `rewound` and `rewind_undone` are left out: what
        they hid is not there. Runs, queue, marks and drafts are not copied. Raises NotFound for an
        unknown `from_chat`, ValueError when the new id is taken.
        """
        ...

    def search(
        self, query: str, *, project_paths: Sequence[str | None] | None, limit: int
    ) -> list[FoundEvent]:
        """Prompts, answers, titles of chats, titles and paths of tool calls that have every word of
        `query`; the last one may be the beginning of a word. Titles first, then from the newest
        event on; at most 200.

        `project_paths` None means every chat, and None in it those without a project. Words are
        compared without case and accents; see `words`. Never what is deleted or cut. Just after an
        upgrade older events may be missing: they are indexed step by step. Raises Unsupported when
        this SQLite cannot search.
        """
        ...

    def find_prompt(self, chat_id: str, username: str, client_id: str) -> dict[str, object] | None:
        """The answer that was given for this `client_id` before, or None."""
        ...

    def remember_prompt(
        self, chat_id: str, username: str, client_id: str, answer: dict[str, object]
    ) -> None:
        """Keep the answer for a resend; the first one stays."""
        ...

    def start_run(
        self, run: RunRecord, drafts: Sequence[Draft], *, queued: str | None = None
    ) -> list[StoredEvent]:
        """The run's row and its first events (`user`, `run_started`) in one durable transaction.

        With `run.client_id` and a `user` event the prompt is remembered in the same transaction as
        answered by `{"run_id": ...}`, so that a resend after a crash runs nothing twice. `started`
        and `first_seq` are filled where they are not given. Raises Busy when the chat has a run
        that is not closed, or when this prompt was accepted before (`details` has `run_id` or
        `queue_item`).

        `queued` is the queue item that this run takes: it leaves the queue in the same transaction,
        and its prompt is from then on answered by the run. NotFound when it is gone (another server
        took it, or a person removed it); nothing is stored then.
        """
        ...

    def run(self, run_id: str) -> RunRecord | None: ...
    def save_run(self, run: RunRecord) -> None:
        """Replace a run's row. Raises NotFound for a run that was never started, and Busy when
        another server has taken it over: a take-over is a save with the epoch one higher, and of
        two that try only one wins."""
        ...

    def open_runs(self) -> list[RunRecord]:
        """Runs without an outcome, oldest first."""
        ...

    def save_child(self, child: ChildRecord) -> None: ...
    def forget_child(self, child_id: str) -> None: ...
    def children(self) -> list[ChildRecord]: ...

    def trust(self, username: str, path: str) -> TrustRecord | None: ...
    def save_trust(self, record: TrustRecord) -> None: ...
    def projects(self) -> list[tuple[str, int]]:
        """(absolute path, number of chats) of every project that has one or was named."""
        ...

    def add_project(self, path: str) -> None: ...

    def selection(self, username: str) -> dict[str, object]:
        """The person's last choice of provider, model, effort, tier; defaults for new chats."""
        ...

    def save_selection(self, username: str, selection: dict[str, object]) -> None: ...

    def put_blob(self, chat_id: str, data: bytes, mime: str) -> str:
        """Keep bytes beside the log; returns the blob id."""
        ...

    def blob(self, chat_id: str, blob_id: str) -> tuple[bytes, str]:
        """(data, mime). Raises NotFound."""
        ...


class QueueStore(Protocol):
    """What persons have typed and no agent has yet got: prompts that wait, and drafts."""

    def queue(self, chat_id: str) -> list[QueuedPrompt]:
        """In the order in which they are to run."""
        ...

    def queued_chats(self) -> list[str]:
        """Chats, not in the trash, in whose queue something waits (also where it is paused)."""
        ...

    def queue_sizes(self, chat_ids: Sequence[str]) -> dict[str, QueueSize]:
        """How much waits in each of these chats, by their ids, in one look; those in whose queue
        nothing waits are left out, and so are unknown ones."""
        ...

    def enqueue(self, item: QueuedPrompt) -> None:
        """At the end, durably; the prompt is remembered in the same transaction as answered by
        `{"queue_item": id}`. Raises Busy when it was accepted before (`details` has `run_id` or
        `queue_item`), ValueError when the id is taken."""
        ...

    def save_queued(self, item: QueuedPrompt) -> None:
        """Replace `text`, `expect` and `held_reason`, nothing else. Raises NotFound when it is
        gone."""
        ...

    def unqueue(self, chat_id: str, item_id: str) -> QueuedPrompt:
        """Take it out; its prompt stays remembered. Raises NotFound when it is gone."""
        ...

    def order_queue(self, chat_id: str, ids: Sequence[str]) -> None:
        """Raises Stale (`details.order`) when `ids` are not exactly those of the queue."""
        ...

    def queue_pause(self, chat_id: str) -> str | None:
        """Why the queue waits for a person; None when it does not."""
        ...

    def pause_queue(self, chat_id: str, reason: str | None) -> None:
        """Pause it, durably, or (None) let it go on."""
        ...

    def draft(self, chat_id: str, username: str) -> DraftRecord:
        """What this person has typed here; revision 0 when nothing was kept."""
        ...

    def save_draft(
        self, chat_id: str, username: str, text: str, attachments_json: str, revision: int
    ) -> int:
        """Replace the draft that has `revision`; returns the new one's, one higher. Raises Stale
        (`details.revision`) when another was kept meanwhile."""
        ...


class Store(EventStore, ChatStore, QueueStore, Protocol):
    """One object that is all three; `close` flushes and may be called twice."""

    @property
    def health(self) -> StoreHealth: ...
    def close(self) -> None: ...
