"""The real extension in a real server; the scenario agent as a configured native agent."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection

SCENARIO_AGENT = Path(__file__).parent.parent / "fakes" / "scenario_agent.py"
FRAME_DEADLINE_S = 15.0


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "agentchat-data"


@pytest.fixture
def settings() -> dict[str, Any]:
    """Traits of AgentChatApp; a test module overrides this fixture."""
    return {}


@pytest.fixture
def jp_server_config(data_dir: Path, settings: dict[str, Any]) -> dict[str, Any]:
    scenario = {"kind": "native", "command": [sys.executable, str(SCENARIO_AGENT)]}
    return {
        "ServerApp": {"jpserver_extensions": {"jupyter_agentchat": True}},
        "AgentChatApp": {
            "data_dir": str(data_dir),
            "allow_token_approvals": True,
            "provider_settings": {
                "scenario": scenario,
                "tour": {"env": {"AGENTCHAT_TOUR_PACE": "0"}},
            },
            **settings,
        },
    }


class Rest:
    """The REST routes, with errors as values: `(status, body)`."""

    def __init__(self, fetch: Callable[..., Awaitable[Any]]) -> None:
        self._fetch = fetch

    async def call(
        self, method: str, route: str, body: Any = None, **params: str
    ) -> tuple[int, Any]:
        text = None if method in ("GET", "DELETE") else json.dumps({} if body is None else body)
        try:
            answer = await self._fetch(
                "agentchat",
                "api",
                *route.split("/"),
                method=method,
                body=text,
                params=params,
                allow_nonstandard_methods=True,
            )
        except HTTPClientError as error:
            assert error.response is not None
            return error.code, json.loads(error.response.body)
        return answer.code, json.loads(answer.body)

    async def ok(self, method: str, route: str, body: Any = None, **params: str) -> Any:
        status, answer = await self.call(method, route, body, **params)
        assert status < 300, (status, answer)
        return answer

    async def new_chat(self, **fields: Any) -> str:
        chat = await self.ok("POST", "chats", {"provider": "scenario", **fields})
        return str(chat["id"])

    async def until_idle(self, chat_id: str) -> None:
        """Poll until the chat's run has ended."""
        for _ in range(1000):
            if (await self.ok("GET", f"chats/{chat_id}"))["state"] == "idle":
                return
            await asyncio.sleep(0.02)
        raise AssertionError("the run does not end")

    async def events(self, chat_id: str) -> list[dict[str, Any]]:
        page = await self.ok("GET", f"chats/{chat_id}/events", limit="2000")
        return list(page["events"])


@pytest.fixture
def rest(jp_fetch: Callable[..., Awaitable[Any]]) -> Rest:
    return Rest(jp_fetch)


class Browser:
    """A signed-in browser: a login cookie and an XSRF token, no bearer token."""

    xsrf = "0a1b2c3d"

    def __init__(self, client: Any, base_url: str, host: str, cookies: str) -> None:
        self._client = client
        self._base_url = base_url
        self._cookies = f"{cookies}; _xsrf={self.xsrf}"
        self.socket_headers = {"Authorization": "", "Cookie": self._cookies, "Host": host}
        """For a websocket as this browser opens it; the cookie is of this host alone."""

    async def call(
        self, method: str, route: str, body: Any = None, **headers: str | None
    ) -> tuple[int, Any]:
        """`(status, body)`; a header of None is left out (`X_XSRFToken=None`: a forged request)."""
        sent = {"Cookie": self._cookies, "X-XSRFToken": self.xsrf}
        for name, value in headers.items():
            sent.pop(name.replace("_", "-"), None)
            if value is not None:
                sent[name.replace("_", "-")] = value
        try:
            answer = await self._client.fetch(
                f"{self._base_url}agentchat/{route}",
                method=method,
                body=None if method in ("GET", "HEAD", "DELETE") else json.dumps(body or {}),
                headers=sent,
                follow_redirects=False,
                allow_nonstandard_methods=True,
            )
        except HTTPClientError as error:
            assert error.response is not None
            return error.code, error.response.body
        return answer.code, answer.body


