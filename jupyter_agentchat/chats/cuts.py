"""What a rewind cuts, read from the log: the range, its runs, and the prompt that comes back.

Rules: the cut begins at a `user` event that is visible, and takes everything after it. A message
that was put into a running turn cannot be cut out of it: then the whole turn goes, and what comes
back is its prompt together with what was said in the turn up to there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from ..errors import BadRequest, Stale
from ..protocol.controls import RestoredPrompt
from ..protocol.events import RewindUndone, Rewound, RunStarted, Session, User
from ..store.base import Store, StoredEvent

PAGE = 500
STACK_LIMIT = 1000
"""Events that are looked at for a rewind that can be undone: between two prompts there are few."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The events `from_seq..to_seq`, of which the visible ones belong to `runs` (oldest first)."""

    from_seq: int
    to_seq: int
    prompt: RestoredPrompt
    runs: tuple[str, ...] = ()
    runs_of: dict[str, list[str]] = field(default_factory=dict)
    """The same by provider."""


async def find_cut(store: Store, chat_id: str, seq: int) -> Cut:
    """The cut at `seq`. Raises BadRequest when that is no visible prompt, NotFound."""
    page = store.events_after(chat_id, seq - 1, limit=1)
    event = page.events[0] if page.events else None
    if event is None or event.seq != seq or event.type != "user":
        raise BadRequest("Only a prompt that is in the chat can be rewound to.", field="seq")
    turn = _turn_upto(store, event)
    to_seq = store.last_seq(chat_id)
    said = [body for item in turn if isinstance(body := item.body(), User)]
    prompt = RestoredPrompt(
        text="\n\n".join(body.text for body in said),
        attachments=[one for body in said for one in body.attachments],
    )
    runs_of: dict[str, list[str]] = {}
    runs: list[str] = []
    async for later in _from(store, chat_id, turn[0].seq):
        body = later.body() if later.type == "run_started" else None
        if isinstance(body, RunStarted) and later.run_id is not None:
            runs.append(later.run_id)
            runs_of.setdefault(body.provider, []).append(later.run_id)
    return Cut(turn[0].seq, to_seq, prompt, tuple(runs), runs_of)


def _turn_upto(store: Store, event: StoredEvent) -> list[StoredEvent]:
    """The events of the same run up to `event`, which is the last; alone when it has no run."""
    turn = [event]
    while event.run_id is not None:
        page = store.events_before(event.chat_id, turn[0].seq, limit=PAGE)
        own = [one for one in page.events if one.run_id == event.run_id]
        turn[:0] = own
        if len(own) < len(page.events) or not page.has_more:
            break
    return turn


async def _from(store: Store, chat_id: str, seq: int) -> AsyncIterator[StoredEvent]:
    """Visible events from `seq` on; others get their turn between two pages."""
    after = seq - 1
    while True:
        page = store.events_after(chat_id, after, limit=PAGE)
        for event in page.events:
            yield event
        if not page.has_more or page.last_seq is None:
            return
        after = page.last_seq
        await asyncio.sleep(0)


async def holds_session(
    store: Store, chat_id: str, provider: str, session_id: str, before: int
) -> bool:
    """Whether the provider's conversation had begun before `before`: else nothing of it is left
    by a cut there, and it would go on knowing nothing of what was said earlier."""
    upto: int | None = before
    while True:
        page = store.events_before(chat_id, upto, limit=PAGE)
        for event in reversed(page.events):
            body = event.body() if event.type == "session" else None
            if isinstance(body, Session) and body.provider == provider:
                return body.provider_session_id == session_id
        if not page.has_more:
            return False
        upto = page.first_seq
        await asyncio.sleep(0)


def last_rewind(store: Store, chat_id: str) -> Rewound:
    """The newest rewind that is not undone. Raises Stale when there is none since the last prompt:
    the agent may have worked on since."""
    page = store.events_before(chat_id, None, limit=STACK_LIMIT, include_cut=True)
    undone: set[tuple[int, int]] = set()
    for event in reversed(page.events):
        if event.type in ("user", "run_started"):
            break
        body = event.body() if event.type in ("rewound", "rewind_undone") else None
        if isinstance(body, RewindUndone):
            undone.add((body.from_seq, body.to_seq))
        elif isinstance(body, Rewound) and (body.from_seq, body.to_seq) not in undone:
            return body
    raise Stale("There is no rewind that can be undone: a prompt was sent since, or there is none.")


def can_undo(store: Store, chat_id: str) -> bool:
    """Whether `last_rewind` finds one."""
    try:
        last_rewind(store, chat_id)
    except Stale:
        return False
    return True


def prompt_at(store: Store, chat_id: str, seq: int) -> RestoredPrompt:
    """The prompt of the turn that begins at `seq`, cut or not; empty when it has none."""
    page = store.events_after(chat_id, seq - 1, limit=1, include_cut=True)
    body = page.events[0].body() if page.events else None
    if not isinstance(body, User):
        return RestoredPrompt(text="")
    return RestoredPrompt(text=body.text, attachments=body.attachments)
