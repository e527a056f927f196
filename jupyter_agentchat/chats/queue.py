"""A chat's queue as people handle it: add, edit, reorder, remove, pause, resume, clear.

It lives in the store, so it needs no browser; `dispatch` sends its items. Whoever removes or edits
an item races with that: the store decides, and an item is sent once or removed, never both.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from ..errors import AgentChatError, BadRequest, Busy, StorageError
from ..protocol.base import now
from ..protocol.controls import Queue, QueueItem
from ..protocol.events import Complete
from ..protocol.resources import Prompt
from ..protocol.words import Permission, QueuePause
from ..runs.hub import Hub
from ..store.base import QueuedPrompt, Store
from .access import Caller
from .dispatch import Dispatcher
from .queued import check_room, queue_of, stored_item, wire_item

log = logging.getLogger(__name__)

PAUSES: dict[str, QueuePause] = {
    "cancelled": "stopped",
    "failed": "failed",
    "interrupted": "interrupted",
}

AfterCrash = Literal["wait", "run"]


class PromptQueue:
    """See the module. Methods with a chat id raise NotFound for a chat that is not there."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        dispatcher: Dispatcher,
        *,
        after_crash: AfterCrash = "wait",
        look_again: Callable[[], object] = lambda: None,
    ) -> None:
        """`after_crash`: whether queues that an earlier server left wait for a person.

        `look_again` is called when a person goes on with an item that was held: agents are probed
        anew, and `Dispatcher.wake_held` follows.
        """
        self._store = store
        self._hub = hub
        self._dispatcher = dispatcher
        self._after_crash = after_crash
        self._look_again = look_again
        self._begun = False
        self._closed = False
        self._stopping: set[str] = set()
        self._inherited: set[str] = set()
        self._cleared: dict[str, dict[str, QueuedPrompt]] = {}

    # ---- start and stop ---------------------------------------------------------------------

    def begin(self) -> None:
        """The server has started: queues that an earlier one left wait, or go on.

        Twice is once. Whoever does something with a queue begins, whatever else has or has not.
        Needs the loop.
        """
        if self._begun or self._closed or not self._store.health.writable:
            return
        self._begun = True
        self._dispatcher.begin()
        self._inherited = {run.chat_id for run in self._store.open_runs()}
        for chat_id in self._store.queued_chats():
            try:
                self._hub.refuse_remote(chat_id)
            except Busy:
                continue  # its server goes on with it
            if self._after_crash == "run":
                self._dispatcher.wake(chat_id)
            else:
                self._pause(chat_id, "restarted")

    async def close(self) -> None:
        """The server stops: what waits is left to the next one."""
        self._closed = True
        self._begun = False
        await self._dispatcher.close()

    # ---- what people do ---------------------------------------------------------------------

    def view(self, chat_id: str) -> Queue:
        """The queue as it is now."""
        self._store.chat(chat_id)
        return queue_of(self._store, chat_id)

    def waits(self, chat_id: str) -> bool:
        """Whether anything waits: what is sent next waits behind it."""
        return bool(self._store.queue(chat_id))

    def add(
        self, chat_id: str, caller: Caller, prompt: Prompt, permission: Permission
    ) -> QueueItem:
        """Put a checked prompt at the end; `permission` is the most that it may ever run with.

        Raises RateLimited (full), TooLarge, Busy (accepted before), StorageError.
        """
        waiting = self._store.queue(chat_id)
        check_room(waiting, prompt.text)
        item = QueuedPrompt(
            id=secrets.token_hex(8),
            chat_id=chat_id,
            client_id=prompt.client_id,
            text=prompt.text,
            attachments=(),
            username=caller.username,
            name=caller.name,
            created=now(),
            permission=permission,
            expect=prompt.expect.model_dump(exclude_unset=True) if prompt.expect else None,
        )
        self._store.enqueue(item)
        self._changed(chat_id)
        return wire_item(item)

    def find(self, chat_id: str, item_id: str) -> QueueItem | None:
        """One item, or None when it was sent or removed."""
        return next((i for i in queue_of(self._store, chat_id).queue if i.id == item_id), None)

    def edit(self, chat_id: str, item_id: str, text: str) -> Queue:
        """Change an item's text. Who edits has seen the chat's present settings: a held item is
        tried again with them (never with a higher permission than it was queued with).

        Raises NotFound (sent or removed by now), BadRequest, RateLimited, TooLarge, StorageError.
        """
        if not text.strip():
            raise BadRequest("There is nothing to send.")
        self._enter(chat_id)
        waiting = self._store.queue(chat_id)
        check_room([item for item in waiting if item.id != item_id], text)
        item = next((item for item in waiting if item.id == item_id), None)
        if item is None:
            item = self._store.unqueue(chat_id, item_id)  # NotFound, in the store's words
        self._store.save_queued(replace(item, text=text, expect=None, held_reason=None))
        return self._changed(chat_id, row=False)

    def order(self, chat_id: str, ids: list[str]) -> Queue:
        """Raises Stale when `ids` are not exactly those that wait."""
        self._enter(chat_id)
        self._store.order_queue(chat_id, ids)
        return self._changed(chat_id, row=False)

    def remove(self, chat_id: str, item_id: str) -> Queue:
        """Raises NotFound when it was sent or removed before."""
        self._enter(chat_id)
        self._store.unqueue(chat_id, item_id)
        self._unpause_empty(chat_id)
        return self._changed(chat_id)

    def pause(self, chat_id: str) -> Queue:
        """Send nothing more by itself until `resume`."""
        self._enter(chat_id)
        self._store.pause_queue(chat_id, "by_hand")
        return self._changed(chat_id)

    def resume(self, chat_id: str) -> Queue:
        """Go on, also with an item that was held."""
        self._enter(chat_id)
        self._store.pause_queue(chat_id, None)
        queue = self._changed(chat_id)
        if any(item.held_reason for item in queue.queue):
            self._look_again()
        return queue

    def stop(self, chat_id: str) -> bool:
        """Stop the chat's run and pause its queue; False when nothing runs.

        Raises Busy, and changes nothing, when another server of this host runs the chat.
        """
        self._enter(chat_id)
        running = self._hub.cancel(chat_id)
        if self._hub.state(chat_id) != "idle":
            self._stopping.add(chat_id)
        self._pause(chat_id, "stopped")
        return running

    def hold(self, chat_id: str) -> None:
        """Before the chat goes into the trash: its queue is kept, and waits for a person."""
        self._pause(chat_id, "stopped")

    def wake(self, chat_id: str) -> None:
        """The chat has changed: a held item may be sent now."""
        self._dispatcher.wake(chat_id)

    def wake_held(self) -> None:
        """So has something that several chats may wait for."""
        self._dispatcher.wake_held()

    # ---- for rewind -------------------------------------------------------------------------

    def clear(self, chat_id: str) -> list[QueueItem]:
        """Take everything out; returns it in order, for `restore`."""
        taken = [self._store.unqueue(chat_id, item.id) for item in self._store.queue(chat_id)]
        self._cleared[chat_id] = {item.id: item for item in taken}
        self._unpause_empty(chat_id)
        self._changed(chat_id)
        return [wire_item(item) for item in taken]

    def restore(self, chat_id: str, items: Sequence[QueueItem]) -> None:
        """Put cleared items back, in front of what was queued since.

        They wait for a person: nobody has asked for them to run just now.
        """
        if not items:
            return
        later = [item.id for item in self._store.queue(chat_id)]
        self._store.pause_queue(chat_id, "by_hand")
        known = self._cleared.pop(chat_id, {})
        for item in items:
            self._requeue(stored_item(chat_id, item, known.get(item.id)))
        self._store.order_queue(chat_id, [*(item.id for item in items), *later])
        self._changed(chat_id)

    def _requeue(self, item: QueuedPrompt) -> None:
        try:
            self._store.enqueue(item)
        except Busy:
            # its own id counts as accepted: the item is a new one with the same words
            self._store.enqueue(replace(item, client_id=secrets.token_hex(8)))

    # ---- what the hub tells -----------------------------------------------------------------

    def on_finished(self, chat_id: str, complete: Complete) -> None:
        """A run has ended. One that did not end well pauses the queue, but not twice for one Stop:
        what was sent after Stop runs."""
        if not self._begun:
            return  # starting or stopping: `begin` of this server, or of the next, decides
        stopped = chat_id in self._stopping and complete.outcome == "cancelled"
        inherited = chat_id in self._inherited and complete.outcome == "interrupted"
        self._inherited.discard(chat_id)
        if stopped or (inherited and self._after_crash == "run"):
            return
        if complete.outcome in PAUSES:
            self._pause(chat_id, PAUSES[complete.outcome])

    def on_taken_over(self, chat_id: str) -> None:
        """The server of the chat's run has died beside this one: what waits is as after a crash."""
        if self._after_crash == "run":
            self._inherited.add(chat_id)
            self._dispatcher.wake(chat_id)
        else:
            self._pause(chat_id, "restarted")

    def on_freed(self, chat_id: str) -> None:
        """The chat can take the next run."""
        self._stopping.discard(chat_id)
        self._dispatcher.wake(chat_id)

    # ---- inside -----------------------------------------------------------------------------

    def _enter(self, chat_id: str) -> None:
        """Before anything is changed. Raises NotFound."""
        self._store.chat(chat_id)
        self.begin()

    def _pause(self, chat_id: str, reason: QueuePause) -> None:
        """Pause what waits. An empty queue is not paused: nobody would know what for."""
        try:
            if self._store.queue(chat_id) and self._store.queue_pause(chat_id) is None:
                self._store.pause_queue(chat_id, reason)
                self._hub.show_queue(chat_id)
        except StorageError as error:
            log.warning("chat=%s: its queue could not be paused: %s", chat_id, error)
        except AgentChatError as error:
            log.debug("chat=%s: no queue to pause: %s", chat_id, error)

    def _unpause_empty(self, chat_id: str) -> None:
        if not self._store.queue(chat_id) and self._store.queue_pause(chat_id) is not None:
            self._store.pause_queue(chat_id, None)

    def _changed(self, chat_id: str, *, row: bool = True) -> Queue:
        """`row`: also what the chat list tells of it."""
        self._hub.show_queue(chat_id, row=row)
        self._dispatcher.wake(chat_id)
        return queue_of(self._store, chat_id)
