"""Talking to an agent's server on a port: what is asked, what comes back, what can go wrong."""

from __future__ import annotations

import asyncio
import base64
import json
import socket
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from tornado.httpserver import HTTPServer
from tornado.iostream import StreamClosedError
from tornado.testing import bind_unused_port
from tornado.web import Application, RequestHandler
from tornado.websocket import WebSocketHandler

from jupyter_agentchat.errors import ProcessExited, ProtocolError, ProviderTimeout
from jupyter_agentchat.process import loopback
from jupyter_agentchat.process.loopback import HttpRefused, LoopbackServer
from tests.waiting import until

SECRET = "Basic " + base64.b64encode(b"user:a-secret-of-the-agent").decode()


class Agent:
    """A small server that does what each test wants, and knows who is connected."""

    def __init__(self) -> None:
        self.connected = 0
        self.seen: list[dict[str, Any]] = []
        self.go_on = asyncio.Event()
        self.written = 0


class Echo(RequestHandler):
    def initialize(self, agent: Agent) -> None:
        self.agent = agent

    async def get(self, word: str) -> None:
        agent = self.agent
        match word:
            case "empty":
                self.set_status(204)
            case "refused":
                self.set_status(401)
                self.write({"error": f"you sent {self.request.headers['Authorization']}"})
            case "page":
                self.write("<html>")
            case "moved":
                self.redirect("/echo")
            case "huge":
                self.write("x" * 5000)
            case "never":
                agent.connected += 1
                await agent.go_on.wait()
            case "cut":
                self.set_header("Content-Length", "100")
                self.write("[1, 2")
                await self.flush()
                self.request.connection.stream.close()
            case _:
                self.write({"query": {k: v[0].decode() for k, v in self.request.arguments.items()}})

    async def post(self, word: str) -> None:
        self.agent.seen.append(dict(self.request.headers))
        self.write(self.request.body or b'"nothing"')

    def on_connection_close(self) -> None:
        self.agent.connected -= 1


class Events(RequestHandler):
    def initialize(self, agent: Agent) -> None:
        self.agent = agent

    async def get(self, word: str) -> None:
        self.agent.connected += 1
        self.set_header("Content-Type", "text/event-stream")
        if word == "flood":
            try:
                while self.agent.written < 200_000_000:
                    self.write(b"data: " + json.dumps("x" * 100_000).encode() + b"\n\n")
                    await self.flush()
                    self.agent.written += 100_000
            except StreamClosedError:
                return
        event = json.dumps({"n": 1, "text": "é\u2028"}, ensure_ascii=False).encode()
        for piece in (
            b": a comment\n\n",
            b"id: 7\nevent: x\ndata: " + event[:9],
            event[9:] + b"\r\n\r\ndata: not json\n\n",
            b"data: [1,\ndata: 2]\n\n",
        ):
            self.write(piece)
            await self.flush()
        if word == "ends":
            return
        await self.agent.go_on.wait()

    def on_connection_close(self) -> None:
        self.agent.connected -= 1


class Socket(WebSocketHandler):
    def initialize(self, agent: Agent) -> None:
        self.agent = agent

    def prepare(self) -> None:
        if self.request.path.endswith("forbidden"):
            self.set_status(403)
            self.finish({"error": "no"})

    def open(self, word: str) -> None:
        self.agent.connected += 1

    def on_message(self, message: str | bytes) -> None:
        if message == '"bye"':
            self.close()
        else:
            self.write_message("no json")
            self.write_message(message)

    def on_close(self) -> None:
        self.agent.connected -= 1


@asynccontextmanager
async def serving() -> AsyncIterator[tuple[Agent, LoopbackServer]]:
    agent = Agent()
    routes = [
        (r"/events/(\w+)", Events, {"agent": agent}),
        (r"/socket/(\w+)", Socket, {"agent": agent}),
        (r"/(\w+)", Echo, {"agent": agent}),
    ]
    server = HTTPServer(Application(routes))
    listening, port = bind_unused_port()
    server.add_socket(listening)
    try:
        yield agent, LoopbackServer(f"http://127.0.0.1:{port}", {"Authorization": SECRET})
    finally:
        agent.go_on.set()
        server.stop()
        await server.close_all_connections()


async def collect(server: LoopbackServer, path: str, count: int, **how: Any) -> list[Any]:
    found: list[Any] = []
    async with aclosing(server.events(path, **how)) as events:
        async for event in events:
            found.append(event)
            if len(found) == count:
                break
    return found


def test_a_question_is_sent_with_its_secret_and_the_answer_parsed() -> None:
    async def scenario() -> None:
        async with serving() as (agent, server):
            assert await server.request("GET", "/echo", query={"q": "a b&c"}) == {
                "query": {"q": "a b&c"}
            }
            assert await server.request("POST", "/echo", body={"text": "é"}) == {"text": "é"}
            assert agent.seen[0]["Authorization"] == SECRET
            assert agent.seen[0]["Content-Type"] == "application/json"
            assert await server.request("POST", "/echo") == "nothing"
            assert await server.request("GET", "/empty") is None

    asyncio.run(scenario())


def test_a_refusal_says_what_the_agent_said_without_the_secret() -> None:
    async def scenario() -> None:
        async with serving() as (_, server):
            with pytest.raises(HttpRefused) as refused:
                await server.request("GET", "/refused")
            assert refused.value.http_status == 401
            assert "you sent" in str(refused.value.body)
            said = f"{refused.value} {refused.value.details} {refused.value.body}"
            assert SECRET.split()[1] not in said
            with pytest.raises(HttpRefused) as refused:
                await server.request("GET", "/moved")
            assert refused.value.http_status == 302

    asyncio.run(scenario())


