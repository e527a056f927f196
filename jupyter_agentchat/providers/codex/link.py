"""The way to one app server: requests with deadlines and patience, its lines to the runs."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from ...errors import ProcessExited, ProviderError
from ...process.framing import Frame, Oversize
from ...process.jsonrpc import OVERLOADED, Answered, Incoming, JsonRpcPeer, RequestId, RpcError
from ...process.launcher import Handle
from ...process.tasks import TaskOwner
from .launch import Setup
from .received import Received
from .refusals import not_started
from .replies import refusal
from .router import Router
from .translate.asks import ASKING
from .wire import Json, as_object, text_of, thread_of

REQUEST_TIMEOUT_S: Final = 30.0
INITIALIZE_TIMEOUT_S: Final = 30.0
OWNERLESS_S: Final = 20.0
"""How long what Codex says waits for its run after a change of server."""

_AT_ONCE: Final = 16
_PAUSES_S: Final = (0.1, 0.3, 1.0, 2.0, 4.0)
_MESSAGE_LIMIT: Final = 500
_VERSION_PART: Final = 1
_OPT_OUT: Final = ("thread/readState/changed", "remoteControl/status/changed")
_log = logging.getLogger(__name__)


class CodexLink:
    """One running app server.

    `loaded` knows with which setup we have loaded its threads, `models` with which model, and
    `default_model` what a thread gets for which nobody has chosen.
    """

    def __init__(
        self,
        handle: Handle,
        tasks: TaskOwner,
        *,
        attached: bool,
        on_unasked: Callable[[CodexLink, str, str, int], None] | None = None,
    ) -> None:
        self.handle = handle
        self.attached = attached
        self.version = ""
        self.loaded: dict[str, Setup] = {}
        self.models: dict[str, str] = {}
        self.default_model = ""
        self._on_unasked = on_unasked
        self.router = Router(on_unasked=self._unasked)
        self._tasks = tasks
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._end = handle.position
        self._began = 0.0
        self._told: set[str] = set()
        self._caught_up: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._peer = JsonRpcPeer(
            handle,
            requests=dict.fromkeys(ASKING, self._asked),
            on_notification=self._notified,
            on_malformed=self._malformed,
            version_member=False,
            id_prefix=f"agentchat-{secrets.token_hex(4)}-",
            observe=self._observe,
        )

    async def begin(self, client_version: str) -> None:
        """Begin to read, and introduce ourselves to a process of our own. Raises ProviderError."""
        self._began = asyncio.get_running_loop().time()
        self._peer.start()
        self._watching = self._tasks.spawn(self._watch(), name=f"watch {self.handle.child_id}")
        if self.attached:
            # half a line of the dead server would swallow our first one
            with suppress(ProviderError):
                await self.handle.write("")
            self._caught_up = self._tasks.spawn(self._catch_up(), name="catch up")
            return
        try:
            answer = await self._introduced(client_version)
        except ProcessExited as ended:
            raise not_started(ended, "Codex") from ended
        self.version = version_of(text_of(answer, "userAgent"))
        await self._peer.notify("initialized")

    async def _introduced(self, client_version: str) -> Json:
        return await self.request(
            "initialize",
            {
                "clientInfo": {
                    "name": "jupyter_agentchat",
                    "title": "Jupyter agent chat",
                    "version": client_version,
                },
                "capabilities": {
                    "experimentalApi": True,
                    "optOutNotificationMethods": list(_OPT_OUT),
                },
            },
            timeout_s=INITIALIZE_TIMEOUT_S,
        )

    async def request(
        self,
        method: str,
        params: Json | None = None,
        *,
        request_id: RequestId | None = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> Json:
        """Ask; an overloaded server is asked again, at longer and longer intervals.

        Raises RpcError, ProviderTimeout, and what ended the process.
        """
        async with self._slots:
            for pause_s in (*_PAUSES_S, None):
                try:
                    return as_object(
                        await self._peer.request(
                            method, params or {}, timeout_s=timeout_s, request_id=request_id
                        )
                    )
                except RpcError as error:
                    if error.rpc_code != OVERLOADED or pause_s is None:
                        raise
                    _log.info("child=%s is overloaded (%s)", self.handle.child_id, method)
                await asyncio.sleep(pause_s)
        raise AssertionError  # the last pause is None

    @property
    def settled(self) -> bool:
        """Whether every run of an earlier server that will be attached to has been."""
        since = asyncio.get_running_loop().time() - self._began
        return not self.attached or since > OWNERLESS_S

    async def caught_up(self) -> None:
        """Wait until all that was written for an earlier server is in the inboxes."""
        if self._caught_up is not None:
            await asyncio.wait({self._caught_up})

    async def close(self) -> None:
        """Let go; the process is not touched."""
        await self._peer.close()
        self.router.end()
        for task in (self._caught_up, self._watching):
            if task is not None and task is not asyncio.current_task():
                task.cancel()

    async def _catch_up(self) -> None:
        with suppress(ProviderError):
            await self.request("thread/loaded/list", timeout_s=60.0)

    async def _watch(self) -> None:
        await self._peer.wait_end()
        self.router.end()

    # what Codex says

    def _observe(self, message: Incoming | Answered) -> None:
        size, self._end = message.end - self._end, message.end
        if isinstance(message, Answered):
            run_id, _, step = str(message.id).rpartition("#")
            if run_id:
                error = None if message.error is None else as_object(message.error)
                params = as_object(message.result)
                self.router.answer(
                    run_id, Received("answer", step, params, message.end, size, error)
                )
            return
        params = as_object(message.params)
        item = Received(
            "notification" if message.id is None else "request",
            message.method,
            params,
            message.end,
            size,
            request_id=message.id,
        )
        if self.router.message(item) is None and message.id is None and not thread_of(params):
            self._note(message.method, params)
        if message.method == "thread/status/changed" and _is_unloaded(params):
            self.loaded.pop(thread_of(params), None)
        if message.method == "serverRequest/resolved":
            resolved = params.get("requestId")
            if isinstance(resolved, int | str):
                self._peer.cancel_incoming(resolved)

    async def _notified(self, message: Incoming) -> None:
        inbox = self.router.owner(thread_of(as_object(message.params)))
        if inbox is not None:
            await inbox.room()

    async def _asked(self, message: Incoming) -> Json:
        params = as_object(message.params)
        wait_s = 0.0 if self.settled else OWNERLESS_S
        inbox = await self.router.owner_in(thread_of(params), wait_s)
        if inbox is None or message.id is None:
            _log.info("child=%s: nobody is there for %s", self.handle.child_id, message.method)
            return refusal(message.method, params)
        return await inbox.reply_to(message.id)

    def _unasked(self, thread_id: str, turn_id: str, start: int) -> None:
        # what an earlier server's output holds, is of its runs
        if self.settled and self._on_unasked is not None:
            self._on_unasked(self, thread_id, turn_id, start)

    def _malformed(self, frame: Frame, reason: str) -> None:
        _log.info("child=%s: a line is no message: %s", self.handle.child_id, reason)
        if isinstance(frame, Oversize):
            self.router.message(Received("lost", "", {"size": frame.dropped}, frame.end))

    def _note(self, method: str, params: Json) -> None:
        """Of the whole process, not of a chat: for the log, once each."""
        said = text_of(params, "summary") or text_of(params, "message")
        if said and said not in self._told:
            self._told.add(said)
            _log.info("child=%s: %s: %s", self.handle.child_id, method, said[:_MESSAGE_LIMIT])


def version_of(user_agent: str) -> str:
    """The program's version: the second part of `name/version (...)`."""
    parts = user_agent.split(" ")[0].split("/")
    return parts[_VERSION_PART] if len(parts) > _VERSION_PART else ""


def step_id(run_id: str, step: str) -> str:
    """The id of a request that a run makes at this step: the next server knows its answer by it."""
    return f"{run_id}#{step}"


def _is_unloaded(params: Json) -> bool:
    return text_of(as_object(params.get("status")), "type") == "notLoaded"
