"""One chat as it is now: who follows it, which run is active. The one writer of its log.

append -> seq -> publish is one synchronous step (`record`), so nobody can see an event that is not
stored, and subscribing (replay, then live) can neither miss nor double one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..errors import Gone
from ..protocol.frames import Sync
from ..protocol.words import ChatState, Outcome, Phase
from ..store.base import Draft, Lease, Store, StoredEvent
from .channel import Channel

if TYPE_CHECKING:
    from .driver import Driver

REPLAY_LIMIT = 1_000
"""A client that missed more than this gets a `gap` and loads pages by REST."""


class Room:
    """Subscribers and the active run of one chat."""

    def __init__(self, chat_id: str, store: Store, changed: Callable[[Room], None]) -> None:
        """`changed` is called when the state that the chat list shows has changed."""
        self.chat_id = chat_id
        self._store = store
        self._changed = changed
        self._channels: dict[Channel, None] = {}
        self.driver: Driver | None = None
        self._shown: tuple[object, ...] = ()

    # ---- state ------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        return self.driver.phase if self.driver else "idle"

    @property
    def state(self) -> ChatState:
        """What the chat list shows; derived here and nowhere else."""
        if self.driver is None:
            return "idle"
        if self.driver.cancelling:
            return "cancelling"
        return "waiting" if self.driver.tracker.asks else "running"

    @property
    def idle(self) -> bool:
        """True when nobody follows and nothing runs: the room may go."""
        return self.driver is None and not self._channels

    def sync(self) -> Sync:
        """The state at this moment, as a frame."""
        driver = self.driver
        return Sync(
            chat_id=self.chat_id,
            running=driver is not None,
            run_id=driver.run_id if driver else None,
            phase=self.phase,
            last_seq=self._store.last_seq(self.chat_id),
            epoch=self._store.epoch,
            asks=list(driver.tracker.asks.values()) if driver else [],
        )

    def show_state(self) -> None:
        """Tell followers and the chat list, if anything they can see has changed."""
        driver = self.driver
        asks = tuple(driver.tracker.asks) if driver else ()
        shown = (driver.run_id if driver else None, self.phase, asks)
        if shown == self._shown:
            return
        list_changed = self._shown[:1] != shown[:1] or self._state_word(self._shown) != (
            self._state_word(shown)
        )
        self._shown = shown
        text = self.sync().model_dump_json()
        for channel in list(self._channels):
            channel.push(text, chat_id=self.chat_id)
        if list_changed:
            self._changed(self)

    @staticmethod
    def _state_word(shown: tuple[object, ...]) -> tuple[bool, bool]:
        return (bool(shown) and shown[1] == "cancelling", bool(shown) and bool(shown[2]))

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
    ) -> list[StoredEvent]:
        """Store, then publish. Raises StorageError (nothing stored, nothing published)."""
        before = self._store.last_seq(self.chat_id)
        stored = self._store.append(
            self.chat_id,
            drafts,
            run_id=run_id,
            offset=offset,
            lease=lease,
            durable=durable,
            outcome=outcome,
        )
        self.publish(stored, before)
        return stored

    def publish(self, stored: Sequence[StoredEvent], after: int) -> None:
        """Send stored events to all followers: encoded once."""
        if not stored or not self._channels:
            return
        encoded = [event.wire_json() for event in stored]
        for channel in list(self._channels):
            channel.push_events(self.chat_id, after, stored[-1].seq, encoded)

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
        page = self._store.events_after(self.chat_id, after_seq, limit=REPLAY_LIMIT)
        channel.push(self.sync().model_dump_json(), chat_id=self.chat_id)
        if page.has_more:
            channel.push(
                f'{{"type":"gap","chat_id":"{self.chat_id}","last_seq":{last}}}',
                chat_id=self.chat_id,
            )
            return
        self._channels[channel] = None
        if last > after_seq:
            # also when only holes are left: `upto` tells the client that it is up to date
            encoded = [event.wire_json() for event in page.events]
            channel.push_events(self.chat_id, after_seq, last, encoded)

    def unsubscribe(self, channel: Channel) -> None:
        """Idempotent."""
        self._channels.pop(channel, None)

    def unsubscribe_all(self) -> None:
        """The chat is gone."""
        self._channels.clear()
