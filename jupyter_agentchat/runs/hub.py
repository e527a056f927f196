"""The hub: every chat that is followed or runs, and every client. One object per server.

Runs belong to the hub, not to sockets: closing a browser stops nothing. Commands come in here,
events leave through `Room.record`.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from ..errors import AgentChatError, Busy
from ..process.tasks import TaskOwner
from ..protocol.events import Ask, AskResolved, Notice
from ..protocol.resources import AskAnswer, Author
from ..protocol.words import ChatState, Permission
from ..providers.base import Adapter
from ..store.base import Draft, Lease, RunRecord, Store
from .asks import closed_ask
from .channel import Channel
from .driver import Driver, DriverHooks
from .hooks import NOBODY, HubHooks, guarded
from .ledger import holder_alive, is_of_this_host, own_holder
from .plan import RunPlan
from .recovery import close_interrupted, orphaned
from .room import Room

log = logging.getLogger(__name__)

STOP_DEADLINE_S = 8.0
STOP_CHAT_S = 60.0
"""For the longest ladder of an adapter, and giving it up (see `stopping`)."""


class Hub:
    """See the module. Not thread safe: one event loop."""

    def __init__(
        self,
        store: Store,
        adapter_for: Callable[[str], Awaitable[Adapter]],
        *,
        max_runs: int,
        reap: Callable[[], Awaitable[object]] | None = None,
        holder: str | None = None,
    ) -> None:
        """`reap` ends processes that an earlier server left; no run starts before it is done.

        `holder` names this server in its leases; by default its host and process.
        """
        self._store = store
        self._adapter_for = adapter_for
        self._max_runs = max_runs
        self._places = asyncio.Semaphore(max(1, max_runs))
        self._reap = reap
        self._reaped = asyncio.Event()
        self._rooms: dict[str, Room] = {}
        self._held: set[str] = set()
        self._channels: dict[Channel, str] = {}
        self._owner = TaskOwner("runs")
        self._holder = holder or own_holder()
        self._hooks = NOBODY
        self._closing = False
        self._begun = False
        self.last_progress = time.monotonic()

    def connect(self, hooks: HubHooks) -> None:
        """Wire the layer above; once, before anything runs."""
        self._hooks = guarded(hooks)

    # ---- start and stop ---------------------------------------------------------------------

    def recover(self) -> int:
        """Close what an earlier server left running; returns how many runs that were.

        Called once, when the extension loads; needs no loop (see `begin` for the processes).
        """
        closed = 0
        for run in orphaned(self._store, holder_alive):
            try:
                _, complete = close_interrupted(self._store, run, self._holder)
            except AgentChatError as error:
                log.warning("chat=%s run=%s cannot be closed: %s", run.chat_id, run.run_id, error)
                continue
            closed += 1
            self._hooks.finished(run.chat_id, complete)
        return closed

    def begin(self) -> None:
        """Start ending left-over processes in the background; twice is once. Needs the loop."""
        if not self._begun and not self._closing:
            self._begun = True
            self._owner.spawn(self._end_leftovers(), name="reap")

    async def _end_leftovers(self) -> None:
        try:
            if self._reap is not None:
                await self._reap()
        finally:
            self._reaped.set()

    async def close(self) -> None:
        """Clean stop: every run ends as `interrupted`, its agent by the short ladder. <= 10 s."""
        self._closing = True
        drivers = [room.driver for room in self._rooms.values() if room.driver]
        for driver in drivers:
            driver.cancel(end_as="interrupted")
            driver.cancel(end_as="interrupted")  # a second Stop shortens every ladder
        if drivers:
            waits = [self._owner.spawn(d.finished.wait(), name="finish") for d in drivers]
            await asyncio.wait(waits, timeout=STOP_DEADLINE_S)
        await self._owner.close()
        for channel in list(self._channels):
            channel.close()

    # ---- runs -------------------------------------------------------------------------------

    def start(self, plan: RunPlan) -> None:
        """Store the prompt and start its run; returns when both are durable.

        Raises Busy (a run is active here, or another server holds one), StorageError.
        """
        chat_id = plan.request.chat_id
        if self._closing:
            raise Busy("The server is stopping.")
        if chat_id in self._held:
            raise Busy("This chat is being deleted.")
        room = self._room(chat_id)
        try:
            self._start(room, plan)
        finally:
            self._drop_if_idle(room)

    def _start(self, room: Room, plan: RunPlan) -> None:
        chat_id = room.chat_id
        if room.driver is not None:
            raise Busy("A run is active in this chat.", run_id=room.driver.run_id)
        self.begin()
        self._close_leftover(room)
        lease = Lease(self._holder, 1)
        driver = Driver(
            plan,
            room,
            self._store,
            self._adapter_for,
            self._owner,
            DriverHooks(self._hooks.session, self._progress, self._hooks.finished),
            lease,
        )
        before = self._store.last_seq(chat_id)
        drafts = [Draft(plan.started)]
        if plan.user is not None:
            drafts.insert(0, Draft(plan.user))
        stored = self._store.start_run(
            RunRecord(
                run_id=driver.run_id,
                chat_id=chat_id,
                provider=plan.started.provider,
                client_id=plan.user.client_id if plan.user else None,
                first_seq=before + 1,
                lease=lease,
            ),
            drafts,
        )
        room.driver = driver
        room.show_state()  # running is known before the prompt is seen
        room.publish(stored, before)
        log.info(
            "chat=%s run=%s started provider=%s", chat_id, driver.run_id, plan.started.provider
        )
        self._owner.spawn(self._drive(room, driver), name=f"drive {driver.run_id}")

    async def _drive(self, room: Room, driver: Driver) -> None:
        began = time.monotonic()
        holds_place = False

        async def may_start(waiting: Driver) -> None:
            nonlocal holds_place
            await asyncio.wait_for(self._reaped.wait(), 30)
            if self._places.locked():
                text = (
                    f"{self._max_runs} runs are active on this server; this one starts after them."
                )
                waiting.commit([Notice(code="waiting_for_place", text=text)], None)
            await self._places.acquire()
            holds_place = True

        try:
            await driver.drive(may_start)
        finally:
            if holds_place:
                self._places.release()
            room.driver = None
            try:
                room.show_state()
            finally:
                self._drop_if_idle(room)
            seconds = time.monotonic() - began
            log.info("chat=%s run=%s ended after %.1f s", room.chat_id, driver.run_id, seconds)

    def _close_leftover(self, room: Room) -> None:
        """A run of ours whose end could not be stored (full disk) is closed before the next."""
        for run in self._store.open_runs():
            if run.chat_id != room.chat_id:
                continue
            self._refuse_foreign(run)
            self._take_over(room, run)

    def _take_over(self, room: Room, run: RunRecord) -> None:
        before = self._store.last_seq(room.chat_id)
        stored, complete = close_interrupted(self._store, run, self._holder)
        room.publish(stored, before)
        self._hooks.finished(room.chat_id, complete)

    def _refuse_foreign(self, run: RunRecord) -> None:
        holder = run.lease.holder if run.lease else ""
        if holder == self._holder or not holder_alive(holder):
            return
        text = "Another server runs this chat."
        if not is_of_this_host(holder):
            host = holder.rpartition("/")[0]
            text = (
                f"A server on {host} runs this chat. If that server is gone for good, "
                'choose "Stop the agent" to free the chat.'
            )
        raise Busy(text, holder=holder, run_id=run.run_id)

    def cancel(self, chat_id: str) -> bool:
        """Stop the chat's run (again: force). False when it is idle. Returns at once.

        A run that a server of another host holds is taken over and closed: whether that server
        lives nobody knows but the person who stops it (a container that was made anew). Should it
        live, its next write is refused by the lease.
        """
        driver = self._driver(chat_id)
        if driver is not None:
            driver.cancel()
            return True
        for run in self._store.open_runs():
            if run.chat_id == chat_id and run.lease and not is_of_this_host(run.lease.holder):
                room = self._room(chat_id)
                self._take_over(room, run)
                self._changed(room)
                self._drop_if_idle(room)
                return True
        return False

    @asynccontextmanager
    async def held(self, chat_id: str, timeout_s: float = STOP_CHAT_S) -> AsyncIterator[None]:
        """Stop the chat's run, wait until the chat is free, and let no other begin meanwhile.

        Raises Busy when the run does not end in time, or when somebody else holds the chat.
        """
        if chat_id in self._held:
            raise Busy("This chat is being deleted.")
        for run in self._store.open_runs():
            # whether another host's server lives nobody knows: its chat can be deleted
            if run.chat_id == chat_id and run.lease and is_of_this_host(run.lease.holder):
                self._refuse_foreign(run)
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
            self._held.discard(chat_id)

    def forget(self, chat_id: str) -> None:
        """The chat was deleted: nobody follows it any more."""
        room = self._rooms.get(chat_id)
        if room is not None:
            room.unsubscribe_all()
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

        Raises NotFound, AlreadyResolved, BadRequest, Busy (being stopped), StorageError.
        """
        driver = self._driver(chat_id)
        if driver is None or not driver.knows_ask(ask_id):
            raise closed_ask(self._store, chat_id, ask_id)
        if self._closing:
            raise Busy("The server is stopping.")
        return await driver.answer(ask_id, answer, author, stored)

    def open_asks(self, chat_id: str) -> list[Ask]:
        """Asks that wait for a person, oldest first."""
        driver = self._driver(chat_id)
        return list(driver.tracker.asks.values()) if driver else []

    def open_ask(self, chat_id: str, ask_id: str) -> Ask | None:
        """One open ask, or None."""
        driver = self._driver(chat_id)
        return driver.tracker.asks.get(ask_id) if driver else None

    async def lower_permission(self, chat_id: str, permission: Permission) -> bool:
        """Pass a lower permission to a running agent; False where it cannot take it now."""
        driver = self._driver(chat_id)
        return await driver.lower_permission(permission) if driver else True

    def state(self, chat_id: str) -> ChatState:
        room = self._rooms.get(chat_id)
        return room.state if room else "idle"

    @property
    def active_runs(self) -> int:
        return sum(1 for room in self._rooms.values() if room.driver)

    # ---- clients ----------------------------------------------------------------------------

    def add_client(self, channel: Channel, username: str) -> None:
        """A connection that gets list changes; `channel.write` is run by its owner."""
        self._channels[channel] = username

    def remove_client(self, channel: Channel) -> None:
        """Idempotent; ends all its subscriptions."""
        self._channels.pop(channel, None)
        channel.close()
        for room in list(self._rooms.values()):
            room.unsubscribe(channel)
            self._drop_if_idle(room)

    def subscribe(self, channel: Channel, chat_id: str, after_seq: int, epoch: str | None) -> None:
        """Raises NotFound, Gone."""
        self._store.last_seq(chat_id)  # NotFound before a room is made
        room = self._room(chat_id)
        try:
            room.subscribe(channel, after_seq, epoch)
        finally:
            self._drop_if_idle(room)

    def unsubscribe(self, channel: Channel, chat_id: str) -> int:
        """Idempotent; returns the chat's last seq (0 for an unknown chat)."""
        room = self._rooms.get(chat_id)
        if room is None:
            return 0
        room.unsubscribe(channel)
        self._drop_if_idle(room)
        try:
            return self._store.last_seq(chat_id)
        except AgentChatError:
            # deleted meanwhile: whoever publishes to a slow client must not fail for it
            return 0

    def broadcast(self, encode: Callable[[str], str | None]) -> None:
        """One frame to every client; `encode(username)` is called once per person, None skips."""
        texts: dict[str, str | None] = {}
        for channel, username in self._channels.items():
            if username not in texts:
                texts[username] = encode(username)
            text = texts[username]
            if text is not None:
                channel.push(text)

    # ---- inside -----------------------------------------------------------------------------

    def _room(self, chat_id: str) -> Room:
        room = self._rooms.get(chat_id)
        if room is None:
            room = self._rooms[chat_id] = Room(chat_id, self._store, self._changed)
        return room

    def _drop_if_idle(self, room: Room) -> None:
        if room.idle:
            self._rooms.pop(room.chat_id, None)

    def _driver(self, chat_id: str) -> Driver | None:
        room = self._rooms.get(chat_id)
        return room.driver if room else None

    def _changed(self, room: Room) -> None:
        self._hooks.chat_changed(room.chat_id)

    def _progress(self) -> None:
        self.last_progress = time.monotonic()
        self._hooks.progress()
