"""Pulls an agent's steps and commits them in batches (see `coalesce` for when).

Exactly one task pulls: a slow store slows the reader, and back-pressure reaches the agent.
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

    Raises what the iterator or `commit` raises; what had come before is committed first. On cancel
    the pending pull is cancelled and awaited, and what had come is committed. The iterator is
    closed in any case.
    """
    batch = Batch() if batch is None else batch
    pull: asyncio.Task[Step | AgentChatError | None] | None = None
    try:
        while True:
            if pull is None:
                pull = owner.spawn(_next(steps), name=f"pull {name}")
            done, _ = await asyncio.wait({pull}, timeout=batch.wait_s(time.monotonic()))
            if done:
                result, pull = pull.result(), None
                if result is None:
                    return
                if isinstance(result, AgentChatError):
                    raise result
                batch.add(result, time.monotonic())
                if batch.wait_s(time.monotonic()) != 0.0:
                    continue
            if batch.bodies or batch.offset is not None:
                commit(*batch.take())
    finally:
        if pull is not None:
            await _end_pull(pull, batch)
        try:
            if batch.bodies or batch.offset is not None:
                commit(*batch.take())
        finally:
            await _close(steps, owner, name)


async def _end_pull(pull: asyncio.Task[Step | AgentChatError | None], batch: Batch) -> None:
    """Cancel a pull that waits; a step that it had already brought counts."""
    if not pull.done():
        pull.cancel()
        await asyncio.wait({pull}, timeout=CLOSE_DEADLINE_S)
    if pull.done() and not pull.cancelled() and pull.exception() is None:
        result = pull.result()
        if isinstance(result, Step):
            batch.add(result, time.monotonic())


async def _close(steps: AsyncIterator[Step], owner: TaskOwner, name: str) -> None:
    """A generator that was left in the middle runs its `finally` now, not when it is collected."""
    aclose = getattr(steps, "aclose", None)
    if aclose is not None:
        closing = owner.spawn(aclose(), name=f"close {name}")
        await asyncio.wait({closing}, timeout=CLOSE_DEADLINE_S)
        closing.cancel()


async def _next(steps: AsyncIterator[Step]) -> Step | AgentChatError | None:
    """One step; None at the end. A provider's failure is a value: the pump raises it in turn."""
    try:
        return await anext(steps, None)
    except AgentChatError as error:
        return error
