"""Ways to a process that many chats share: through its standard streams, or through a port.

Over a FIFO the runs share one spool, and offsets are of its bytes. Over a port the agent counts the
lines of each run; its address and its secret are the first line of its spool, which is a file of
mode 0600 in the child's run directory and is found again by the next server.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import Any, Protocol

from pydantic import BaseModel

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.process.framing import Line
from jupyter_agentchat.process.launcher import Handle
from jupyter_agentchat.process.tasks import TaskOwner

Lines = asyncio.Queue[tuple[str, int] | None]


class Link(Protocol):
    """The way to the one process: lines of each run in, operations out."""

    handle: Handle

    def lines_of(self, run_id: str) -> Lines:
        """The run's lines with their offsets, None at the end of all output."""

    async def follow(self, run_id: str, first: int) -> None:
        """Have the run's lines brought, from its mark on."""

    async def send(self, run_id: str, op: BaseModel) -> None:
        """Write an operation."""

    async def close(self) -> None:
        """Let go; the process is not touched."""


class _Queues:
    """Lines by run; those of a run that nobody has asked for yet wait."""

    def __init__(self, handle: Handle, tasks: TaskOwner) -> None:
        self.handle = handle
        self._queues: dict[str, Lines] = {}
        self._tasks = tasks
        self._reading: asyncio.Task[None] | None = None
        self._ended = False

    def lines_of(self, run_id: str) -> Lines:
        lines = self._queues.setdefault(run_id, asyncio.Queue())
        if self._ended:
            lines.put_nowait(None)
        return lines

    def take(self, message: dict[str, Any], offset: int) -> None:
        lines = self._queues.setdefault(message["run_id"], asyncio.Queue())
        lines.put_nowait((json.dumps(message["body"]), offset))

    def end(self) -> None:
        self._ended = True
        for lines in self._queues.values():
            lines.put_nowait(None)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait({self._reading})


class FifoLink(_Queues):
    """Both ways through the child's standard streams; offsets are of the shared spool."""

    def begin(self) -> None:
        self._reading = self._tasks.spawn(self._read(), name="read")

    async def _read(self) -> None:
        try:
            async for frame in self.handle.lines():
                if isinstance(frame, Line) and "run_id" in (message := json.loads(frame.text)):
                    self.take(message, frame.end)
        except ChildGone:
            return
        self.end()

    async def follow(self, run_id: str, first: int) -> None:
        return None

    async def send(self, run_id: str, op: BaseModel) -> None:
        line = {"run_id": run_id, "op": op.model_dump(mode="json", exclude_none=True)}
        await self.handle.write(json.dumps(line))


class PortLink(_Queues):
    """Through a port; the agent counts each run's lines, and a run's first line is 0."""

    async def connect(self) -> None:
        async with contextlib.aclosing(self.handle.lines()) as frames:
            frame = await anext(frames, None)
        if not isinstance(frame, Line):
            raise await self.handle.failure()
        place = json.loads(frame.text)
        try:
            reader, self._writer = await asyncio.open_connection("127.0.0.1", place["port"])
        except OSError as error:
            raise ChildGone(f"Nobody listens there any more: {error}") from error
        self._writer.write(place["secret"].encode() + b"\n")
        self._reading = self._tasks.spawn(self._read(reader), name="read")

    async def _read(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                message = json.loads(line)
                self.take(message, message["number"] + 1)
        self.end()

    async def follow(self, run_id: str, first: int) -> None:
        await self._write({"run_id": run_id, "replay": first})

    async def send(self, run_id: str, op: BaseModel) -> None:
        body = op.model_dump(mode="json", exclude_none=True)
        await self._write({"run_id": run_id, "op": body})

    async def _write(self, message: dict[str, Any]) -> None:
        self._writer.write(json.dumps(message).encode() + b"\n")
        try:
            await self._writer.drain()
        except ConnectionError as error:
            raise ProcessExited("The agent is gone.") from error

    async def close(self) -> None:
        self._writer.close()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()
        await super().close()
