"""Calls of the REST API, with a token. Answers stay plain JSON: the server may be newer."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest

from .find_server import Server

Json = dict[str, Any]

CALL_S = 30.0
REFUSAL_LIMIT_BYTES = 64 * 1024
LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Refused(Exception):
    """The server declined: `status`, and the `code`, `message` and `details` of its answer."""

    def __init__(self, status: int, code: str, message: str, details: Json) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.details = details


class Unreachable(Exception):
    """Nothing that speaks our protocol answered."""


class Rest:
    """One server's API below `agentchat/api/`."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._client = AsyncHTTPClient(force_instance=True)

    def close(self) -> None:
        """Close open connections. Idempotent."""
        self._client.close()

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Json:
        """GET `path`. Raises Refused, Unreachable."""
        return await self._call("GET", f"{path}?{urlencode(query)}" if query else path, None)

    async def send(self, method: str, path: str, body: Json | None = None) -> Json:
        """Call `path` with a JSON body. Raises Refused, Unreachable."""
        return await self._call(method, path, {} if body is None else body)

    async def download(
        self, path: str, query: Mapping[str, str], write: Callable[[bytes], object]
    ) -> None:
        """GET `path` and hand its body on in pieces, as it comes.

        Raises Refused, Unreachable (also when the connection breaks on the way), and what `write`
        raises.
        """
        refusal = bytearray()
        failed: list[Exception] = []
        status = 0

        def head(line: str) -> None:
            nonlocal status
            if line.startswith("HTTP/"):
                status = int(line.split()[1])

        def take(piece: bytes) -> None:
            if status >= 300:
                refusal.extend(piece[:REFUSAL_LIMIT_BYTES])
            elif not failed:
                try:
                    write(piece)
                except Exception as error:
                    failed.append(error)  # Tornado would only log it
                    raise

        request = build_request(
            self.server,
            f"agentchat/api/{path}?{urlencode(query)}",
            streaming_callback=take,
            header_callback=head,
        )
        request.request_timeout = 0.0  # as long as it takes
        response = None
        try:
            response = await self._client.fetch(request, raise_error=False)
        except (OSError, HTTPClientError) as error:
            if not failed:
                raise Unreachable(str(error)) from error
        if failed:
            raise failed[0]
        if response is None or response.code == 599:
            raise Unreachable(str(response.error if response else ""))
        if response.code >= 300:
            raise _refused(response.code, _parse(bytes(refusal)))

    async def delete(self, path: str) -> Json:
        """DELETE `path`. Raises Refused, Unreachable."""
        return await self._call("DELETE", path, None)

    async def _call(self, method: str, path: str, body: Json | None) -> Json:
        request = build_request(
            self.server,
            f"agentchat/api/{path}",
            method=method,
            body=None if body is None else json.dumps(body),
        )
        try:
            response = await self._client.fetch(request, raise_error=False)
        except (OSError, HTTPClientError) as error:
            raise Unreachable(str(error)) from error
        if response.code == 599:
            raise Unreachable(str(response.error))
        data = _parse(response.body)
        if response.code < 300 and data is not None:
            return data
        raise _refused(response.code, data)


def build_request(
    server: Server, path: str, *, websocket: bool = False, **options: Any
) -> HTTPRequest:
    """A request with our token; `path` is below the server's base URL."""
    # Tornado's client takes ws:// and wss:// for a websocket
    url = server.url.replace("http", "ws", 1) + path if websocket else server.url + path
    headers = {"Content-Type": "application/json", "User-Agent": "jupyter-agentchat"}
    if server.token:
        headers["Authorization"] = f"token {server.token}"
    return HTTPRequest(
        url,
        headers=headers,
        connect_timeout=5.0,
        request_timeout=CALL_S,
        follow_redirects=False,  # a login page is no answer, and the token goes nowhere else
        ssl_options=_ssl_options(server.url),
        **options,
    )


def _ssl_options(url: str) -> ssl.SSLContext | None:
    """Certificates count, except on this machine: there they are mostly self-signed."""
    parts = urlsplit(url)
    if parts.scheme != "https" or parts.hostname not in LOOPBACK:
        return None
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _refused(status: int, data: Json | None) -> Refused | Unreachable:
    """What an answer that is no success means."""
    error_body = data.get("error") if data else None
    if not isinstance(error_body, dict):
        return Unreachable(f"HTTP {status}")
    details = error_body.get("details")
    return Refused(
        status,
        str(error_body.get("code")),
        str(error_body.get("message")),
        details if isinstance(details, dict) else {},
    )


def _parse(body: bytes) -> Json | None:
    try:
        data = json.loads(body)
    except ValueError:
        return None
    return data if isinstance(data, dict) else None
