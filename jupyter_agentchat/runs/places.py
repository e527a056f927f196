"""Places for runs: at most so many at once; who waits is let in in the order of coming."""

from __future__ import annotations

import asyncio
from collections import deque


class Places:
    """A counter with a queue. Not thread safe: one event loop."""

    def __init__(self, limit: int) -> None:
        self.limit = max(1, limit)
        self._taken = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    @property
    def full(self) -> bool:
        """Whether `acquire` would wait."""
        return self._taken >= self.limit or bool(self._waiting)

    async def acquire(self) -> None:
        """Take a place; waits for one. Cancelled, none is taken."""
        if not self.full:
            self._taken += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.release()  # it was given at the moment of the cancel
            else:
                self._waiting.remove(turn)
            raise

    def take(self) -> None:
        """Take a place at once, also above the limit: for a run that runs already."""
        self._taken += 1

    def release(self) -> None:
        """Give a place back."""
        self._taken -= 1
        while self._waiting and self._taken < self.limit:
            turn = self._waiting.popleft()
            if not turn.done():
                self._taken += 1
                turn.set_result(None)
