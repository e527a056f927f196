"""What an agent writes is committed in order, whatever ends it, and its stream is closed."""

from __future__ import annotations

import asyncio
import collections
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest

from jupyter_agentchat.errors import ProcessExited, StorageError
from jupyter_agentchat.process.tasks import TaskOwner
from jupyter_agentchat.protocol.events import AssistantText, EventBody, Notice
from jupyter_agentchat.providers.base import Step
from jupyter_agentchat.runs import pump as pump_module
from jupyter_agentchat.runs.coalesce import BATCH_LIMIT, BATCH_LIMIT_BYTES
from jupyter_agentchat.runs.pump import pump

from .staged import say


class Sink:
    """Takes what the pump commits."""

    def __init__(self) -> None:
        self.owner = TaskOwner("test")
        self.bodies: list[EventBody] = []
        self.offset: int | None = None
        self.error: Exception | None = None
        self.closed = 0
        self.turn = 0
        """How often the others had the loop; see `pump_beside_others`."""
        self.sizes: list[tuple[int, int]] = []
        """Of each commit: in which turn, and how many bodies."""

    def commit(self, bodies: list[EventBody], offset: int | None) -> None:
        if self.error is not None:
            raise self.error
        self.sizes.append((self.turn, len(bodies)))
        self.bodies += bodies
        self.offset = offset if offset is not None else self.offset

    @property
    def text(self) -> str:
        return "".join(b.delta or "" for b in self.bodies if isinstance(b, AssistantText))

    async def steps(
        self, *items: Step | Exception | Callable[[], Awaitable[None]]
    ) -> AsyncIterator[Step]:
        try:
            for item in items:
                if isinstance(item, Exception):
                    raise item
                if isinstance(item, Step):
                    yield item
                else:
                    await item()
        finally:
            self.closed += 1

    async def pump(self, *items: Step | Exception | Callable[[], Awaitable[None]]) -> None:
        try:
            await pump(self.steps(*items), self.commit, self.owner, "x")
        finally:
            await self.owner.close()

    async def pump_beside_others(self, *items: Step) -> None:
        async def others() -> None:
            while True:
                self.turn += 1
                await asyncio.sleep(0)

        other = asyncio.get_running_loop().create_task(others())
        await self.pump(*items)
        other.cancel()

    @property
    def most_in_a_turn(self) -> int:
        by_turn: collections.Counter[int] = collections.Counter()
        for turn, bodies in self.sizes:
            by_turn[turn] += bodies
        return max(by_turn.values())


def notices(count: int, line_bytes: int = 1) -> list[Step]:
    """Lines that wait for nothing, and are not joined."""
    return [
        Step((Notice(code="n", text=str(number)),), offset=(number + 1) * line_bytes)
        for number in range(count)
    ]


def deltas(count: int) -> list[Step]:
    return [Step((say("x"),), offset=at) for at in range(1, count + 1)]


async def hang() -> None:
    await asyncio.Event().wait()


def test_everything_is_committed_to_the_last_delta() -> None:
    sink = Sink()
    asyncio.run(sink.pump(*deltas(3000)))
    assert (len(sink.text), sink.offset, sink.closed) == (3000, 3000, 1)
    assert len(sink.bodies) < 300


def test_what_comes_at_once_is_stored_at_once() -> None:
    sink = Sink()
    asyncio.run(sink.pump(*notices(5)))
    assert [bodies for _, bodies in sink.sizes] == [5]


def test_a_flood_of_lines_leaves_the_loop_to_others() -> None:
    sink = Sink()
    asyncio.run(sink.pump_beside_others(*notices(20 * BATCH_LIMIT)))
    assert [n.text for n in sink.bodies if isinstance(n, Notice)] == [
        str(number) for number in range(20 * BATCH_LIMIT)
    ]
    assert sink.most_in_a_turn <= BATCH_LIMIT
    assert sink.offset == 20 * BATCH_LIMIT


def test_a_flood_of_long_lines_leaves_the_loop_to_others_sooner() -> None:
    sink = Sink()
    asyncio.run(sink.pump_beside_others(*notices(200, line_bytes=BATCH_LIMIT_BYTES // 4)))
    assert len(sink.bodies) == 200
    assert sink.most_in_a_turn <= 5


def test_nothing_is_stored_behind_what_could_not_be() -> None:
    sink = Sink()
    sink.error = StorageError("The disk is full.")

    async def space_again() -> None:
        await asyncio.sleep(0)  # the first line was to be stored now
        sink.error = None

    with pytest.raises(StorageError):
        asyncio.run(sink.pump(*notices(1), space_again, *notices(3)))
    assert (sink.bodies, sink.offset, sink.closed) == ([], None, 1)


def test_what_came_before_a_failure_is_committed_first() -> None:
    sink = Sink()
    with pytest.raises(ProcessExited):
        asyncio.run(sink.pump(*deltas(10), ProcessExited("It died.")))
    assert (len(sink.text), sink.offset) == (10, 10)


def test_a_store_that_fails_closes_the_agents_stream() -> None:
    sink = Sink()
    sink.error = StorageError("The disk is full.")
    with pytest.raises(StorageError):
        asyncio.run(sink.pump(*deltas(2), Step((Notice(code="n", text="t"),)), hang))
    assert sink.closed == 1


def test_a_cancelled_pump_keeps_what_had_come() -> None:
    async def scenario() -> Sink:
        sink = Sink()
        task = asyncio.get_running_loop().create_task(sink.pump(*deltas(20), hang))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return sink

    sink = asyncio.run(scenario())
    assert (len(sink.text), sink.closed) == (20, 1)


@pytest.mark.parametrize("moment", range(12))
def test_a_step_that_had_been_read_is_never_dropped_by_a_cancel(moment: int) -> None:
    async def scenario() -> None:
        sink = Sink()
        read = 0

        async def count() -> None:
            nonlocal read
            read += 1

        items: list[Step | Callable[[], Awaitable[None]]] = []
        for step in deltas(6):
            items += [count, step]
        task = asyncio.get_running_loop().create_task(sink.pump(*items, hang))
        for _ in range(moment):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait({task})
        assert len(sink.text) == read

    asyncio.run(scenario())


def test_an_iterator_that_will_not_be_cancelled_is_left_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pump_module, "CLOSE_DEADLINE_S", 0.02)

    async def scenario() -> None:
        sink = Sink()
        release = asyncio.Event()

        async def deaf() -> None:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue

        task = asyncio.get_running_loop().create_task(
            pump(sink.steps(*deltas(2), deaf), sink.commit, sink.owner, "x")
        )
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert len(sink.text) == 2
        release.set()
        await sink.owner.close()

    asyncio.run(scenario())
