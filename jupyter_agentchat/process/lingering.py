"""Directories of children that have ended, until nobody needs them any more."""

from __future__ import annotations

import asyncio
import weakref
from dataclasses import dataclass

from .child import Child
from .spooled import SpooledStreams


@dataclass(slots=True)
class _Kept:
    streams: SpooledStreams
    child: weakref.ref[Child]
    read_at: float | None = None


class Lingering:
    """Keeps a directory until all of it is settled, or `linger_s` seconds after its last line was
    read (it is being stored then) or nobody is left who could read it."""

    def __init__(self, linger_s: float) -> None:
        self._linger_s = linger_s
        self._kept: dict[str, _Kept] = {}

    def __len__(self) -> int:
        """How many there are."""
        return len(self._kept)

    def __contains__(self, child_id: str) -> bool:
        """Whether that child's is one of them."""
        return child_id in self._kept

    def add(self, child: Child, streams: SpooledStreams) -> None:
        """`child` is quiet from now on."""
        self._kept[child.child_id] = _Kept(streams, weakref.ref(child))

    def forget(self, child_id: str) -> None:
        """Somebody else sees to that directory, if it was one of them."""
        self._kept.pop(child_id, None)

    def remove_done(self) -> None:
        """Remove those that nobody needs."""
        now = asyncio.get_running_loop().time()
        for child_id, kept in list(self._kept.items()):
            if kept.read_at is None and (kept.streams.read_out or kept.child() is None):
                kept.read_at = now
            lingered = kept.read_at is not None and now - kept.read_at >= self._linger_s
            if kept.streams.settled or lingered:
                self._remove(child_id)

    def remove_all(self) -> None:
        """Remove them, read or not."""
        for child_id in list(self._kept):
            self._remove(child_id)

    def _remove(self, child_id: str) -> None:
        self._kept.pop(child_id).streams.directory.remove()
