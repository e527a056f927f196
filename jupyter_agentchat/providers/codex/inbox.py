"""What the reader of the shared output has for the consumer of one run."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

from ...errors import ProviderError
from ...process.jsonrpc import OVERLOADED, RequestId
from .received import Facts, Received
from .wire import Json, int_of

ROOM_BYTES: Final = 64 * 1024 * 1024


class Inbox:
    """A queue of one run, closed by the end of its turn or of the process.

    `replies` holds, for each request of Codex, the future that its handler waits for. It takes
    everything, so that one chat that stalls does not keep the others from being read; only above
    `ROOM_BYTES` the reader waits, and with it Codex.
    """

    def __init__(
        self, run_id: str, first: int, thread_id: str | None, *, planning: bool = False
    ) -> None:
        self.run_id = run_id
        self.first = first
        self.facts = Facts(thread_id, planning=planning)
        self.over = asyncio.Event()
        """The end is in, or none will come: the consumer needs no further help to reach it."""
        self.taken = asyncio.Event()
        """The prompt was taken, or the run is over."""
        self.failure: ProviderError | None = None
        """Why the run cannot go on, beside the end of the process."""
        self._items: deque[Received] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._replies: dict[RequestId, asyncio.Future[Json]] = {}

    def put(self, item: Received) -> None:
        """Add a message; what comes behind the end of the run belongs to no run."""
        if self.over.is_set() or (item.end <= self.first and item.kind != "own"):
            return
        if item.kind == "answer" and int_of(item.error or {}, "code") == OVERLOADED:
            return  # it was not taken, and will be asked again
        self._items.append(item)
        self._size += item.size
        if self.facts.note(item):
            self.over.set()
        if self.facts.sent or self.over.is_set():
            self.taken.set()
        if self._size > ROOM_BYTES:
            self._room.clear()
        self._filled.set()

    async def room(self) -> None:
        """Wait while it holds more than it should."""
        await self._room.wait()

    async def get(self) -> Received | None:
        """The next message; None when the run is over and all was handed out."""
        while not self._items:
            if self.over.is_set():
                return None
            self._filled.clear()
            await self._filled.wait()
        item = self._items.popleft()
        self._size -= item.size
        if self._size <= ROOM_BYTES:
            self._room.set()
        return item

    def fail(self, error: ProviderError) -> None:
        """The run cannot go on, for a reason that no line says."""
        self.failure = self.failure or error
        self.close()

    def close(self) -> None:
        """Nothing more will come; open requests of Codex stay unanswered. Twice is once."""
        self.over.set()
        self.taken.set()
        self._filled.set()
        self._room.set()
        for reply in self._replies.values():
            reply.cancel()

    # requests of Codex

    def reply_to(self, request_id: RequestId) -> asyncio.Future[Json]:
        """The answer to a request of Codex, once somebody gives it; cancelled with the run."""
        reply = self._replies.get(request_id)
        if reply is None:
            reply = self._replies[request_id] = asyncio.get_running_loop().create_future()
            if self.over.is_set():
                reply.cancel()
        return reply

    def give(self, request_id: RequestId, payload: Json) -> None:
        """Answer a request of Codex; one that was answered or withdrawn is left alone."""
        reply = self.reply_to(request_id)
        if not reply.done():
            reply.set_result(payload)

    def withdraw(self, request_id: RequestId) -> None:
        """Codex does not wait for this answer any more."""
        reply = self._replies.get(request_id)
        if reply is not None:
            reply.cancel()
