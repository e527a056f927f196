"""A message into the running turn: stored, taken once, or refused with its text given back."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.errors import ProcessExited, SteerUnsupported
from tests.unit.runs.staged import DONE, say
from tests.waiting import until

from .desk import Desk, SteeredRun, at_desk


async def running(desk: Desk) -> SteeredRun:
    run = SteeredRun()
    desk.next(run)
    await desk.send("begin")
    run.emit(say("hm"))
    await until(lambda: any(e["type"] == "assistant_text" for e in desk.stage.log()))
    return run


def test_a_steered_message_is_in_the_thread_before_the_agent_has_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        run = await running(desk)
        in_thread: list[str] = []

        async def taking() -> bool:
            in_thread.extend(desk.sent())
            return True

        run.taking = taking
        accepted = await desk.send("rather this way", "steer")
        assert accepted.steered
        assert in_thread == ["begin", "rather this way"]
        assert run.got == ["rather this way"]
        run.end(DONE)
        await desk.stage.until_idle()
        (steered,) = [e for e in desk.stage.log() if e.get("text") == "rather this way"]
        assert (steered["origin"], steered["run_id"]) == ("steered", accepted.run_id)
        assert desk.stage.outcomes() == ["completed"]

    at_desk(scenario, tmp_path)


def test_a_steered_message_that_is_sent_again_is_not_said_twice(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        run = await running(desk)
        go = asyncio.Event()

        async def taking() -> bool:
            await go.wait()
            return True

        run.taking = taking
        first = asyncio.gather(*(desk.send("this", "steer", client_id="1") for _ in range(3)))
        await until(lambda: "this" in desk.sent())
        go.set()
        answers = await first
        assert answers[0] == answers[1] == answers[2]
        assert await desk.send("this", "steer", client_id="1") == answers[0]
        assert run.got == ["this"]
        run.end(DONE)
        await desk.stage.until_idle()
        # also when the run is over by then: never a turn of its own
        assert await desk.send("this", "steer", client_id="1") == answers[0]
        assert desk.sent() == ["begin", "this"]

    at_desk(scenario, tmp_path)


def test_without_a_run_or_with_an_agent_that_cannot_nothing_is_stored(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        with pytest.raises(SteerUnsupported) as refused:
            await desk.send("hello", "steer")
        assert refused.value.details["text"] == "hello"
        assert desk.stage.log() == []
        run = desk.next()
        await desk.send("begin")
        await desk.run_of("begin")
        with pytest.raises(SteerUnsupported):
            await desk.send("hello", "steer")
        run.end(DONE)
        await desk.stage.until_idle()
        assert desk.sent() == ["begin"]

    at_desk(scenario, tmp_path)


@pytest.mark.parametrize("how", ["no", "gone", "broken"])
def test_a_message_that_the_agent_does_not_take_after_all_is_given_back_and_said(
    tmp_path: Path, how: str
) -> None:
    async def scenario(desk: Desk) -> None:
        run = await running(desk)

        async def taking() -> bool:
            if how == "gone":
                raise ProcessExited("It is gone.")
            if how == "broken":
                raise RuntimeError("a fault of the adapter")
            return False

        run.taking = taking
        with pytest.raises(SteerUnsupported) as refused:
            await desk.send("this", "steer", client_id="1")
        assert refused.value.status == 409
        assert refused.value.details["text"] == "this"
        (notice,) = [e for e in desk.stage.log() if e["type"] == "notice"]
        assert notice["code"] == "steer_not_taken"
        # the same message may go another way
        assert (await desk.send("this", client_id="1")).queue_item
        assert desk.waiting == ["this"]
        desk.finish_at_once(1)
        run.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)

    at_desk(scenario, tmp_path)


def test_a_run_that_is_being_stopped_takes_no_message(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        run = await running(desk)
        desk.queue.stop("c")
        with pytest.raises(SteerUnsupported):
            await desk.send("this", "steer")
        await desk.stage.until_idle()
        assert run.got == []
        assert desk.sent() == ["begin"]

    at_desk(scenario, tmp_path)
