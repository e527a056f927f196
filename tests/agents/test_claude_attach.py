"""A server dies in the middle of a run of the real Claude Code CLI: the next one goes on."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import aclosing
from pathlib import Path

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.protocol.events import Ask, AssistantText, EventBody, ToolUseStart
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import ChildMark
from tests.agents.claude_agent import Place, allow, open_servers, watch
from tests.agents.claude_kills import run_kills
from tests.waiting import until

SLOW = " ".join(f"word{number}" for number in range(1, 61))


def _is_text(body: EventBody) -> bool:
    return isinstance(body, AssistantText)


def test_the_answer_streams_on_from_its_beginning_to_its_end(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            chat = servers.chat
            seen, offset = await watch(await chat.start("steady"), _is_text)
            pid, leaving = chat.pid, chat.adapter
            chat = await servers.replaced()
            await leaving.close()
            told = await chat.follow(await chat.attach(stored=offset))
            assert told.bodies[: len(seen.bodies)] == seen.bodies
            assert told.texts == [SLOW]
            assert told.complete.outcome == "completed"
            assert len(place.fake.calls) == 1
            assert chat.pid == pid

    asyncio.run(talk())


def test_an_open_ask_can_be_answered_by_the_next_server(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            seen, _ = await watch(await servers.chat.start("touch"), lambda b: isinstance(b, Ask))
            chat = await servers.replaced()
            told = await chat.follow(await chat.attach(), allow())
            assert told.all(Ask) == seen.all(Ask)
            assert told.complete.outcome == "completed"
            assert (place.project / "made-by-agent.txt").exists()

    asyncio.run(talk())


def test_an_answer_that_had_arrived_already_is_given_twice_without_harm(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            run = await servers.chat.start("touch")
            seen, _ = await watch(run, lambda b: isinstance(b, Ask))
            (ask,) = seen.all(Ask)
            await run.answer(ask.ask_id, AskAnswer(decision="allow", option_id="allow_once"))
            await until((place.project / "made-by-agent.txt").exists)
            chat = await servers.replaced()
            told = await chat.follow(await chat.attach(), allow())
            assert [end.status for end in told.ends] == ["completed"]
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_stop_works_and_the_same_process_takes_the_next_prompts(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            await watch(await servers.chat.start("slow"), _is_text)
            chat = await servers.replaced()
            told = await chat.stop_at(await chat.attach(), _is_text)
            assert told.complete.outcome == "cancelled"
            pid, chat.session_id = chat.pid, told.session_id
            told = await chat.say("say hello", model="sonnet", effort="high")
            assert told.texts == ["Hello from the fake model."]
            assert "sonnet" in place.fake.calls[-1].body["model"]
            assert chat.pid == pid
            (child,) = servers.launcher.children
            await chat.adapter.close_chat(chat.id)
            assert child.exit is not None
            assert (child.exit.code, child.exit.signal) == (0, None)

    asyncio.run(talk())


def test_a_message_can_be_steered_into_a_run_that_was_taken_over(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            run = await servers.chat.start("slow")
            await watch(run, _is_text)
            chat = await servers.replaced()
            run = await chat.attach()
            following = asyncio.create_task(chat.follow(run))
            await until(lambda: run.can_steer)
            assert await run.steer("echo steered later", [])
            told = await following
            assert told.texts == [SLOW, "echo steered later"]
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_a_run_with_a_steered_message_is_whole_after_the_server_died(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            run = await servers.chat.start("steady")
            steered = False
            async with aclosing(run.steps()) as steps:
                async for step in steps:
                    if not steered and any(_is_text(body) for body in step.bodies):
                        steered = await run.steer("slow", [])
                    if len(place.fake.calls) == 2:
                        break
            chat = await servers.replaced()
            told = await chat.follow(await chat.attach())
            assert told.texts == [SLOW, SLOW]
            assert told.complete.outcome == "completed"
            assert len(place.fake.calls) == 2

    asyncio.run(talk())


def test_a_run_that_ended_while_nobody_served_is_read_to_its_end(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            await watch(await servers.chat.start("run ls"), lambda b: isinstance(b, ToolUseStart))
            await servers.launcher.leave()
            await until(lambda: len(place.fake.calls) == 2)
            await asyncio.sleep(0.5)
            chat = await servers.replaced()
            told = await chat.follow(await chat.attach())
            assert told.complete.outcome == "completed"
            assert told.texts[-1].startswith("The folder holds:")
            assert len(place.fake.calls) == 2

    asyncio.run(talk())


def test_an_agent_that_died_meanwhile_is_told_as_dead_and_resumes(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            await servers.chat.say("echo remember teal")
            seen, _ = await watch(await servers.chat.start("slow"), _is_text)
            pid = servers.chat.pid
            await servers.launcher.leave()
            os.kill(pid, signal.SIGKILL)
            chat = await servers.replaced()
            run = await chat.attach()
            with pytest.raises(ProcessExited):
                await chat.follow(run)
            told = await chat.say("recall")
            assert "echo remember teal" in told.texts[-1]
            assert told.session_id == chat.session_id
            assert seen.bodies

    asyncio.run(talk())


def test_a_child_that_nobody_knows_is_gone(place: Place) -> None:
    async def talk() -> None:
        async with open_servers(place) as servers:
            await servers.chat.say("say hello")
            chat = await servers.replaced()
            chat.mark = ChildMark("claude-nobody", 0)
            with pytest.raises(ChildGone):
                await chat.attach()

    asyncio.run(talk())


@pytest.mark.timeout(180)
def test_nothing_is_lost_or_doubled_when_the_server_is_killed_at_random(
    place: Place, tmp_path: Path
) -> None:
    directory = tmp_path / "kills"
    directory.mkdir()
    runs = run_kills(place.program, directory, 3)
    assert sum(run.kills for run in runs) == 3
    assert [run for run in runs if run.faults] == []
