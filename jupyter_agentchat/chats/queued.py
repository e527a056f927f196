"""A queued prompt as it is stored and as clients see it, and how many of them may wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ..errors import RateLimited, TooLarge
from ..protocol.controls import Queue, QueueItem
from ..protocol.resources import Attachment, Author
from ..protocol.words import QueuePause
from ..store.base import QueuedPrompt, Store

ITEMS_LIMIT = 100
TEXT_LIMIT_BYTES = 4 * 1024 * 1024
"""Of all items of a chat together: every client gets the whole queue at each change."""


def queue_of(store: Store, chat_id: str) -> Queue:
    """A chat's queue as it is stored, also of one in the trash."""
    reason = cast("QueuePause | None", store.queue_pause(chat_id))
    return Queue(
        queue=[wire_item(item) for item in store.queue(chat_id)],
        paused=reason is not None,
        pause_reason=reason,
    )


def wire_item(item: QueuedPrompt) -> QueueItem:
    """An item as clients see it."""
    return QueueItem(
        id=item.id,
        client_id=item.client_id,
        text=item.text,
        attachments=[Attachment.model_validate(one) for one in item.attachments],
        author=Author(username=item.username, name=item.name),
        created=item.created,
        held_reason=item.held_reason,
    )


def stored_item(chat_id: str, item: QueueItem, known: QueuedPrompt | None) -> QueuedPrompt:
    """A cleared item as it was. After a restart its permission is not known: a safe one."""
    return QueuedPrompt(
        id=item.id,
        chat_id=chat_id,
        client_id=item.client_id,
        text=item.text,
        attachments=tuple(one.model_dump(mode="json") for one in item.attachments),
        username=item.author.username,
        name=item.author.name,
        created=item.created,
        permission=known.permission if known else "ask",
        expect=known.expect if known else None,
    )


def check_room(waiting: Sequence[QueuedPrompt], text: str) -> None:
    """Whether `text` finds room behind `waiting`. Raises RateLimited, TooLarge."""
    if len(waiting) >= ITEMS_LIMIT:
        raise RateLimited(f"The queue is full: {ITEMS_LIMIT} prompts wait.", limit=ITEMS_LIMIT)
    size = len(text.encode()) + sum(len(item.text.encode()) for item in waiting)
    if size > TEXT_LIMIT_BYTES:
        raise TooLarge("The queue would hold too much text.", limit_bytes=TEXT_LIMIT_BYTES)
