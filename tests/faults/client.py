"""A client of the websocket that follows one chat by the rules of docs/protocol.md, and no more.

It keeps every event it was ever shown, renders them as they come, connects again with the last seq
it knows, and notes when the server breaks a rule.
"""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
from contextlib import suppress
from typing import Any

from tornado.httpclient import HTTPError, HTTPRequest
from tornado.websocket import (
    WebSocketClientConnection,
    WebSocketClosedError,
    websocket_connect,
)

from tests.faults.rendering import Rendering
from tests.faults.servers import FaultServer, without_chat
from tests.server.jupyter_process import TOKEN

Json = dict[str, Any]
AGAIN_S = 0.02


class Client:
    """One follower of one chat; `follow` runs until `close`."""

    def __init__(self, server: FaultServer, chat_id: str) -> None:
        self.server = server
        self.chat_id = chat_id
        self.rendering = Rendering()
        self.seen: dict[int, Json] = {}
        self.faults: list[str] = []
        self.sync: Json = {}
        self.sync_at = 0.0
        self.last_event_at = 0.0
        self.upto = 0
        self.epoch: str | None = None
        self.connects = 0
        self.gaps = 0
        self.catch_up_ms: list[float] = []
        self.received_bytes = 0
        self._asked_at = 0.0
        self._task: asyncio.Task[None] | None = None
        self._connection: WebSocketClientConnection | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self.follow())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=5)
        self.cut()

    def cut(self) -> None:
        """The network goes: no closing handshake, no goodbye."""
        connection, self._connection = self._connection, None
        if connection is not None and connection.protocol is not None:
            connection.protocol.stream.close()
            connection.close()  # now only told: nothing is sent any more

    async def follow(self) -> None:
        """Connect, read, and again, for ever."""
        while True:
            try:
                await self._connect()
                await self._read()
            except (OSError, HTTPError, WebSocketClosedError, TimeoutError):
                pass
            finally:
                self.cut()
            await asyncio.sleep(AGAIN_S)

    async def _connect(self) -> None:
        url = f"ws://127.0.0.1:{self.server.port}/agentchat/ws"
        headers = {"Authorization": f"token {TOKEN}"}
        request = HTTPRequest(url, headers=headers, connect_timeout=5, request_timeout=5)
        connection = await websocket_connect(request, max_message_size=1 << 28)
        self._connection = connection
        if connection.protocol is not None:
            connection.protocol.stream.set_nodelay(True)
        self.connects += 1
        self._asked_at = time.monotonic()
        await self._send(type="hello", protocol=1, client="script")
        await self._subscribe()

    async def _subscribe(self) -> None:
        frame: Json = {"type": "subscribe", "chat_id": self.chat_id, "after_seq": self.upto}
        if self.epoch is not None:
            frame["epoch"] = self.epoch
        await self._send(request_id="subscribe", **frame)

    async def _send(self, **frame: Any) -> None:
        if self._connection is None:
            raise WebSocketClosedError
        await self._connection.write_message(json.dumps(frame))

    async def _read(self) -> None:
        connection = self._connection
        while connection is not None and connection is self._connection:
            text = await connection.read_message()
            if not isinstance(text, str):
                raise WebSocketClosedError
            self.received_bytes += len(text)
            frame = json.loads(text)
            if frame.get("chat_id", self.chat_id) != self.chat_id:
                self.faults.append(f"a frame of chat {frame['chat_id']} came here")
            await self._take(frame)

    async def _take(self, frame: Json) -> None:
        match frame["type"]:
            case "sync":
                self.sync, self.sync_at = frame, time.monotonic()
                self.epoch = frame["epoch"]
            case "events":
                self._take_events(frame)
            case "gap":
                self.gaps += 1
                await self._load()
                await self._subscribe()
            case "refused" if frame.get("code") == "gone":
                self.faults.append("the server says that the log is another one")
            case "refused":
                self.faults.append(f"refused: {frame}")
            case _:
                pass

    def _take_events(self, frame: Json) -> None:
        if frame["after"] > self.upto:
            self.faults.append(f"a frame begins behind {frame['after']}, seen up to {self.upto}")
        at = frame["after"]
        for event in frame["events"]:
            if not at < event["seq"] <= frame["upto"]:
                self.faults.append(f"seq {event['seq']} stands wrong in its frame")
            at = event["seq"]
            self._show(event)
        self.upto = max(self.upto, frame["upto"])
        if self._asked_at:
            self.catch_up_ms.append((time.monotonic() - self._asked_at) * 1000)
            self._asked_at = 0.0

    def _show(self, event: Json) -> None:
        seq = event["seq"]
        known = self.seen.get(seq)
        if known is not None or seq <= self.upto:
            if known != event:
                self.faults.append(f"seq {seq} came again, and it is another event")
            return
        self.seen[seq] = event
        self.rendering.apply(event)
        self.last_event_at = time.monotonic()

    async def _load(self) -> None:
        """The missing pages by REST, as after a gap."""
        while True:
            route = f"chats/{self.chat_id}/events?after={self.upto}&limit=2000"
            try:
                page = await asyncio.to_thread(self.server.call, "GET", route)
            except urllib.error.HTTPError as error:
                raise WebSocketClosedError from error
            for event in page["events"]:
                self._show(without_chat(event))
                self.upto = max(self.upto, event["seq"])
            if not page["has_more"]:
                return

    # ---- what tests wait for --------------------------------------------------------------------

    async def until_seen(self, seq: int, timeout_s: float = 10.0) -> bool:
        """Whether everything up to `seq` was shown in time."""
        return await wait_for(lambda: self.upto >= seq, timeout_s)

    def ended(self, run_id: str) -> bool:
        return any(e["type"] == "complete" and e["run_id"] == run_id for e in self.seen.values())

    @property
    def open_asks(self) -> list[str]:
        return [ask["ask_id"] for ask in self.sync.get("asks", [])]

    def answer_ask(self, ask_id: str) -> None:
        """Allow, by REST; raises OSError when the server is away or somebody was faster."""
        body = {"decision": "allow", "option_id": "allow_once"}
        with suppress(urllib.error.HTTPError):
            self.server.call("POST", f"chats/{self.chat_id}/asks/{ask_id}", body)


async def wait_for(condition: Any, timeout_s: float) -> bool:
    """Whether `condition()` came true in time."""
    deadline = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.005)
    return True