@pytest.fixture
def browser(
    jp_serverapp: Any,
    http_server_client: Any,
    jp_base_url: str,
    jp_asyncio_loop: asyncio.AbstractEventLoop,
) -> Browser:
    """Signed in as a person does: by the link with the token, once."""
    token = jp_serverapp.identity_provider.token
    link = f"{jp_base_url}api/status?token={token}"
    page = jp_asyncio_loop.run_until_complete(http_server_client.fetch(link))
    cookies = [line.split(";")[0] for line in page.headers.get_list("Set-Cookie")]
    assert cookies, "the server did not sign the browser in"
    host = urlsplit(page.effective_url).netloc
    return Browser(http_server_client, jp_base_url, host, "; ".join(cookies))


@pytest.fixture
def extension(jp_serverapp: Any) -> Any:
    """The AgentChatApp of the running server."""
    return jp_serverapp.extension_manager.extension_apps["jupyter_agentchat"].copy().pop()


class Socket:
    """A websocket client that remembers every frame and waits for the one it wants."""

    def __init__(self, connection: WebSocketClientConnection) -> None:
        self.connection = connection
        self.frames: list[dict[str, Any]] = []
        self._count = 0
        self._at = 0

    async def send(self, **frame: Any) -> str:
        self._count += 1
        request_id = f"r{self._count}"
        await self.connection.write_message(json.dumps({"request_id": request_id, **frame}))
        return request_id

    async def read(self) -> dict[str, Any]:
        text = await asyncio.wait_for(self.connection.read_message(), FRAME_DEADLINE_S)
        assert text is not None, "the socket was closed"
        frame: dict[str, Any] = json.loads(text)
        self.frames.append(frame)
        return frame

    async def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next frame that is `wanted`, after the one that was found last."""
        while True:
            while self._at < len(self.frames):
                frame = self.frames[self._at]
                self._at += 1
                if wanted(frame):
                    return frame
            await self.read()

    async def ask(self, **frame: Any) -> dict[str, Any]:
        """Send a frame and wait for its answer; frames on the way are left for `until`."""
        request_id = await self.send(**frame)
        while True:
            for received in self.frames:
                if received.get("request_id") == request_id:
                    return received
            await self.read()

    async def subscribe(self, chat_id: str, after_seq: int = 0, **fields: Any) -> dict[str, Any]:
        """Follow a chat; returns the state that the subscription began with."""
        answer = await self.ask(type="subscribe", chat_id=chat_id, after_seq=after_seq, **fields)
        assert answer["type"] == "ack", answer
        return await self.until_sync(chat_id=chat_id)

    async def until_sync(self, **fields: Any) -> dict[str, Any]:
        return await self.until(
            lambda f: f["type"] == "sync" and all(f[name] == fields[name] for name in fields)
        )

    def events(self, chat_id: str) -> list[dict[str, Any]]:
        """Events of a chat as this client received them."""
        return [
            event
            for frame in self.frames
            if frame["type"] == "events" and frame["chat_id"] == chat_id
            for event in frame["events"]
        ]


@pytest.fixture
def raw_socket(
    jp_ws_fetch: Callable[..., Awaitable[Any]], http_server_client: Any
) -> Iterator[Callable[..., Awaitable[Socket]]]:
    """Open a websocket that nobody has greeted yet; closed at the end of the test."""
    opened: list[Socket] = []

    async def connect(**options: Any) -> Socket:
        opened.append(Socket(await jp_ws_fetch("agentchat", "ws", **options)))
        return opened[-1]

    yield connect
    for socket in opened:
        socket.connection.close()


@pytest.fixture
def open_socket(
    raw_socket: Callable[..., Awaitable[Socket]],
) -> Callable[[], Awaitable[Socket]]:
    """Open a greeted websocket."""

    async def connect() -> Socket:
        socket = await raw_socket()
        assert (await socket.read())["type"] == "welcome"
        assert (await socket.ask(type="hello", protocol=1, client="script"))["type"] == "ack"
        return socket

    return connect


def script(*steps: dict[str, Any]) -> str:
    """A prompt that drives the scenario agent."""
    return "scenario:" + json.dumps(list(steps))
