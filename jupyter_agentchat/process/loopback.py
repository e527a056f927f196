"""HTTP, server-sent events and websockets to an agent's server on this host's loopback.

Only the door speaks Tornado, and this module with `loopback_exchange`: its client side comes with
every Jupyter server, so that agents on a port need no HTTP library of their own. Proxies of the
environment are never used, redirects never followed, bodies bounded; the secret in the headers
stands in no exception and no log.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from typing import Final, cast

from pydantic import JsonValue
from tornado.httpclient import HTTPClientError, HTTPRequest
from tornado.httputil import HTTPHeaders
from tornado.iostream import StreamClosedError
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    WebSocketError,
    websocket_connect,
)

from ..errors import ProcessExited, ProtocolError, ProviderError, ProviderTimeout
from .framing import Line, LineFramer, Oversize
from .loopback_exchange import CUT, GONE, Address, exchange, target_of
from .redact import MASK, redact

BODY_LIMIT_BYTES: Final = 64 * 1024 * 1024
_SAID_LIMIT_CHARS = 16 * 1024
_NO_ANSWER = 599  # Tornado's word for it

_log = logging.getLogger(__name__)


class HttpRefused(ProviderError):
    """An answer that is not 2xx: `http_status`, and `body` (parsed, else its text), redacted.

    Not `status`: that is what our own server answers, and the agent's word is no matter of REST.
    """

    def __init__(self, path: str, status: int, body: JsonValue) -> None:
        super().__init__(f"The agent refused {path} ({status}).", http_status=status)
        self.http_status = status
        self.body = body


class LoopbackServer:
    """An agent's server: `base_url` like `http://127.0.0.1:4096`, `headers` for every request.

    Raises ProtocolError for an address that is not a loopback one in figures.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str] | None = None) -> None:
        self._address = Address(base_url)
        self._headers = dict(headers or {})

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: JsonValue = None,
        timeout_s: float = 30.0,
    ) -> JsonValue:
        """The parsed answer, None when it is empty; `body` is sent as JSON unless it is None.

        Raises HttpRefused, ProviderTimeout, ProcessExited when nobody listens or the connection is
        cut, ProtocolError for an answer that is no JSON or above `BODY_LIMIT_BYTES`.
        """
        target = target_of(path, query)
        content = None if body is None else json.dumps(body).encode()
        try:
            async with (
                asyncio.timeout(timeout_s),
                exchange(
                    self._address,
                    method,
                    target,
                    headers=self._headers,
                    content=content,
                    limit_bytes=BODY_LIMIT_BYTES,
                ) as answer,
            ):
                status = await answer.status()
                received = await answer.whole()
        except TimeoutError as error:
            raise ProviderTimeout(f"No answer to {path} within {timeout_s:g} s.") from error
        self._check(path, status, received)
        if not received.strip():
            return None
        try:
            value: JsonValue = json.loads(received)
        except (ValueError, RecursionError) as error:
            raise ProtocolError(f"The answer to {path} is no JSON.") from error
        return value

    async def events(
        self, path: str, *, query: Mapping[str, str] | None = None, silence_s: float = 45.0
    ) -> AsyncGenerator[JsonValue, None]:
        """The objects behind `data:` of an event stream, as they come; what is no JSON is left out.

        A slow reader slows the server. Raises HttpRefused, ProviderTimeout when nothing (not even a
        comment) came for `silence_s` seconds, ProcessExited when the stream ends. Close it.
        """
        framer = LineFramer(BODY_LIMIT_BYTES)
        data: list[str] = []
        async with exchange(
            self._address,
            "GET",
            target_of(path, query),
            headers=self._headers,
            content=None,
            limit_bytes=sys.maxsize,
        ) as answer:
            try:
                async with asyncio.timeout(silence_s):
                    status = await answer.status()
                    if not 200 <= status < 300:
                        self._check(path, status, await answer.whole())
            except TimeoutError as error:
                raise ProviderTimeout(f"No answer to {path} within {silence_s:g} s.") from error
            chunks = answer.chunks()
            while True:
                try:
                    async with asyncio.timeout(silence_s):
                        framer.feed(await anext(chunks))
                except TimeoutError as error:
                    raise ProviderTimeout(f"The agent was silent for {silence_s:g} s.") from error
                except StopAsyncIteration as error:
                    raise ProcessExited(CUT) from error
                for frame in framer.frames():
                    if isinstance(frame, Oversize):
                        raise ProtocolError(f"An event of {frame.dropped} bytes is too long.")
                    if isinstance(frame, Line) and (text := _event(frame.text, data)) is not None:
                        with suppress(_NoJson):
                            yield _parsed(text)

    async def websocket(self, path: str, *, timeout_s: float = 10.0) -> LoopbackSocket:
        """A websocket. Raises HttpRefused, ProviderTimeout, ProcessExited, ProtocolError.

        On cancel no connection stays open.
        """
        request = HTTPRequest(
            f"ws://{self._address.host}{target_of(path, None)}",
            headers=HTTPHeaders(self._headers),
            connect_timeout=timeout_s,
            request_timeout=timeout_s,
            follow_redirects=False,
        )
        opening = cast(
            "asyncio.Future[WebSocketClientConnection]",
            websocket_connect(request, max_message_size=BODY_LIMIT_BYTES),
        )
        try:
            async with asyncio.timeout(timeout_s):
                return LoopbackSocket(await asyncio.shield(opening))
        except TimeoutError as error:
            raise ProviderTimeout(f"No answer to {path} within {timeout_s:g} s.") from error
        except HTTPClientError as error:
            if error.response is None or error.code == _NO_ANSWER:
                raise ProcessExited(GONE) from error
            self._check(path, error.code, error.response.body or b"")
            raise ProtocolError(f"{path} is no websocket.") from error
        except WebSocketError as error:
            raise ProtocolError(f"{path} is no websocket.") from error
        except OSError as error:  # a closed stream is one, too
            raise ProcessExited(GONE) from error
        finally:
            if not opening.done():
                opening.add_done_callback(_close_late)

    def _check(self, path: str, status: int, said: bytes) -> None:
        """Raise HttpRefused unless the status is a good one."""
        if 200 <= status < 300:
            return
        text = redact(said.decode("utf-8", "replace")[:_SAID_LIMIT_CHARS])
        for value in self._headers.values():
            text = text.replace(value, MASK)
        body: JsonValue = text
        with suppress(_NoJson):
            body = _parsed(text)
        raise HttpRefused(path, status, body)


