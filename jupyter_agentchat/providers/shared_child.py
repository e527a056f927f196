"""Children that serve many chats: started on first use, ended when idle, found by the next server.

What is common to every adapter of scope SERVER. An adapter gives two functions: `build` says what
to start, `connect` makes its link to a child that runs (its reader, its connections). Runs hold the
child while they go on; one that nobody holds is ended after the idle time-out.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar, runtime_checkable

from ..errors import ChildGone
from ..process.ladder import Ladder
from ..process.launcher import Handle, Launcher, Spawn
from ..process.tasks import TaskOwner
from .base import ChildMark

_log = logging.getLogger(__name__)


class Link(Protocol):
    """An adapter's way to one child that many chats use."""

    handle: Handle

    async def close(self) -> None:
        """Let go: stop reading, close connections; the process is not touched. Idempotent."""
        ...


LinkT = TypeVar("LinkT", bound=Link)


@runtime_checkable
class Attaching(Protocol):
    """A launcher whose children outlive their server."""

    async def attach(self, child_id: str, *, offset: int = 0) -> Handle:
        """A child of an earlier server, its output from `offset` on. Raises ChildGone."""
        ...


@dataclass(slots=True)
class Shared(Generic[LinkT]):
    """One child with its link, and the first lines of the runs that hold it."""

    key: str
    link: LinkT
    holds: dict[str, int] = field(default_factory=dict)
    idle: asyncio.Task[None] | None = None


class SharedChildren(Generic[LinkT]):
    """At most one child for each `key` (what cannot be changed in a running child: trust, a
    provider's configuration).

    `build(key)` gives what to start; `connect(handle, key, attached)` greets it or, for a child of
    an earlier server, finds its way to it again. Both raise ProviderError; a child whose `connect`
    fails is ended. Used on one loop.
    """

    def __init__(
        self,
        launcher: Launcher,
        tasks: TaskOwner,
        *,
        build: Callable[[str], Awaitable[Spawn]],
        connect: Callable[[Handle, str, bool], Awaitable[LinkT]],
        idle_timeout_s: float,
        ladder: Ladder | None = None,
        counts_bytes: bool = True,
    ) -> None:
        """`counts_bytes`: marks are offsets in the child's output (standard streams); false for a
        child on a port, whose output only holds its address: it is read from the beginning."""
        self._launcher = launcher
        self._tasks = tasks
        self._build = build
        self._connect = connect
        self._idle_timeout_s = idle_timeout_s
        self._ladder = ladder
        self._counts_bytes = counts_bytes
        self._children: dict[str, Shared[LinkT]] = {}
        self._lock = asyncio.Lock()
        self._closed = False

    @property
    def alive(self) -> list[LinkT]:
        """The links of the children that run."""
        return [one.link for one in self._children.values() if one.link.handle.exit is None]

    async def hold(self, key: str, run_id: str, *, first: int | None = None) -> LinkT:
        """The child for `key`, started if need be, held by `run_id` until `release`.

        `first`: where the run's lines begin; by default behind all that came so far. Raises what
        `build`, `connect` and the launcher raise. On cancel nothing of a start stays behind.
        """
        async with self._lock:
            shared = self._children.get(key)
            if shared is not None and shared.link.handle.exit is not None:
                await self._drop(shared)
                shared = None
            if shared is None:
                self._refuse_if_closed()
                handle = await self._launcher.spawn(await self._build(key))
                shared = await self._take(handle, key, attached=False)
            position = shared.link.handle.position if self._counts_bytes else 0
            self._hold(shared, run_id, position if first is None else first)
            if self._counts_bytes:
                # not at a run's end: others of an earlier server may yet be attached to
                shared.link.handle.settle(min(shared.holds.values()))
            return shared.link

    async def attach(self, key: str, run_id: str, mark: ChildMark) -> LinkT:
        """The child of an earlier server that the run's mark names, held by `run_id`.

        Runs come in the order of their `mark.first`: the first one's place is where reading begins.
        Raises ChildGone, and what `connect` raises.
        """
        async with self._lock:
            shared = self._children.get(key)
            if shared is None or shared.link.handle.child_id != mark.child_id:
                if shared is not None:
                    raise ChildGone("Another process has taken its place meanwhile.")
                self._refuse_if_closed()
                if not isinstance(self._launcher, Attaching):
                    raise ChildGone("It ended with its server.")
                offset = mark.first if self._counts_bytes else 0
                handle = await self._launcher.attach(mark.child_id, offset=offset)
                shared = await self._take(handle, key, attached=True)
            self._hold(shared, run_id, mark.first)
            return shared.link

    def release(self, run_id: str) -> None:
        """The run is over. Idempotent."""
        for shared in self._children.values():
            held = shared.holds.pop(run_id, None)
            if held is not None and not shared.holds and not self._closed:
                self._rest(shared)

    async def end(self, key: str) -> None:
        """End the child of `key` now, whoever holds it. Idempotent."""
        async with self._lock:
            shared = self._children.get(key)
            if shared is not None:
                await self._drop(shared)

    async def close(self) -> None:
        """End every child, by the ladder. Nothing can be held afterwards. Idempotent."""
        self._closed = True
        async with self._lock:
            await asyncio.gather(*(self._drop(one) for one in list(self._children.values())))

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise ChildGone("The server is stopping.")

    def _hold(self, shared: Shared[LinkT], run_id: str, first: int) -> None:
        shared.holds[run_id] = first
        resting, shared.idle = shared.idle, None
        if resting is not None:
            resting.cancel()

    async def _take(self, handle: Handle, key: str, *, attached: bool) -> Shared[LinkT]:
        try:
            link = await self._connect(handle, key, attached)
        except BaseException:
            await asyncio.shield(self._tasks.spawn(handle.stop(self._ladder), name="abandon"))
            raise
        shared = self._children[key] = Shared(key, link)
        return shared

    def _rest(self, shared: Shared[LinkT]) -> None:
        name = f"rest {shared.link.handle.child_id}"
        shared.idle = self._tasks.spawn(self._end_when_idle(shared), name=name)

    async def _end_when_idle(self, shared: Shared[LinkT]) -> None:
        await asyncio.sleep(self._idle_timeout_s)
        async with self._lock:
            if not shared.holds and self._children.get(shared.key) is shared:
                _log.info("child=%s was idle: ending it", shared.link.handle.child_id)
                shared.idle = None  # it is this task: the drop must not cancel it
                await self._drop(shared)

    async def _drop(self, shared: Shared[LinkT]) -> None:
        if self._children.get(shared.key) is shared:
            del self._children[shared.key]
        resting, shared.idle = shared.idle, None
        if resting is not None:
            resting.cancel()
        handle = shared.link.handle
        if handle.exit is not None:
            # it died: its runs read its last words, until its output has ended
            await handle.stop(self._ladder)
            await shared.link.close()
            return
        await shared.link.close()
        await handle.stop(self._ladder)
