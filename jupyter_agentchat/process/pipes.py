"""The asyncio side of one child: what its pipes said, and its exit, each as a fact of its own.

asyncio's `Process.wait` and `StreamReader` are not used: the first returns only after the pipes are
closed, which a grandchild can delay for ever (python/cpython#119710), the second breaks on lines
above 64 KiB.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections import deque
from collections.abc import Callable
from typing import cast

from ..errors import ProcessExited
from .ladder import Exit
from .stderr import StderrTail

BUFFER_LIMIT_BYTES = 1024 * 1024
"""Output waiting for the consumer above which the child's stdout is not read any more."""

# after the exit what is left in a pipe is read whatever the consumer does: no pipe holds more
_LAST_READ_BYTES = 2 * 1024 * 1024
_STDIN, _STDOUT, _STDERR = 0, 1, 2


class ChildPipes(asyncio.SubprocessProtocol):
    """Buffers stdout for one consumer, always drains stderr, reports the exit at once.

    Implements `streams.ChildStreams`.
    """

    trouble: ProcessExited | None = None
    """See `ChildStreams.trouble`: with pipes there is none."""

    def __init__(self, on_stderr: Callable[[bytes], None], *, buffer_limit_bytes: int) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[Exit] = loop.create_future()
        self.output_ended: asyncio.Future[None] = loop.create_future()
        self.first_output: asyncio.Future[None] = loop.create_future()
        self._stderr = StderrTail()
        self._on_stderr = on_stderr
        self._limit = buffer_limit_bytes
        self._chunks: deque[bytes] = deque()
        self._buffered = 0
        self._paused = False
        self._open = {_STDOUT, _STDERR}
        self._readable = asyncio.Event()
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.SubprocessTransport | None = None

    # what asyncio reports

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by asyncio once the process runs."""
        self._transport = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by asyncio with what it read."""
        if fd == _STDERR:
            self._stderr.feed(data)
            self._on_stderr(data)
            return
        _settle(self.first_output)
        self._chunks.append(data)
        self._buffered += len(data)
        self._readable.set()
        if self._buffered > self._limit and not self._paused:
            self._pause(True)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called by asyncio when a pipe ended; an error on it means the same as its end."""
        if fd == _STDIN:
            self._writable.set()
            return
        self._open.discard(fd)
        if fd == _STDOUT:
            self._readable.set()
        if not self._open:
            _settle(self.output_ended)

    def process_exited(self) -> None:
        """Called by asyncio as soon as the process was reaped, pipes open or not."""
        code = self._transport.get_returncode() if self._transport else None
        ended = Exit(code, None) if code is None or code >= 0 else Exit(None, -code)
        if not self.exited.done():
            self.exited.set_result(ended)
        self._writable.set()
        self._limit += _LAST_READ_BYTES
        self._pause(False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio when the process and all pipes are gone, or after `close`."""
        self._open.clear()
        self._readable.set()
        self._writable.set()
        _settle(self.output_ended)

    def pause_writing(self) -> None:
        """Called by asyncio when the child does not read what we wrote."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Called by asyncio when it reads again."""
        self._writable.set()

    # what the handle uses

    @property
    def pid(self) -> int:
        """The pid asyncio started; asyncio reports the connection before it returns."""
        if self._transport is None:
            raise RuntimeError("not started")
        return self._transport.get_pid()

    @property
    def buffered_bytes(self) -> int:
        """Output read from the pipe and not taken yet."""
        return self._buffered

    @property
    def has_stdin(self) -> bool:
        """Whether the child was given an input at all."""
        return bool(self._transport and self._transport.get_pipe_transport(_STDIN))

    @property
    def can_write(self) -> bool:
        """Whether the child still takes input, as far as we know."""
        return self._stdin() is not None

    def write(self, data: bytes) -> bool:
        """Hand `data` over as a whole; False when there is nobody to take it."""
        stdin = self._stdin()
        if stdin is not None:
            stdin.write(data)
        return stdin is not None

    def close_stdin(self) -> None:
        """Deliver end of input behind what was written."""
        stdin = self._stdin()
        if stdin is not None:
            stdin.close()

    def stderr_tail(self, limit_chars: int) -> str:
        """See `ChildStreams.stderr_tail`."""
        return self._stderr.text(limit_chars)

    def signal(self, sig: signal.Signals) -> None:
        """See `ChildStreams.signal`."""
        # its leader was not reaped yet, so the number of the group is certainly ours
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, sig)

    def settle(self, upto: int) -> None:
        """See `ChildStreams.settle`: a pipe keeps nothing that was read."""

    async def last_output(self, timeout_s: float) -> None:
        """See `ChildStreams.last_output`: a pipe ends when nobody holds it any more."""
        await asyncio.wait({self.output_ended}, timeout=timeout_s)

    async def read(self) -> bytes:
        """The next piece of stdout; b"" after its end. Cancelling loses nothing."""
        while not self._chunks:
            if _STDOUT not in self._open:
                return b""
            self._readable.clear()
            await self._readable.wait()
        chunk = self._chunks.popleft()
        self._buffered -= len(chunk)
        if self._paused and self._buffered <= self._limit // 2:
            self._pause(False)
        return chunk

    async def drained(self) -> None:
        """Wait until the child has read most of what was written, or can read no more."""
        await self._writable.wait()

    def close(self) -> None:
        """Give up what is still open. Only after the exit: before it asyncio would KILL."""
        if self._transport is None:
            return
        stdin = cast(asyncio.WriteTransport | None, self._transport.get_pipe_transport(_STDIN))
        if stdin is not None and stdin.get_write_buffer_size():
            # a plain close would wait for a reader of what is still unwritten
            stdin.abort()
        self._transport.close()

    def _stdin(self) -> asyncio.WriteTransport | None:
        pipe = self._transport.get_pipe_transport(_STDIN) if self._transport else None
        if pipe is None or pipe.is_closing() or self.exited.done():
            return None
        return cast(asyncio.WriteTransport, pipe)

    def _pause(self, pause: bool) -> None:
        pipe = self._transport.get_pipe_transport(_STDOUT) if self._transport else None
        if pipe is None or pipe.is_closing() or pause is self._paused:
            return
        self._paused = pause
        reader = cast(asyncio.ReadTransport, pipe)
        if pause:
            reader.pause_reading()
        else:
            reader.resume_reading()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
