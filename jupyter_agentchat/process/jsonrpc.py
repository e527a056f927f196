"""A JSON-RPC 2.0 peer over a stream of lines: both sides may ask, answers come in any order."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from ..errors import ChildGone, ProtocolError, ProviderError, ProviderTimeout
from .framing import Frame, Line
from .tasks import TaskOwner

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
OVERLOADED = -32001

RequestId: TypeAlias = int | str
Json: TypeAlias = Any  # what a provider sends; checked by its adapter

_log = logging.getLogger(__name__)


class LineStream(Protocol):
    """The part of a `Handle` that a peer needs."""

    def lines(self) -> AsyncGenerator[Frame, None]:
        """What the other side sends, to its end."""

    async def write(self, line: str, *, timeout_s: float = ...) -> None:
        """Send one line."""

    async def failure(self) -> ProviderError:
        """Why the stream ended."""


class RpcError(ProviderError):
    """An error answer, received or to be sent. `rpc_code` is its number, `data` what came along."""

    def __init__(self, rpc_code: int, message: str, data: Json = None) -> None:
        super().__init__(message, rpc_code=rpc_code)
        self.rpc_code = rpc_code
        self.data = data


@dataclass(frozen=True, slots=True)
class Incoming:
    """A request (`id` set) or a notification (`id` None) of the other side.

    `end` is the stream offset behind its line.
    """

    method: str
    params: Json
    id: RequestId | None
    end: int


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer, whoever asked: of a shared spool, an earlier server may have.

    `error` is the error object, or None; `end` the stream offset behind its line.
    """

    id: RequestId
    result: Json
    error: Json
    end: int


RequestHandler: TypeAlias = Callable[[Incoming], Awaitable[Json]]
NotificationHandler: TypeAlias = Callable[[Incoming], Awaitable[None]]
Observer: TypeAlias = Callable[[Incoming | Answered], None]
MalformedHandler: TypeAlias = Callable[[Frame, str], None]


