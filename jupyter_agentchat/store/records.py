"""What a store keeps and gives back: events on their way in and out, chats, runs, queue, marks.

All are values: frozen, compared by content, none of them knows its store.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import ValidationError

from ..protocol.events import EVENT_BODY, EventBody
from ..protocol.resources import Chat
from ..protocol.words import Outcome, Permission


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
    run's first line begins, and up to where events were stored (same transaction as they).

    `request` and `context` are JSON texts of the run's room: what the next server needs to attach
    to it. They hold the prompt, and are emptied in the transaction that stores the outcome."""

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
    request: str = ""
    context: str = ""


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
    `chat.project` are derived at reading time and are not authoritative here. `chat.pinned` and
    `chat.archived` are a person's (PersonMarks): they are not stored with the chat. `marks` is set
    by `list_chats` only: those of the person it was asked for.
    """

    chat: Chat
    project_path: str | None = None
    loose: bool = False
    deleted: str | None = None
    auto_title: bool = True
    permission_before_full_auto: str | None = None
    marks: PersonMarks | None = None

    def with_chat(self, **changes: object) -> ChatRecord:
        """A copy with fields of `chat` changed."""
        return replace(self, chat=self.chat.model_copy(update=changes))


@dataclass(frozen=True, slots=True)
class PersonMarks:
    """What one person has done with a chat: read up to `read_seq`, pinned it, put it away."""

    read_seq: int = 0
    pinned: bool = False
    archived: bool = False


@dataclass(frozen=True, slots=True)
class QueuedPrompt:
    """A prompt that waits in its chat's queue, with who sent it and what they were allowed.

    `permission` is the one in force when it was sent, `expect` what its sender saw; both are judged
    again when it is its turn. `held_reason`: why it could not be sent last time.
    """

    id: str
    chat_id: str
    client_id: str
    text: str
    attachments: tuple[dict[str, Any], ...]
    username: str
    name: str
    created: str
    permission: Permission
    expect: dict[str, Any] | None = None
    held_reason: str | None = None


@dataclass(frozen=True, slots=True)
class QueueSize:
    """How many prompts wait in a chat, and whether they wait for a person."""

    count: int = 0
    paused: bool = False


@dataclass(frozen=True, slots=True)
class DraftRecord:
    """What a person has typed and not sent. `revision` 0: nothing was ever kept."""

    text: str = ""
    attachments_json: str = "[]"
    revision: int = 0


@dataclass(frozen=True, slots=True)
class FoundEvent:
    """An event that a search found; `seq` 0 is the chat's title.

    The matches in `snippet` stand between U+E000 and U+E001.
    """

    chat_id: str
    seq: int
    title: str
    snippet: str
    time: str
