"""One HTTP request to an agent's server and its answer, on a connection of its own.

Beside `loopback`, which is the way in, the one module that speaks Tornado without being the door:
its client side comes with every Jupyter server. The connection closes with the exchange, so that a
cancelled caller leaves nothing open. There are no proxies, redirects or cookies here.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from urllib.parse import urlencode, urlsplit

from tornado.http1connection import HTTP1Connection, HTTP1ConnectionParameters
from tornado.httputil import (
    HTTPHeaders,
    HTTPMessageDelegate,
    RequestStartLine,
    ResponseStartLine,
)
from tornado.iostream import IOStream, StreamClosedError

from ..errors import ProcessExited, ProtocolError, ProviderError, ProviderTimeout
from .tasks import TaskOwner

GONE = "Nothing answers at the agent's address any more."
CUT = "The connection to the agent was cut."
_WAITING_CHUNKS = 8
_CONNECT_S = 5.0


class Address:
    """Where an agent's server listens, from a text like `http://127.0.0.1:4096`.

    Raises ProtocolError for what is not a loopback address in figures: a name could mean anything.
    """

    def __init__(self, base_url: str) -> None:
        try:
            parts = urlsplit(base_url)
            address = ipaddress.ip_address(parts.hostname or "")
            port = parts.port
        except ValueError as error:
            raise ProtocolError("The agent's address is not one in figures.") from error
        rest = parts.path.strip("/") or parts.query or parts.fragment or parts.username
        if parts.scheme != "http" or not address.is_loopback or not port or rest:
            raise ProtocolError("The agent does not listen on a loopback address.")
        self.family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
        self.sockaddr = (str(address), port)
        self.host = f"[{address}]:{port}" if address.version == 6 else f"{address}:{port}"


def target_of(path: str, query: Mapping[str, str] | None) -> str:
    """The request target. Raises ValueError for a path that needs quoting: that is the caller's."""
    if not path.startswith("/") or not path.isascii() or not path.isprintable() or " " in path:
        raise ValueError(f"no path: {path!r}")
    return f"{path}?{urlencode(query)}" if query else path


class Answer(HTTPMessageDelegate):
    """One answer on its way: status, chunks, its end. At most a few chunks wait for the reader."""

    def __init__(self) -> None:
        self._items: asyncio.Queue[int | bytes | ProviderError | None] = asyncio.Queue()
        self._room = asyncio.Semaphore(_WAITING_CHUNKS)
        self._whole = False

    async def read(self, connection: HTTP1Connection) -> None:
        """Read to its end; what went wrong is told to the reader."""
        end: ProviderError | None = ProcessExited(CUT)
        try:
            await connection.read_response(self)
            broken = ProtocolError("The agent's answer is broken or too long.")
            end = None if self._whole else broken
        except StreamClosedError:
            pass  # it is told below
        finally:
            self._items.put_nowait(end)

    async def status(self) -> int:
        """The status. Raises ProcessExited or ProtocolError when no answer came."""
        item = await self._items.get()
        if isinstance(item, int):
            return item
        raise item if isinstance(item, ProviderError) else ProtocolError("There is no answer.")

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body. Raises ProcessExited when it is cut, ProtocolError when it is no HTTP."""
        while (item := await self._items.get()) is not None:
            if isinstance(item, ProviderError):
                raise item
            if isinstance(item, bytes):
                self._room.release()
                yield item

    async def whole(self) -> bytes:
        """The body to its end; raises as `chunks`."""
        return b"".join([chunk async for chunk in self.chunks()])

    def headers_received(
        self, start_line: RequestStartLine | ResponseStartLine, headers: HTTPHeaders
    ) -> None:
        """For the connection; interim answers (1xx) are passed over."""
        if isinstance(start_line, ResponseStartLine) and start_line.code >= 200:
            self._items.put_nowait(start_line.code)

    async def data_received(self, chunk: bytes) -> None:
        """For the connection: waits while the reader is behind."""
        await self._room.acquire()
        self._items.put_nowait(chunk)

    def finish(self) -> None:
        """For the connection: it was whole."""
        self._whole = True


@asynccontextmanager
async def exchange(
    address: Address,
    method: str,
    target: str,
    *,
    headers: Mapping[str, str],
    content: bytes | None,
    limit_bytes: int,
) -> AsyncIterator[Answer]:
    """Send a request; its answer comes while the context lasts. `content` is JSON.

    Raises ProcessExited when nobody listens, ProviderTimeout.
    """
    stream = IOStream(socket.socket(address.family))
    tasks = TaskOwner("loopback")
    try:
        try:
            async with asyncio.timeout(_CONNECT_S):
                await stream.connect(address.sockaddr)
        except TimeoutError as error:
            raise ProviderTimeout(f"No connection within {_CONNECT_S:g} s.") from error
        except OSError as error:
            raise ProcessExited(GONE) from error
        limits = HTTP1ConnectionParameters(no_keep_alive=True, max_body_size=limit_bytes)
        connection = HTTP1Connection(stream, is_client=True, params=limits)
        sent = HTTPHeaders(headers)
        sent.update({"Host": address.host, "Connection": "close", "Accept": "*/*"})
        if content is not None:
            sent["Content-Type"] = "application/json"
        if content is not None or method != "GET":
            sent["Content-Length"] = str(len(content or b""))
        line = RequestStartLine(method, target, "HTTP/1.1")
        connection.write_headers(line, sent, content)  # a failure shows in the answer
        connection.finish()
        answer = Answer()
        tasks.spawn(answer.read(connection), name=method)
        yield answer
    finally:
        stream.close()
        await tasks.close()