def test_what_is_no_answer_is_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        async with serving() as (agent, server):
            with pytest.raises(ProtocolError):
                await server.request("GET", "/page")
            with pytest.raises(ProcessExited):
                await server.request("GET", "/cut")
            with pytest.raises(ProviderTimeout):
                await server.request("GET", "/never", timeout_s=0.05)
            await until(lambda: agent.connected == 0)
            monkeypatch.setattr(loopback, "BODY_LIMIT_BYTES", 4000)
            with pytest.raises(ProtocolError):
                await server.request("GET", "/huge")

    asyncio.run(scenario())


def test_nobody_listens() -> None:
    async def scenario() -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            server = LoopbackServer(f"http://127.0.0.1:{taken.getsockname()[1]}")
            with pytest.raises(ProcessExited):
                await server.request("GET", "/")
            with pytest.raises(ProcessExited):
                await collect(server, "/", 1)
            with pytest.raises(ProcessExited):
                await server.websocket("/")

    asyncio.run(scenario())


@pytest.mark.parametrize(
    "address",
    [
        "http://192.0.2.1:80",
        "http://0.0.0.0:80",
        "http://localhost:80",
        "https://127.0.0.1:80",
        "http://127.0.0.1",
        "http://u:p@127.0.0.1:80",
        "http://127.0.0.1:80/path",
        "nonsense",
        "http://127.0.0.1:notaport",
    ],
)
def test_only_an_address_on_this_host_is_talked_to(address: str) -> None:
    with pytest.raises(ProtocolError):
        LoopbackServer(address)


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, "http://127.0.0.1:1")
        async with serving() as (_, server):
            assert await server.request("GET", "/echo") == {"query": {}}
            assert len(await collect(server, "/events/stays", 2)) == 2

    asyncio.run(scenario())


def test_a_path_that_could_smuggle_a_header_is_refused() -> None:
    async def scenario() -> None:
        server = LoopbackServer("http://127.0.0.1:9")
        for path in ("/a b", "/a\r\nX: y", "a", "/é"):
            with pytest.raises(ValueError, match="no path"):
                await server.request("GET", path)

    asyncio.run(scenario())


def test_events_come_whole_however_they_were_cut() -> None:
    async def scenario() -> None:
        async with serving() as (agent, server):
            events = await collect(server, "/events/stays", 2)
            assert events == [{"n": 1, "text": "é\u2028"}, [1, 2]]
            await until(lambda: agent.connected == 0)

    asyncio.run(scenario())


def test_a_stream_that_is_silent_or_cut_says_so() -> None:
    async def scenario() -> None:
        async with serving() as (_, server):
            with pytest.raises(ProviderTimeout):
                await collect(server, "/events/stays", 3, silence_s=0.05)
            with pytest.raises(ProcessExited):
                await collect(server, "/events/ends", 3)
            with pytest.raises(HttpRefused):
                await collect(server, "/refused", 1)

    asyncio.run(scenario())


def test_a_slow_reader_slows_the_agent_instead_of_filling_memory() -> None:
    async def scenario() -> None:
        async with (
            serving() as (agent, server),
            aclosing(server.events("/events/flood")) as events,
        ):
            await anext(events)
            before = -1
            while before != agent.written:  # until it cannot write any more
                before = agent.written
                for _ in range(200):
                    await asyncio.sleep(0)
            assert agent.written < 100_000_000

    asyncio.run(scenario())


def test_a_cancelled_reader_leaves_no_connection() -> None:
    async def scenario() -> None:
        async with serving() as (agent, server):
            asking = asyncio.create_task(server.request("GET", "/never"))
            reading = asyncio.create_task(collect(server, "/events/stays", 9))
            await until(lambda: agent.connected == 2)
            asking.cancel()
            reading.cancel()
            await asyncio.gather(asking, reading, return_exceptions=True)
            await until(lambda: agent.connected == 0)

    asyncio.run(scenario())


def test_a_websocket_carries_messages_both_ways_until_it_is_closed() -> None:
    async def scenario() -> None:
        async with serving() as (agent, server):
            opened = await server.websocket("/socket/talk")
            await opened.send({"hello": 1})
            async with aclosing(opened.messages()) as messages:
                assert await anext(messages) == {"hello": 1}
            await opened.close()
            await opened.close()
            assert [message async for message in opened.messages()] == []
            await until(lambda: agent.connected == 0)
            with pytest.raises(ProcessExited):
                await opened.send(1)

    asyncio.run(scenario())


def test_a_websocket_that_ends_refuses_or_is_silent_says_so() -> None:
    async def scenario() -> None:
        async with serving() as (agent, server):
            with pytest.raises(HttpRefused) as refused:
                await server.websocket("/socket/forbidden")
            assert refused.value.http_status == 403
            assert refused.value.body == {"error": "no"}
            with pytest.raises(ProtocolError):
                await server.websocket("/echo")
            opened = await server.websocket("/socket/talk")
            with pytest.raises(ProviderTimeout):
                await anext(opened.messages(silence_s=0.05))
            await opened.send("bye")
            with pytest.raises(ProcessExited):
                await anext(opened.messages())
            await opened.close()
            with pytest.raises(ProviderTimeout):
                await server.websocket("/never", timeout_s=0.05)
            await until(lambda: agent.connected == 0)

    asyncio.run(scenario())