class JsonRpcPeer:
    """One end of the conversation.

    Each incoming request runs in a task of its own, so that a slow one (an open ask) does not
    hold up the reader; notifications are awaited one after another, so that their order is kept
    and a slow consumer slows the other side. Handlers of requests answer by returning, or by
    raising RpcError; any other exception is answered with -32603 and logged.

    `version_member` false leaves out `"jsonrpc": "2.0"`, as Codex does; incoming messages may
    lack it in any case. `id_prefix` makes the ids of our requests strings that no other server's
    requests to the same process can equal.

    `observe` sees every request, notification and answer in the order of the stream, in the reader
    and before anything is done with it: what a request means for those who wait must not depend on
    when its task runs. It must not raise.
    """

    def __init__(
        self,
        stream: LineStream,
        *,
        requests: Mapping[str, RequestHandler],
        on_notification: NotificationHandler,
        on_malformed: MalformedHandler,
        version_member: bool = True,
        id_prefix: str = "",
        max_incoming: int = 256,
        observe: Observer | None = None,
    ) -> None:
        self._stream = stream
        self._requests = requests
        self._on_notification = on_notification
        self._on_malformed = on_malformed
        self._version = {"jsonrpc": "2.0"} if version_member else {}
        self._id_prefix = id_prefix
        self._max_incoming = max_incoming
        self._observe = observe or _look_away
        self._ids = itertools.count(1)
        self._pending: dict[RequestId, asyncio.Future[Json]] = {}
        self._incoming: dict[RequestId, asyncio.Task[None]] = {}
        self._tasks = TaskOwner("jsonrpc")
        self._ended: ProviderError | None = None
        self._reader: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read; call it once, on the loop."""
        self._reader = self._tasks.spawn(self._read(), name="reader")

    async def close(self) -> None:
        """Stop reading, cancel incoming requests unanswered, fail outgoing ones. Twice is once."""
        self._fail_pending(ProtocolError("The connection to the agent was closed."))
        await self._tasks.close()

    async def wait_end(self) -> ProviderError:
        """Wait until the stream has ended or the peer was closed; says why.

        Raises what `on_notification` raised, if that was the end.
        """
        if self._reader is None:
            raise RuntimeError("not started")
        await asyncio.wait({self._reader})
        if not self._reader.cancelled():
            self._reader.result()
        return self._ended or ProtocolError("The connection to the agent was closed.")

    # asking

    async def request(
        self,
        method: str,
        params: Json = None,
        *,
        timeout_s: float | None,
        request_id: RequestId | None = None,
    ) -> Json:
        """Ask and wait for the result, `timeout_s` seconds at most (None: as long as it takes).

        `request_id`: an id of the caller's own, by which a later reader of the same stream knows
        the answer again; no other request of this peer may be waiting under it.

        Raises RpcError for an error answer, ProviderTimeout, and when the stream ends what
        `LineStream.failure` gives. On time-out and on cancel a late answer is dropped; the other
        side is not told: how to do that differs between agents.
        """
        if self._ended:
            raise self._ended
        if request_id is None:
            number = next(self._ids)
            request_id = f"{self._id_prefix}{number}" if self._id_prefix else number
        elif request_id in self._pending:
            raise RuntimeError(f"request id {request_id} is in use")
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._pending[request_id] = answer
        try:
            async with asyncio.timeout(timeout_s):
                await self._send({"id": request_id, "method": method}, params=params)
                return await answer
        except TimeoutError:
            raise ProviderTimeout(
                f"The agent did not answer {method}.",
                hint="Stop the run and send the prompt again.",
                method=method,
                timeout_s=timeout_s,
            ) from None
        finally:
            del self._pending[request_id]
            if not answer.cancel() and not answer.cancelled():
                answer.exception()  # taken note of: it may have failed while we were cancelled

    async def notify(self, method: str, params: Json = None) -> None:
        """Tell without an answer. Raises as `Handle.write` does."""
        if self._ended:
            raise self._ended
        await self._send({"method": method}, params=params)

    def cancel_incoming(self, request_id: RequestId) -> bool:
        """Cancel the handler of a request that the other side withdrew; it stays unanswered.

        False when it is not being handled.
        """
        task = self._incoming.get(request_id)
        return task is not None and task.cancel()

    async def _send(self, message: dict[str, Json], *, params: Json = None) -> None:
        if params is not None:
            message["params"] = params
        await self._stream.write(json.dumps(self._version | message, ensure_ascii=False))

    # being told

    async def _read(self) -> None:
        try:
            async with contextlib.aclosing(self._stream.lines()) as frames:
                async for frame in frames:
                    await self._dispatch(frame)
            self._fail_pending(await self._stream.failure())
        except ChildGone as gone:
            self._fail_pending(gone)  # this server lets go of it: the other side goes on
        finally:
            self._fail_pending(ProtocolError("The connection to the agent was lost."))

    def _fail_pending(self, error: ProviderError) -> None:
        if self._ended is not None:
            return
        self._ended = error
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(error)

    async def _dispatch(self, frame: Frame) -> None:
        if not isinstance(frame, Line):
            self._on_malformed(frame, "not a whole line")
            return
        if not frame.text.strip():
            return
        try:
            message = json.loads(frame.text)
        except (ValueError, RecursionError) as error:
            self._on_malformed(frame, f"not JSON: {type(error).__name__}")
            return
        if not isinstance(message, dict):
            self._on_malformed(frame, "not an object")
            return
        method, request_id = message.get("method"), message.get("id")
        if request_id is not None and type(request_id) not in (int, str):
            self._on_malformed(frame, "id is neither integer nor string")
        elif isinstance(method, str):
            incoming = Incoming(method, message.get("params"), request_id, frame.end)
            self._observe(incoming)
            if request_id is None:
                await self._on_notification(incoming)
            else:
                await self._accept(incoming, request_id)
        elif request_id is not None and ("result" in message or "error" in message):
            self._answered(request_id, message, frame)
        else:
            self._on_malformed(frame, "neither request, notification nor answer")

    def _answered(self, request_id: RequestId, message: dict[str, Json], frame: Line) -> None:
        answer = self._pending.get(request_id)
        error = message.get("error")
        self._observe(Answered(request_id, message.get("result"), error, frame.end))
        if answer is None or answer.done():
            _log.debug("an answer to request %s came late or was never asked for", request_id)
        elif error is None:
            answer.set_result(message.get("result"))
        elif isinstance(error, dict):
            code, text = error.get("code"), error.get("message")
            answer.set_exception(
                RpcError(
                    code if type(code) is int else INTERNAL_ERROR,
                    text if isinstance(text, str) else "The agent refused without a reason.",
                    error.get("data"),
                )
            )
        else:
            answer.set_exception(RpcError(INTERNAL_ERROR, str(error)))

    async def _accept(self, incoming: Incoming, request_id: RequestId) -> None:
        handler = self._requests.get(incoming.method)
        if handler is None:
            refusal = (METHOD_NOT_FOUND, f"Method not found: {incoming.method[:200]}")
        elif request_id in self._incoming:
            refusal = (INVALID_REQUEST, "This id is in use.")
        elif len(self._incoming) >= self._max_incoming:
            refusal = (OVERLOADED, "Too many requests at once.")
        else:
            task = self._tasks.spawn(
                self._handle(handler, incoming, request_id), name=f"request {incoming.method[:60]}"
            )
            self._incoming[request_id] = task
            task.add_done_callback(lambda _: self._incoming.pop(request_id, None))
            return
        # in the reader itself: a flood of refused requests must not become a flood of tasks
        await self._answer(request_id, {"error": {"code": refusal[0], "message": refusal[1]}})

    async def _handle(
        self, handler: RequestHandler, incoming: Incoming, request_id: RequestId
    ) -> None:
        body: dict[str, Json] = {
            "error": {"code": INTERNAL_ERROR, "message": "The request failed at the client."}
        }
        try:
            body = {"result": await handler(incoming)}
        except RpcError as error:
            fault: dict[str, Json] = {"code": error.rpc_code, "message": error.message}
            body = {"error": fault if error.data is None else fault | {"data": error.data}}
        except asyncio.CancelledError:
            body = {}
            raise
        finally:
            # also for an exception nobody expected (the owner logs it): the agent must not wait
            if body:
                await self._answer(request_id, body)

    async def _answer(self, request_id: RequestId, body: dict[str, Json]) -> None:
        if self._ended:
            return
        try:
            await self._send({"id": request_id} | body)
        except ProviderError as error:
            _log.debug("request %s stays unanswered: %s", request_id, error)


def _look_away(_message: Incoming | Answered) -> None:
    """Nobody wants to see."""
