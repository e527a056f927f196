"""How a run is stopped from outside: what is asked of the adapter, how long, and what then.

The adapter's own interrupt and ladder come first; if the run does not end by them, what the adapter
keeps for the chat is closed, and at last the run's task is given up, so that no adapter can hold a
chat for ever.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine
from typing import Any

from ..errors import AgentChatError
from ..process.tasks import TaskOwner
from ..providers.base import Adapter, AgentRun

log = logging.getLogger(__name__)

CANCEL_DEADLINE_S = 25.0
"""An adapter's own interrupt and ladder (Claude Code: 10 + 5 + 5 s) must fit in."""
FORCE_DEADLINE_S = 6.0
START_DEADLINE_S = 10.0
"""For an adapter whose `start` was cancelled, to take away what it had begun."""
GRACE_S = 2.0


class Stopper:
    """Ends one run: its task `work`, and the agent behind it."""

    def __init__(self, owner: TaskOwner, chat_id: str, run_id: str) -> None:
        self._owner = owner
        self._name = f"chat={chat_id} run={run_id}"
        self._chat_id = chat_id
        self._run_id = run_id
        self.adapter: Adapter | None = None
        self.run: AgentRun | None = None
        """Set while there is an agent at work."""
        self.given_up = asyncio.Event()
        """The adapter would not end: the chat is freed without it."""

    async def stop(self, work: asyncio.Task[Any], *, force: bool) -> None:
        """Return when `work` has ended or was given up; two at once do no harm."""
        if self.run is None:
            if not work.cancelling():  # twice would interrupt the adapter's own tidying up
                work.cancel()
            if await _ends(work, START_DEADLINE_S):
                return
        else:
            began, deadline = time.monotonic(), FORCE_DEADLINE_S if force else CANCEL_DEADLINE_S
            await self._quietly(self.run.cancel(force=force), deadline)
            # it may have returned at once, with its ladder still to come
            left = deadline - (time.monotonic() - began)
            if await _ends(work, max(left, GRACE_S)):
                return
        log.warning("%s: ended by closing its process", self._name)
        await self._close_chat()
        if await _ends(work, GRACE_S):
            return
        work.cancel()
        if not await _ends(work, GRACE_S):
            log.error("%s: the adapter does not end; the chat is freed without it", self._name)
            self.given_up.set()

    async def end_agent(self) -> None:
        """The run is over for a reason of ours (full disk, a fault): its agent must not go on."""
        if self.run is not None:
            await self._quietly(self.run.cancel(force=True), FORCE_DEADLINE_S)
        await self._close_chat()

    async def _close_chat(self) -> None:
        if self.adapter is not None:
            await self._quietly(self.adapter.close_chat(self._chat_id), FORCE_DEADLINE_S)

    async def _quietly(self, work: Coroutine[Any, Any, object], timeout_s: float) -> None:
        """Adapters are not trusted: what they raise is logged, what hangs is left behind."""
        task = self._owner.spawn(self._logged(work), name=f"stop {self._run_id}")
        await asyncio.wait({task}, timeout=timeout_s)
        task.cancel()

    async def _logged(self, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except AgentChatError as error:
            log.info("%s: stopping: %s", self._name, error)
        except Exception:
            log.exception("%s: stopping failed", self._name)


async def _ends(work: asyncio.Task[Any], timeout_s: float) -> bool:
    await asyncio.wait({work}, timeout=timeout_s)
    return work.done()
