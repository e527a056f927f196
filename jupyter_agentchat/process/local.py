"""Starts children on this machine, with pipes."""

from __future__ import annotations

import asyncio
import os
import re
from pathlib import Path

from ..errors import SpawnFailed
from .child import LocalChild
from .framing import LINE_LIMIT_BYTES, LineFramer
from .identity import identify, identify_leader
from .ladder import Ladder
from .launcher import Spawn
from .pipes import BUFFER_LIMIT_BYTES, ChildPipes
from .reaper import ChildLedger, ChildRecord
from .sweep import MARKER
from .tasks import TaskOwner
from .trace import WireTrace

_CHILD_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ARGUMENT_LIMIT_BYTES = 128 * 1024 - 1  # Linux, one argument
_TOTAL_SPARE_BYTES = 64 * 1024  # for pointers and what the kernel adds
# how long a start counts as one when the child says nothing
_START_S = 1.0


class LocalLauncher:
    """Implements `launcher.Launcher`. One per server, closed with it.

    At most `parallel_starts` children are between their start and their first output: many
    interpreters at once make every one of them late. `ledger` gets a record of each child before
    it starts and loses it when nothing of the child is left.
    """

    def __init__(
        self,
        *,
        ledger: ChildLedger | None = None,
        parallel_starts: int | None = None,
        line_limit_bytes: int = LINE_LIMIT_BYTES,
        buffer_limit_bytes: int = BUFFER_LIMIT_BYTES,
        trace_limit_chars: int = 128 * 1024,
    ) -> None:
        self._ledger = ledger
        self._starts = asyncio.Semaphore(parallel_starts or os.cpu_count() or 1)
        self._line_limit = line_limit_bytes
        self._buffer_limit = buffer_limit_bytes
        self._trace_limit = trace_limit_chars
        self._children: dict[str, LocalChild] = {}
        self._tasks = TaskOwner("launcher")
        self._owner = identify(os.getpid())
        self._closed = False

    @property
    def children(self) -> list[LocalChild]:
        """Those that are not quiet yet."""
        return list(self._children.values())

    async def spawn(self, spawn: Spawn) -> LocalChild:
        """See `launcher.Launcher.spawn`."""
        _check(spawn)
        if spawn.child_id in self._children:
            raise SpawnFailed(f"A child {spawn.child_id} is running already.")
        await self._starts.acquire()
        try:
            child = await self._start(spawn)
        except BaseException:
            self._starts.release()
            raise
        self._tasks.spawn(self._first_sign(child), name=f"start {spawn.child_id}")
        return child

    async def close(self, ladder: Ladder | None = None) -> None:
        """See `launcher.Launcher.close`."""
        self._closed = True
        await asyncio.gather(*(child.stop(ladder) for child in self.children))
        await self._tasks.close()

    async def _start(self, spawn: Spawn) -> LocalChild:
        if self._closed:
            raise SpawnFailed("The server is stopping.", hint="Try again once it is back.")
        if self._ledger:
            self._ledger.record(ChildRecord(spawn.child_id, spawn.argv[0], None, self._owner))
        trace = WireTrace(self._trace_limit)
        try:
            pipes = await self._execute(spawn, trace)
        except BaseException:
            if self._ledger:
                self._ledger.forget(spawn.child_id)
            raise
        child = LocalChild(
            spawn.child_id,
            identify_leader(pipes.pid),
            pipes,
            framer=LineFramer(self._line_limit),
            trace=trace,
            tasks=self._tasks,
            on_quiet=self._on_quiet,
        )
        self._children[spawn.child_id] = child
        try:
            if self._ledger:
                self._ledger.record(
                    ChildRecord(spawn.child_id, spawn.argv[0], child.identity, self._owner)
                )
        except BaseException:
            # without its record nobody would find it after a crash
            await child.stop(Ladder(0, 0.5, 1))
            raise
        return child

    async def _execute(self, spawn: Spawn, trace: WireTrace) -> ChildPipes:
        def on_stderr(data: bytes) -> None:
            trace.record("err", data.decode("utf-8", "replace"))

        loop = asyncio.get_running_loop()
        try:
            _, pipes = await loop.subprocess_exec(
                lambda: ChildPipes(on_stderr, buffer_limit_bytes=self._buffer_limit),
                *spawn.argv,
                stdin=asyncio.subprocess.PIPE
                if spawn.stdin == "pipe"
                else asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                cwd=spawn.cwd,
                env={**spawn.env, MARKER: spawn.child_id},
                start_new_session=True,
                close_fds=True,
            )
        except OSError as error:
            raise SpawnFailed(
                f"{spawn.argv[0]} could not be started: {error.strerror or error}.",
                hint="Start it once in a terminal to see whether it is installed properly.",
                errno=error.errno,
            ) from error
        return pipes

    async def _first_sign(self, child: LocalChild) -> None:
        try:
            await child.wait_started(_START_S)
        finally:
            self._starts.release()

    def _on_quiet(self, child: LocalChild) -> None:
        self._children.pop(child.child_id, None)
        if self._ledger and not child.survivors:
            self._ledger.forget(child.child_id)


def _check(spawn: Spawn) -> None:
    if not _CHILD_ID.fullmatch(spawn.child_id):
        raise ValueError(f"not a child id: {spawn.child_id!r}")
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


def _total_limit_bytes() -> int:
    return os.sysconf("SC_ARG_MAX") - _TOTAL_SPARE_BYTES
