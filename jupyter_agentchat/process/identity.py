"""Who a process is: (pid, start time, boot id), so that a reused pid is never taken for it.

Facts come from /proc. Where there is none (macOS) an identity has start time 0, which never counts
as alive: what cannot be recognised is not signalled.
"""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PROC = Path("/proc")
_DEAD_STATES = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process for good. `start_time` is in clock ticks since boot; 0 and "" mean unknown."""

    pid: int
    start_time: int
    boot_id: str
    pgid: int


@dataclass(frozen=True, slots=True)
class ProcessStat:
    """The part of /proc/PID/stat that we use."""

    pid: int
    state: str
    ppid: int
    pgid: int
    session: int
    start_time: int

    @property
    def alive(self) -> bool:
        """Zombies are dead: where pid 1 reaps late or never, they stand for seconds or for ever."""
        return self.state not in _DEAD_STATES


@cache
def boot_id() -> str:
    """The kernel's id of this boot, or "" where it has none."""
    try:
        return (_PROC / "sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


@cache
def has_proc() -> bool:
    """Whether processes can be looked at here at all (Linux)."""
    return (_PROC / "self/stat").exists()


def read_stat(pid: int) -> ProcessStat | None:
    """What the kernel says of `pid` now; None when it is gone or there is no /proc."""
    try:
        raw = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return None
    return parse_stat(raw)


def parse_stat(raw: bytes) -> ProcessStat:
    """What one line of /proc/PID/stat says. Raises ValueError for anything else."""
    # the name in parentheses may hold spaces and parentheses itself
    fields = raw[raw.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        raise ValueError("not a line of /proc/PID/stat")
    return ProcessStat(
        pid=int(raw[: raw.index(b" ")]),
        state=fields[0].decode("ascii"),
        ppid=int(fields[1]),
        pgid=int(fields[2]),
        session=int(fields[3]),
        start_time=int(fields[19]),
    )


def list_stats() -> Iterator[ProcessStat]:
    """Every process that this one may see, zombies included. Reads /proc: call it in a thread."""
    try:
        names = os.listdir(_PROC)  # noqa: PTH208 - 10x faster than iterdir, and it is a hot scan
    except OSError:
        return
    for name in names:
        if name.isdecimal() and (stat := read_stat(int(name))) is not None:
            yield stat


def identify(pid: int) -> ProcessIdentity | None:
    """The identity of the process that has `pid` now, also of a zombie; None when there is none."""
    stat = read_stat(pid)
    return None if stat is None else identity_of(stat)


def identity_of(stat: ProcessStat) -> ProcessIdentity:
    """The lasting part of `stat`."""
    return ProcessIdentity(stat.pid, stat.start_time, boot_id(), stat.pgid)


def identify_leader(pid: int) -> ProcessIdentity:
    """The identity of a child that was started as the leader of its own session.

    One that was reaped before we looked has start time 0 and never counts as alive. The group
    is not taken from /proc, which has -1 there while a process is being reaped.
    """
    stat = read_stat(pid)
    return ProcessIdentity(pid, stat.start_time if stat else 0, boot_id(), pid)


def is_alive(identity: ProcessIdentity) -> bool:
    """Whether exactly that process runs: same boot, same start time, not a zombie."""
    if not identity.start_time or identity.boot_id != boot_id():
        return False
    stat = read_stat(identity.pid)
    return stat is not None and stat.alive and stat.start_time == identity.start_time


def send_signal(identity: ProcessIdentity, sig: signal.Signals) -> bool:
    """Signal exactly that process; False when it is gone or not ours to signal.

    Through a pidfd where there is one: opened first, compared then, so that the pid cannot change
    hands in between.
    """
    if identity.pid <= 1:
        return False
    try:
        pidfd = os.pidfd_open(identity.pid)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno == errno.ESRCH:
            return False
        return is_alive(identity) and _delivered(lambda: os.kill(identity.pid, sig))
    try:
        return is_alive(identity) and _delivered(lambda: signal.pidfd_send_signal(pidfd, sig))
    finally:
        os.close(pidfd)


def _delivered(send: Callable[[], None]) -> bool:
    try:
        send()
    except (ProcessLookupError, PermissionError):
        return False
    return True
