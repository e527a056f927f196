"""Forks: a new chat that begins as a copy of another, which stays as it is to the last byte.

The agent follows natively where it can copy its own conversation and the fork is made at its end
(`Chat.fork_pending`, used up by the next run); otherwise the new chat begins with a transcript.
"""

from __future__ import annotations

import re
import secrets
from typing import Final, Protocol

from ..errors import AgentChatError, BadRequest, StorageError
from ..protocol.base import now
from ..protocol.controls import ForkRequest
from ..protocol.events import Complete, EventBody, Forked, RunStarted
from ..protocol.resources import Chat, ChatParent, ChatUsage
from ..providers.base import Adapter
from ..runs.tracker import RunTracker
from ..store.base import ChatRecord, Draft, Store, StoredEvent
from .access import Caller
from .lineage import ends_at, finished_upto
from .policies import Policies
from .service import ChatService

TITLE_LIMIT: Final = 300
PAGE: Final = 500
_NUMBERED: Final = re.compile(r"^(.*) \(fork(?: (\d{1,6}))?\)$", re.DOTALL)


class Agents(Protocol):
    """The part of the provider registry that is needed here."""

    async def adapter(self, provider_id: str) -> Adapter: ...


class Forks:
    """See the module."""

    def __init__(
        self, store: Store, chats: ChatService, agents: Agents, policies: Policies
    ) -> None:
        self._store = store
        self._chats = chats
        self._agents = agents
        self._policies = policies

    async def fork(self, chat_id: str, caller: Caller, asked: ForkRequest) -> Chat:
        """Make the copy: up to `after_seq`, in any case without a run that goes on.

        Raises NotFound, BadRequest (`after_seq` is beyond the log), StorageError.
        """
        self._store.chat(chat_id)
        health = self._store.health
        if not health.writable:
            raise StorageError(health.notice or "The store is read-only.")
        forkable = await self._forkable(self._store.chat(chat_id))
        # from here on nothing awaits: the parent stands still until it is copied
        parent = self._store.chat(chat_id)
        last = self._store.last_seq(chat_id)
        if asked.after_seq is not None and asked.after_seq > last:
            raise BadRequest("The chat does not go that far.", field="after_seq", last_seq=last)
        whole = finished_upto(self._store, chat_id)
        upto = whole if asked.after_seq is None else min(asked.after_seq, whole)
        if ends_at(self._store, chat_id, upto):
            upto = last  # what is left is only the end of the last turn
        provider = parent.chat.provider or ""
        native = forkable and upto == last and provider not in parent.chat.fork_pending
        record = self._record(parent, caller, upto, native=native)
        self._store.copy_events(chat_id, record, upto)
        kind = Forked(from_chat=chat_id, from_seq=upto, kind="native" if native else "transcript")
        self._close(record.chat.id, kind)
        self._chats.announce(record.chat.id)
        return self._chats.get(record.chat.id, caller)

    async def _forkable(self, parent: ChatRecord) -> bool:
        provider = parent.chat.provider or ""
        if provider not in parent.chat.sessions:
            return False
        try:
            return (await self._agents.adapter(provider)).forker is not None
        except AgentChatError:
            return False  # not installed any more: history and transcript remain

    def _record(self, parent: ChatRecord, caller: Caller, upto: int, *, native: bool) -> ChatRecord:
        chat, stamp = parent.chat, now()
        provider = chat.provider or ""
        by_person = not caller.by_token or self._policies.allow_token_approvals
        raised = by_person and caller.may_execute
        mode = chat.mode if raised else self._policies.first_mode
        return ChatRecord(
            chat=chat.model_copy(
                update={
                    "id": secrets.token_hex(8),
                    "title": fork_title(chat.title),
                    "mode": mode,
                    "permission": chat.permission if raised else "ask",
                    "sessions": {provider: chat.sessions[provider]} if native else {},
                    "fork_pending": [provider] if native else [],
                    "parent": ChatParent(chat_id=chat.id, seq=upto),
                    "created": stamp,
                    "updated": stamp,
                    "last_seq": 0,
                    "attention": None,
                    "owner": caller.username,
                    "usage": ChatUsage(),
                    "pinned": False,
                    "archived": False,
                }
            ),
            project_path=parent.project_path,
            loose=parent.loose,
            auto_title=False,
            permission_before_full_auto=parent.permission_before_full_auto if raised else None,
        )

    def _close(self, chat_id: str, forked: Forked) -> None:
        """Close what the copy left open in its last run, then say where it came from."""
        run_id, events = self._last_run(chat_id)
        tracker = RunTracker()
        tracker.absorb(events)
        began = any(isinstance(event.body(), RunStarted) for event in events)
        if began and tracker.complete is None:
            end: list[EventBody] = [*tracker.closing("cancelled"), Complete(outcome="cancelled")]
            drafts = tracker.drafts(end[:-1], self._store.last_seq(chat_id) + 1)
            self._store.append(chat_id, [*drafts, Draft(end[-1])], run_id=run_id)
        self._store.append(chat_id, [Draft(forked)], durable=True)

    def _last_run(self, chat_id: str) -> tuple[str | None, list[StoredEvent]]:
        """The events of the run that the log ends in."""
        events: list[StoredEvent] = []
        before: int | None = None
        while True:
            page = self._store.events_before(chat_id, before, limit=PAGE)
            latest = events[-1:] or list(page.events[-1:])
            last = latest[0].run_id if latest else None
            own = [event for event in page.events if event.run_id == last]
            events[:0] = own
            if last is None or len(own) < len(page.events) or not page.has_more:
                return last, events if last is not None else []
            before = page.first_seq


def fork_title(title: str) -> str:
    """`Title (fork)`, `Title (fork 2)`, ...; whole code points, within the limit of a title."""
    found = _NUMBERED.match(title)
    name, number = (found[1], int(found[2] or 1) + 1) if found else (title, 1)
    mark = "(fork)" if number == 1 else f"(fork {number})"
    return f"{name[: TITLE_LIMIT - len(mark) - 1]} {mark}".strip()
