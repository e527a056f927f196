"""Every client, and the chats that they follow.

A chat that another server on the same store runs is followed by looking into the store, at most
POLL_S apart and only while somebody follows a chat here.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from ..errors import AgentChatError
from ..process.tasks import TaskOwner
from ..protocol.controls import Queue
from ..protocol.events import Ask
from ..protocol.words import ChatState
from ..store.base import RunRecord, Store
from .channel import Channel
from .driver import Driver
from .hooks import NOBODY
from .remote import RemoteRuns
from .room import Room

log = logging.getLogger(__name__)

POLL_S = 0.8


class Audience:
    """The rooms of this server and who is in them. `Hub` adds the runs."""

    def __init__(
        self,
        store: Store,
        remote: RemoteRuns,
        queue_view: Callable[[str], Queue],
    ) -> None:
        self._store = store
        self._remote = remote
        self._queue_view = queue_view
        self._hooks = NOBODY
        self._owner = TaskOwner("runs")
        self._watches = TaskOwner("followers")
        self._rooms: dict[str, Room] = {}
        self._channels: dict[Channel, str] = {}
        self._watching: asyncio.Task[None] | None = None
        self._closing = False
        self._unclosed: set[str] = set()
        """Chats with a run whose end could not be stored here."""

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
        if not self._closing and (self._watching is None or self._watching.done()):
            self._watching = self._watches.spawn(self._watch(), name="watch the store")

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

    def forget(self, chat_id: str) -> None:
        """The chat was deleted: nobody follows it any more."""
        room = self._rooms.get(chat_id)
        if room is not None:
            room.unsubscribe_all()
            self._drop_if_idle(room)

    def show_queue(self, chat_id: str, *, row: bool = True) -> None:
        """The chat's queue has changed: tell its followers. `row`: and the chat list, which tells
        how many wait and whether they wait for a person."""
        room = self._rooms.get(chat_id)
        if room is not None:
            room.show_sync()
        if row:
            self.show_row(chat_id)

    def show_row(self, chat_id: str) -> None:
        """What the chat list says of the chat has changed. Never raises."""
        self._hooks.chat_changed(chat_id)

    def oldest_ask(self, chat_id: str) -> Ask | None:
        """What the chat's run, here or in another server, has asked first and nobody answered."""
        driver = self._driver(chat_id)
        run = driver if driver is not None else self._remote.of(chat_id)
        return next(iter(run.tracker.asks.values()), None) if run is not None else None

    def state(self, chat_id: str) -> ChatState:
        """What the chat list shows, also of a run of another server. One whose server has died is
        taken over: its agent may be at work."""
        room = self._rooms.get(chat_id)
        if room is None:
            room = Room(chat_id, self._store, self._changed, remote_of=self._remote.of)
        try:
            state = room.state
        except AgentChatError:
            return "idle"
        if state == "idle":
            self._adopt_orphans()
            room = self._rooms.get(chat_id)
            if room is not None and room.driver is not None:
                return room.state
        return state

    # ---- other servers ----------------------------------------------------------------------

    async def _watch(self) -> None:
        while any(room.followed for room in self._rooms.values()):
            await asyncio.sleep(POLL_S)
            try:
                self.look()
            except AgentChatError as error:
                log.warning("the store cannot be watched: %s", error)

    def look(self) -> None:
        """Show what other servers on this store have done. Raises StorageError."""
        changed = self._remote.refresh()
        self._adopt_orphans()
        for chat_id in list(self._unclosed):
            self._close_late(chat_id)
        for room in list(self._rooms.values()):
            if room.driver is None and room.followed:
                changed.discard(room.chat_id)
                self._refresh(room)
        for chat_id in changed:
            self._hooks.chat_changed(chat_id)

    def _refresh(self, room: Room) -> None:
        try:
            room.catch_up()
            room.show_state()
        except AgentChatError as error:
            log.info("chat=%s: %s", room.chat_id, error)  # deleted by the other server

    def _adopt_orphans(self) -> None:
        """All at once: what is left of a run that nobody took over would be ended."""
        if not self._closing:
            for run in self._remote.take_orphans():
                self._adopt(run)

    def _adopt(self, run: RunRecord) -> bool:
        """A run whose server has died. `Hub` says what becomes of it; True when it was closed."""
        return False

    def _close_late(self, chat_id: str) -> None:
        """Try again to store the end of a run. See `Hub`."""

    # ---- inside -----------------------------------------------------------------------------

    def _room(self, chat_id: str) -> Room:
        room = self._rooms.get(chat_id)
        if room is None:
            room = self._rooms[chat_id] = Room(
                chat_id, self._store, self._changed, self._queue_view, self._remote.of
            )
        return room

    def _drop_if_idle(self, room: Room) -> None:
        if room.idle:
            self._rooms.pop(room.chat_id, None)

    def _driver(self, chat_id: str) -> Driver | None:
        room = self._rooms.get(chat_id)
        return room.driver if room else None

    def _changed(self, room: Room) -> None:
        self._hooks.chat_changed(room.chat_id)
