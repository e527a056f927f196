"""Children that many chats share: one each, ended when idle, found again by the next server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from jupyter_agentchat.errors import ChildGone, ProviderTimeout
from jupyter_agentchat.process.ladder import Exit, Ladder
from jupyter_agentchat.process.launcher import Handle, Launcher, Spawn
from jupyter_agentchat.process.tasks import TaskOwner
from jupyter_agentchat.providers.base import ChildMark
from jupyter_agentchat.providers.shared_child import SharedChildren
from tests.waiting import until

DEADLINE_S = 20.0


@dataclass
class Child:
    """The part of a handle that is looked at here."""

    child_id: str
    position: int = 0
    exit: Exit | None = None
    settled: int = 0
    story: list[str] = field(default_factory=list)

    def settle(self, upto: int) -> None:
        self.settled = max(self.settled, upto)

    async def stop(self, ladder: Ladder | None = None) -> Exit:
        self.story.append("stopped")
        self.exit = self.exit or Exit(0, None)
        return self.exit


class Way:
    """A link that notes when it is closed."""

    def __init__(self, child: Child, attached: bool) -> None:
        self.handle = cast(Handle, child)
        self.child = child
        self.attached = attached

    async def close(self) -> None:
        self.child.story.append("closed")


class House:
    """Starts children by number, and finds those of an earlier house again."""

    def __init__(self) -> None:
        self.started: list[Child] = []
        self.found: dict[str, Child] = {}
        self.offsets: list[int] = []
        self.greet: Callable[[Child], Awaitable[None]] | None = None

    async def spawn(self, spawn: Spawn) -> Child:
        child = Child(spawn.child_id)
        self.started.append(child)
        return child

    async def attach(self, child_id: str, *, offset: int = 0) -> Child:
        if child_id not in self.found:
            raise ChildGone("There is no such child.")
        self.offsets.append(offset)
        child = self.found[child_id]
        child.position = offset
        return child

    async def close(self, ladder: Ladder | None = None) -> None:
        pass


@asynccontextmanager
async def children(house: House, idle_s: float = 600.0) -> AsyncIterator[SharedChildren[Way]]:
    tasks = TaskOwner("test")

    async def build(key: str) -> Spawn:
        return Spawn(["/x"], Path("/"), {}, f"{key}-{len(house.started)}")

    async def connect(handle: Handle, _key: str, attached: bool) -> Way:
        child = cast(Child, handle)
        if house.greet is not None:
            await house.greet(child)
        return Way(child, attached)

    shared = SharedChildren(
        cast(Launcher, house), tasks, build=build, connect=connect, idle_timeout_s=idle_s
    )
    try:
        async with asyncio.timeout(DEADLINE_S):
            yield shared
    finally:
        await shared.close()
        await tasks.close()


async def settled() -> None:
    """Let everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_two_runs_hold_one_child_and_another_key_gets_another() -> None:
    async def scene() -> None:
        house = House()
        async with children(house) as shared:
            first, second = await asyncio.gather(shared.hold("a", "r1"), shared.hold("a", "r2"))
            other = await shared.hold("b", "r3")
            assert first is second
            assert other is not first
            assert len(house.started) == 2
        assert [child.story for child in house.started] == [["closed", "stopped"]] * 2

    asyncio.run(scene())


def test_one_that_nobody_holds_is_ended_after_its_time_and_started_anew() -> None:
    async def scene() -> None:
        house = House()
        async with children(house, idle_s=0) as shared:
            await shared.hold("a", "r1")
            await shared.hold("a", "r2")
            shared.release("r1")
            await settled()
            assert house.started[0].exit is None
            shared.release("r2")
            await until(lambda: house.started[0].exit)
            await shared.hold("a", "r3")
            assert len(house.started) == 2

    asyncio.run(scene())


def test_a_new_run_keeps_an_idle_one_awake() -> None:
    async def scene() -> None:
        house = House()
        async with children(house, idle_s=0) as shared:
            await shared.hold("a", "r1")
            shared.release("r1")
            await shared.hold("a", "r2")
            await settled()
            assert house.started[0].exit is None

    asyncio.run(scene())


