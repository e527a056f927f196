"""The input, the output and the end of a child that writes into files and is kept by a keeper."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from ..errors import ChildGone, SpoolFull
from .fifo import FifoWriter
from .identity import ProcessIdentity, is_alive, send_signal
from .ladder import Exit
from .rundir import RunDirectory
from .spoolfile import SpoolFile
from .stderr import KEPT_BYTES, StderrTail
from .sweep import find_leftovers
from .tail import EVERYTHING

_CHUNK_BYTES = 256 * 1024
_TURN_BYTES = 1024 * 1024
# how far behind its stderr we may be before the middle is skipped
_ERR_BACKLOG_BYTES = 1024 * 1024
# between the agent's death and its exit file
_KEEPER_S = 5.0
_HELPERS_GONE_S = 1.0
_POLL_S = 0.002
_LEFTOVER_POLL_S = 0.03


@dataclass(frozen=True, slots=True)
class SpoolLimits:
    """`limit_bytes` that one child's files may take up, `reserve_bytes` that the disk must keep
    free: an agent that meets a full disk loses lines silently, or is mute for ever."""

    limit_bytes: int
    reserve_bytes: int


class SpooledStreams:
    """Implements `streams.ChildStreams`. It looks at its files when told to: see `changed`, `tend`.

    `process` is the keeper when we started it; it must be reaped by us then. `start` is the offset
    in `out` to read from. `on_trouble` is called once when the child has to be ended.
    """

    def __init__(
        self,
        child_id: str,
        directory: RunDirectory,
        identity: ProcessIdentity,
        *,
        fifo: FifoWriter | None,
        start: int,
        process: subprocess.Popen[bytes] | None,
        seen_alive: bool,
        limits: SpoolLimits,
        on_stderr: Callable[[bytes], None],
        on_trouble: Callable[[], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[Exit] = loop.create_future()
        self.first_output: asyncio.Future[None] = loop.create_future()
        self.output_ended: asyncio.Future[None] = loop.create_future()
        self.trouble: SpoolFull | None = None
        self.directory = directory
        self.read_out = False
        """Whether a reader has come to the end of the output."""
        self.settled = False
        """Whether everything there is was settled."""
        self._child_id = child_id
        self._identity = identity
        self._fifo = fifo
        self._process = process
        self._seen_alive = seen_alive
        self._limits = limits
        self._on_stderr = on_stderr
        self._on_trouble = on_trouble
        self._at = start
        self._in_turn = 0
        self._cut: int | None = None  # nothing behind it is read any more
        self._settled_at = 0
        self._closed = self._left = False
        self._alone = False  # nobody is left who could write
        self._dead_since: float | None = None
        self._readable = asyncio.Event()
        self._out = SpoolFile(directory.out)
        self._err = SpoolFile(directory.err)
        self._err_at = max(0, self._err.size - KEPT_BYTES) if process is None else 0
        self._stderr = StderrTail(cut=self._err_at > 0)

    # what the launcher tells

    def changed(self, name: str) -> None:
        """A file of the run directory changed; `tail.EVERYTHING` when it is not known which."""
        if name in ("out", EVERYTHING):
            _settle(self.first_output)
            self._readable.set()
        if name in ("err", EVERYTHING):
            self._take_stderr()
        if name in ("exit", EVERYTHING):
            self._look_for_exit()

    def tend(self) -> None:
        """Look at everything, whether told of a change or not. Short; to be called repeatedly."""
        if self._closed:
            return
        if self._out.size > self._at:
            _settle(self.first_output)
            self._readable.set()
        self._take_stderr()
        self._look_for_exit()
        if not self.exited.done() and not self._is_running():
            self._look_for_unknown_exit()
        if not self.exited.done() and self.trouble is None:
            self._look_for_room()

    def leave(self) -> None:
        """Let go of the child, which goes on. A reader gets ChildGone."""
        self._left = True
        self._release()
        self._readable.set()

    # ChildStreams

    @property
    def has_stdin(self) -> bool:
        """See `ChildStreams.has_stdin`. Also false when its input had ended before we came."""
        return self._fifo is not None

    @property
    def can_write(self) -> bool:
        """See `ChildStreams.can_write`."""
        return self._fifo is not None and self._fifo.is_open and not self.exited.done()

    def write(self, data: bytes) -> bool:
        """See `ChildStreams.write`."""
        return self._fifo is not None and self.can_write and self._fifo.write(data)

    async def drained(self) -> None:
        """See `ChildStreams.drained`."""
        if self._fifo is not None:
            await self._fifo.drained()

    def close_stdin(self) -> None:
        """See `ChildStreams.close_stdin`: with our end closed, the holder is the last."""
        if self._fifo is not None:
            self._fifo.end()

    async def read(self) -> bytes:
        """See `ChildStreams.read`. Raises ChildGone once we have left it."""
        while True:
            if self._left:
                raise ChildGone("The server stops; the agent goes on without it.")
            if self._in_turn >= _TURN_BYTES:
                # a file never makes us wait: a line of many megabytes must not keep the loop
                self._in_turn = 0
                await asyncio.sleep(0)
            size = _CHUNK_BYTES if self._cut is None else min(_CHUNK_BYTES, self._cut - self._at)
            chunk = self._out.read(self._at, size)
            if chunk:
                self._at += len(chunk)
                self._in_turn += len(chunk)
                return chunk
            if self._closed or self._cut is not None:
                self.read_out = True
                return b""
            self._readable.clear()
            await self._readable.wait()

    def stderr_tail(self, limit_chars: int) -> str:
        """See `ChildStreams.stderr_tail`."""
        self._take_stderr()
        return self._stderr.text(limit_chars)

    def signal(self, sig: signal.Signals) -> None:
        """See `ChildStreams.signal`."""
        if self._is_running():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._identity.pid, sig)

    def settle(self, upto: int) -> None:
        """See `ChildStreams.settle`. Frees the space where the file system can do that."""
        self._settled_at = max(self._settled_at, upto)
        self._out.free(upto)
        self._note_settled()

    async def last_output(self, timeout_s: float) -> None:
        """See `ChildStreams.last_output`: whatever else carries its marker could still write."""
        if self._alone:
            return
        loop = asyncio.get_running_loop()
        end = loop.time() + _HELPERS_GONE_S
        helpers = self.directory.helpers()
        self._end_abandoned_holder()
        # what is nobody's child of ours tells us of its end in no other way
        while any(map(is_alive, helpers)) and loop.time() < end:  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)
        end = loop.time() + timeout_s
        while await self._leftovers() - helpers:
            if loop.time() >= end:
                return
            await asyncio.sleep(_LEFTOVER_POLL_S)
        self._alone = True

    def close(self) -> None:
        """See `ChildStreams.close`."""
        if self._left:
            return
        self._take_stderr()
        self._closed = True
        self._note_settled()
        self._release()
        self._readable.set()
        _settle(self.output_ended)

    def on_input_closed(self) -> None:
        """Our end of the input is closed: end the other one too."""
        holder = self.directory.identity("holder")
        if holder is not None:
            send_signal(holder, signal.SIGTERM)

    # the end

    def _is_running(self) -> bool:
        return is_alive(self._identity)

    def _look_for_exit(self) -> None:
        found = self.directory.exit()
        if found is not None and not self.exited.done():
            self._end(found)

    def _look_for_unknown_exit(self) -> None:
        """The agent is gone and nothing says how: its keeper is about to, or was killed."""
        keeper = self.directory.identity("keeper")
        now = asyncio.get_running_loop().time()
        self._dead_since = self._dead_since or now
        if keeper is not None and is_alive(keeper) and now - self._dead_since < _KEEPER_S:
            return
        # the keeper may have written it and gone between two looks of ours
        self._end(self.directory.exit() or Exit(None, None))

    def _end(self, ended: Exit) -> None:
        if ended != Exit(0, None) and self.trouble is None:
            self._look_for_room()  # it may have ended because of that, and had no room to say so
        self.exited.set_result(ended)
        if self._fifo is not None:
            self._fifo.close()

    def _end_abandoned_holder(self) -> None:
        keeper = self.directory.identity("keeper")
        if keeper is None or not is_alive(keeper):
            self.on_input_closed()

    async def _leftovers(self) -> set[ProcessIdentity]:
        return await asyncio.to_thread(
            find_leftovers, self._child_id, self._identity, headless_group=self._seen_alive
        )

    def _release(self) -> None:
        if self._fifo is not None:
            self._fifo.close()
        self._out.close()
        self._err.close()
        if self._process is not None and self._process.poll() is None:
            # it goes on without us: nobody here waits for it, and that is no leak
            self._process.returncode = 0

    # files

    def _note_settled(self) -> None:
        self.settled = self._closed and self._settled_at >= self._out.size

    def _take_stderr(self) -> None:
        if not self._err.is_open:
            return
        size = self._err.size
        if size - self._err_at > _ERR_BACKLOG_BYTES:
            self._err_at = size - KEPT_BYTES
            self._stderr = StderrTail(cut=True)
        # bounded: it may write as fast as we read
        for _ in range(_ERR_BACKLOG_BYTES // _CHUNK_BYTES):
            data = self._err.read(self._err_at, _CHUNK_BYTES)
            if not data:
                break
            self._err_at += len(data)
            self._stderr.feed(data)
            self._on_stderr(data)
        # the next server wants the tail too
        self._err.free(self._err_at - KEPT_BYTES)

    def _look_for_room(self) -> None:
        used = self._out.used_bytes + self._err.used_bytes
        if used > self._limits.limit_bytes:
            self._stop_reading_at(
                self._at,
                f"The agent was stopped: {used >> 20} MiB of its output wait to be stored.",
                "Send a narrower prompt, or ask your administrator to raise spool_limit_bytes.",
            )
            return
        free = self.directory.free_bytes()
        if free is not None and free < self._limits.reserve_bytes:
            self._stop_reading_at(
                self._out.size,
                "The agent was stopped: the disk that its output is written to is full.",
                "Free some space, then send the prompt again.",
            )

    def _stop_reading_at(self, position: int, message: str, hint: str) -> None:
        self.trouble = SpoolFull(message, hint=hint, stderr_tail=self.stderr_tail(4096))
        self._cut = position
        self._readable.set()
        self._on_trouble()


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
