"""What an agent has missed in a chat because another one worked there since its own last run."""

from __future__ import annotations

from ..protocol.events import EventBody
from ..store.base import Store
from .transcript import visible_messages

PAGES = 20
_PAGE = 100


def missed_messages(
    store: Store, chat_id: str, provider: str, limit_bytes: int
) -> list[tuple[str, str]]:
    """(role, text) of what was said since `provider`'s last run here, in order; [] when nobody
    else has run since.

    Reads backwards, and no further than about twice `limit_bytes` of words, or PAGES pages. The
    common case, that the last run was its own, costs one event.
    """
    said: list[EventBody] = []
    providers: dict[str, str | None] = {}
    size, before, count = 0, None, 1
    for _ in range(PAGES):
        page = store.events_before(chat_id, before, limit=count)
        for event in reversed(page.events):
            if event.run_id is not None and event.run_id not in providers:
                run = store.run(event.run_id)
                providers[event.run_id] = run.provider if run else None
                if run is not None and run.provider == provider:
                    return _messages(said)
            body = event.body() if event.type in ("user", "assistant_text") else None
            if body is not None:
                said.append(body)
                size += len(event.body_json)
        if not page.has_more or size > 2 * limit_bytes:
            break
        before, count = page.first_seq, _PAGE
    return _messages(said)


def _messages(said: list[EventBody]) -> list[tuple[str, str]]:
    return visible_messages(reversed(said))
