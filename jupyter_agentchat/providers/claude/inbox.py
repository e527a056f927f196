"""What the reader of the CLI's output has for the consumer of one run."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from .translate import ends_turn
from .wire import Json

ROOM_BYTES: Final = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Received:
    """A message; `offset` is where its line ends in the output, `size` its length."""

    message: Json
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Lost:
    """A line above the limit of the framer: `size` bytes are gone."""

    offset: int
    size: int


class Inbox:
    """A queue of one run, closed by the end of its turn or of the process.

    It takes everything, so that a consumer that stalls never keeps an answer to a control request
    from being read; only above `ROOM_BYTES` the reader waits, and with it the CLI.
    """

    def __init__(self, prompt_uuid: str) -> None:
        self.over = asyncio.Event()
        """The end is in, or none will come: the consumer needs no further help to reach it."""
        self._prompt_uuid = prompt_uuid
        self._items: deque[Received | Lost] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put(self, item: Received | Lost) -> None:
        """Add an item; what comes behind the end of the turn belongs to no run."""
        if self.over.is_set():
            return
        self._items.append(item)
        if isinstance(item, Received):
            self._size += item.size
            if ends_turn(item.message, self._prompt_uuid):
                self.over.set()
        if self._size > ROOM_BYTES:
            self._room.clear()
        self._filled.set()

    def close(self) -> None:
        """Nothing more will come."""
        self.over.set()
        self._room.set()
        self._filled.set()

    async def get(self) -> Received | Lost | None:
        """The next item; None when all are taken and nothing more will come."""
        while not self._items:
            if self.over.is_set():
                return None
            self._filled.clear()
            await self._filled.wait()
        item = self._items.popleft()
        if isinstance(item, Received):
            self._size -= item.size
        if self._size <= ROOM_BYTES:
            self._room.set()
        return item

    async def room(self) -> None:
        """Wait until the consumer has caught up, or will never."""
        await self._room.wait()
