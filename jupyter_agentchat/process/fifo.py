"""Writes whole lines into an agent's FIFO, so that our own death cannot leave half of one there.

The kernel takes a line in one go when there is room for it, and SIGKILL cannot cut that; so the
FIFO is made as large as the line needs (to 1 MiB), and a line waits until there is room. Only a
line that can never fit goes in pieces; the `writing` mark stands as long as it is under way.
Rule: reattach.md section 3.
"""

from __future__ import annotations

import array
import asyncio
import contextlib
import fcntl
import os
import select
import termios
from collections.abc import Callable
from pathlib import Path

LARGEST_PIPE_BYTES = 1024 * 1024
"""What a plain user may make a pipe (fs.pipe-max-size)."""

_PAGE = os.sysconf("SC_PAGE_SIZE")
_PIECE_BYTES = 64 * 1024
_FIRST_LOOK_S, _LAST_LOOK_S = 0.001, 0.02


class FifoWriter:
    """Our end of the FIFO at `path`. `write` takes one line at a time: wait for `drained` between.

    Opened for reading too, though never read: opening does not wait for the agent then, and
    writing is never an error. Whether somebody is there to read is seen elsewhere.
    `on_closed` is called once when `end` has closed it behind the last line.
    """

    def __init__(self, path: Path, mark: Path, *, on_closed: Callable[[], None]) -> None:
        self._fd: int | None = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._mark = mark
        self._on_closed = on_closed
        self._pending = memoryview(b"")
        self._torn = False
        self._ending = False
        self._watching = False
        self._retry: asyncio.TimerHandle | None = None
        self._look_s = _FIRST_LOOK_S
        self._drained = asyncio.Event()
        self._drained.set()

    @property
    def is_open(self) -> bool:
        """Whether it takes lines."""
        return self._fd is not None and not self._ending

    @property
    def pending_bytes(self) -> int:
        """What was given to `write` and is not in the kernel yet."""
        return len(self._pending)

    def write(self, data: bytes) -> bool:
        """Take `data` as a whole, now or as soon as there is room; False when it is closed."""
        if not self.is_open:
            return False
        if self._pending:
            raise RuntimeError("one line at a time")
        self._pending = memoryview(data)
        self._look_s = _FIRST_LOOK_S
        self._drained.clear()
        self._push()
        return True

    async def drained(self) -> None:
        """Wait until what was written is in the kernel, or can never be."""
        await self._drained.wait()

    def end(self) -> None:
        """Close our end behind what was written."""
        if self._fd is None or self._ending:
            return
        self._ending = True
        if not self._pending:
            self._finish()

    def close(self) -> None:
        """Close our end now; a line under way stays unfinished, and marked as that."""
        self._pending = memoryview(b"")
        self._close()
        self._drained.set()

    def _push(self) -> None:
        self._retry = None
        if self._fd is None:
            return
        if not self._torn and not self._fits(self._fd):
            return
        try:
            while self._pending:
                piece = self._pending[:_PIECE_BYTES] if self._torn else self._pending
                sent = os.write(self._fd, piece)
                self._pending = self._pending[sent:]
                if self._pending and not self._torn:  # the kernel counts in another way: say so
                    self._tear()
        except BlockingIOError:
            self._watch(self._fd)
            return
        if self._torn:
            self._mark.unlink(missing_ok=True)
            self._torn = False
        self._unwatch()
        self._drained.set()
        if self._ending:
            self._finish()

    def _fits(self, fd: int) -> bool:
        """Whether it can be written at once; if not, later or in pieces: that is arranged."""
        size = len(self._pending)
        if size <= select.PIPE_BUF:
            return True
        room = _free_pages(fd)
        if room < _pages(size):
            room = _enlarge(fd, size)
        if room >= _pages(size):
            return True
        if _pages(size) > _capacity(fd) // _PAGE:
            self._tear()
            return True
        # the kernel says when there is any room, not when there is enough
        self._retry = asyncio.get_running_loop().call_later(self._look_s, self._push)
        self._look_s = min(_LAST_LOOK_S, self._look_s * 2)
        return False

    def _tear(self) -> None:
        self._mark.touch(mode=0o600)
        self._torn = True

    def _watch(self, fd: int) -> None:
        if not self._watching:
            asyncio.get_running_loop().add_writer(fd, self._push)
            self._watching = True

    def _unwatch(self) -> None:
        if self._watching and self._fd is not None:
            asyncio.get_running_loop().remove_writer(self._fd)
        self._watching = False

    def _finish(self) -> None:
        self._close()
        self._on_closed()

    def _close(self) -> None:
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._unwatch()
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _pages(size: int) -> int:
    return -(-size // _PAGE)


def _capacity(fd: int) -> int:
    return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ)


def _free_pages(fd: int) -> int:
    """Pages that are certainly free. A pipe is full when its pages are used, not its bytes; two
    neighbours always hold more than one page between them, and the first may be half read."""
    waiting = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, waiting)
    used = 2 * _pages(waiting[0]) + 2 if waiting[0] else 0
    return max(0, _capacity(fd) // _PAGE - used)


def _enlarge(fd: int, size: int) -> int:
    wanted = _capacity(fd)
    while wanted < LARGEST_PIPE_BYTES and wanted // _PAGE < _pages(size):
        wanted *= 2
    if wanted > _capacity(fd):
        with contextlib.suppress(OSError):  # this user has too many large ones
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, wanted)
    return _free_pages(fd)
