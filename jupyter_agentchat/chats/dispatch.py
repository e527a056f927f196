"""Sends what waits in the queues, with or without a browser: the first item of each free chat.

Event driven: `wake` is called when a chat has become free, when its queue or what kept it from
running has changed, and at the start. An item that cannot be sent stays first and says why.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace

from ..errors import AgentChatError, Busy, NotInstalled, StorageError
from ..process.tasks import TaskOwner
from ..protocol.events import User
from ..protocol.resources import Author, Expect, Provider
from ..runs.hub import Hub
from ..store.base import QueuedPrompt, Store
from .plans import Allowance, Planner
from .starts import Starter

log = logging.getLogger(__name__)

NOT_READY = ("missing", "signed_out", "too_old", "refused_by_policy")


class Dispatcher:
    """One look at a time per chat. Sends nothing before `begin`, and nothing after `close`."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        planner: Planner,
        starter: Starter,
        provider: Callable[[str], Awaitable[Provider]],
    ) -> None:
        """`provider` tells what is known of an agent; see `ProviderRegistry.provider`."""
        self._store = store
        self._hub = hub
        self._planner = planner
        self._starter = starter
        self._provider = provider
        self._tasks = TaskOwner("queue")
        self._looking: dict[str, bool] = {}
        self._held: set[str] = set()
        self._open = False

    def begin(self) -> None:
        """From here on items are sent. Needs the loop."""
        self._open = True

    async def close(self) -> None:
        """Send nothing any more. What waits stays in the store."""
        self._open = False
        await self._tasks.close()

    def wake(self, chat_id: str) -> None:
        """Look whether the chat's first item can be sent now. Returns at once, never raises."""
        if chat_id in self._looking:
            self._looking[chat_id] = True  # what has changed may have come too late for that look
        elif self._open and self._next(chat_id) is not None:
            self._looking[chat_id] = False
            self._tasks.spawn(self._look(chat_id), name=f"send {chat_id}")

    def wake_held(self) -> None:
        """Something that may have kept items back has changed: an agent, a decision on trust."""
        for chat_id in list(self._held):
            self.wake(chat_id)

    async def _look(self, chat_id: str) -> None:
        try:
            again = True
            while again and self._open:
                self._looking[chat_id] = False
                item = self._next(chat_id)
                if item is None:
                    return
                await self._try(item)
                again = self._looking[chat_id]
        finally:
            del self._looking[chat_id]

    def _next(self, chat_id: str) -> QueuedPrompt | None:
        """The item that is to run now: of a free chat whose queue does not wait for a person."""
        if self._hub.state(chat_id) != "idle":
            return None
        try:
            self._store.chat(chat_id)  # one in the trash keeps its queue
            if self._store.queue_pause(chat_id) is not None:
                return None
            return next(iter(self._store.queue(chat_id)), None)
        except AgentChatError as error:
            log.info("chat=%s: its queue cannot be read: %s", chat_id, error)
            return None

    async def _try(self, item: QueuedPrompt) -> None:
        try:
            await self._send(item)
        except Busy as busy:
            log.info("chat=%s: its queue goes on later: %s", item.chat_id, busy)
        except StorageError as error:
            log.warning("chat=%s: the queue cannot go on: %s", item.chat_id, error)
        except AgentChatError as error:
            self._hold(item, error.message)

    async def _send(self, item: QueuedPrompt) -> None:
        record = self._store.chat(item.chat_id)
        self._planner.check(record)
        await self._ready(record.chat.provider or "")
        trusted = await self._planner.trusted(item.username, record)
        # looked up; from here on nothing awaits until the item is a run
        present = self._next(item.chat_id)
        if present is None:
            return
        if present.username != item.username:
            self._looking[item.chat_id] = True  # another person's is first by now: their trust
            return
        record = self._store.chat(item.chat_id)
        self._planner.check(record)
        self._planner.check_expect(record, _expected(present))
        author = Author(username=present.username, name=present.name)
        user = User(text=present.text, author=author, client_id=present.client_id, origin="queued")
        allowance = Allowance(trusted, present.permission, present.id)
        self._starter.start(self._planner.plan(record, user, allowance))
        self._held.discard(item.chat_id)

    async def _ready(self, provider_id: str) -> None:
        """Raises NotInstalled where a run would only fail; NotFound for an unknown agent."""
        provider = await self._provider(provider_id)
        if provider.state in NOT_READY:
            raise NotInstalled(provider.reason or f"{provider.name} cannot be used now.")

    def _hold(self, item: QueuedPrompt, reason: str) -> None:
        """Keep the item where it is, with the reason. It may be gone, or have changed, by now."""
        self._held.add(item.chat_id)
        try:
            waiting = {present.id: present for present in self._store.queue(item.chat_id)}
            if item.id not in waiting:
                self._looking[item.chat_id] = True  # removed, or sent by another server: the next
            elif waiting[item.id].held_reason != reason:
                self._store.save_queued(replace(waiting[item.id], held_reason=reason))
                self._hub.show_queue(item.chat_id, row=False)
        except AgentChatError as error:
            log.warning("chat=%s: why its queue waits is not kept: %s", item.chat_id, error)


def _expected(item: QueuedPrompt) -> Expect | None:
    """What the person saw. Not the permission: of that the stricter one holds anyway."""
    if item.expect is None:
        return None
    return Expect.model_validate(
        {name: value for name, value in item.expect.items() if name != "effective_permission"}
    )
