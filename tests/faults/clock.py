"""A wall clock that a test moves while a server runs: hours forward, hours back.

There is no libfaketime here and a time namespace moves only the monotonic clocks, so the two places
where a server asks for the time of day, `time.time` and Jupyter's `utcnow` (and our `now`), are
replaced before anything else is imported. Monotonic clocks stay as they are, as in a real jump.
"""

from __future__ import annotations

import mmap
import struct
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

_SIZE = 8


class ClockShift:
    """Seconds between the true time and the one that the server sees, in a file of 8 bytes."""

    def __init__(self, path: Path) -> None:
        if not path.exists():
            path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _SIZE)

    @property
    def seconds(self) -> float:
        return float(struct.unpack("d", self._map[:_SIZE])[0])

    @seconds.setter
    def seconds(self, value: float) -> None:
        self._map[:_SIZE] = struct.pack("d", value)


_shifts: list[ClockShift] = []


def _seconds() -> float:
    return _shifts[-1].seconds if _shifts else 0.0


def follow(path: Path) -> None:
    """From here on this process sees the time of day as the file says."""
    _shifts.append(ClockShift(path))


def install() -> None:
    """Replace the clocks; to be called before the server's modules are imported."""
    true_time = time.time

    def shifted() -> float:
        return true_time() + _seconds()

    def utc_now() -> datetime:
        return datetime.now(UTC) + timedelta(seconds=_seconds())

    def stamp() -> str:
        return utc_now().isoformat(timespec="milliseconds").replace("+00:00", "Z")

    time.time = shifted
    _replace("jupyter_server._tz", "utcnow", utc_now)
    _replace("jupyter_agentchat.protocol.base", "now", stamp)


def _replace(module: str, name: str, function: Callable[[], object]) -> None:
    from importlib import import_module

    found = import_module(module)
    if not hasattr(found, name):
        raise AttributeError(f"{module}.{name} is gone: the clock cannot be shifted")
    setattr(found, name, function)
