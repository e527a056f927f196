"""Pulls an agent's steps and commits them in batches (see `coalesce` for when).

Exactly one task pulls: a slow store slows the reader, and back-pressure reaches the agent. What
came in one turn of the loop is one commit, and no turn holds more than one full batch: a flood
never waits by itself, so the others would not have the loop otherwise.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable

from ..errors import AgentChatError
from ..process.tasks import TaskOwner
from ..protocol.events import EventBody
from ..providers.base import Step
from .coalesce import Batch

CLOSE_DEADLINE_S = 5.0

Commit = Callable[[list[EventBody], int | None], None]


async def pump(
    steps: AsyncIterator[Step],
    commit: Commit,
    owner: TaskOwner,
    name: str,
    batch: Batch | None = None,
) -> None:
    """Run `steps` to their end; `commit(bodies, offset)` is called for each batch, in order.

    A caller who gives the `batch` may take from it, to commit earlier what waits in it.

    Raises what the iterator or `commit` raises; what had come before is committed first, and
    nothing after a commit that failed. On cancel the pull is cancelled and awaited, and what had
    come is committed. The iterator is closed in any case.
    """
    flow = _Flow(Batch() if batch is None else batch, commit)
    pull = flow.pull = owner.spawn(flow.run(steps), name=f"pull {name}")
    try:
        await asyncio.wait({pull})
        error = flow.error or pull.result()
        if error is not None:
            raise error
    finally:
        if not pull.done():
            pull.cancel()
            await asyncio.wait({pull}, timeout=CLOSE_DEADLINE_S)
        try:
            flow.end()
        finally:
            await _close(steps, owner, name)


class _Flow:
    """Steps on their way into commits: by the pulling task, and by the loop when they are due."""

    pull: asyncio.Task[AgentChatError | None] | None = None

    def __init__(self, batch: Batch, commit: Commit) -> None:
        self.error: Exception | None = None
        """Of a commit that the loop made: what comes behind it must not be stored."""
        self._batch = batch
        self._commit = commit
        self._loop = asyncio.get_running_loop()
        self._soon: asyncio.Handle | None = None
        self._later: asyncio.TimerHandle | None = None
        self._over = False

    async def run(self, steps: AsyncIterator[Step]) -> AgentChatError | None:
        """To the end of the steps. An expected failure is a value: nobody logs a traceback."""
        batch = self._batch
        try:
            async for step in steps:
                if self._over or self.error is not None:
                    return None  # it did not heed its cancel
                batch.add(step, time.monotonic())
                if batch.full:
                    self._flush()
                    await asyncio.sleep(0)
                elif batch.fresh:
                    self._flush()
                elif batch.urgent:
                    if self._soon is None:
                        self._soon = self._loop.call_soon(self._due)
                elif self._later is None:
                    self._wait()
        except AgentChatError as error:
            return error
        return None

    def end(self) -> None:
        """Commit what is left; nothing is committed afterwards. Raises what `commit` raises."""
        self._over = True
        for handle in (self._soon, self._later):
            if handle is not None:
                handle.cancel()
        if self.error is None:
            self._flush()

    def _wait(self) -> None:
        """Come back when the window of what waits ends."""
        wait_s = self._batch.wait_s(time.monotonic())
        if wait_s is not None:
            self._later = self._loop.call_later(wait_s, self._window_over)

    def _window_over(self) -> None:
        # one timer for all windows: that of a batch which went earlier comes too early for the next
        self._later = None
        if self._batch.wait_s(time.monotonic()) == 0.0:
            self._due()
        else:
            self._wait()

    def _due(self) -> None:
        self._soon = None
        if self.error is not None:
            return
        try:
            self._flush()
        except Exception as error:  # noqa: BLE001 - `pump` raises it
            self.error = error
            if self.pull is not None:
                self.pull.cancel()

    def _flush(self) -> None:
        if not self._batch.empty:
            self._commit(*self._batch.take())


async def _close(steps: AsyncIterator[Step], owner: TaskOwner, name: str) -> None:
    """A generator that was left in the middle runs its `finally` now, not when it is collected."""
    aclose = getattr(steps, "aclose", None)
    if aclose is not None:
        closing = owner.spawn(aclose(), name=f"close {name}")
        await asyncio.wait({closing}, timeout=CLOSE_DEADLINE_S)
        closing.cancel()
