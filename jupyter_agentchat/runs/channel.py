"""One client connection: an ordered, bounded queue of frames and the one task that writes them.

Drain-driven (performance rule 2): when the last write has drained, all waiting events of a chat go
as one frame. No timer. A client too slow to keep up gets one `gap` per chat and loads by REST. One
that does not even read list changes and answers is hung up on: it connects anew.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

log = logging.getLogger(__name__)

PENDING_LIMIT_BYTES = 4 * 1024 * 1024
PENDING_LIMIT_EVENTS = 5_000
OTHER_LIMIT = 2_000
OTHER_LIMIT_BYTES = 32 * 1024 * 1024
"""Frames that are not events (state, list rows, answers), before the connection is given up."""
FRAME_LIMIT_BYTES = 512 * 1024
"""A frame of events is closed above this, so that no single write is unbounded."""


@dataclass(slots=True)
class _Frame:
    text: str


@dataclass(slots=True)
class _EventsFrame:
    chat_id: str
    after: int
    upto: int
    events: list[str] = field(default_factory=list)
    size: int = 0

    def encode(self) -> str:
        return (
            f'{{"type":"events","chat_id":{json.dumps(self.chat_id)},"after":{self.after},'
            f'"upto":{self.upto},"events":[{",".join(self.events)}]}}'
        )


class Channel:
    """Frames to one client, in order. Not a subscription: the hub decides what is pushed."""

    def __init__(
        self,
        send: Callable[[str], Awaitable[None]],
        on_gap: Callable[[Channel, str], int] | None = None,
        *,
        limit_bytes: int = PENDING_LIMIT_BYTES,
    ) -> None:
        """`send` writes one frame and returns when it has drained; it may raise when closed.

        `on_gap(channel, chat_id)` ends that subscription and returns the chat's last seq.
        """
        self._send = send
        self._on_gap = on_gap
        self._limit_bytes = limit_bytes
        self._queue: deque[_Frame | _EventsFrame] = deque()
        self._open: dict[str, _EventsFrame] = {}
        self._pending_bytes = 0
        self._pending_events = 0
        self._wake = asyncio.Event()
        self._closed = False

    @property
    def pending_bytes(self) -> int:
        return self._pending_bytes

    @property
    def closed(self) -> bool:
        return self._closed

    def push(self, text: str, *, chat_id: str | None = None) -> None:
        """Queue a frame. Events of `chat_id` pushed later stay behind it."""
        if self._closed:
            return
        if chat_id is not None:
            self._open.pop(chat_id, None)
        self._queue.append(_Frame(text))
        self._pending_bytes += len(text)
        self._wake.set()
        if len(self._queue) > OTHER_LIMIT or self._pending_bytes > OTHER_LIMIT_BYTES:
            log.info("a client does not read: %d frames wait", len(self._queue))
            self.close()

    def push_events(self, chat_id: str, after: int, upto: int, events: Sequence[str]) -> None:
        """Queue encoded events (after < seq <= upto), joined with those that wait already."""
        if self._closed:
            return
        frame = self._open.get(chat_id)
        if frame is None or frame.size > FRAME_LIMIT_BYTES or frame.upto != after:
            frame = _EventsFrame(chat_id, after, upto)
            self._open[chat_id] = frame
            self._queue.append(frame)
        size = sum(map(len, events))
        frame.events.extend(events)
        frame.size += size
        frame.upto = upto
        self._pending_bytes += size
        self._pending_events += len(events)
        self._wake.set()
        if (
            self._pending_bytes > self._limit_bytes or self._pending_events > PENDING_LIMIT_EVENTS
        ) and self._on_gap is not None:
            self._drop_all(self._on_gap)

    def _drop_all(self, on_gap: Callable[[Channel, str], int]) -> None:
        """Too slow: drop waiting events of every chat, one `gap` each; other frames stay."""
        chats = dict.fromkeys(f.chat_id for f in self._queue if isinstance(f, _EventsFrame))
        self._queue = deque(f for f in self._queue if isinstance(f, _Frame))
        self._open.clear()
        self._pending_events = 0
        self._pending_bytes = sum(len(f.text) for f in self._queue if isinstance(f, _Frame))
        for chat_id in chats:
            last_seq = on_gap(self, chat_id)
            self.push(json.dumps({"type": "gap", "chat_id": chat_id, "last_seq": last_seq}))

    async def write(self) -> None:
        """Write until closed: the connection's one writer task. Ends quietly when `send` fails."""
        while not self._closed:
            await self._wake.wait()
            self._wake.clear()
            while self._queue and not self._closed:
                text = self._next()
                try:
                    await self._send(text)
                except Exception as error:  # noqa: BLE001 - any failure of a socket means: closed
                    log.debug("client gone: %s", error)
                    self.close()

    def _next(self) -> str:
        frame = self._queue.popleft()
        if isinstance(frame, _Frame):
            self._pending_bytes -= len(frame.text)
            return frame.text
        if self._open.get(frame.chat_id) is frame:
            del self._open[frame.chat_id]
        self._pending_bytes -= frame.size
        self._pending_events -= len(frame.events)
        return frame.encode()

    def close(self) -> None:
        """No more frames; the writer ends."""
        self._closed = True
        self._queue.clear()
        self._open.clear()
        self._pending_bytes = self._pending_events = 0
        self._wake.set()
