"""One file that a child appends to and we read from: its output outlives whoever reads it."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path

_KEEP_SIZE, _PUNCH_HOLE = 1, 2  # linux/falloc.h
# a hole is punched for no less: each costs a system call
_HOLE_BYTES = 256 * 1024


class SpoolFile:
    """The file at `path`, which must exist. It stays readable after `close` as long as it is there.

    Offsets never change: space is freed by holes, not by cutting. Raises OSError.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        self._hole = 0

    @property
    def is_open(self) -> bool:
        """Whether it was not closed yet."""
        return self._fd is not None

    @property
    def size(self) -> int:
        """How much was ever written to it; 0 when it is gone."""
        if self._fd is not None:
            return os.fstat(self._fd).st_size
        try:
            return self._path.stat().st_size
        except OSError:
            return 0

    @property
    def used_bytes(self) -> int:
        """What it takes up on disk: neither what was freed, nor what file systems reserve ahead."""
        if self._fd is None:
            return 0
        stat = os.fstat(self._fd)
        return min(stat.st_size - self._hole, stat.st_blocks * 512)

    def read(self, position: int, size: int) -> bytes:
        """At most `size` bytes from `position`; b"" at its present end, and when it is gone."""
        if size <= 0:
            return b""
        if self._fd is not None:
            # no buffer larger than what there is: a small line would pay for a large one
            size = min(size, os.fstat(self._fd).st_size - position)
            return os.pread(self._fd, size, position) if size > 0 else b""
        try:
            with self._path.open("rb", buffering=0) as file:
                return os.pread(file.fileno(), size, position)
        except OSError:
            return b""

    def free(self, upto: int) -> None:
        """Give back the space of everything below `upto`, where the file system can do that."""
        if self._fd is None or upto - self._hole < _HOLE_BYTES:
            return
        if _punch_hole(self._fd, self._hole, upto):
            self._hole = upto

    def close(self) -> None:
        """Hold no descriptor any longer."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None


def _punch_hole(fd: int, start: int, end: int) -> bool:
    call = _fallocate()
    if call is None:
        return False
    mode = _KEEP_SIZE | _PUNCH_HOLE
    return bool(call(fd, mode, ctypes.c_int64(start), ctypes.c_int64(end - start)) == 0)


@cache
def _fallocate() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None, use_errno=True).fallocate64
    except (OSError, AttributeError):
        return None
