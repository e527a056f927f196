"""The trash: a deleted chat is kept for some days, as it was, and comes back when asked for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from ..errors import AgentChatError
from ..process.tasks import TaskOwner
from ..protocol.base import now
from ..protocol.controls import DeletedChat, TrashList
from ..protocol.frames import ChatDeleted
from ..protocol.resources import Chat
from ..runs.hub import Hub
from ..store.base import Store
from .access import Caller
from .agent_end import ClosesChats, end_agent
from .service import ChatService

log = logging.getLogger(__name__)

CLOSE_DEADLINE_S = 15.0
PAUSE_S = 0.05


class Trash:
    """See the module. `purged(chat_id)` is told of what is gone for good."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        chats: ChatService,
        providers: ClosesChats,
        *,
        tasks: TaskOwner,
        days: float,
        purged: Callable[[str], None] = lambda _chat_id: None,
    ) -> None:
        self._store = store
        self._hub = hub
        self._chats = chats
        self._providers = providers
        self._tasks = tasks
        self._days = days
        self._purging: asyncio.Task[None] | None = None
        self._purged = purged

    async def delete(self, chat_id: str) -> None:
        """Stop the run, wait for its end, then into the trash.

        Raises NotFound, Busy if the run will not end.
        """
        self._store.chat(chat_id)
        async with self._hub.held(chat_id):
            self._store.delete_chat(chat_id, when=now())
        self._hub.forget(chat_id)
        text = ChatDeleted(chat_id=chat_id).model_dump_json()
        self._hub.broadcast(lambda _username: text)
        # last, since it may take its time: nothing of the agent stays behind
        await end_agent(self._providers, chat_id, timeout_s=CLOSE_DEADLINE_S)
        self.empty()

    def list(self) -> TrashList:
        """What can be brought back, of this server root."""
        projects = self._chats.projects
        found = [
            DeletedChat(
                id=record.chat.id,
                title=record.chat.title,
                project=projects.name(record.project_path),
                provider=record.chat.provider,
                deleted=record.deleted,
            )
            for record in self._store.trash()
            if record.deleted is not None and projects.is_here(record)
        ]
        return TrashList(chats=found, days=self._days)

    def restore(self, chat_id: str, caller: Caller) -> Chat:
        """Out of the trash, for everybody. Raises NotFound when it is not there (any more)."""
        self._store.restore_chat(chat_id)
        self._chats.announce(chat_id)
        return self._chats.get(chat_id, caller)

    def empty(self) -> None:
        """Begin to remove for good what has been here too long, in the background."""
        if self._purging is None or self._purging.done():
            self._purging = self._tasks.spawn(self.purge(), name="empty the trash")

    async def purge(self) -> None:
        """See `empty`. One chat at a time, so that nobody waits for it. Never raises for a bad
        disk: it is tried again with the next deletion and the next start."""
        before = datetime.now(UTC) - timedelta(days=self._days)
        stamp = before.isoformat(timespec="milliseconds").replace("+00:00", "Z")
        try:
            while gone := self._store.purge_trash(stamp, limit=1):
                log.info("chat=%s was removed from the trash", gone[0])
                self._purged(gone[0])
                await asyncio.sleep(PAUSE_S)
        except AgentChatError as error:
            log.warning("the trash was not emptied: %s", error)
