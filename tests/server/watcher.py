"""A websocket client in a thread of its own that stays at it: what an open tab does."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Callable
from typing import Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketClosedError, websocket_connect

from tests.server.jupyter_process import TOKEN, JupyterProcess


class Watcher:
    """Follows one chat; connects anew, from its last seq, whenever the server is gone."""

    def __init__(self, server: JupyterProcess, chat_id: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.syncs: list[dict[str, Any]] = []
        self.upto = 0
        self._url = f"ws://127.0.0.1:{server.port}/agentchat/ws"
        self._chat_id = chat_id
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def until(self, wanted: Callable[[], object], timeout_s: float = 40.0) -> None:
        """Wait; fails when the client has met something that must not be."""
        deadline = time.monotonic() + timeout_s
        while not wanted():
            if self._failure is not None:
                raise self._failure
            assert time.monotonic() < deadline, (self.syncs[-1:], self.events[-3:])
            time.sleep(0.02)

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(10)
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            asyncio.run(self._stay())
        except BaseException as failure:  # noqa: BLE001 - told to the test
            self._failure = failure

    async def _stay(self) -> None:
        while not self._stopping.is_set():
            headers = {"Authorization": f"token {TOKEN}"}
            try:
                connection = await websocket_connect(HTTPRequest(self._url, headers=headers))
            except (OSError, ConnectionError):
                await asyncio.sleep(0.1)
                continue
            await self._follow(connection)

    async def _follow(self, connection: WebSocketClientConnection) -> None:
        hello = {"type": "hello", "protocol": 1, "client": "script", "request_id": "h"}
        subscribe = {"type": "subscribe", "chat_id": self._chat_id, "after_seq": self.upto}
        reading = None
        try:
            for frame in (hello, {**subscribe, "request_id": "s"}):
                await connection.write_message(json.dumps(frame))
            while not self._stopping.is_set():
                reading = reading or asyncio.ensure_future(connection.read_message())
                if not (await asyncio.wait({reading}, timeout=0.1))[0]:
                    continue
                text, reading = reading.result(), None
                if text is None:
                    return
                self._take(json.loads(text))
        except WebSocketClosedError:
            return
        finally:
            connection.close()
            if reading is not None:
                await asyncio.wait({reading}, timeout=2)

    def _take(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "sync":
            self.syncs.append(frame)
        assert frame["type"] != "gap", frame
        if frame["type"] == "events":
            assert frame["after"] <= self.upto, ("a gap", frame["after"], self.upto)
            new = [event for event in frame["events"] if event["seq"] > self.upto]
            assert [e["seq"] for e in new] == sorted({e["seq"] for e in new})
            self.events += new
            self.upto = max(self.upto, frame["upto"])