def test_what_no_run_needs_any_more_is_settled() -> None:
    async def scene() -> None:
        house = House()
        async with children(house) as shared:
            await shared.hold("a", "r1", first=10)
            (child,) = house.started
            child.position = 70
            await shared.hold("a", "r2")
            assert child.settled == 10
            shared.release("r1")
            assert child.settled == 10
            child.position = 90
            await shared.hold("a", "r3")
            assert child.settled == 70

    asyncio.run(scene())


def test_a_dead_one_is_replaced_once_its_last_words_are_read() -> None:
    async def scene() -> None:
        house = House()
        async with children(house) as shared:
            await shared.hold("a", "r1")
            house.started[0].exit = Exit(1, None)
            await shared.hold("a", "r2")
            assert house.started[0].story == ["stopped", "closed"]
            assert len(house.started) == 2
            assert [link.child for link in shared.alive] == [house.started[1]]

    asyncio.run(scene())


def test_one_that_cannot_be_greeted_is_ended() -> None:
    async def scene() -> None:
        house = House()

        async def silent(_child: Child) -> None:
            raise ProviderTimeout("It does not answer.")

        house.greet = silent
        async with children(house) as shared:
            with pytest.raises(ProviderTimeout):
                await shared.hold("a", "r1")
            assert house.started[0].story == ["stopped"]
            assert shared.alive == []

    asyncio.run(scene())


def test_a_start_that_is_given_up_leaves_nothing() -> None:
    async def scene() -> None:
        house = House()
        greeted = asyncio.Event()

        async def slow(_child: Child) -> None:
            greeted.set()
            await asyncio.Event().wait()

        house.greet = slow
        async with children(house) as shared:
            starting = asyncio.create_task(shared.hold("a", "r1"))
            await greeted.wait()
            starting.cancel()
            await asyncio.wait({starting})
            assert starting.cancelled()
            assert house.started[0].story == ["stopped"]

    asyncio.run(scene())


def test_the_next_server_reads_from_the_first_line_of_the_first_run() -> None:
    async def scene() -> None:
        house = House()
        old = house.found["a-7"] = Child("a-7")
        async with children(house) as shared:
            first = await shared.attach("a", "r1", ChildMark("a-7", 100, 150))
            second = await shared.attach("a", "r2", ChildMark("a-7", 120))
            new = await shared.hold("a", "r3")
            assert first is second is new
            assert first.attached
            assert house.offsets == [100]
            assert house.started == []
            # what the second run needs is not given up with the end of the first
            shared.release("r1")
            await shared.hold("a", "r4")
            assert old.settled == 100

    asyncio.run(scene())


def test_a_child_that_is_gone_or_whose_place_is_taken_is_said_to_be() -> None:
    async def scene() -> None:
        house = House()
        house.found["a-7"] = Child("a-7")
        async with children(house) as shared:
            with pytest.raises(ChildGone):
                await shared.attach("a", "r1", ChildMark("a-8", 0))
            await shared.hold("a", "r2")
            with pytest.raises(ChildGone):
                await shared.attach("a", "r3", ChildMark("a-7", 0))

    asyncio.run(scene())


def test_after_the_end_nothing_is_started() -> None:
    async def scene() -> None:
        house = House()
        async with children(house) as shared:
            await shared.hold("a", "r1")
            await shared.close()
            await shared.close()
            assert house.started[0].story == ["closed", "stopped"]
            with pytest.raises(ChildGone):
                await shared.hold("a", "r2")
            shared.release("r1")

    asyncio.run(scene())


def test_one_that_is_ended_is_gone_for_all_its_runs() -> None:
    async def scene() -> None:
        house = House()
        async with children(house) as shared:
            await shared.hold("a", "r1")
            await shared.end("a")
            await shared.end("a")
            assert house.started[0].exit is not None
            await shared.hold("a", "r2")
            assert len(house.started) == 2

    asyncio.run(scene())
