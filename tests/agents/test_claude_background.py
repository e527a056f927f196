"""Helpers and background commands of the real Claude Code, and the turns it begins by itself."""

from __future__ import annotations

import asyncio

from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    EventBody,
    System,
    ToolUseStart,
    ToolUseUpdate,
)
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.tools import TextBlock
from tests.agents.claude_agent import Place, Told, allow, open_chat
from tests.waiting import until


def _calls(told: Told) -> tuple[ToolUseStart, ToolUseStart]:
    """The call that began a helper, and the helper's own."""
    outer, inner = told.starts
    assert outer.kind == "subagent"
    assert inner.parent_tool_id == outer.tool_id
    return outer, inner


def test_a_helper_works_inside_the_run_and_asks_a_person(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("delegate touch", allow())
            outer, inner = _calls(told)
            (ask,) = told.all(Ask)
            assert ask.tool_id == inner.tool_id
            assert (place.project / "made-by-agent.txt").exists()
            ends = {end.tool_id: end for end in told.ends}
            assert (ends[inner.tool_id].status, ends[outer.tool_id].status) == (
                "completed",
                "completed",
            )
            (report,) = ends[outer.tool_id].output
            assert isinstance(report, TextBlock)
            assert report.text.startswith("Tool said: ")
            assert told.all(ToolUseUpdate)[0].tool_id == outer.tool_id
            assert told.texts == [
                "A helper works on it.",
                'It ended: Agent "Help to touch" finished',
            ]
            assert told.complete.outcome == "completed"
            pid = chat.pid
            assert (await chat.say("echo next")).texts == ["echo next"]
            assert chat.pid == pid

    asyncio.run(talk())


def test_a_helper_in_the_foreground_is_shown_in_the_same_way(place: Place) -> None:
    place.settings["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("delegate run ls")
            outer, inner = _calls(told)
            assert [end.tool_id for end in told.ends] == [inner.tool_id, outer.tool_id]
            deltas = "".join(body.output_delta or "" for body in told.all(ToolUseUpdate))
            assert "I'll list the files." in deltas
            assert told.texts == ["A helper works on it."]

    asyncio.run(talk())


def test_stop_ends_a_helper_that_waits_for_an_answer(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("delegate touch")
            told = await chat.stop_at(run, lambda body: isinstance(body, Ask))
            assert told.complete.outcome == "cancelled"
            assert not (place.project / "made-by-agent.txt").exists()
            chat.session_id, pid = told.session_id, chat.pid
            assert (await chat.say("echo next")).texts == ["echo next"]
            assert chat.pid == pid

    asyncio.run(talk())


def test_a_message_reaches_the_agent_while_its_helper_waits(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run, told = await chat.start("delegate touch"), Told()
            asked: list[str] = []

            async def meddle(body: EventBody) -> None:
                if isinstance(body, Ask):
                    asked.append(body.ask_id)
                    assert await run.steer("echo meanwhile", [])
                if isinstance(body, AssistantText) and body.text == "echo meanwhile":
                    await run.answer(asked[0], AskAnswer(decision="allow", option_id="allow_once"))

            async for step in run.steps():
                told.bodies += step.bodies
                for body in step.bodies:
                    await meddle(body)
            assert told.texts[1] == "echo meanwhile"
            assert told.texts[-1].startswith("It ended: ")
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_a_background_command_that_ends_begins_a_run_of_its_own(place: Place) -> None:
    place.hosted = hosted = []

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("background 0.5")
            assert told.texts == ["It runs in the background."]
            assert told.complete.outcome == "completed"
            await until(lambda: hosted)
            own = await chat.follow(hosted[0])
            (ended,) = own.all(System)
            assert ended.subtype == "background_task"
            assert ended.data["tool_id"] == told.starts[0].tool_id
            assert ended.data["status"] == "completed"
            (text,) = own.texts
            assert text.startswith("It ended: Background command")
            assert own.complete.outcome == "completed"
            assert (await chat.say("echo next")).texts == ["echo next"]
            assert len(hosted) == 1

    asyncio.run(talk())


def test_such_a_turn_that_no_run_took_is_told_by_the_next_prompts_run(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("background 0.5")
            session = chat.adapter._processes._sessions[chat.id]
            await until(lambda: session.unhosted.waits)
            told = await chat.say("echo next")
            assert told.texts[0].startswith("It ended: Background command")
            assert told.texts[1:] == ["echo next"]
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_work_in_the_background_outlasts_the_idle_time(place: Place) -> None:
    place.hosted, place.idle_timeout_s = [], 0.05

    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("background 0.5")
            await until(lambda: place.hosted)
            assert place.hosted
            own = await chat.follow(place.hosted[0])
            assert own.complete.outcome == "completed"
            await until(lambda: not chat.launcher.children)

    asyncio.run(talk())
