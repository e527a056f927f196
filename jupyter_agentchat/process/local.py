"""Starts children on this machine, with pipes."""

from __future__ import annotations

import asyncio
import os

from ..errors import SpawnFailed
from .child import Child
from .framing import LINE_LIMIT_BYTES, LineFramer
from .identity import identify, identify_leader
from .ladder import Ladder
from .launcher import Spawn
from .pipes import BUFFER_LIMIT_BYTES, ChildPipes
from .reaper import ChildLedger, ChildRecord
from .starts import Starts, check_spawn, could_not_start
from .sweep import MARKER
from .tasks import TaskOwner
from .trace import WireTrace


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
        self._line_limit = line_limit_bytes
        self._buffer_limit = buffer_limit_bytes
        self._trace_limit = trace_limit_chars
        self._children: dict[str, Child] = {}
        self._tasks = TaskOwner("launcher")
        self._starts = Starts(parallel_starts, self._tasks)
        self._owner = identify(os.getpid())
        self._closed = False

    @property
    def children(self) -> list[Child]:
        """Those that are not quiet yet."""
        return list(self._children.values())

    async def spawn(self, spawn: Spawn) -> Child:
        """See `launcher.Launcher.spawn`."""
        check_spawn(spawn)
        if spawn.child_id in self._children:
            raise SpawnFailed(f"A child {spawn.child_id} is running already.")
        async with self._starts.turn() as turn:
            turn.child = child = await self._start(spawn)
        return child

    async def close(self, ladder: Ladder | None = None) -> None:
        """See `launcher.Launcher.close`."""
        self._closed = True
        await asyncio.gather(*(child.stop(ladder) for child in self.children))
        await self._tasks.close()

    async def _start(self, spawn: Spawn) -> Child:
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
        child = Child(
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
            reason = str(error.strerror or error)
            raise could_not_start(spawn.argv[0], reason, error.errno) from error
        return pipes

    def _on_quiet(self, child: Child) -> None:
        self._children.pop(child.child_id, None)
        if self._ledger and not child.survivors:
            self._ledger.forget(child.child_id)
