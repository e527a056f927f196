"""The directory of one spooled child: its files, and what they say about its processes.

`in` is a FIFO, `out` and `err` are what it said, `keeper`, `holder`, `pid` and `exit` are written
by its keeper, `alive` by every living server, `writing` stands while a line is written that cannot
be written at once, `owner` says which server of which host and boot has it. Nothing is synced to
the disk: all of it matters only as long as this boot lasts, and that long the kernel keeps it.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .identity import ProcessIdentity, boot_id, parse_stat
from .ladder import Exit

_SIGNAL_BASE = 128  # a shell adds this to the number of the signal that ended its command
_LAST_SIGNAL = 64
_FILES = (
    *("in", "out", "err", "pid", "keeper", "holder", "exit", "alive", "writing"),
    *("owner", "owner.new"),
)


@dataclass(frozen=True, slots=True)
class Owner:
    """The server that has a child. `process` None: it could not be identified."""

    host: str
    boot_id: str
    process: ProcessIdentity | None

    @property
    def is_of_this_host(self) -> bool:
        """Whether its processes, if any are left, can be seen from here."""
        return self.host == socket.gethostname()

    @property
    def is_of_this_boot(self) -> bool:
        """Whether its processes can still be alive."""
        return self.is_of_this_host and self.boot_id == boot_id()


class RunDirectory:
    """One directory below the launcher's root; all calls are short and synchronous."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.fifo = path / "in"
        self.out = path / "out"
        self.err = path / "err"
        self.writing = path / "writing"

    def make(self, owner: ProcessIdentity | None) -> tuple[int, int]:
        """Create it; returns descriptors of `out` and `err` for the child. Raises OSError,
        FileExistsError when there is one of that name already."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.path.mkdir(mode=0o700)
        self.own(owner)
        self.keep_alive()
        os.mkfifo(self.fifo, 0o600)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        out = os.open(self.out, flags, 0o600)
        try:
            return out, os.open(self.err, flags, 0o600)
        except OSError:
            os.close(out)
            raise

    def exists(self) -> bool:
        """Whether there is such a run directory, and it was made completely."""
        return self.out.is_file() and self.err.is_file() and self.fifo.is_fifo()

    def own(self, process: ProcessIdentity | None) -> None:
        """Write down, all or nothing, that `process` has the child from now on."""
        text = json.dumps(
            {
                "host": socket.gethostname(),
                "boot_id": boot_id(),
                "process": process and [process.pid, process.start_time, process.pgid],
            }
        )
        new = self.path / "owner.new"
        new.touch(mode=0o600)
        new.write_text(text)
        new.replace(self.path / "owner")

    def owner(self) -> Owner | None:
        """Who has it; None when that cannot be read."""
        try:
            found = json.loads((self.path / "owner").read_text())
            process = found["process"]
            boot = str(found["boot_id"])
            identity = process and ProcessIdentity(process[0], process[1], boot, process[2])
            return Owner(str(found["host"]), boot, identity)
        except (OSError, ValueError, TypeError, LookupError):
            return None

    def keep_alive(self) -> None:
        """Tell the holder that a server is there."""
        with contextlib.suppress(OSError):
            (self.path / "alive").touch(mode=0o600)

    def identity(self, role: str) -> ProcessIdentity | None:
        """Who the `pid` (the agent), `keeper` or `holder` is; None before that is written."""
        line = self._line(role)
        if line is None:
            return None
        try:
            stat = parse_stat(line)
        except ValueError:
            return None
        # keeper and agent lead their sessions; the holder is in the keeper's group
        pgid = stat.pgid if role == "holder" else stat.pid
        owner = self.owner()
        return ProcessIdentity(stat.pid, stat.start_time, owner.boot_id if owner else "", pgid)

    def helpers(self) -> set[ProcessIdentity]:
        """Keeper and holder, as far as they are known."""
        found = (self.identity("keeper"), self.identity("holder"))
        return {identity for identity in found if identity is not None}

    def exit(self) -> Exit | None:
        """How the agent ended; None before that is written whole.

        A shell cannot tell an exit code above 128 from a signal: it counts as the signal.
        """
        line = self._line("exit")
        if line is None or not line.isdigit():
            return None
        code = int(line)
        if _SIGNAL_BASE < code <= _SIGNAL_BASE + _LAST_SIGNAL:
            return Exit(None, code - _SIGNAL_BASE)
        return Exit(code, None)

    def free_bytes(self) -> int | None:
        """Room on its file system; None where that has no meaning."""
        try:
            found = os.statvfs(self.path)
        except OSError:
            return None
        return found.f_bavail * found.f_frsize if found.f_blocks else None

    def remove(self) -> None:
        """Remove what is ours in it, and it when nothing else is left in it."""
        for name in _FILES:
            with contextlib.suppress(OSError):
                (self.path / name).unlink()
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def _line(self, name: str) -> bytes | None:
        try:
            raw = (self.path / name).read_bytes()
        except OSError:
            return None
        line, newline, _ = raw.partition(b"\n")
        return line if newline else None


def run_directories(root: Path) -> Iterator[RunDirectory]:
    """Those below `root`, in no order."""
    try:
        paths = list(root.iterdir())
    except OSError:
        return
    for path in paths:
        if path.is_dir() and not path.is_symlink():
            yield RunDirectory(path)
