"""What holds for every start of a child, wherever its bytes go."""

from __future__ import annotations

import asyncio
import errno
import os
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from ..errors import SpawnFailed
from .child import Child
from .launcher import Spawn
from .tasks import TaskOwner

_CHILD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ARGUMENT_LIMIT_BYTES = 128 * 1024 - 1  # Linux, one argument
_TOTAL_SPARE_BYTES = 64 * 1024  # for pointers and what the kernel adds
# how long a start counts as one when the child says nothing
_START_S = 1.0


class Starts:
    """Lets at most `parallel` children be between their start and their first output.

    Many interpreters that start at once make every one of them late.
    """

    def __init__(self, parallel: int | None, tasks: TaskOwner) -> None:
        self._free = asyncio.Semaphore(parallel or os.cpu_count() or 1)
        self._tasks = tasks

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[StartTurn]:
        """Wait for a turn; it lasts until the child given to it shows a first sign of life."""
        await self._free.acquire()
        turn = StartTurn()
        try:
            yield turn
        finally:
            if turn.child is None:
                self._free.release()
            else:
                self._tasks.spawn(self._first_sign(turn.child), name=f"start {turn.child.child_id}")

    async def _first_sign(self, child: Child) -> None:
        try:
            await child.wait_started(_START_S)
        finally:
            self._free.release()


class StartTurn:
    """One start. Set `child` when it worked."""

    child: Child | None = None


def is_child_id(text: str) -> bool:
    """Whether `text` can be a child's id: also safe as a file name and in the marker."""
    return _CHILD_ID.fullmatch(text) is not None


def check_child_id(child_id: str) -> None:
    """Raises ValueError for what is no child id."""
    if not is_child_id(child_id):
        raise ValueError(f"not a child id: {child_id!r}")


def could_not_start(argv0: str, reason: str, code: int | None = None) -> SpawnFailed:
    """The error of a program that the system refused to start."""
    return SpawnFailed(
        f"{argv0} could not be started: {reason}.",
        hint="Start it once in a terminal to see whether it is installed properly.",
        errno=code,
    )


def check_spawn(spawn: Spawn) -> None:
    """Raises SpawnFailed, with what to do, for a start that cannot work; ValueError for its id."""
    check_child_id(spawn.child_id)
    if not spawn.argv or not Path(spawn.argv[0]).is_absolute():
        raise SpawnFailed(
            "A program is started by its absolute path only.",
            hint="Look it up with find_executable first.",
        )
    if not spawn.cwd.is_absolute() or not spawn.cwd.is_dir():
        raise SpawnFailed(
            f"The directory {spawn.cwd} does not exist.",
            hint="Create it, or choose another project for this chat.",
        )
    texts = [*spawn.argv, *(f"{name}={value}" for name, value in spawn.env.items())]
    if any("\0" in text for text in texts):
        raise SpawnFailed("A NUL character stands in the arguments or the environment.")
    sizes = [len(os.fsencode(text)) for text in texts]
    if max(sizes) > _ARGUMENT_LIMIT_BYTES or sum(sizes) > _total_limit_bytes():
        raise SpawnFailed(
            "The arguments and the environment are too large for this system.",
            hint="Pass long values by stdin or in a file.",
            size_bytes=sum(sizes),
        )


def check_program(path: Path) -> None:
    """Raises SpawnFailed as exec would, for starts with a shell in between: that one would say it
    on the agent's stderr, and would run a file with no first line for the kernel as a script."""
    try:
        with path.open("rb", buffering=0) as file:
            head = file.read(64)
    except OSError as error:
        if error.errno == errno.EACCES and os.access(path, os.X_OK):
            return  # may be run, not read
        raise could_not_start(str(path), str(error.strerror), error.errno) from error
    code = None
    if not os.access(path, os.X_OK):
        code = errno.EACCES
    elif not head.startswith(b"#!") and not (head.startswith(b"\x7fELF") and len(head) == 64):
        code = errno.ENOEXEC
    if code is not None:
        raise could_not_start(str(path), os.strerror(code), code)


def _total_limit_bytes() -> int:
    return os.sysconf("SC_ARG_MAX") - _TOTAL_SPARE_BYTES
