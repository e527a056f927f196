"""Follows one chat over the websocket: every event once, in order, across broken connections.

Everything that can happen to a waiting command goes through one queue, `inbox`: frames, a lost
connection, Ctrl-C, lines typed. So there is one loop, and no task that could outlive it.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from tornado.httpclient import HTTPClientError
from tornado.websocket import WebSocketClientConnection, WebSocketError, websocket_connect

from .exits import CommandError, Exit
from .find_server import Server
from .rest import Json, Rest, build_request

PROTOCOL = 1
RECONNECT_S = 60.0
RECONNECT_OWN_S = 5.0
PING_S = 20
MESSAGE_LIMIT_BYTES = 64 * 1024 * 1024
PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that happened. `frame` for frames, `text` for a typed line (None: end of input)."""

    kind: Literal["frame", "lost", "interrupt", "typed", "event", "sync", "deleted"]
    frame: Json | None = None
    text: str | None = None


class Follower:
    """A subscription to a chat that survives its connection. Close it when done."""

    def __init__(
        self,
        rest: Rest,
        chat_id: str,
        after_seq: int,
        *,
        look_again: Callable[[], Server | None],
        say: Callable[[str], None],
    ) -> None:
        """Follow from behind `after_seq`.

        `look_again` finds the server anew after a lost connection: a restarted one has another
        port and token. None means that there is none at the moment.
        """
        self.rest = rest
        self.inbox: asyncio.Queue[Item] = asyncio.Queue()
        self._chat_id = chat_id
        self._upto = after_seq
        self._look_again = look_again
        self._say = say
        self._socket: WebSocketClientConnection | None = None
        self._current: object | None = None
        self._state: Json | None = None
        self._ready: deque[Item] = deque()

    async def open(self) -> None:
        """Connect and subscribe. Raises CommandError(UNAVAILABLE) when that cannot be done."""
        try:
            await self._connect()
        except (OSError, HTTPClientError, WebSocketError, TimeoutError) as error:
            raise CommandError(
                Exit.UNAVAILABLE, f"The server takes no websocket connection: {error}"
            ) from error

    def close(self) -> None:
        """Close the connection. Idempotent."""
        self._current = None
        socket, self._socket = self._socket, None
        if socket is not None:
            socket.close()

    async def next(self, timeout_s: float | None = None) -> Item | None:
        """What happens next: event, sync, deleted, interrupt or typed; None after `timeout_s`.

        Raises CommandError when the connection is lost for good or the log was replaced.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while True:
            if self._ready:
                return self._ready.popleft()
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            try:
                item = await asyncio.wait_for(self.inbox.get(), left)
            except TimeoutError:
                return None
            if item.kind == "lost":
                await self._reconnect()
            elif item.kind == "frame" and item.frame is not None:
                await self._take(item.frame)
            else:
                return item

    # ---- frames -----------------------------------------------------------------------------

    async def _take(self, frame: Json) -> None:
        kind = frame.get("type")
        if kind == "refused" and frame.get("request_id") in ("hello", "subscribe"):
            raise CommandError(Exit.FAILED, f"The server refused: {frame.get('message')}")
        if frame.get("chat_id") != self._chat_id:
            return
        if kind == "events":
            self._add(frame["events"])
            self._upto = max(self._upto, frame["upto"])
            self._release()
        elif kind == "gap":
            await self._catch_up()
            self._release()
            await self._subscribe()
        elif kind == "sync":
            self._state = frame
            self._release()
        elif kind == "chat_deleted":
            self._ready.append(Item("deleted"))

    def _release(self) -> None:
        """Hand out a state once everything that led to it was handed out: an ask comes last."""
        state = self._state
        if state is not None and state["last_seq"] <= self._upto:
            self._state = None
            self._ready.append(Item("sync", state))

    def _add(self, events: list[Json]) -> None:
        for event in events:
            if event["seq"] > self._upto:
                self._upto = event["seq"]
                self._ready.append(Item("event", {"chat_id": self._chat_id, **event}))

    async def _catch_up(self) -> None:
        """Load what was missed by pages."""
        more = True
        while more:
            query = {"after": str(self._upto), "limit": str(PAGE)}
            page = await self.rest.get(f"chats/{self._chat_id}/events", query)
            self._add(page["events"])
            more = bool(page["has_more"]) and bool(page["events"])

    # ---- the connection ---------------------------------------------------------------------

    async def _connect(self) -> None:
        self.close()
        connection = object()
        self._current = connection

        def received(message: str | bytes | None) -> None:
            if self._current is not connection:
                return  # the last word of a connection that was given up
            if message is None:
                self.inbox.put_nowait(Item("lost"))
            else:
                self.inbox.put_nowait(Item("frame", json.loads(message)))

        self._socket = await websocket_connect(
            build_request(self.rest.server, "agentchat/ws", websocket=True),
            ping_interval=PING_S,
            max_message_size=MESSAGE_LIMIT_BYTES,
            on_message_callback=received,
        )
        hello = {"type": "hello", "request_id": "hello", "protocol": PROTOCOL, "client": "script"}
        await self._socket.write_message(json.dumps(hello))
        await self._subscribe()

    async def _subscribe(self) -> None:
        frame = {"type": "subscribe", "request_id": "subscribe", "chat_id": self._chat_id}
        if self._socket is not None:
            await self._socket.write_message(json.dumps({**frame, "after_seq": self._upto}))

    async def _reconnect(self) -> None:
        """Connect again, more and more patiently; an interrupt is let through at once."""
        own = self.rest.server.own
        deadline = time.monotonic() + (RECONNECT_OWN_S if own else RECONNECT_S)
        self._say("The connection is lost; trying again. The agent works on meanwhile.")
        delay_s = 0.2
        while time.monotonic() < deadline:
            if await self._interrupted(delay_s):
                self.inbox.put_nowait(Item("lost"))
                return
            delay_s = min(delay_s * 2, 5.0)
            self.rest.server = self._look_again() or self.rest.server
            try:
                await self._connect()
            except (OSError, HTTPClientError, WebSocketError):
                continue
            return
        raise CommandError(
            Exit.UNAVAILABLE,
            "The server does not answer any more.",
            f"What was said is stored: see chat {self._chat_id} once the server runs again.",
        )

    async def _interrupted(self, delay_s: float) -> bool:
        """Wait `delay_s`; True as soon as something was put in that the caller has to see."""
        end = time.monotonic() + delay_s
        while (left := end - time.monotonic()) > 0:
            try:
                item = await asyncio.wait_for(self.inbox.get(), left)
            except TimeoutError:
                return False
            if item.kind in ("interrupt", "typed"):
                self._ready.append(item)
                return True
        return False
