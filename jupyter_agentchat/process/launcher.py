"""The seam behind which agents run: `Launcher` starts one, `Handle` is what is held of it.

`LocalLauncher` uses pipes. Launchers that spool output to files, or prefix the command, stand
behind the same two protocols; that is why a line comes with the offset behind it.
"""

from __future__ import annotations

import signal
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ..errors import ProcessExited
from .framing import Frame
from .identity import ProcessIdentity
from .ladder import Exit, Ladder
from .trace import WireTrace


@dataclass(frozen=True, slots=True)
class Spawn:
    """What to start. `argv[0]` and `cwd` are absolute; `env` is the whole environment.

    `child_id` (letters, digits, `_`, `-`; at most 64) marks the child and all its descendants.
    `stdin` null is for servers that take no lines. Prompts and secrets never stand in `argv`,
    where every user of the host can read them.
    """

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]
    child_id: str
    stdin: Literal["pipe", "null"] = "pipe"


class Handle(Protocol):
    """A running child. Exit and end of output are two facts: each may come first."""

    child_id: str
    identity: ProcessIdentity
    trace: WireTrace
    survivors: frozenset[ProcessIdentity]
    """Processes of the child that outlived even KILL; known once it is quiet."""

    @property
    def position(self) -> int:
        """The offset in its stdout behind the last frame that `lines` handed out."""

    def lines(self) -> AsyncGenerator[Frame, None]:
        """Its stdout, in order, to the end of output. One reader at a time, else RuntimeError.

        A reader that leaves loses nothing: the next one goes on where it stopped. A reader that
        is slow slows the child; memory stays bounded.
        """

    def settle(self, upto: int) -> None:
        """What lies below the offset `upto` (a line border) is stored and will not be read again,
        also not by an `attach`: its space may be freed."""

    async def write(self, line: str, *, timeout_s: float = ...) -> None:
        """Send `line` (without newline; one inside raises ValueError). Calls do not interleave.

        Raises ProviderTimeout when the child does not read, ProcessExited when it is gone or its
        input is closed. On time-out and on cancel the line was either not sent at all or stays
        queued whole: never half a line.
        """

    def close_stdin(self) -> None:
        """End of input behind what was written; twice is once."""

    def signal(self, sig: signal.Signals) -> None:
        """Signal its process group; nothing after the exit."""

    @property
    def exit(self) -> Exit | None:
        """How it ended; None while it runs."""

    async def wait_exit(self, timeout_s: float | None = None) -> Exit | None:
        """Wait for the exit of the leader, not for its pipes; None when the time is up."""

    async def wait_quiet(self, timeout_s: float | None = None) -> bool:
        """Wait until it has exited, its output ended and what it left behind was ended."""

    async def failure(self) -> ProcessExited:
        """The error that says how it ended. Waits about a second for exit and last words."""

    def stderr_tail(self, limit_chars: int = 4096) -> str:
        """The end of its stderr, redacted."""

    async def stop(self, ladder: Ladder | None = None) -> Exit:
        """Climb down `ladder` and end what is left behind; returns once it is quiet.

        A second call joins the first and can only make it faster. Cancelling a call does not
        stop the descent. An `Exit` of two None means that it survived: see `survivors`.
        """


class Launcher(Protocol):
    """Starts children. At most once: a failed start is reported, never tried again."""

    async def spawn(self, spawn: Spawn) -> Handle:
        """Start a child in its own session. Raises SpawnFailed.

        Cancelled, no child is left. Waits while too many others are just starting.
        """

    async def close(self, ladder: Ladder | None = None) -> None:
        """Stop every child that is left, all at once. No child can be started afterwards."""
