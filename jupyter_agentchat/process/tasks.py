"""The one place that starts background tasks, so that each of them has an owner that awaits it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

_log = logging.getLogger(__name__)

T = TypeVar("T")


class TaskOwner:
    """Owns background tasks from their start to their end.

    A task that dies of an unexpected exception is logged once, with its traceback, under the
    owner's name; the exception stays readable on the task. Nothing here is thread safe: use one
    owner on one loop.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closed = False

    def __len__(self) -> int:
        """How many of the owner's tasks are running."""
        return len(self._tasks)

    def spawn(self, coro: Coroutine[Any, Any, T], *, name: str) -> asyncio.Task[T]:
        """Start `coro` as a task of this owner; `name` shows up in logs and debuggers.

        Raises RuntimeError when the owner is closed; `coro` is closed then, not leaked.
        """
        if self._closed:
            coro.close()
            raise RuntimeError(f"{self._name} is closed: {name} was not started")
        task = asyncio.get_running_loop().create_task(coro, name=f"{self._name}/{name}")
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    async def close(self, timeout_s: float = 5.0) -> None:
        """Cancel every task and wait until all have ended, `timeout_s` seconds at most.

        May be called twice, and from a task of the owner itself (which is then spared). No task
        can be started afterwards. A task that ignores its cancellation is named in the log. When
        the caller is cancelled meanwhile, the tasks stay cancelled.
        """
        self._closed = True
        current = asyncio.current_task()
        tasks = {task for task in self._tasks if task is not current}
        for task in tasks:
            task.cancel()
        if not tasks:
            return
        _, stuck = await asyncio.wait(tasks, timeout=timeout_s)
        for task in stuck:
            _log.error("task %s ignored its cancellation for %s s", task.get_name(), timeout_s)

    def _on_done(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is not None:
            _log.error("task %s failed", task.get_name(), exc_info=error)
