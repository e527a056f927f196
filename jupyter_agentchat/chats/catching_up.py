"""What an agent has missed in a chat because another one worked there since its own last run."""

from __future__ import annotations

from ..protocol.events import EventBody, RunStarted
from ..store.base import Store
from .transcript import visible_messages

PAGES = 20


def missed_messages(store: Store, chat_id: str, provider: str) -> list[tuple[str, str]]:
    """(role, text) of what was said since `provider`'s last run here, in order; [] when nobody
    else has run since.

    Reads backwards, `PAGES` pages at most: what lies before those is left out.
    """
    said: list[tuple[str | None, EventBody]] = []
    others = False
    before: int | None = None
    for _ in range(PAGES):
        page = store.events_before(chat_id, before, limit=500)
        for event in reversed(page.events):
            if event.type not in ("user", "assistant_text", "run_started"):
                continue
            body = event.body()
            if isinstance(body, RunStarted):
                if body.provider == provider:
                    return _messages(said, without=event.run_id) if others else []
                others = True
            elif body is not None:
                said.append((event.run_id, body))
        if not page.has_more:
            break
        before = page.first_seq
    return _messages(said, without=None) if others else []


def _messages(
    said: list[tuple[str | None, EventBody]], *, without: str | None
) -> list[tuple[str, str]]:
    kept = [body for run_id, body in reversed(said) if without is None or run_id != without]
    return visible_messages(kept)
