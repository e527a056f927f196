"""Tells when a file in one of some directories has changed: by inotify, or not at all.

Where it cannot (no inotify, or too many of them) `works` is false and the caller looks by itself,
which it does from time to time anyway: what another host writes, no kernel tells us.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import struct
from collections.abc import Callable
from functools import cache
from pathlib import Path

# linux/inotify.h
_MODIFY, _CLOSE_WRITE, _CREATE, _OVERFLOW = 0x2, 0x8, 0x100, 0x4000
_HEADER = struct.Struct("iIII")
_READ_BYTES = 16 * 1024

# Who writes thousands of lines a second would wake us for each of them. So many pieces of news,
# each right behind the one before, and we hear the next in one go, after a rest nobody notices.
_FLOOD = 8
_BEHIND_S = 0.0005
_REST_S = 0.002

EVERYTHING = ""
"""The name given when it is not known which file changed."""


class DirectoryWatch:
    """Calls back with the name of a file that changed: at once, or in a flood every 2 ms.

    Not thread safe; callbacks run on the loop that called `add`. From the first `add` to `close`
    it holds one descriptor: closing that takes the kernel 10 to 20 ms.
    """

    def __init__(self) -> None:
        self._fd: int | None = None
        self._callbacks: dict[int, Callable[[str], None]] = {}
        self._listened = float("-inf")
        self._in_a_row = 0
        self._resting: asyncio.TimerHandle | None = None
        self.works = True

    def __len__(self) -> int:
        """How many directories are watched."""
        return len(self._callbacks)

    def add(self, directory: Path, on_change: Callable[[str], None]) -> int | None:
        """Watch `directory`; the answer is for `remove`. None when that is not possible here."""
        self._open()
        if self._fd is None:
            return None
        mask = ctypes.c_uint32(_MODIFY | _CLOSE_WRITE | _CREATE)
        mark = int(_libc().inotify_add_watch(self._fd, os.fsencode(directory), mask))
        if mark < 0:
            self.works = False
            return None
        self._callbacks[mark] = on_change
        return mark

    def remove(self, mark: int | None) -> None:
        """Watch it no longer; None and what was removed before are ignored."""
        if mark is None or self._callbacks.pop(mark, None) is None or self._fd is None:
            return
        _libc().inotify_rm_watch(self._fd, mark)

    def close(self) -> None:
        """Watch nothing any longer."""
        self._callbacks.clear()
        if self._resting is not None:
            self._resting.cancel()
            self._resting = None
        if self._fd is not None:
            asyncio.get_running_loop().remove_reader(self._fd)
            os.close(self._fd)
            self._fd = None

    def _open(self) -> None:
        if self._fd is not None:
            return
        try:
            fd = int(_libc().inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC))
        except (OSError, AttributeError):
            fd = -1
        self.works = fd >= 0
        if self.works:
            self._fd = fd
            asyncio.get_running_loop().add_reader(fd, self._on_readable)

    def _on_readable(self) -> None:
        if self._fd is None:
            return
        loop = asyncio.get_running_loop()
        now = loop.time()
        self._in_a_row = self._in_a_row + 1 if now - self._listened < _BEHIND_S else 0
        self._listened = now
        if self._in_a_row >= _FLOOD:
            loop.remove_reader(self._fd)
            self._resting = loop.call_later(_REST_S, self._listen_again)
        self._tell(self._fd)

    def _listen_again(self) -> None:
        self._resting = None
        if self._fd is not None:
            loop = asyncio.get_running_loop()
            self._listened = loop.time()
            loop.add_reader(self._fd, self._on_readable)

    def _tell(self, fd: int) -> None:
        try:
            data = os.read(fd, _READ_BYTES)
        except BlockingIOError:
            return
        seen: dict[tuple[int, str], None] = {}
        position = 0
        while position < len(data):
            mark, mask, _, size = _HEADER.unpack_from(data, position)
            position += _HEADER.size + size
            name = data[position - size : position].rstrip(b"\0")
            if mask & _OVERFLOW:
                seen.update(((each, EVERYTHING), None) for each in self._callbacks)
            else:
                seen[mark, name.decode("utf-8", "replace")] = None
        for mark, text in seen:
            callback = self._callbacks.get(mark)  # one callback may end another's watch
            if callback is not None:
                callback(text)


@cache
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
