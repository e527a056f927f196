"""What the reader of the CLI's output has for the consumer of one run."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Final

from ...protocol.events import PlanUsage
from .translate import Commands
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


@dataclass(frozen=True, slots=True)
class Learned:
    """Something that a request of ours told: no line of the run's own stands behind it."""

    usage: PlanUsage


class Inbox:
    """A queue of one run, closed by the end of its run or of the process.

    It takes everything, so that a consumer that stalls never keeps an answer to a control request
    from being read; only above `ROOM_BYTES` the reader waits, and with it the CLI.

    With `replaying`, what comes first was written for an earlier server: whether a result is the
    run's end is known only when all of it was read (a message may have been steered in behind it).
    Call `caught_up` then. `unasked`: the run is a turn that the CLI began by itself.
    """

    def __init__(self, prompt_uuid: str, *, replaying: bool = False, unasked: bool = False) -> None:
        self.over = asyncio.Event()
        """The end is in, or none will come: the consumer needs no further help to reach it."""
        self.commands = Commands(prompt_uuid, unasked=unasked)
        """What is known of our messages at the newest line; the consumer may be far behind."""
        self._items: deque[Received | Lost | Learned] = deque()
        self._size = 0
        self._filled = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._awaited = False
        self._current = asyncio.Event()
        if not replaying:
            self._current.set()

    @property
    def replaying(self) -> bool:
        """Whether what comes was written for an earlier server."""
        return not self._current.is_set()

    def put(self, item: Received | Lost | Learned) -> None:
        """Add an item; what comes behind the end of the run belongs to no run."""
        if self.over.is_set():
            return
        self._items.append(item)
        if isinstance(item, Received):
            self._size += item.size
            if self.commands.ends(item.message) and not self.replaying:
                self.over.set()
        if self._size > ROOM_BYTES and not self._awaited:
            self._room.clear()
        self._filled.set()

    def caught_up(self) -> None:
        """What comes from now on is news."""
        self._current.set()
        if self.commands.over:
            self.over.set()
            self._filled.set()

    async def current(self) -> None:
        """Wait until nothing is left of what was written for an earlier server."""
        if self.replaying:
            self._awaited = True  # the reader must not wait for a consumer that waits for it
            self._room.set()
            await self._current.wait()
            self._awaited = False

    def close(self) -> None:
        """Nothing more will come."""
        self._current.set()
        self.over.set()
        self._room.set()
        self._filled.set()

    async def get(self) -> Received | Lost | Learned | None:
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