class LoopbackSocket:
    """A websocket to an agent's server; made by `LoopbackServer.websocket`. Close it."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self._connection = connection
        self._closed = False

    async def send(self, message: JsonValue, *, timeout_s: float = 10.0) -> None:
        """Raises ProcessExited when the socket is closed, ProviderTimeout when nobody reads."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._connection.write_message(json.dumps(message))
        except TimeoutError as error:
            raise ProviderTimeout(f"The agent did not read for {timeout_s:g} s.") from error
        except (WebSocketClosedError, StreamClosedError) as error:
            raise ProcessExited(CUT) from error

    async def messages(self, silence_s: float = 45.0) -> AsyncGenerator[JsonValue, None]:
        """What the agent sends, parsed; what is no JSON is left out. Ends after our `close`.

        A slow reader slows the server. Raises ProviderTimeout when nothing came for `silence_s`
        seconds, ProcessExited when the other side closes.
        """
        while True:
            try:
                async with asyncio.timeout(silence_s):
                    message = await self._connection.read_message()
            except TimeoutError as error:
                raise ProviderTimeout(f"The agent was silent for {silence_s:g} s.") from error
            if message is None:
                if self._closed:
                    return
                raise ProcessExited(CUT)
            with suppress(_NoJson):
                yield _parsed(message)

    async def close(self) -> None:
        """Close it; a reader ends. Idempotent."""
        if not self._closed:
            self._closed = True
            self._connection.close()


class _NoJson(Exception):
    """A message that cannot be parsed: noted, and passed over."""


def _parsed(text: str | bytes) -> JsonValue:
    try:
        value: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        _log.info("a message of %d characters is no JSON", len(text))
        raise _NoJson from error
    return value


def _event(line: str, data: list[str]) -> str | None:
    """Take one line of an event stream; the event's data when it ends one that has data."""
    line = line.removesuffix("\r")
    if line.startswith("data:"):
        data.append(line.removeprefix("data:").removeprefix(" "))
    elif not line and data:
        text = "\n".join(data)
        data.clear()
        return text
    return None


def _close_late(opening: asyncio.Future[WebSocketClientConnection]) -> None:
    """Nobody waits for this connection any more."""
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()
