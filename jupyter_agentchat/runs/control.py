"""What people do to a chat's run: stop, answer, steer, lower its permission, hold the chat still.

A run of another living server takes no command here: `Busy`, with its holder.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager

from ..errors import Busy, SteerUnsupported
from ..protocol.controls import Queue
from ..protocol.events import Ask, AskResolved, EventBody, User
from ..protocol.resources import AskAnswer, Author
from ..protocol.words import Permission
from ..store.base import Draft, RunRecord, Store, StoredEvent
from .asks import closed_ask
from .audience import Audience
from .driver import Driver
from .ledger import is_of_this_host
from .recovery import close_interrupted
from .remote import RemoteRuns
from .room import Room
from .steering import deliver

HELD = "This chat is being deleted or rewound."
STOP_CHAT_S = 60.0
"""For the longest ladder of an adapter, and giving it up (see `stopping`)."""


class Control(Audience):
    """The commands on runs. `Hub` starts and ends them."""

    def __init__(
        self,
        store: Store,
        remote: RemoteRuns,
        queue_view: Callable[[str], Queue],
        holder: str,
    ) -> None:
        super().__init__(store, remote, queue_view)
        self._holder = holder
        self._held: set[str] = set()

    def refuse_remote(self, chat_id: str) -> None:
        """For every command on a chat. Raises Busy when another living server runs it."""
        self._run_here(chat_id)

    def _run_here(self, chat_id: str) -> Driver | None:
        """The chat's run in this server; one whose server has died is taken over first. Raises Busy
        when another living server runs the chat."""
        driver = self._driver(chat_id)
        if driver is None:
            self._remote.refuse(chat_id)
            self._adopt_orphans()
            driver = self._driver(chat_id)
        return driver

    def cancel(self, chat_id: str) -> bool:
        """Stop the chat's run (again: force). False when it is idle. Returns at once.

        A run that a server of another host holds is taken over and closed: whether that server
        lives nobody knows but the person who stops it (a container that was made anew). Should it
        live, its next write is refused by the lease. Raises Busy for a living server of this host.
        """
        for run in self._store.open_runs() if self._driver(chat_id) is None else ():
            if run.chat_id == chat_id and run.lease and not is_of_this_host(run.lease.holder):
                room = self._room(chat_id)
                self._take_over(room, run)
                self._changed(room)
                self._drop_if_idle(room)
                return True
        driver = self._run_here(chat_id)
        if driver is not None:
            driver.cancel()
        return driver is not None

    @asynccontextmanager
    async def held(self, chat_id: str, timeout_s: float = STOP_CHAT_S) -> AsyncIterator[None]:
        """Stop the chat's run, wait until the chat is free, and let no other begin meanwhile.

        Raises Busy when the run does not end in time, or when somebody else holds the chat.
        """
        if chat_id in self._held:
            raise Busy(HELD)
        for run in self._store.open_runs():
            # whether another host's server lives nobody knows: its chat can be deleted
            if run.chat_id == chat_id and run.lease and is_of_this_host(run.lease.holder):
                self.refuse_remote(chat_id)
        self._held.add(chat_id)
        try:
            driver = self._driver(chat_id)
            if driver is not None:
                driver.cancel()
                try:
                    async with asyncio.timeout(timeout_s):
                        await driver.finished.wait()
                except TimeoutError:
                    raise Busy(
                        "The run would not end; the chat is kept. Try again.",
                        run_id=driver.run_id,
                    ) from None
            yield
        finally:
            self._let_go(chat_id)

    def _let_go(self, chat_id: str) -> None:
        self._held.discard(chat_id)
        if self._driver(chat_id) is None:
            self._hooks.freed(chat_id)  # what was queued meanwhile may run

    @contextmanager
    def still(self, chat_id: str) -> Iterator[None]:
        """Let no run begin meanwhile. Raises Busy where one is active, here or in another server,
        or when somebody else holds the chat."""
        driver = self._run_here(chat_id)
        if driver is not None:
            raise Busy("A run is active in this chat: stop it first.", run_id=driver.run_id)
        if chat_id in self._held:
            raise Busy(HELD)
        self._held.add(chat_id)
        try:
            yield
        finally:
            self._let_go(chat_id)

    def record(self, chat_id: str, bodies: Sequence[EventBody]) -> list[StoredEvent]:
        """Store and publish what happens outside of runs, durably. Raises Busy, StorageError."""
        self.refuse_remote(chat_id)
        room = self._room(chat_id)
        try:
            if room.driver is not None:
                raise Busy("A run is active in this chat.", run_id=room.driver.run_id)
            room.catch_up()
            return room.record([Draft(body) for body in bodies], durable=True)
        finally:
            self._drop_if_idle(room)

    async def answer(
        self,
        chat_id: str,
        ask_id: str,
        answer: AskAnswer,
        author: Author,
        stored: Callable[[Ask, AskResolved], None] | None = None,
    ) -> AskResolved:
        """Answer an open ask; `stored` is called before the agent is told.

        Raises NotFound, AlreadyResolved, BadRequest, StorageError, and Busy (being stopped, or of
        another server).
        """
        driver = self._run_here(chat_id)
        if driver is None or not driver.knows_ask(ask_id):
            raise closed_ask(self._store, chat_id, ask_id)
        if self._closing:
            raise Busy("The server is stopping.")
        return await driver.answer(ask_id, answer, author, stored)

    async def steer(self, chat_id: str, user: User) -> str:
        """Put a message into the chat's running turn; returns the run's id.

        Stored first, then written to the agent. Raises SteerUnsupported (nothing runs, the agent
        cannot, or it refused after all: then the thread says so), StorageError, Busy (of another
        server).
        """
        driver = self._run_here(chat_id)
        if driver is None or self._closing:
            raise SteerUnsupported("Nothing runs in this chat that could be steered.")
        if not driver.can_steer:
            raise SteerUnsupported("The agent cannot take a message now.", run_id=driver.run_id)
        driver.keep(user)
        await deliver(driver, user, self._owner)
        return driver.run_id

    def open_asks(self, chat_id: str) -> list[Ask]:
        """Asks that wait for a person, oldest first."""
        driver = self._driver(chat_id)
        return list(driver.tracker.asks.values()) if driver else []

    def open_ask(self, chat_id: str, ask_id: str) -> Ask | None:
        """One open ask, or None. Raises Busy when another living server runs the chat."""
        driver = self._run_here(chat_id)
        return driver.tracker.asks.get(ask_id) if driver else None

    async def lower_permission(self, chat_id: str, permission: Permission) -> bool:
        """Pass a lower permission to a running agent; False where it cannot take it now."""
        driver = self._driver(chat_id)
        return await driver.lower_permission(permission) if driver else True

    @property
    def active_runs(self) -> int:
        """Runs of this server."""
        return sum(1 for room in self._rooms.values() if room.driver)

    def _take_over(self, room: Room, run: RunRecord) -> None:
        """Close another server's run as interrupted. Raises Busy when it was faster."""
        before = self._store.last_seq(room.chat_id)
        stored, complete = close_interrupted(self._store, run, self._holder)
        room.publish(stored, before)
        self._hooks.finished(room.chat_id, complete)
