"""Tells apart the lines that one process writes for many chats. No I/O.

A line belongs to the run that its thread is open for, an answer to the run whose id the request
carried. What comes for nobody waits, within bounds: after a change of server the runs are opened
one after the other, while the output they share is read once.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Final

from ...errors import ChildGone
from .inbox import Inbox
from .received import Received
from .wire import Json, object_of, text_of, thread_of, turn_of

WAITING_BYTES: Final = 32 * 1024 * 1024
_log = logging.getLogger(__name__)


class Router:
    """The open runs of one process.

    `on_unasked(thread, turn, start of its first line)` is called when a turn begins that no run has
    asked for. `active` knows the turn that each thread is in, as far as its beginning was seen,
    and `tokens` what each thread has used.
    """

    def __init__(
        self,
        waiting_bytes: int = WAITING_BYTES,
        on_unasked: Callable[[str, str, int], None] | None = None,
    ) -> None:
        self.active: dict[str, str] = {}
        self.tokens: dict[str, Json] = {}
        self._waiting_bytes = waiting_bytes
        self._on_unasked = on_unasked
        self._runs: dict[str, Inbox] = {}
        self._threads: dict[str, str] = {}
        self._parents: dict[str, str] = {}
        self._left: set[str] = set()
        self._waiting: deque[tuple[str, Received]] = deque()
        self._held_bytes = 0
        self._lost_before = 0
        self._ended = False
        self._changed = asyncio.Event()

    @property
    def inboxes(self) -> list[Inbox]:
        """Of all open runs."""
        return list(self._runs.values())

    def open(
        self, run_id: str, first: int, thread_id: str | None = None, *, planning: bool = False
    ) -> Inbox:
        """Open a run: its lines are those behind `first`. Its thread may be told by an answer.

        Raises ChildGone when some of what waited for it had to be given up.
        """
        if first < self._lost_before:
            raise ChildGone("Too much came before somebody asked for it.")
        inbox = self._runs[run_id] = Inbox(run_id, first, thread_id, planning=planning)
        if thread_id is not None:
            self._threads[thread_id] = run_id
            self._left.discard(thread_id)
        for item in self._all_waiting(run_id, thread_id):
            self._put(inbox, item)
        if self._ended:
            inbox.close()
        self._announce()
        return inbox

    def close(self, run_id: str) -> Inbox | None:
        """A run is over; its inbox, when it was open."""
        inbox = self._runs.pop(run_id, None)
        if inbox is None:
            return None
        if not inbox.over.is_set() and inbox.facts.thread_id:
            self._left.add(inbox.facts.thread_id)
        inbox.close()
        self._threads = {thread: run for thread, run in self._threads.items() if run != run_id}
        return inbox

    def owner(self, thread_id: str) -> Inbox | None:
        """The open run of a thread, or of the thread that it is a helper of."""
        for _ in range(8):
            run_id = self._threads.get(thread_id)
            if run_id is not None:
                return self._runs.get(run_id)
            thread_id = self._parents.get(thread_id, "")
        return None

    async def owner_in(self, thread_id: str, timeout_s: float) -> Inbox | None:
        """`owner`, waited for; for ever where a run's consumer left before its end: another server
        will follow it, and it must find the question open."""
        try:
            async with asyncio.timeout(None if thread_id in self._left else timeout_s):
                while (inbox := self.owner(thread_id)) is None:
                    self._changed.clear()
                    await self._changed.wait()
                return inbox
        except TimeoutError:
            return None

    def answer(self, run_id: str, item: Received) -> None:
        """An answer to a request of this run's."""
        inbox = self._runs.get(run_id)
        if inbox is None:
            self._wait(f"run {run_id}", item)
        else:
            self._put(inbox, item)

    def message(self, item: Received) -> Inbox | None:
        """A notification or request; who has got it."""
        thread_id = thread_of(item.params)
        self._note_turn(thread_id, item)
        if item.method == "account/rateLimits/updated" or item.kind == "lost":
            for inbox in self.inboxes:
                inbox.put(item)
            return None
        if not thread_id:
            return None
        owner = self.owner(thread_id)
        if owner is not None:
            owner.put(item)
            return owner
        self._wait(f"thread {thread_id}", item)
        is_new = item.method == "turn/started" and thread_id not in self._left
        if is_new and self._on_unasked is not None:
            self._on_unasked(thread_id, turn_of(item.params), item.end - item.size)
        return None

    def end(self) -> None:
        """The output has ended."""
        self._ended = True
        self._announce()
        for inbox in self.inboxes:
            inbox.close()

    def forget_waiting(self) -> None:
        """Nobody will ask any more for what came up to now."""
        self._waiting.clear()
        self._held_bytes = 0

    def _put(self, inbox: Inbox, item: Received) -> None:
        inbox.put(item)
        thread_id = _opened(item)
        if thread_id and thread_id == inbox.facts.thread_id:
            self._threads[thread_id] = inbox.run_id
            for earlier in self._take_waiting(f"thread {thread_id}"):
                inbox.put(_behind(item, earlier))
            self._announce()

    def _all_waiting(self, run_id: str, thread_id: str | None) -> list[Received]:
        """What waits for a run, its answers and its thread's lines, in the order they came."""
        answers = self._take_waiting(f"run {run_id}")
        first = next((answer for answer in answers if _opened(answer)), None)
        if thread_id is None and first is None:
            return answers
        lines = self._take_waiting(f"thread {thread_id or _opened(first)}")
        if thread_id is None:
            lines = [_behind(first, line) for line in lines]
        return sorted([*answers, *lines], key=lambda item: item.end)

    def _take_waiting(self, key: str) -> list[Received]:
        mine = [item for owner, item in self._waiting if owner == key]
        if mine:
            self._waiting = deque(entry for entry in self._waiting if entry[0] != key)
            self._held_bytes -= sum(item.size for item in mine)
        return mine

    def _wait(self, key: str, item: Received) -> None:
        self._waiting.append((key, item))
        self._held_bytes += item.size
        while self._held_bytes > self._waiting_bytes:
            _, dropped = self._waiting.popleft()
            self._held_bytes -= dropped.size
            self._lost_before = dropped.end

    def _note_turn(self, thread_id: str, item: Received) -> None:
        turn: Json = object_of(item.params, "turn")
        match item.method:
            case "turn/started":
                self._note_start(thread_id, turn)
            case "turn/completed":
                if self.active.get(thread_id) == turn_of(item.params):
                    del self.active[thread_id]
                    self._announce()
            case "thread/tokenUsage/updated":
                self.tokens[thread_id] = object_of(object_of(item.params, "tokenUsage"), "total")
            case "thread/closed":
                self.active.pop(thread_id, None)

    def _note_start(self, thread_id: str, turn: Json) -> None:
        """A helper's thread is told by nothing but its turn's root: the turn it works for."""
        own = text_of(turn, "id")
        root = text_of(turn, "rootTurnId") or own
        parents = (one for one, turn_id in self.active.items() if turn_id == root)
        parent = next((one for one in parents if one != thread_id), None)
        if parent is None:
            self.active.setdefault(thread_id, root)
            self._announce()
            return
        self.active[thread_id] = own
        self._parents[thread_id] = parent
        self._take_waiting(f"thread {thread_id}")  # before its turn it has nothing to say
        self._announce()

    async def busy(self, thread_id: str, timeout_s: float) -> None:
        """Wait until the thread is in a turn, `timeout_s` at most."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                while thread_id not in self.active and not self._ended:
                    self._changed.clear()
                    await self._changed.wait()

    async def quiet(self, thread_id: str, timeout_s: float) -> bool:
        """Wait until the thread is in no turn that we know of; whether it came to that."""
        try:
            async with asyncio.timeout(timeout_s):
                while thread_id in self.active and not self._ended:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            return False
        return True

    def _announce(self) -> None:
        self._changed.set()


def _opened(item: Received | None) -> str:
    """The thread that an answer says was opened, else ""."""
    if item is None or item.kind != "answer" or item.method != "thread" or item.error is not None:
        return ""
    return thread_of(item.params)


def _behind(answer: Received | None, line: Received) -> Received:
    """A line of a thread stands behind the answer that names the thread, where it came before."""
    if answer is None or line.end >= answer.end:
        return line
    return replace(line, end=answer.end)
