"""What the reader of an agent's output has for the consumer of one run."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from .wire import Json, id_text

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
    """A queue of one run, closed by the answer to its prompt or by the end of the process.

    It takes everything, so that a consumer that stalls never keeps an answer from being read; only
    above `ROOM_BYTES` the reader waits, and with it the agent.
    """

    def __init__(self, prompt_id: str) -> None:
        self.over = asyncio.Event()
        """The end is in, or none will come: the consumer needs no further help to reach it."""
        self.answered: set[str] = set()
        """The ids of our own requests whose answers came."""
        self.told = False
        """The agent has said something of a turn."""
        self._prompt_id = prompt_id
        self._items: deque[Received | Lost] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()

    def put(self, item: Received | Lost) -> None:
        """Add an item; what comes behind the end of the run belongs to no run."""
        if self.over.is_set():
            return
        self._items.append(item)
        if isinstance(item, Received):
            self._size += item.size
            if "method" in item.message:
                self.told = True
            else:
                self.answered.add(id_text(item.message))
                if id_text(item.message) == self._prompt_id:
                    self.over.set()
        if self._size > ROOM_BYTES:
            self._room.clear()
        self._filled.set()

    def close(self) -> None:
        """Nothing more will come."""
        self.over.set()
        self._room.set()
        self._filled.set()

    async def get(self, timeout_s: float | None = None) -> Received | Lost | None:
        """The next item; None when all are taken and nothing more will come.

        Raises TimeoutError when nothing came for `timeout_s` seconds.
        """
        async with asyncio.timeout(timeout_s):
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
