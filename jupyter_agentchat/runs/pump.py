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

Commit = Callable[[list[EventBody], int | None], None]


async def pump(steps: AsyncIterator[Step], commit: Commit, owner: TaskOwner, name: str) -> None:
    """Run `steps` to their end; `commit(bodies, offset)` is called for each batch, in order.

    Raises what the iterator or `commit` raises; what had come before is committed first. On cancel
    the pending pull is cancelled and awaited, and what had come is committed.
    """
    batch = Batch()
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
            commit(*batch.take())
    finally:
        if pull is not None and not pull.done():
            pull.cancel()
            await asyncio.wait({pull}, timeout=5)
        if batch.bodies or batch.offset is not None:
            commit(*batch.take())


async def _next(steps: AsyncIterator[Step]) -> Step | AgentChatError | None:
    """One step; None at the end. A provider's failure is a value: the pump raises it in turn."""
    try:
        return await anext(steps, None)
    except AgentChatError as error:
        return error
