"""One agent's process with its conversation: reads everything, answers what is not a run's."""

from __future__ import annotations

import asyncio
from pathlib import Path

from pydantic import JsonValue

from ...errors import ProviderError
from ...process.framing import Frame, Line, Oversize
from ...process.jsonrpc import Incoming
from ...process.ladder import Ladder
from ...process.launcher import Handle
from ...process.tasks import TaskOwner
from .agents import AcpAgent
from .choosing import Choosing
from .connection import READY, Connection
from .files import Files
from .inbox import Inbox, Lost, Received
from .launch import Fixed
from .offers import Abilities
from .opening import Opened, Opener, Opening
from .permissions import CANCELLED
from .wire import Json, dump, id_text, object_of, parse, text_of

_HISTORY = frozenset(
    {"user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call"}
)
_SETTLE_S = 2.0


class AcpSession(Choosing):
    """A running agent. One run at a time takes part, by its `Inbox`; between runs it is idle."""

    def __init__(self, handle: Handle, fixed: Fixed, agent: AcpAgent, tasks: TaskOwner) -> None:
        super().__init__(agent, handle.child_id, Files(Path(fixed.cwd)))
        self.handle = handle
        self.fixed = fixed
        self.abilities = Abilities()
        self.left_out: tuple[str, ...] = ()
        self.failure: ProviderError | None = None
        """Why its output ended."""
        self.abandoned = False
        """A turn of it was left by its consumer: what it does is not known any more."""
        self._history = 0
        self._inbox: Inbox | None = None
        self._ended = asyncio.Event()
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._answers = True
        self._tasks = tasks
        self.connection = Connection(
            handle,
            see=self._see,
            room=self._room,
            answers={
                "session/request_permission": self._permission,
                "fs/read_text_file": self.files.read,
                "fs/write_text_file": self.files.write,
            },
            sign_in_hint=agent.sign_in_hint,
        )

    @property
    def reusable(self) -> bool:
        """Whether it can take another prompt now."""
        return not (self._ended.is_set() or self.abandoned or self._inbox or self.handle.exit)

    async def open(self, opening: Opening, mcp: dict[str, JsonValue]) -> None:
        """Begin to read, introduce ourselves, open the conversation. Raises ProviderError."""
        self.join()
        opener = Opener(self.agent, self.connection, self._past)
        self.abilities = await opener.introduce()
        opened: Opened = await opener.open(opening, self.abilities, self.fixed.cwd, mcp)
        self.session_id, self.left_out = opened.session_id, opened.left_out
        self.offers = self._first = opened.offers

    def join(self) -> None:
        """Begin to read."""
        self.connection.start()
        self._tasks.spawn(self._watch(), name=f"watch {self.handle.child_id}")

    def attach(self, inbox: Inbox) -> None:
        """Give what comes from now on to `inbox`."""
        self._inbox = inbox

    def detach(self, inbox: Inbox) -> None:
        """The consumer of `inbox` is gone."""
        if self._inbox is inbox:
            self._inbox = None
            self.abandoned = self.abandoned or not inbox.over.is_set()
            inbox.close()  # an ask stays open: the next server may answer it

    async def prompt(self, ready: str, prompt: str, blocks: list[JsonValue]) -> None:
        """Write a prompt, behind a question whose answer says that it was on its way."""
        question: Json = {"jsonrpc": "2.0", "id": ready, "method": READY, "params": {}}
        params: Json = {"sessionId": self.session_id, "prompt": blocks}
        request: Json = {"jsonrpc": "2.0", "id": prompt, "method": "session/prompt"}
        await self.handle.write(dump(question))
        await self.handle.write(dump({**request, "params": params}))

    async def settle_down(self) -> None:
        """Before a prompt: see all that was written so far. Raises what ended the process."""
        if self._answers:
            self._answers = await self.connection.barrier(timeout_s=_SETTLE_S)

    async def cancel(self) -> None:
        """Ask the agent to stop its turn. Raises ProviderError when it is gone."""
        await self.connection.tell("session/cancel", {"sessionId": self.session_id})
        self.cancel_asks()

    def answer(self, request_id: str, result: Json) -> None:
        """Answer an ask of the agent; one that nobody waits for is ignored."""
        waiting = self._asked.get(request_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(result)

    def cancel_asks(self) -> None:
        """Every ask that is open is answered as cancelled."""
        for waiting in self._asked.values():
            if not waiting.done():
                waiting.set_result(CANCELLED)

    async def stop(self, ladder: Ladder | None = None) -> None:
        """End the process; returns once it is quiet."""
        await self.handle.stop(ladder or self.agent.ladder)
        await self.connection.close()

    def _see(self, frame: Frame) -> None:
        if isinstance(frame, Oversize):
            if self._inbox is not None:
                self._inbox.put(Lost(frame.end, frame.dropped))
            return
        message = parse(frame.text) if isinstance(frame, Line) else None
        if message is None:
            return  # torn, or no message: nothing can be said of it
        method, params = text_of(message, "method"), object_of(message, "params")
        if method == "session/update":
            if text_of(params, "sessionId") != self.session_id and self.session_id:
                return  # of another conversation, perhaps one that was refused
            update = object_of(params, "update")
            self.offers = self.offers.with_update(update)
            self._history += text_of(update, "sessionUpdate") in _HISTORY
        elif method == "$/cancel_request":
            self.answer(id_text({"id": params.get("requestId")}), CANCELLED)
        if self._inbox is None:
            return
        if method == "session/request_permission" and not self._inbox.over.is_set():
            self._asked.setdefault(id_text(message), self._future())
        self._inbox.put(Received(message, frame.end, len(frame.text)))

    async def _room(self) -> None:
        if self._inbox is not None:
            await self._inbox.room()

    def _past(self) -> int:
        seen, self._history = self._history, 0
        return seen

    async def _permission(self, incoming: Incoming) -> Json:
        request_id = id_text({"id": incoming.id})
        waiting = self._asked.get(request_id)
        if waiting is None:
            return CANCELLED  # no run was there that could have shown it
        try:
            return await waiting
        finally:
            self._asked.pop(request_id, None)

    def _future(self) -> asyncio.Future[Json]:
        return asyncio.get_running_loop().create_future()

    async def _watch(self) -> None:
        self.failure = await self.connection.ended()
        self._ended.set()
        if self._inbox is not None:
            self._inbox.close()
