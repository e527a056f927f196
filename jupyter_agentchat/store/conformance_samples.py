"""What the checks of the suite share: sample chats and events, and comparing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from ..protocol.base import now
from ..protocol.events import AssistantText, Notice, RunStarted, User
from ..protocol.resources import Author, Chat
from .base import Store
from .records import ChatRecord, Draft, Lease, QueuedPrompt, RunRecord, StoredEvent

Factory = Callable[[], Store]
T = TypeVar("T")

OWNER = Author(username="owner", name="Owner")


class ConformanceError(AssertionError):
    """A promise that a store did not keep."""


def equal(found: T, expected: T, what: str = "") -> None:
    """Raises ConformanceError unless both are equal."""
    if found != expected:
        raise ConformanceError(f"{what}: expected {expected!r}, found {found!r}")


def true(condition: object, what: str) -> None:
    """Raises ConformanceError unless `condition` holds."""
    if not condition:
        raise ConformanceError(what)


@contextmanager
def refused(kind: type[Exception]) -> Iterator[None]:
    """The body must raise `kind`."""
    try:
        yield
    except kind:
        return
    raise ConformanceError(f"{kind.__name__} was not raised")


@contextmanager
def opened(make: Factory, *chat_ids: str) -> Iterator[Store]:
    """A store with these chats, closed at the end."""
    store = make()
    try:
        for chat_id in chat_ids:
            store.create_chat(record(chat_id))
        yield store
    finally:
        store.close()


def record(chat_id: str, *, project_path: str | None = None, **fields: object) -> ChatRecord:
    """A chat; `fields` are those of Chat."""
    times = {"created": now(), "updated": now()}
    chat = Chat.model_validate({"id": chat_id, **times, **fields})
    return ChatRecord(chat, project_path=project_path, loose=project_path is None)


def prompt(text: str = "Hello", client_id: str = "c") -> Draft:
    """A `user` event: a turn begins."""
    return Draft(User(text=text, author=OWNER, client_id=client_id))


def started() -> Draft:
    """A `run_started` that a prompt caused."""
    return Draft(RunStarted(provider="tour"))


def delta(item_id: str, text: str = "x") -> Draft:
    """A piece of an answer."""
    return Draft(AssistantText(item_id=item_id, delta=text))


def final(item_id: str, text: str, replaces: tuple[int, int] | None = None) -> Draft:
    """The whole of an answer, which drops its pieces."""
    first = replaces[0] if replaces else None
    body = AssistantText(item_id=item_id, text=text, final=True, first_seq=first)
    return Draft(body, replaces=replaces)


def notice(text: str = "n") -> Draft:
    """An event of no consequence."""
    return Draft(Notice(code="sample", text=text))


def run_of(chat_id: str, run_id: str, lease: Lease | None = None) -> RunRecord:
    """A run, not yet started."""
    return RunRecord(run_id, chat_id, "tour", lease=lease)


def queued(chat_id: str, item_id: str, text: str = "Next") -> QueuedPrompt:
    """A prompt of the owner that waits."""
    return QueuedPrompt(
        id=item_id,
        chat_id=chat_id,
        client_id=f"client-{item_id}",
        text=text,
        attachments=(),
        username=OWNER.username,
        name=OWNER.name,
        created="2026-01-01T00:00:00.000Z",
        permission="ask",
    )


def seqs(events: Sequence[StoredEvent]) -> list[int]:
    """The seqs of a page."""
    return [event.seq for event in events]
