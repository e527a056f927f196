"""The seam of storage: EventStore (the log) and ChatStore (metadata, runs, children, trust).

Both are implemented by `sqlite` and by `memory` (the twin for tests); `conformance` holds the suite
that both pass. All methods are synchronous on purpose: a commit costs 12-15 µs, and a synchronous
append makes "append -> seq -> publish" one step on the event loop, with no lock to forget.

Every method raises StorageError when the medium fails (disk full, read-only, corrupt) and leaves
what was stored before untouched; NotFound for an unknown chat.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, Protocol

from pydantic import ValidationError

from ..protocol.events import EVENT_BODY, EventBody
from ..protocol.resources import Chat
from ..protocol.words import Outcome

__all__ = [
    "ChatRecord",
    "ChatStore",
    "ChildRecord",
    "Draft",
    "EventPage",
    "EventStore",
    "Lease",
    "RunRecord",
    "Store",
    "StoreHealth",
    "StoredEvent",
    "TrustRecord",
]


@dataclass(frozen=True, slots=True)
class Draft:
    """A body on its way into the log.

    `replaces` is set on a final: the seqs (first, last) of the deltas of the same `item_id` that
    the same transaction drops.
    """

    body: EventBody
    replaces: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One row of the log. `body_json` is the body as stored: encoded once, sent as it is.

    It is not parsed here: a type that this version does not know is shown by the generic view.
    """

    chat_id: str
    seq: int
    time: str
    run_id: str | None
    type: str
    body_json: str

    def wire_json(self, *, with_chat: bool = False) -> str:
        """The flat ChatEvent as JSON text; `chat_id` only where no frame carries it."""
        chat = f'"chat_id":{json.dumps(self.chat_id)},' if with_chat else ""
        run = json.dumps(self.run_id)
        return f'{{{chat}"seq":{self.seq},"time":"{self.time}","run_id":{run},{self.body_json[1:]}'

    def body(self) -> EventBody | None:
        """The typed body, or None when this version does not know it (or it does not validate)."""
        try:
            return EVENT_BODY.validate_json(self.body_json)  # type: ignore[no-any-return]
        except ValidationError:
            return None


@dataclass(frozen=True, slots=True)
class EventPage:
    """Events in seq order; `has_more` says that the direction asked for goes on."""

    events: tuple[StoredEvent, ...]
    has_more: bool

    @property
    def first_seq(self) -> int | None:
        return self.events[0].seq if self.events else None

    @property
    def last_seq(self) -> int | None:
        return self.events[-1].seq if self.events else None


@dataclass(frozen=True, slots=True)
class Lease:
    """Which server may write a run. `epoch` rises with each takeover; writes are fenced by it."""

    holder: str
    epoch: int


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run. `spool_first` and `spool_stored` are byte offsets of the child's output: where the
    run's first line begins, and up to where events were stored (same transaction as they)."""

    run_id: str
    chat_id: str
    provider: str
    child_id: str | None = None
    client_id: str | None = None
    first_seq: int = 0
    spool_first: int = 0
    spool_stored: int = 0
    outcome: Outcome | None = None
    started: str = ""
    ended: str | None = None
    lease: Lease | None = None


@dataclass(frozen=True, slots=True)
class ChildRecord:
    """One child process: identity is (pid, start time, boot id), never a pid alone."""

    child_id: str
    provider: str
    scope: Literal["chat", "server"]
    chat_id: str | None
    pid: int
    start_time: str
    boot_id: str
    pgid: int
    directory: str = ""
    argv0: str = ""
    holder: str = ""


@dataclass(frozen=True, slots=True)
class TrustRecord:
    """A person's decision on one real path; valid only for `digest`."""

    username: str
    path: str
    digest: str
    trusted: bool
    decided: str


@dataclass(frozen=True, slots=True)
class StoreHealth:
    """`writable` False: the extension is read-only, `notice` says why and what to do."""

    writable: bool = True
    notice: str | None = None


@dataclass(frozen=True, slots=True)
class ChatRecord:
    """A chat as stored: the wire's Chat plus what only the server needs.

    `project_path` is the absolute real path (None when loose), so that starting Lab one folder
    deeper hides nothing. `chat.state`, `chat.unread`, `chat.effective_permission` and
    `chat.project` are derived at reading time and are not authoritative here.
    """

    chat: Chat
    project_path: str | None = None
    loose: bool = False
    deleted: str | None = None
    auto_title: bool = True
    permission_before_full_auto: str | None = None
    read_seq: dict[str, int] = field(default_factory=dict)

    def with_chat(self, **changes: object) -> ChatRecord:
        """A copy with fields of `chat` changed."""
        return replace(self, chat=self.chat.model_copy(update=changes))


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
    ) -> list[StoredEvent]:
        """Store `drafts` in one transaction and return them with their seqs, in order.

        In the same transaction: the run's `spool_stored` becomes `offset`; rows named by
        `replaces` are dropped (only deltas of that item); the chat's counters are moved;
        with `outcome` the run is closed. `durable` also survives power loss (FULL): for what a
        person was promised (prompt, ask, answer, complete). Seqs are consecutive from
        `last_seq` + 1. A `rewound` hides its range and a `rewind_undone` shows it again. Raises
        Busy when `lease` has been taken over or its run is closed, NotFound for an unknown chat
        (or run, with `offset`, `lease` or `outcome`), StorageError when nothing could be stored.
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
        project_path: str | None = None,
        archived: bool = False,
        query: str = "",
        limit: int = 100,
        cursor: str | None = None,
    ) -> tuple[list[ChatRecord], str | None]:
        """Newest activity first, with the cursor of the next page. Reads no event.

        `project_path` None means every chat; `archived` chooses one kind; `query` is looked for in
        titles, whatever the case. Here `updated` and `last_seq` stand at the last event that is not
        streamed (deltas, tool output as it comes). Raises BadRequest for a cursor not of ours.
        """
        ...

    def delete_chat(self, chat_id: str, *, when: str) -> None:
        """Into the trash."""
        ...

    def find_prompt(self, chat_id: str, username: str, client_id: str) -> dict[str, object] | None:
        """The answer that was given for this `client_id` before, or None."""
        ...

    def remember_prompt(
        self, chat_id: str, username: str, client_id: str, answer: dict[str, object]
    ) -> None:
        """Keep the answer for a resend; the first one stays."""
        ...

    def start_run(self, run: RunRecord, drafts: Sequence[Draft]) -> list[StoredEvent]:
        """The run's row and its first events (`user`, `run_started`) in one durable transaction.

        With `run.client_id` and a `user` event the prompt is remembered in the same transaction as
        answered by `{"run_id": ...}`, so that a resend after a crash runs nothing twice. `started`
        and `first_seq` are filled where they are not given. Raises Busy when the chat has a run
        that is not closed, or when this prompt was accepted before (`details.run_id` names it).
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


class Store(EventStore, ChatStore, Protocol):
    """One object that is both; `close` flushes and may be called twice."""

    @property
    def health(self) -> StoreHealth: ...
    def close(self) -> None: ...
