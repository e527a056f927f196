"""Runs from their launch until their chat is free: places, conflicts, and what was left over.

No run starts before the processes that an earlier server left are ended: two programs on one
provider session fork its history silently.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence

from ..errors import AgentChatError
from ..protocol.controls import Queue
from ..protocol.events import EventBody, Notice
from ..providers.base import Adapter
from ..store.base import Draft, Lease, Store
from .activity import REPORT_S, Wakefulness
from .conflicts import Conflict, Conflicts
from .control import Control
from .driver import Driver
from .places import Places
from .plan import Resumed, RunPlan
from .remote import RemoteRuns
from .room import Room
from .run_log import DriverHooks

log = logging.getLogger(__name__)

REAP_DEADLINE_S = 30.0

Reap = Callable[[frozenset[str]], Awaitable[object]]


class Running(Control):
    """The runs of this server that go on. `Hub` decides which there are."""

    def __init__(
        self,
        store: Store,
        remote: RemoteRuns,
        queue_view: Callable[[str], Queue],
        holder: str,
        adapter_for: Callable[[str], Awaitable[Adapter]],
        places: Places,
        reap: Reap | None,
        keep_alive_max_s: float,
    ) -> None:
        super().__init__(store, remote, queue_view, holder)
        self._adapter_for = adapter_for
        self._places = places
        self._reap = reap
        self._reaping = 0
        self._reaped = asyncio.Event()
        self._keep_alive_max_s = keep_alive_max_s
        self._conflicts = Conflicts()

    def _driver_of(
        self, room: Room, plan: RunPlan, lease: Lease, resumed: Resumed | None = None
    ) -> Driver:
        awake = Wakefulness(self._keep_alive_max_s)

        def progress() -> None:
            awake.output()
            if awake.holds(waiting=False):
                self._hooks.progress()

        hooks = DriverHooks(
            self._hooks.session, progress, self._hooks.finished, self._look_for_conflicts, awake
        )
        return Driver(
            plan, room, self._store, self._adapter_for, self._owner, hooks, lease, resumed
        )

    def _launch(self, room: Room, driver: Driver) -> None:
        self._conflicts.began(driver.run_id, room.chat_id, driver.plan.request.cwd)
        self._owner.spawn(self._drive(room, driver), name=f"drive {driver.run_id}")

    async def _drive(self, room: Room, driver: Driver) -> None:
        began = time.monotonic()
        holds_place = False

        async def may_start(waiting: Driver) -> None:
            nonlocal holds_place
            if waiting.resumed is not None:
                self._places.take()  # it runs already
                holds_place = True
                return
            await asyncio.wait_for(self._reaped.wait(), REAP_DEADLINE_S)
            if self._places.full:
                limit = self._places.limit
                text = f"{limit} runs are active on this server; this one starts after them."
                waiting.commit([Notice(code="waiting_for_place", text=text)], None)
            await self._places.acquire()
            holds_place = True

        reporting = self._owner.spawn(self._report(driver), name=f"report {driver.run_id}")
        try:
            await driver.drive(may_start)
        finally:
            reporting.cancel()
            if holds_place:
                self._places.release()
            self._conflicts.ended(driver.run_id)
            if not driver.left:
                self._free(room, driver)
            seconds = time.monotonic() - began
            log.info("chat=%s run=%s ended after %.1f s", room.chat_id, driver.run_id, seconds)

    def _free(self, room: Room, driver: Driver) -> None:
        if driver.lost_child and not self._closing:
            # it was never attached to: what is left of it must not go on
            self._end_leftovers()
        room.driver = None
        if driver.unclosed:
            self._unclosed.add(room.chat_id)
        try:
            room.show_state()
        finally:
            self._drop_if_idle(room)
        self._hooks.freed(room.chat_id)

    async def _report(self, driver: Driver) -> None:
        """A run that is silent for a while still keeps the server awake (see `activity`)."""
        while True:
            await asyncio.sleep(REPORT_S)
            driver.show_state()
            if driver.awake.holds(waiting=bool(driver.tracker.asks)):
                self._hooks.progress()

    # ---- what an earlier server left --------------------------------------------------------

    def _end_leftovers(self) -> None:
        self._reaping += 1
        self._reaped.clear()
        self._owner.spawn(self._end_them(), name="reap")

    async def _end_them(self) -> None:
        try:
            if self._reap is not None:
                drivers = [room.driver for room in self._rooms.values() if room.driver]
                spare = frozenset(driver.child_id for driver in drivers if driver.child_id)
                await self._reap(spare)
        finally:
            self._reaping -= 1
            if not self._reaping:
                self._reaped.set()

    # ---- two chats on one file --------------------------------------------------------------

    def _look_for_conflicts(self, chat_id: str, run_id: str, bodies: Sequence[EventBody]) -> None:
        for conflict in self._conflicts.stored(run_id, bodies):
            self._tell_conflict(chat_id, conflict.run_id, conflict)
            self._tell_conflict(conflict.other_chat, conflict.other_run, conflict)

    def _tell_conflict(self, chat_id: str, run_id: str, conflict: Conflict) -> None:
        text = (
            f"Another chat changed {conflict.path} as well while this run was going on: one may "
            "have overwritten the other's work."
        )
        notice = Notice(level="warning", code="conflict", text=text)
        room = self._room(chat_id)
        try:
            if room.driver is not None and room.driver.run_id == run_id:
                room.driver.commit([notice], None)
            else:
                room.record([Draft(notice)])
        except AgentChatError as error:
            log.warning("chat=%s: a conflict could not be told: %s", chat_id, error)
        finally:
            self._drop_if_idle(room)
