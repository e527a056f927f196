"""What the one reader of opencode's feed hands to one run."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from .wire import Json

_ROOM: Final = 2000
"""So many lines may wait for a slow run before the reader, and so opencode, is held up."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the feed; `end` is the offset behind it. `message` None: it was too long."""

    message: Json | None
    end: int


class Inbox:
    """Lines behind the offset `first`, until it is closed."""

    def __init__(self, first: int) -> None:
        self.first = first
        self.closed = False
        self._lines: deque[Line] = deque()
        self._news = asyncio.Event()
        self._taken = asyncio.Event()

    def put(self, line: Line) -> None:
        """One more line; those of before the run are left out."""
        if line.end > self.first and not self.closed:
            self._lines.append(line)
            self._news.set()

    async def get(self) -> Line | None:
        """The next line; None when it is closed and empty."""
        while not self._lines:
            if self.closed:
                return None
            self._news.clear()
            await self._news.wait()
        self._taken.set()
        return self._lines.popleft()

    def waiting(self) -> list[Line]:
        """The lines that were not taken yet."""
        return list(self._lines)

    async def room(self) -> None:
        """Wait until the run has caught up a little, or is gone."""
        while len(self._lines) > _ROOM and not self.closed:
            self._taken.clear()
            await self._taken.wait()

    def close(self) -> None:
        """Nothing comes any more; what is there can still be taken. Idempotent."""
        self.closed = True
        self._news.set()
        self._taken.set()
