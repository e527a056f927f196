"""One chat as it is now: who follows it, which run is active. The one writer of its log.

append -> seq -> publish is one synchronous step (`record`), so nobody can see an event that is not
stored, and subscribing (replay, then live) can neither miss nor double one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from ..errors import AgentChatError, Gone
from ..protocol.controls import Queue
from ..protocol.frames import Sync
from ..protocol.words import ChatState, Outcome, Phase
from ..store.base import Draft, Lease, Store, StoredEvent
from .channel import Channel

if TYPE_CHECKING:
    from .driver import Driver
    from .remote import RemoteRun

log = logging.getLogger(__name__)

REPLAY_LIMIT = 1_000
"""A client that missed more than this gets a `gap` and loads pages by REST."""


class Shown(NamedTuple):
    """What followers and the chat list were told last of a chat's run."""

    run_id: str | None = None
    phase: Phase = "idle"
    asks: tuple[str, ...] = ()
    may_steer: bool = False
    holder: str = ""

    @property
    def in_the_list(self) -> tuple[str | None, bool, tuple[str, ...]]:
        """What the chat list shows of it: whether it is being stopped, and the oldest ask."""
        return (self.run_id, self.phase == "cancelling", self.asks[:1])


NOTHING = Shown()


class Room:
    """Subscribers and the active run of one chat."""

    def __init__(
        self,
        chat_id: str,
        store: Store,
        changed: Callable[[Room], None],
        queue_view: Callable[[str], Queue] = lambda _chat_id: Queue(queue=[]),
        remote_of: Callable[[str], RemoteRun | None] = lambda _chat_id: None,
    ) -> None:
        """`changed` is called when the state that the chat list shows has changed.

        `remote_of` names the run that another server has in this chat.
        """
        self.chat_id = chat_id
        self._store = store
        self._changed = changed
        self._queue_view = queue_view
        self._remote_of = remote_of
        self._upto = 0
        self._channels: dict[Channel, None] = {}
        self.driver: Driver | None = None
        self._shown = NOTHING

    # ---- state ------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        if self.driver is not None:
            return self.driver.phase
        remote = self._remote_of(self.chat_id)
        return remote.phase if remote is not None else "idle"

    @property
    def state(self) -> ChatState:
        """What the chat list shows; derived here and nowhere else."""
        phase = self.phase
        if phase in ("idle", "cancelling", "waiting"):
            return cast("ChatState", phase)
        return "running"

    @property
    def followed(self) -> bool:
        """Whether somebody has this chat open."""
        return bool(self._channels)

    @property
    def idle(self) -> bool:
        """True when nobody follows and nothing runs: the room may go."""
        return self.driver is None and not self._channels

    def sync(self) -> Sync:
        """The state at this moment, as a frame."""
        driver, remote = self.driver, None
        if driver is None:
            remote = self._remote_of(self.chat_id)
        tracker = driver.tracker if driver else remote.tracker if remote else None
        waiting = self._queue_view(self.chat_id)
        return Sync(
            chat_id=self.chat_id,
            running=tracker is not None,
            remote=remote is not None,
            run_id=driver.run_id if driver else remote.run.run_id if remote else None,
            phase=self.phase,
            last_seq=self._store.last_seq(self.chat_id),
            epoch=self._store.epoch,
            queue=waiting.queue,
            queue_paused=waiting.paused,
            queue_pause_reason=waiting.pause_reason,
            may_steer=driver is not None and driver.can_steer,
            holder=remote.holder if remote else None,
            asks=list(tracker.asks.values()) if tracker else [],
        )

    def show_state(self) -> None:
        """Tell followers and the chat list, if anything they can see has changed."""
        driver, shown = self.driver, NOTHING
        if driver is not None:  # at every commit: nothing here may ask the store
            asks = tuple(driver.tracker.asks)
            shown = Shown(driver.run_id, driver.phase, asks, driver.can_steer)
        elif (remote := self._remote_of(self.chat_id)) is not None:
            asks = tuple(remote.tracker.asks)
            shown = Shown(remote.run.run_id, remote.phase, asks, holder=remote.holder)
        if shown == self._shown:
            return
        list_changed = shown.in_the_list != self._shown.in_the_list
        self._shown = shown
        self.show_sync()
        if list_changed:
            self._changed(self)

    def show_sync(self) -> None:
        """Tell followers the state as it is now."""
        text = self.sync().model_dump_json()
        for channel in list(self._channels):
            channel.push(text, chat_id=self.chat_id)

    # ---- the log ----------------------------------------------------------------------------

    def record(
        self,
        drafts: Sequence[Draft],
        *,
        run_id: str | None = None,
        offset: int | None = None,
        lease: Lease | None = None,
        durable: bool = False,
        outcome: Outcome | None = None,
        after: int | None = None,
    ) -> list[StoredEvent]:
        """Store, then publish. Raises StorageError, and LogMoved when `after` is given and is not
        the log's end: then nothing was stored and nothing published."""
        stored = self._store.append(
            self.chat_id,
            drafts,
            run_id=run_id,
            offset=offset,
            lease=lease,
            durable=durable,
            outcome=outcome,
            after=after,
        )
        if stored:
            before = stored[0].seq - 1
            if before > self._upto and self._channels:
                self._show_others()
            else:
                self.publish(stored, before)
        return stored

    def _show_others(self) -> None:
        """Another server has written here: publish that, and what we have stored behind it."""
        try:
            self.catch_up()
        except AgentChatError as error:  # it is stored: the next event, or look, shows it
            log.warning("chat=%s cannot be read: %s", self.chat_id, error)

    def known_end(self) -> int:
        """The last seq as far as this server knows: `record` says when that is no longer so.

        Raises StorageError, NotFound.
        """
        return self._upto or self._store.last_seq(self.chat_id)

    def publish(self, stored: Sequence[StoredEvent], after: int) -> None:
        """Send stored events to all followers: encoded once."""
        if not stored:
            return
        self._upto = stored[-1].seq
        if not self._channels:
            return
        encoded = [event.wire_json() for event in stored]
        for channel in list(self._channels):
            channel.push_events(self.chat_id, after, stored[-1].seq, encoded)

    def catch_up(self) -> None:
        """Publish what another server has stored. Raises StorageError, NotFound."""
        last = self._store.last_seq(self.chat_id)
        if last <= self._upto or not self._channels:
            self._upto = last
            return
        after = self._upto
        page = self._store.events_after(self.chat_id, after, limit=REPLAY_LIMIT)
        self._upto = last
        encoded = [event.wire_json() for event in page.events]
        for channel in list(self._channels):
            if page.has_more:
                self.unsubscribe(channel)
                self._push_gap(channel, last)
            else:
                channel.push_events(self.chat_id, after, last, encoded)

    # ---- followers --------------------------------------------------------------------------

    def subscribe(self, channel: Channel, after_seq: int, epoch: str | None) -> None:
        """`sync`, then what was missed, then live. Raises Gone for another epoch or log."""
        last = self._store.last_seq(self.chat_id)
        if (epoch is not None and epoch != self._store.epoch) or after_seq > last:
            raise Gone(
                "This chat's log was replaced: load it anew.",
                last_seq=last,
                epoch=self._store.epoch,
            )
        self._channels.pop(channel, None)
        self.catch_up()
        page = self._store.events_after(self.chat_id, after_seq, limit=REPLAY_LIMIT)
        channel.push(self.sync().model_dump_json(), chat_id=self.chat_id)
        if page.has_more:
            self._push_gap(channel, last)
            return
        self._channels[channel] = None
        if last > after_seq:
            # also when only holes are left: `upto` tells the client that it is up to date
            encoded = [event.wire_json() for event in page.events]
            channel.push_events(self.chat_id, after_seq, last, encoded)

    def _push_gap(self, channel: Channel, last: int) -> None:
        text = f'{{"type":"gap","chat_id":"{self.chat_id}","last_seq":{last}}}'
        channel.push(text, chat_id=self.chat_id)

    def unsubscribe(self, channel: Channel) -> None:
        """Idempotent."""
        self._channels.pop(channel, None)

    def unsubscribe_all(self) -> None:
        """The chat is gone."""
        self._channels.clear()
