"""Work in a few threads, in order where it must be: per chat, and per project.

One named executor for all of it; nothing of this runs on the loop, and whoever waits for a job may
be cancelled without harm to it.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, Final, TypeVar

log = logging.getLogger(__name__)

T = TypeVar("T")

THREADS: Final = 4


class OrderedJobs:
    """See the module. Threads are started when there is something to do."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._executor: ThreadPoolExecutor | None = None
        self._last: dict[str, Future[Any]] = {}
        self._stop = threading.Event()

    @property
    def stopped(self) -> bool:
        """Long work looks at this, and ends early."""
        return self._stop.is_set()

    def submit(self, chat_id: str, root: str, work: Callable[[], T]) -> Future[T]:
        """Do `work` after all that was submitted before for this chat and this project ("": none).

        Raises RuntimeError after `close`.
        """
        if self._executor is None:
            self._executor = ThreadPoolExecutor(THREADS, self._name)
        self._last = {key: job for key, job in self._last.items() if not job.done()}
        keys = [f"chat {chat_id}", *([f"root {root}"] if root else [])]
        earlier = [self._last[key] for key in keys if key in self._last]

        def in_order() -> T:
            # they were taken from the queue before this one, so they end without this thread
            wait(earlier)
            try:
                return work()
            except OSError as error:
                log.warning("chat=%s: %s failed: %s", chat_id, self._name, error)
                raise
            except Exception:
                log.exception("chat=%s: %s failed", chat_id, self._name)
                raise

        job = self._executor.submit(in_order)
        self._last |= dict.fromkeys(keys, job)
        return job

    async def run(self, chat_id: str, root: str, work: Callable[[], T]) -> T:
        """`submit`, and wait for its result. Raises what `work` raises."""
        job = self.submit(chat_id, root, work)
        await finished(job)
        return job.result()

    async def settled(self, chat_id: str, timeout_s: float) -> bool:
        """Wait until all that was submitted for this chat is done; False when it is not."""
        job = self._last.get(f"chat {chat_id}")
        return job is None or await finished(job, timeout_s)

    async def close(self, grace_s: float) -> None:
        """Let what goes on end within `grace_s`, stop the rest soon. Idempotent."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + grace_s
        for job in list(self._last.values()):
            await finished(job, max(0.0, deadline - loop.time()))
        self._stop.set()
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)


async def finished(job: Future[T], timeout_s: float | None = None) -> bool:
    """Wait for a job without owning it; False when it goes on."""
    if job.done():
        return True
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def tell(_job: Future[T]) -> None:
        with suppress(RuntimeError):  # the loop is gone: nobody waits any more
            loop.call_soon_threadsafe(done.set)

    job.add_done_callback(tell)
    try:
        async with asyncio.timeout(timeout_s):
            await done.wait()
    except TimeoutError:
        return False
    return True
