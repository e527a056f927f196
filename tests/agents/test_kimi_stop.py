"""Stop, steering, the agent's death and turns it begins by itself, with the real Kimi Code."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProcessExited
from jupyter_agentchat.protocol.events import Ask, AskResolved, EventBody, ToolUseUpdate
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import Begin, RunContext
from jupyter_agentchat.providers.kimi.run import KimiRun
from tests.agents.kimi_agent import Chat, Place, Told, a_place, allow, is_text, open_chat

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


def test_stop_in_mid_answer_while_asking_and_in_a_command_keeps_what_was_said(
    place: Place,
) -> None:
    async def scene() -> None:
        async with open_chat(place) as chat:
            told = await chat.stop_at(await chat.start("slow"), is_text)
            assert told.complete.outcome == "cancelled"
            assert told.texts[-1].startswith("word ")
            told = await chat.stop_at(await chat.start("run ls"), lambda b: isinstance(b, Ask))
            assert told.complete.outcome == "cancelled"
            (withdrawn,) = told.all(AskResolved)
            assert withdrawn.decision == "withdrawn"
            run = await chat.start("run cmd: echo begun; sleep 300", permission="full")
            told = await chat.stop_at(run, lambda body: isinstance(body, ToolUseUpdate))
            assert told.complete.outcome == "cancelled"
            assert [end.status for end in told.ends] == ["cancelled"]
            assert told.ends[0].output[0].text == "begun\n"
            assert (await chat.say("quick again")).texts == ["again"]

    asyncio.run(scene())


def test_stop_also_stops_what_was_steered_in_and_not_taken_up_yet(place: Place) -> None:
    async def scene() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("slow")
            steered: list[bool] = []

            async def steer_then_stop() -> None:
                steered.append(await run.steer("slow too", []))
                await run.cancel()

            told = await _react(run, lambda body: None if steered else steer_then_stop(), is_text)
            assert steered == [True]
            assert told.complete.outcome == "cancelled"
            assert (await chat.say("quick again")).texts == ["again"]

    asyncio.run(scene())


def test_a_message_is_taken_up_between_two_calls_of_the_model(place: Place) -> None:
    async def scene() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("talk", permission="full")
            steered: list[bool] = []

            async def steer() -> None:
                steered.append(await run.steer("repeat after me", []))

            told = await _react(run, lambda body: None if steered else steer(), is_text)
            assert steered == [True]
            assert told.complete.outcome == "completed"
            assert told.texts[-1] == "repeat after me"
            assert not run.can_steer

    asyncio.run(scene())


def test_the_death_of_the_one_process_ends_all_its_runs_and_no_conversation(place: Place) -> None:
    async def scene() -> None:
        async with open_chat(place) as chat:
            other = chat.other()
            await other.say("echo remember-me")
            run, beside = await chat.start("slow"), await other.start("slow")
            pid = chat.pid

            async def kill() -> None:
                os.kill(pid, signal.SIGKILL)

            with pytest.raises(ProcessExited) as caught:
                await _react(run, lambda body: kill(), is_text)
            assert caught.value.signal == signal.SIGKILL
            with pytest.raises(ProcessExited):
                await other.follow(beside)
            await other.say("quick go-on")
            assert "remember-me" in (await other.say("recall")).texts[-1]
            assert chat.pid != pid

    asyncio.run(scene())


def test_a_task_that_ends_in_the_background_begins_a_run_of_its_own(place: Place) -> None:
    chats: list[Chat] = []
    hosted: list[Told] = []
    done = asyncio.Event()

    async def begin_unasked(chat_id: str, begin: Begin) -> bool:
        (chat,) = chats
        request = chat.request("", run_id="by-itself")
        assert isinstance(request, RunRequest)
        run = await begin(request, RunContext(True, "x", on_child=chat._on_child))
        assert isinstance(run, KimiRun)
        hosted.append(await chat.follow(run))
        done.set()
        return True

    async def scene() -> None:
        place.begin_unasked = begin_unasked
        async with open_chat(place) as chat:
            chats.append(chat)
            told = await chat.say("background", permission="full")
            assert told.complete.outcome == "completed"
            async with asyncio.timeout(30):
                await done.wait()
            assert hosted[0].complete.outcome == "completed"
            assert hosted[0].texts
            assert (await chat.say("quick again")).texts == ["again"]

    asyncio.run(scene())


def test_a_run_that_is_cut_away_takes_its_steered_messages_with_it(place: Place) -> None:
    async def scene() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo first")
            run = await chat.start("talk")
            steered: list[bool] = []

            async def steer() -> None:
                steered.append(await run.steer("repeat steered", []))

            def react(body: EventBody) -> Any:
                return steer() if is_text(body) and not steered else None

            told = Told()
            async with aclosing(run.steps()) as steps:
                async for step in steps:
                    told.bodies += step.bodies
                    for body in step.bodies:
                        if isinstance(body, Ask):
                            await run.answer(body.ask_id, allow()(body))
                        elif (waiting := react(body)) is not None:
                            await waiting
            assert told.complete.outcome == "completed"
            await chat.say("http 400")
            request = chat.request("recall")
            rewinder = chat.adapter.rewinder
            cut = chat.runs[1:]
            assert await rewinder.rewind(request, chat.context(), cut) is True
            recalled = (await chat.say("recall")).texts[-1]
            assert "echo first" in recalled
            for gone in ("talk", "steered", "http 400"):
                assert gone not in recalled
            assert await rewinder.preview_files(request, chat.context(), cut[0]) == []
            assert await rewinder.rewind(request, chat.context(), ["never-arrived"]) is True

    asyncio.run(scene())


async def _react(run: KimiRun, react: Any, moment: Any) -> Told:
    """Follow a run; at each body that is the `moment` do what `react` says, if anything."""
    told = Told()
    async with asyncio.timeout(60), aclosing(run.steps()) as steps:
        async for step in steps:
            told.bodies += step.bodies
            for body in step.bodies:
                waiting = react(body) if moment(body) else None
                if waiting is not None:
                    await waiting
    return told
