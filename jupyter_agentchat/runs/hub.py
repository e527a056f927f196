"""The hub: every chat that is followed or runs, and every client. One object per server.

Runs belong to the hub, not to sockets: closing a browser stops nothing. Commands come in here,
events leave through `Room.record`. Runs that an earlier server began are taken over while the
extension loads: they are shown as running at once, and gone on with as soon as the loop runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ..errors import AgentChatError, Busy, StorageError
from ..protocol.controls import Queue
from ..providers.base import Adapter
from ..store.base import Draft, Lease, RunRecord, Store
from .control import HELD
from .driver import Driver
from .hooks import HubHooks, guarded
from .ledger import holder_alive, own_holder
from .places import Places
from .plan import RunPlan
from .reattach import find, orphaned
from .remote import RemoteRuns
from .room import Room
from .run_log import encode_context
from .running import Reap, Running

log = logging.getLogger(__name__)

STOP_DEADLINE_S = 8.0
REAP_DEADLINE_S = 3.0
KEEP_ALIVE_MAX_S = 43_200.0


class Hub(Running):
    """See the module. Not thread safe: one event loop."""

    def __init__(
        self,
        store: Store,
        adapter_for: Callable[[str], Awaitable[Adapter]],
        *,
        max_runs: int,
        reap: Reap | None = None,
        holder: str | None = None,
        queue_view: Callable[[str], Queue] = lambda _chat_id: Queue(queue=[]),
        known_child: Callable[[str], bool] = lambda _child_id: False,
        lives: Callable[[str], bool] = holder_alive,
        keep_alive_max_s: float = KEEP_ALIVE_MAX_S,
    ) -> None:
        """`reap(spare)` ends processes that an earlier server left, but for the children `spare`;
        no run starts before it is done.

        `holder` names this server in its leases; by default its host and process. `queue_view`
        gives what waits in a chat, for followers. `known_child`: whether a child of an earlier
        server may be attached to; where it is not, its runs are closed. `lives(holder)`: whether
        the server of a lease lives, or may.
        """
        holder = holder or own_holder()
        super().__init__(
            store,
            RemoteRuns(store, holder, lives),
            queue_view,
            holder,
            adapter_for,
            Places(max_runs),
            reap,
            keep_alive_max_s,
        )
        self._known_child = known_child
        self._lives = lives
        self._found: list[tuple[Room, Driver]] = []
        self._begun = False

    def connect(self, hooks: HubHooks) -> None:
        """Wire the layer above; once, before anything runs."""
        self._hooks = guarded(hooks)

    # ---- start and stop ---------------------------------------------------------------------

    def recover(self) -> int:
        """Take over what an earlier server left running, or close it; how many were closed.

        Called once, when the extension loads; needs no loop (see `begin` for the rest).
        """
        return sum(self._adopt(run) for run in orphaned(self._store, self._lives))

    def begin(self) -> None:
        """Go on with the runs that were taken over, and end left-over processes, in the
        background; twice is once. Needs the loop."""
        if not self._begun and not self._closing:
            self._begun = True
            # runs of one child in the order of their first lines (see `Adapter.attach`)
            for room, driver in sorted(self._found, key=lambda each: each[1].first_line):
                self._launch(room, driver)
            self._found.clear()
            self._end_leftovers()

    async def close(self, *, leave: bool = False) -> None:
        """Clean stop. <= 10 s.

        Every run ends as `interrupted`, its agent by the short ladder. With `leave`, runs whose
        child the next server can attach to stay open instead, and their agents are not told.
        """
        self._closing = True
        running = [room.driver for room in self._rooms.values() if room.driver]
        drivers = [driver for driver in running if not driver.finished.is_set()]
        for driver in drivers:
            if leave and driver.child_id and self._known_child(driver.child_id):
                driver.leave()
                continue
            driver.cancel(end_as="interrupted")
            driver.cancel(end_as="interrupted")  # a second Stop shortens every ladder
        if drivers and self._begun:
            waits = [self._owner.spawn(d.finished.wait(), name="finish") for d in drivers]
            await asyncio.wait(waits, timeout=STOP_DEADLINE_S)
        if self._reaping:
            # what is half ended would lie about until the next start
            ended = self._owner.spawn(self._reaped.wait(), name="reaped")
            await asyncio.wait({ended}, timeout=REAP_DEADLINE_S)
        await self._watches.close()
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
            raise Busy(HELD)
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
        room.catch_up()
        lease = Lease(self._holder, 1)
        driver = self._driver_of(room, plan, lease)
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
                request=plan.request.model_dump_json(),
                context=encode_context(plan.context, plan),
            ),
            drafts,
            queued=plan.queued,
        )
        room.driver = driver
        room.show_state()  # running is known before the prompt is seen
        room.publish(stored, before)
        log.info(
            "chat=%s run=%s started provider=%s", chat_id, driver.run_id, plan.started.provider
        )
        self._launch(room, driver)

    # ---- runs of other servers --------------------------------------------------------------

    def _adopt(self, run: RunRecord) -> bool:
        """Go on with a run whose server is dead, else close it; True when it was closed."""
        room = self._room(run.chat_id)
        try:
            if room.driver is not None:
                return False
            if self._begun:
                self._hooks.taken_over(run.chat_id)
            if run.child_id is not None and self._known_child(run.child_id):
                found = find(self._store, run, self._holder)
                if found is not None:
                    driver = self._driver_of(room, found.plan, found.lease, found.resumed)
                    room.driver = driver
                    room.show_state()
                    if self._begun:
                        self._launch(room, driver)
                    else:
                        self._found.append((room, driver))
                    return False
            self._take_over(room, run)
            if self._begun:
                self._end_leftovers()  # before another run starts
        except AgentChatError as error:
            log.warning("chat=%s run=%s cannot be closed: %s", run.chat_id, run.run_id, error)
            return False
        finally:
            self._drop_if_idle(room)
        return True

    def _close_late(self, chat_id: str) -> None:
        """While somebody follows the chat: the disk may have room again."""
        room = self._room(chat_id)
        try:
            if room.driver is None:
                self._close_leftover(room)
        except StorageError:
            return
        except AgentChatError as error:
            log.info("chat=%s: %s", chat_id, error)
        finally:
            self._drop_if_idle(room)
        self._unclosed.discard(chat_id)

    def _close_leftover(self, room: Room) -> None:
        """A run whose end could not be stored (full disk) is closed before the next, and one whose
        server has just died is taken over: then Busy. Raises Busy for a living server's too."""
        driver = self._run_here(room.chat_id)
        if driver is not None:
            raise Busy("A run is active in this chat.", run_id=driver.run_id)
        for run in self._store.open_runs():
            if run.chat_id == room.chat_id and run.lease and run.lease.holder == self._holder:
                self._take_over(room, run)
