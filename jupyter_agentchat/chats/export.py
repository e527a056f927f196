"""A chat as a file: every event as JSON Lines, or the conversation as Markdown. In pages: a chat of
any length is never held whole."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Final, Literal

from ..protocol.events import EventBody
from ..protocol.resources import Chat
from ..store.base import EventPage, Store
from .markdown import ChatMarkdown

Format = Literal["jsonl", "md"]
MIME: Final[dict[Format, str]] = {"jsonl": "application/x-ndjson", "md": "text/markdown"}
PAGE: Final = 500


def export_jsonl(store: Store, chat: Chat, *, include_cut: bool = False) -> Iterator[str]:
    """`{"type": "chat", ...Chat}`, then each stored event as it stands on the wire, a line each.

    Yields text in pieces. Raises NotFound when the chat goes meanwhile.
    """
    yield json.dumps({"type": "chat", **chat.model_dump(mode="json")}) + "\n"
    for page in _pages(store, chat.id, include_cut):
        yield "".join(event.wire_json(with_chat=True) + "\n" for event in page.events)


def export_markdown(
    store: Store,
    chat: Chat,
    *,
    include_cut: bool = False,
    name_of: Callable[[str], str] = str,
) -> Iterator[str]:
    """The conversation for reading; see `ChatMarkdown`. Yields and raises like `export_jsonl`."""
    document = ChatMarkdown(name_of)
    yield document.heading(chat)
    for page in _pages(store, chat.id, include_cut):
        for event in page.events:
            body: EventBody | None = event.body()
            if body is not None:  # what this version does not know is in the JSON Lines
                yield document.event(event.seq, event.time, body)
    yield document.end()


def file_name(chat: Chat, form: Format) -> str:
    """A name for the download, ASCII only: it stands in a header."""
    words = "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in chat.title)
    return f"{'-'.join(words.split())[:60] or 'chat'}-{chat.id}.{form}"


def _pages(store: Store, chat_id: str, include_cut: bool) -> Iterator[EventPage]:
    after = 0
    while True:
        page = store.events_after(chat_id, after, limit=PAGE, include_cut=include_cut)
        if page.events:
            yield page
        if not page.has_more or page.last_seq is None:
            return
        after = page.last_seq
