"""Runs, children, queues and prompts in memory: what waits, what runs, and that it runs once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import Busy, NotFound, Stale, StorageError, StoreClosed
from ..protocol.events import User
from .leases import refuse_accepted, refuse_overtaken
from .memory_log import Log
from .records import (
    ChildRecord,
    Draft,
    QueuedPrompt,
    QueueSize,
    RunRecord,
    StoredEvent,
    StoreHealth,
)
from .rows import to_row


class InMemory:
    """What the parts of MemoryStore share."""

    def __init__(self, clock: Callable[[], str], health: StoreHealth) -> None:
        self.clock = clock
        self.health = health
        self._closed = False
        self._chats: dict[str, Log] = {}
        self._runs: dict[str, RunRecord] = {}
        self._children: dict[str, ChildRecord] = {}

    def close(self) -> None:
        self._closed = True

    def check_open(self) -> None:
        if self._closed:
            raise StoreClosed

    def check_writable(self) -> None:
        self.check_open()
        if not self.health.writable:
            raise StorageError(self.health.notice or "The chat store is read-only.")

    def log(self, chat_id: str) -> Log:
        """Raises NotFound, also for a chat in the trash."""
        self.check_open()
        log = self._chats.get(chat_id)
        if log is None or log.record.deleted is not None:
            raise NotFound("There is no such chat.", chat_id=chat_id)
        return log

    def written(self, chat_id: str) -> Log:
        """The log, of a store that can be written."""
        self.check_writable()
        return self.log(chat_id)

    def visible(self) -> list[Log]:
        """Every chat that is not in the trash."""
        self.check_open()
        return [log for log in self._chats.values() if log.record.deleted is None]


class MemoryRuns(InMemory):
    """The runs and children of a ChatStore, and the queue of a QueueStore."""

    def start_run(
        self, run: RunRecord, drafts: Sequence[Draft], *, queued: str | None = None
    ) -> list[StoredEvent]:
        self.check_writable()
        rows = [to_row(draft) for draft in drafts]
        log, time = self.log(run.chat_id), self.clock()
        for other in self.open_runs():
            if other.chat_id == run.chat_id:
                holder = other.lease.holder if other.lease else None
                raise Busy("A run is active in this chat.", run_id=other.run_id, holder=holder)
        if run.run_id in self._runs:
            raise ValueError(f"run {run.run_id} exists")
        answer: dict[str, object] = {"run_id": run.run_id}
        if queued is not None:
            item = found_item(log, queued)
            before = log.prompts.get((item.username, item.client_id), {})
            if "run_id" in before:
                refuse_accepted(before)
            del log.queue[queued]
            log.prompts[item.username, item.client_id] = answer
        elif run.client_id is not None and drafts and isinstance(drafts[0].body, User):
            accept_prompt(log, drafts[0].body.author.username, run.client_id, answer)
        events = log.write(run.run_id, time, rows)
        first = run.first_seq or (events[0].seq if events else 0)
        run = replace(run, first_seq=first, started=run.started or time)
        self._runs[run.run_id] = without_secrets(run)
        return events

    def run(self, run_id: str) -> RunRecord | None:
        self.check_open()
        return self._runs.get(run_id)

    def save_run(self, run: RunRecord) -> None:
        self.check_writable()
        stored = self.run(run.run_id)
        if stored is None:
            raise NotFound("There is no such run.", run_id=run.run_id)
        refuse_overtaken(stored, run)
        self._runs[run.run_id] = without_secrets(run)

    def open_runs(self) -> list[RunRecord]:
        self.check_open()
        return [run for run in self._runs.values() if run.outcome is None]

    def save_child(self, child: ChildRecord) -> None:
        self.check_writable()
        self._children.pop(child.child_id, None)
        self._children[child.child_id] = child

    def forget_child(self, child_id: str) -> None:
        self.check_writable()
        self._children.pop(child_id, None)

    def children(self) -> list[ChildRecord]:
        self.check_open()
        return list(self._children.values())

    # ---- queue and prompts -----------------------------------------------------------------------

    def queue(self, chat_id: str) -> list[QueuedPrompt]:
        return list(self.log(chat_id).queue.values())

    def queued_chats(self) -> list[str]:
        return [log.record.chat.id for log in self.visible() if log.queue]

    def queue_sizes(self, chat_ids: Sequence[str]) -> dict[str, QueueSize]:
        self.check_open()
        logs = {chat_id: self._chats[chat_id] for chat_id in chat_ids if chat_id in self._chats}
        return {
            chat_id: QueueSize(len(log.queue), paused=log.pause is not None)
            for chat_id, log in logs.items()
            if log.queue
        }

    def enqueue(self, item: QueuedPrompt) -> None:
        log = self.written(item.chat_id)
        answer: dict[str, object] = {"queue_item": item.id}
        if item.id in log.queue and (item.username, item.client_id) not in log.prompts:
            raise ValueError(f"queue item {item.id} exists")
        accept_prompt(log, item.username, item.client_id, answer)
        log.queue[item.id] = item

    def save_queued(self, item: QueuedPrompt) -> None:
        log = self.written(item.chat_id)
        stored = found_item(log, item.id)
        log.queue[item.id] = replace(
            stored, text=item.text, expect=item.expect, held_reason=item.held_reason
        )

    def unqueue(self, chat_id: str, item_id: str) -> QueuedPrompt:
        log = self.written(chat_id)
        item = found_item(log, item_id)
        del log.queue[item_id]
        return item

    def order_queue(self, chat_id: str, ids: Sequence[str]) -> None:
        log = self.written(chat_id)
        if sorted(log.queue) != sorted(ids):
            raise Stale("The queue has changed meanwhile.", order=list(log.queue))
        log.queue = {item_id: log.queue[item_id] for item_id in ids}

    def queue_pause(self, chat_id: str) -> str | None:
        return self.log(chat_id).pause

    def pause_queue(self, chat_id: str, reason: str | None) -> None:
        self.written(chat_id).pause = reason

    def find_prompt(self, chat_id: str, username: str, client_id: str) -> dict[str, object] | None:
        self.check_open()
        log = self._chats.get(chat_id)
        return log.prompts.get((username, client_id)) if log else None

    def remember_prompt(
        self, chat_id: str, username: str, client_id: str, answer: dict[str, object]
    ) -> None:
        self.written(chat_id).prompts.setdefault((username, client_id), dict(answer))


def accept_prompt(log: Log, username: str, client_id: str, answer: dict[str, object]) -> None:
    """Remember a prompt as answered. Raises Busy when it was before."""
    if (before := log.prompts.get((username, client_id))) is not None:
        refuse_accepted(before)
    log.prompts[username, client_id] = answer


def found_item(log: Log, item_id: str) -> QueuedPrompt:
    """Raises NotFound."""
    if item_id not in log.queue:
        chat_id = log.record.chat.id
        raise NotFound("This prompt is no longer in the queue.", chat_id=chat_id, id=item_id)
    return log.queue[item_id]


def without_secrets(run: RunRecord) -> RunRecord:
    """A closed run without the prompt and what else was kept to attach to it."""
    return replace(run, request="", context="") if run.outcome else run
