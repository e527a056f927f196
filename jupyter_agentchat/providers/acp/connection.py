"""The line to one agent: our JSON-RPC peer, with an eye on every line before the peer gets it.

The peer matches our requests with their answers and answers the agent's. It does so in tasks, whose
order is not that of the lines; and a run's end is an *answer*, perhaps to a server before us, of
which the peer knows nothing. So the lines are also looked at here, in their order and with their
offsets: what a chat shows comes from this look alone.

The connection class of the `agent-client-protocol` package is not used. It owns the process it
starts (so that no later server can take it over), ends the connection at a line above its limit,
and hands over updates and answers by tasks, so that a prompt's answer may overtake its last update.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Final

from ...errors import AuthRequired, ChildGone, ProviderError
from ...process.framing import Frame
from ...process.jsonrpc import Incoming, JsonRpcPeer, RequestHandler, RpcError
from ...process.launcher import Handle
from .wire import AUTH_REQUIRED, Json

READY: Final = "_agentchat/ready"
"""A question that no agent knows: its refusal is an answer like any other."""
REQUEST_TIMEOUT_S: Final = 20.0

_log = logging.getLogger(__name__)


class _SeenLines:
    """A handle's lines, each shown to `see` first. Implements `jsonrpc.LineStream`."""

    def __init__(
        self, handle: Handle, see: Callable[[Frame], None], room: Callable[[], Awaitable[None]]
    ) -> None:
        self._handle = handle
        self._see = see
        self._room = room
        self.gone: ProviderError | None = None

    async def lines(self) -> AsyncGenerator[Frame, None]:
        try:
            async with aclosing(self._handle.lines()) as frames:
                async for frame in frames:
                    self._see(frame)
                    yield frame
                    await self._room()
        except ChildGone as error:
            self.gone = error  # this server lets go of it

    async def write(self, line: str, *, timeout_s: float = 30.0) -> None:
        await self._handle.write(line, timeout_s=timeout_s)

    async def failure(self) -> ProviderError:
        return self.gone or await self._handle.failure()


class Connection:
    """Requests to the agent and answers to its requests.

    `see` gets every line; `room` is awaited behind each and may hold the reader up; `answers` are
    the agent's requests that we know, all others are refused.
    """

    def __init__(
        self,
        handle: Handle,
        *,
        see: Callable[[Frame], None],
        room: Callable[[], Awaitable[None]],
        answers: Mapping[str, RequestHandler],
        sign_in_hint: str | None,
    ) -> None:
        self._lines = _SeenLines(handle, see, room)
        self._sign_in_hint = sign_in_hint
        self._handle = handle
        self._noise = False
        self._peer = JsonRpcPeer(
            self._lines,
            requests=answers,
            on_notification=self._seen_already,
            on_malformed=self._malformed,
            # no answer to an earlier server may pass for one to us
            id_prefix=f"{secrets.token_hex(4)}-",
        )

    def start(self) -> None:
        """Begin to read."""
        self._peer.start()

    async def close(self) -> None:
        """Stop reading; what waits for an answer fails."""
        await self._peer.close()

    async def ended(self) -> ProviderError:
        """Wait for the end of its output; says why."""
        return await self._peer.wait_end()

    async def ask(self, method: str, params: Json, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Json:
        """The result of a request, {} where it is no object.

        Raises AuthRequired, RpcError for every other refusal, ProviderTimeout, or what ended the
        process.
        """
        try:
            result = await self._peer.request(method, params, timeout_s=timeout_s)
        except RpcError as error:
            if error.rpc_code == AUTH_REQUIRED:
                raise AuthRequired(
                    "Nobody is signed in with this agent.", hint=self._sign_in_hint
                ) from error
            raise
        return result if isinstance(result, dict) else {}

    async def tell(self, method: str, params: Json) -> None:
        """A notification. Raises ProviderError when the agent is gone or does not read."""
        await self._peer.notify(method, params)

    async def barrier(self, *, timeout_s: float = REQUEST_TIMEOUT_S) -> bool:
        """Whether the agent answered a question that it does not know; what it wrote before has
        been seen then. Raises what ended the process."""
        try:
            await self._peer.request(READY, {}, timeout_s=timeout_s)
        except RpcError:
            return True  # an answer as good as another
        except ProviderError:
            if self._lines.gone or self._handle.exit is not None:
                raise
            return False
        return True

    async def _seen_already(self, _incoming: Incoming) -> None:
        await asyncio.sleep(0)

    def _malformed(self, _frame: Frame, why: str) -> None:
        if not self._noise:
            self._noise = True
            _log.info("child=%s: a line that is no message: %s", self._handle.child_id, why)
