"""Background tasks end with their owner, and none fails in silence."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest

from jupyter_agentchat.process.tasks import TaskOwner

Run = Callable[..., Any]


async def forever() -> None:
    await asyncio.Event().wait()


def test_closing_waits_until_every_task_has_tidied_up(run: Run) -> None:
    async def scenario() -> None:
        owner, tidied = TaskOwner("test"), []

        async def work(number: int) -> None:
            try:
                await forever()
            finally:
                await asyncio.sleep(0.01)
                tidied.append(number)

        tasks = [owner.spawn(work(number), name=f"work {number}") for number in range(3)]
        await asyncio.sleep(0)
        await owner.close()
        assert sorted(tidied) == [0, 1, 2]
        assert all(task.cancelled() for task in tasks)
        assert len(owner) == 0

    run(scenario())


def test_a_task_that_fails_is_logged_once_and_stays_readable(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        owner = TaskOwner("test")

        async def broken() -> None:
            raise LookupError("lost")

        task = owner.spawn(broken(), name="broken")
        with pytest.raises(LookupError):
            await task
        await owner.close()

    with caplog.at_level(logging.DEBUG):
        run(scenario())
    (record,) = [each for each in caplog.records if "broken" in each.getMessage()]
    assert record.exc_info is not None
    assert isinstance(record.exc_info[1], LookupError)


def test_a_task_that_ignores_its_cancellation_is_named_and_does_not_hang_the_server(
    run: Run, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        owner, release = TaskOwner("test"), asyncio.Event()

        async def stubborn() -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        task = owner.spawn(stubborn(), name="stubborn")
        await asyncio.sleep(0)
        await owner.close(timeout_s=0.02)
        assert "test/stubborn ignored its cancellation" in caplog.text
        release.set()
        await task

    run(scenario())


def test_nothing_starts_after_the_close(run: Run) -> None:
    async def scenario() -> None:
        owner = TaskOwner("test")
        await owner.close()
        await owner.close()
        with pytest.raises(RuntimeError, match="test is closed"):
            owner.spawn(forever(), name="late")

    run(scenario())


def test_a_task_may_close_its_own_owner(run: Run) -> None:
    async def scenario() -> str:
        owner = TaskOwner("test")
        owner.spawn(forever(), name="other")

        async def closer() -> str:
            await owner.close()
            return "closed"

        return await owner.spawn(closer(), name="closer")

    assert run(scenario()) == "closed"
