"""Accepting a prompt: it runs now, is put into the running turn, or waits in the chat's queue."""

from __future__ import annotations

import asyncio

from ..errors import AgentChatError, Busy, SteerUnsupported, StorageError
from ..protocol.base import now
from ..protocol.controls import Accepted, QueueItem
from ..protocol.events import User
from ..protocol.resources import Prompt
from ..protocol.words import Origin
from ..runs.hub import Hub
from ..store.base import ChatRecord, Store
from .access import Caller
from .plans import Allowance, Planner, check_text
from .queue import PromptQueue
from .service import ChatService
from .starts import Starter


class Prompts:
    """What people send. Refusals change nothing and are not remembered."""

    def __init__(
        self,
        store: Store,
        hub: Hub,
        chats: ChatService,
        planner: Planner,
        starter: Starter,
        queue: PromptQueue,
    ) -> None:
        self._store = store
        self._hub = hub
        self._chats = chats
        self._planner = planner
        self._starter = starter
        self._queue = queue
        self._steering: dict[tuple[str, str, str], asyncio.Event] = {}

    async def send(self, chat_id: str, caller: Caller, prompt: Prompt) -> Accepted:
        """Take a prompt. The same `client_id` again gives the first answer again.

        Raises NotFound, BadRequest, Unsupported, Stale, NotTrusted, Busy, Forbidden, RateLimited,
        TooLarge, StorageError.
        """
        record = self._store.chat(chat_id)
        if earlier := self._earlier(chat_id, caller, prompt):
            return earlier
        if not self._store.health.writable:
            raise StorageError(self._store.health.notice or "The store is read-only.")
        self._queue.begin()
        check_text(prompt.text, prompt.attachments)
        if prompt.delivery == "steer":
            return await self._steer(chat_id, caller, prompt)
        self._planner.check(record)
        trusted = await self._planner.trusted(caller.username, record)
        # decided and looked up; from here on nothing awaits until the prompt is stored
        if earlier := self._earlier(chat_id, caller, prompt):
            return earlier
        record = self._store.chat(chat_id)
        self._planner.check(record)
        self._planner.check_expect(record, prompt.expect)
        self._hub.refuse_remote(chat_id)
        try:
            if self._must_wait(chat_id, prompt):
                return self._enqueue(record, caller, prompt)
            return self._run(record, caller, prompt, trusted)
        except Busy as busy:
            if raced := self._earlier(chat_id, caller, prompt):
                return raced  # another server on this store was faster
            if prompt.delivery == "auto" and _is_own_run(busy):
                return self._enqueue(record, caller, prompt)
            raise

    def _must_wait(self, chat_id: str, prompt: Prompt) -> bool:
        match prompt.delivery:
            case "queue":
                return True
            case "auto":
                return self._hub.state(chat_id) != "idle" or self._queue.waits(chat_id)
            case _:
                return False

    def _run(self, record: ChatRecord, caller: Caller, prompt: Prompt, trusted: bool) -> Accepted:
        user = _user(caller, prompt, "typed")
        plan = self._planner.plan(record, user, Allowance(trusted))
        return Accepted(run_id=self._starter.start(plan, reader=caller.username))

    def _enqueue(self, record: ChatRecord, caller: Caller, prompt: Prompt) -> Accepted:
        permission = self._chats.effective(record)
        return Accepted(queue_item=self._queue.add(record.chat.id, caller, prompt, permission))

    # ---- steer ------------------------------------------------------------------------------

    async def _steer(self, chat_id: str, caller: Caller, prompt: Prompt) -> Accepted:
        """Put it into the running turn, once, also when it is sent again meanwhile.

        Remembered when the agent has it: one that was refused may be sent in another way.
        """
        key = (chat_id, caller.username, prompt.client_id)
        while (same := self._steering.get(key)) is not None:
            await same.wait()
            if earlier := self._earlier(chat_id, caller, prompt):
                return earlier
        done = self._steering[key] = asyncio.Event()
        try:
            run_id = await self._hub.steer(chat_id, _user(caller, prompt, "steered"))
            answer = Accepted(run_id=run_id, steered=True)
            self._remember(key, answer)
        except SteerUnsupported as refused:
            refused.details.setdefault("text", prompt.text)
            raise
        finally:
            del self._steering[key]
            done.set()
        return answer

    def _remember(self, key: tuple[str, str, str], answer: Accepted) -> None:
        self._store.remember_prompt(*key, answer.model_dump(exclude_defaults=True))

    # ---- resends ----------------------------------------------------------------------------

    def _earlier(self, chat_id: str, caller: Caller, prompt: Prompt) -> Accepted | None:
        """The answer that this prompt got before, as far as it is true by now."""
        found = self._store.find_prompt(chat_id, caller.username, prompt.client_id)
        if found is None:
            return None
        item_id = found.get("queue_item")
        if item_id is None:
            return Accepted.model_validate(found)
        item = self._queue.find(chat_id, str(item_id))
        return Accepted(queue_item=item or _removed(str(item_id), caller, prompt))


def _user(caller: Caller, prompt: Prompt, origin: Origin) -> User:
    return User(text=prompt.text, author=caller.author, client_id=prompt.client_id, origin=origin)


def _removed(item_id: str, caller: Caller, prompt: Prompt) -> QueueItem:
    """It was queued, and somebody has removed it since: sending it again brings nothing back."""
    return QueueItem(
        id=item_id,
        client_id=prompt.client_id,
        text=prompt.text,
        author=caller.author,
        created=now(),
        held_reason="It was removed from the queue.",
    )


def _is_own_run(busy: AgentChatError) -> bool:
    """Whether the chat is busy with a run of this server, after which the queue goes on."""
    return "run_id" in busy.details and "holder" not in busy.details
