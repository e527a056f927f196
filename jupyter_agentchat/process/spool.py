"""Starts children that outlive the server, and takes over those that another server started."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import subprocess
from pathlib import Path

from ..errors import ChildGone, SpawnFailed
from .child import Child
from .fifo import FifoWriter
from .framing import LINE_LIMIT_BYTES, LineFramer
from .identity import ProcessIdentity, identify, is_alive
from .ladder import Ladder
from .launcher import Spawn
from .lingering import Lingering
from .reaper import ChildLedger, ChildRecord, end_child
from .rundir import RunDirectory, run_directories
from .spool_news import SpoolNews
from .spool_start import KEEPER_START_S, Keeping, agent_started, execute
from .spooled import SpooledStreams, SpoolLimits
from .starts import (
    Starts,
    check_child_id,
    check_program,
    check_spawn,
    could_not_start,
    is_child_id,
)
from .takeover import find_agent
from .tasks import TaskOwner
from .trace import WireTrace

SPOOL_LIMIT_BYTES = 1024 * 1024 * 1024
UNATTENDED_MAX_S = 3600.0

_UNATTENDED_TICK_S = 30.0
_SHORTEST_TICK_S = 2.0
_ALIVE_S = 20.0
_LOOK_S = 0.25
_LOOK_WITHOUT_NEWS_S = 0.02
_LEAVE_S = 1.0
_RESERVE_BYTES = 4 * 1024 * 1024
# between the last line read and its directory's end: it is being stored
_LINGER_S = 2.0

_log = logging.getLogger(__name__)


class SpoolLauncher:
    """Implements `launcher.Launcher` with one directory below `root` for each child.

    What a child says goes to a file, so it neither notices nor loses anything when this server
    dies; the next one takes it over by `attach`. A child that no server looks after is ended after
    about `unattended_max_s` seconds. Other options as for `LocalLauncher`; limits: `SpoolLimits`.
    One per server, closed or left with it. Ask `keeper.spool_supported` before. Without children
    it has no task and no timer. Rule: reattach.md.
    """

    def __init__(
        self,
        root: Path,
        *,
        ledger: ChildLedger | None = None,
        parallel_starts: int | None = None,
        line_limit_bytes: int = LINE_LIMIT_BYTES,
        trace_limit_chars: int = 128 * 1024,
        spool_limit_bytes: int = SPOOL_LIMIT_BYTES,
        reserve_bytes: int = _RESERVE_BYTES,
        unattended_max_s: float = UNATTENDED_MAX_S,
        unattended_tick_s: float = _UNATTENDED_TICK_S,
        linger_s: float = _LINGER_S,
    ) -> None:
        self._root = root.absolute()
        self._ledger = ledger
        self._line_limit = line_limit_bytes
        self._trace_limit = trace_limit_chars
        self._limits = SpoolLimits(spool_limit_bytes, reserve_bytes)
        # it goes on for at most a tick longer: a short time gets short ticks, at least two, so that
        # a loop that was held up costs no agent
        tick_s = min(unattended_tick_s, max(_SHORTEST_TICK_S, unattended_max_s / 4))
        ticks = max(2, round(unattended_max_s / tick_s))
        self._owner = identify(os.getpid())
        self._keeping = Keeping(self._owner, reserve_bytes, ticks, tick_s)
        self._children: dict[str, Child] = {}
        self._streams: dict[str, SpooledStreams] = {}
        self._kept = Lingering(linger_s)
        self._news = SpoolNews()
        self._tasks = TaskOwner("spool launcher")
        self._starts = Starts(parallel_starts, self._tasks)
        self._tending: asyncio.Task[None] | None = None
        self._starting: set[asyncio.Future[None]] = set()
        self._closed = self._left = False

    @property
    def children(self) -> list[Child]:
        """Those that are not quiet yet."""
        return list(self._children.values())

    async def spawn(self, spawn: Spawn) -> Child:
        """See `launcher.Launcher.spawn`."""
        check_spawn(spawn)
        check_program(Path(spawn.argv[0]))
        directory = self._directory(spawn.child_id)
        async with self._starts.turn() as turn:
            done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._starting.add(done)
            try:
                turn.child = child = await self._start(spawn, directory)
            finally:
                self._starting.discard(done)
                done.set_result(None)
        return child

    def known(self, child_id: str) -> bool:
        """Whether there is a directory of that child, so that `attach` may be tried."""
        return is_child_id(child_id) and self._directory(child_id).exists()

    async def attach(self, child_id: str, *, offset: int = 0) -> Child:
        """Take over a child that an earlier server started, living or dead.

        `lines` begin at byte `offset` of its output, a line border at or above what was settled;
        all of it that is there, then what follows. The exit of one that died meanwhile is known if
        its keeper could write it, else it is `Exit(None, None)`. Nobody else may have it: that is
        the caller's lease to see to. From now on the ledger says that it is ours.

        Raises ChildGone when its directory is not there, of another host or boot, without a trace
        of its process, punched at `offset`, or when half a line stands in its input: the agent
        would take it and the next one for one message. Nothing was changed then.
        """
        check_child_id(child_id)
        if self._closed or child_id in self._children:
            raise ChildGone(f"The child {child_id} is not to be had: it is here, or we stop.")
        self._kept.forget(child_id)
        directory = self._directory(child_id)
        identity = await find_agent(directory, offset)
        seen_alive = is_alive(identity)
        holder = directory.identity("holder")
        directory.own(self._owner)
        child = self._hold(
            child_id,
            directory,
            identity,
            process=None,
            # without a holder the agent has seen the end of its input
            takes_input=seen_alive and holder is not None and is_alive(holder),
            offset=offset,
            seen_alive=seen_alive,
        )
        await self._on_record(child, None)
        return child

    def stale(self) -> list[str]:
        """Children of servers that are gone, dead or alive, whose directories lie about.

        Those of living servers, of other hosts and those held here are not among them.
        """
        found = []
        for directory in run_directories(self._root):
            child_id = directory.path.name
            held = any(child_id in ours for ours in (self._children, self._kept, self._news))
            if is_child_id(child_id) and not held and not self._is_of_others(directory):
                found.append(child_id)
        return sorted(found)

    async def discard(self, child_id: str, *, term_s: float = 1.0) -> frozenset[ProcessIdentity]:
        """End what is left of a child, its keeper and holder included, and remove its directory.

        One held here climbs down the default ladder. Returns the processes that outlived KILL; the
        directory and the record stay as long as there are any. Unknown ids are ignored, and those
        of living servers and of other hosts.
        """
        if not is_child_id(child_id) or self._is_of_others(self._directory(child_id)):
            return frozenset()
        child = self._children.get(child_id)
        if child is not None:
            await child.stop()
        directory = self._directory(child_id)
        survivors = await end_child(child_id, None, directory.path, term_s=term_s)
        if not survivors:
            self._kept.forget(child_id)
            if self._ledger:
                self._ledger.forget(child_id)
        return survivors

    async def leave(self) -> None:
        """Stop serving and let the children go on: nothing is signalled, directories and records
        stay. Lines under way get a second to be taken. Readers get ChildGone. No child can be
        started or attached afterwards."""
        await self._finish_starts()
        self._left = True
        streams = list(self._streams.values())
        waits = [self._tasks.spawn(each.drained(), name="drain") for each in streams]
        if waits:
            await asyncio.wait(waits, timeout=_LEAVE_S)
        self._news.close()
        for each in streams:
            each.directory.keep_alive()
            each.leave()
        for child in self.children:
            child.left = True
        await self._tasks.close()
        self._children.clear()
        self._streams.clear()

    async def close(self, ladder: Ladder | None = None) -> None:
        """See `launcher.Launcher.close`. Directories of children that are quiet are removed, read
        or not."""
        await self._finish_starts()
        await asyncio.gather(*(child.stop(ladder) for child in self.children))
        self._kept.remove_all()
        await self._tasks.close()
        self._news.close()

    async def _finish_starts(self) -> None:
        """From now on no start begins; those under way are undone."""
        self._closed = True
        if self._starting:
            await asyncio.wait(self._starting, timeout=KEEPER_START_S)

    def _is_of_others(self, directory: RunDirectory) -> bool:
        owner = directory.owner()
        if owner is None or owner.process == self._owner:
            return False
        return not owner.is_of_this_host or bool(owner.process and is_alive(owner.process))

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise SpawnFailed("The server is stopping.", hint="Try again once it is back.")

    # starting

    async def _start(self, spawn: Spawn, directory: RunDirectory) -> Child:
        self._refuse_if_closed()
        if spawn.child_id in self._children or directory.path.exists():
            raise SpawnFailed(f"A child {spawn.child_id} is running already.")
        if self._ledger:
            self._ledger.record(
                ChildRecord(spawn.child_id, spawn.argv[0], None, self._owner, str(directory.path))
            )
        process: subprocess.Popen[bytes] | None = None
        try:
            process = execute(spawn, directory, self._keeping)
            identity = await agent_started(directory, process, self._news)
            self._refuse_if_closed()
        except BaseException as error:
            undo = self._tasks.spawn(
                self._undo(spawn.child_id, directory, process), name=f"undo {spawn.child_id}"
            )
            await asyncio.shield(undo)
            if isinstance(error, OSError):
                raise could_not_start(
                    spawn.argv[0], str(error.strerror or error), error.errno
                ) from error
            raise
        child = self._hold(
            spawn.child_id,
            directory,
            identity,
            process=process,
            takes_input=spawn.stdin == "pipe",
            offset=0,
            seen_alive=True,
        )
        await self._on_record(child, spawn.argv[0])
        return child

    async def _undo(
        self,
        child_id: str,
        directory: RunDirectory,
        process: subprocess.Popen[bytes] | None,
    ) -> None:
        self._news.forget(child_id)
        if process is None:
            directory.remove()
        elif await end_child(child_id, identify(process.pid), directory.path, term_s=0):
            return
        else:
            process.wait(1)
        if self._ledger:
            self._ledger.forget(child_id)

    # holding

    def _hold(
        self,
        child_id: str,
        directory: RunDirectory,
        identity: ProcessIdentity,
        *,
        process: subprocess.Popen[bytes] | None,
        takes_input: bool,
        offset: int,
        seen_alive: bool,
    ) -> Child:
        trace = WireTrace(self._trace_limit)
        fifo = None
        if takes_input:
            fifo = FifoWriter(
                directory.fifo, directory.writing, on_closed=lambda: streams.on_input_closed()
            )
        streams = SpooledStreams(
            child_id,
            directory,
            identity,
            fifo=fifo,
            start=offset,
            process=process,
            seen_alive=seen_alive,
            limits=self._limits,
            on_stderr=lambda data: trace.record("err", data.decode("utf-8", "replace")),
            on_trouble=lambda: self._on_trouble(child_id),
        )
        child = Child(
            child_id,
            identity,
            streams,
            framer=LineFramer(self._line_limit, start=offset),
            trace=trace,
            tasks=self._tasks,
            seen_alive=seen_alive,
            on_quiet=self._on_quiet,
        )
        self._children[child_id] = child
        self._streams[child_id] = streams
        self._news.listen(child_id, directory.path, streams.changed)
        directory.keep_alive()
        streams.tend()  # what happened before the watch
        if self._tending is None or self._tending.done():
            self._tending = self._tasks.spawn(self._tend(), name="tend")
        return child

    async def _on_record(self, child: Child, argv0: str | None) -> None:
        if not self._ledger:
            return
        if argv0 is None:  # an earlier server wrote that down
            before = (each for each in self._ledger.all() if each.child_id == child.child_id)
            argv0 = next((each.argv0 for each in before), "")
        path = str(self._directory(child.child_id).path)
        try:
            self._ledger.record(
                ChildRecord(child.child_id, argv0, child.identity, self._owner, path)
            )
        except BaseException:
            # without its record nobody would find it after a crash
            await child.stop(Ladder(0, 0.5, 1))
            raise

    def _directory(self, child_id: str) -> RunDirectory:
        return RunDirectory(self._root / child_id)

    # tending and letting go

    async def _tend(self) -> None:
        """The one timer of all children; ends with the last of them and of their directories."""
        loop = asyncio.get_running_loop()
        touched = loop.time()
        while self._streams or self._kept:
            await asyncio.sleep(_LOOK_S if self._news.works else _LOOK_WITHOUT_NEWS_S)
            due = loop.time() - touched >= min(_ALIVE_S, self._keeping.tick_s * 2 / 3)
            touched = loop.time() if due else touched
            for streams in list(self._streams.values()):
                if due:
                    streams.directory.keep_alive()
                with contextlib.suppress(OSError):  # what a file system refuses now, is asked again
                    streams.tend()
            self._kept.remove_done()

    def _on_trouble(self, child_id: str) -> None:
        child = self._children.get(child_id)
        if child is not None and not self._closed:
            _log.warning("child=%s: ended, no room for its output", child_id)
            self._tasks.spawn(child.stop(), name=f"no room {child_id}")

    def _on_quiet(self, child: Child) -> None:
        if self._left:
            return
        self._children.pop(child.child_id, None)
        streams = self._streams.pop(child.child_id)
        self._news.forget(child.child_id)
        if child.survivors:
            return  # the next server deals with them, by the record and the directory
        self._kept.add(child, streams)
        if self._ledger:
            self._ledger.forget(child.child_id)
