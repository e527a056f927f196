"""The files of a project are kept beside the agent's start, and before it has the prompt."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_agentchat.chats.plans import Allowance
from jupyter_agentchat.protocol.events import Complete, User
from jupyter_agentchat.store.memory import MemoryStore
from tests.unit.chats.desk import OWNER
from tests.unit.chats.rewind_desk import RewindDesk, at_desk
from tests.waiting import until


def play(tmp_path: Path, scenario: Any) -> None:
    at_desk(MemoryStore(), tmp_path, scenario)


@contextmanager
def slow_disk(desk: RewindDesk) -> Iterator[None]:
    """No look at files comes to an end inside."""
    gate = threading.Event()
    for number in range(4):
        desk.checkpoints._jobs.submit(f"gate{number}", "", lambda: gate.wait(20))
    try:
        yield
    finally:
        gate.set()


async def begin(desk: RewindDesk) -> None:
    """Send a prompt; back when the agent's process is being started."""
    begun = asyncio.Event()
    start = desk.adapter.start

    async def started(*given: Any) -> Any:
        begun.set()
        return await start(*given)

    vars(desk.adapter)["start"] = started
    user = User(text="change a.txt", author=OWNER.author, client_id="p")
    desk.starter.start(desk.planner.plan(desk.store.chat("c"), user, Allowance(trusted=False)))
    async with asyncio.timeout(10):
        await begun.wait()


def test_the_agent_starts_at_once_and_has_the_prompt_only_when_the_files_are_kept(
    tmp_path: Path,
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        path = desk.root / "a.txt"
        path.write_text("mine")
        run = desk.adapter.next()
        with slow_disk(desk):
            await begin(desk)
            await asyncio.sleep(0.05)
            assert desk.adapter.requests == []
        await until(lambda: len(desk.adapter.requests) == 1)
        path.write_text("the agent's")
        run.end(Complete(outcome="completed"))
        await until(lambda: desk.hub.state("c") == "idle")
        await desk.rewind(1)
        assert path.read_text() == "mine"

    play(tmp_path, scenario)


def test_stop_while_the_files_are_still_looked_at_ends_the_run_without_its_prompt(
    tmp_path: Path,
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.next()
        with slow_disk(desk):
            await begin(desk)
            desk.hub.cancel("c")
            await until(lambda: desk.hub.state("c") == "idle")
            assert desk.adapter.requests == []
        await desk.checkpoints.settled("c")
        desk.adapter.runs.clear()
        del vars(desk.adapter)["start"]
        await desk.run("again")
        assert [request.prompt for request, _ in desk.adapter.requests] == ["again"]

    play(tmp_path, scenario)
