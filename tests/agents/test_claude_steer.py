"""A message into the running turn, with the real Claude Code CLI."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from jupyter_agentchat.protocol.events import AssistantText, EventBody, ToolUseStart
from jupyter_agentchat.providers.claude.run import ClaudeRun
from tests.agents.claude_agent import Chat, Place, Told, open_chat

Moment = Callable[[EventBody], bool]


def _is_text(body: EventBody) -> bool:
    return isinstance(body, AssistantText)


async def _meddle(
    run: ClaudeRun, moment: Moment, act: Callable[[], Awaitable[None]], chat: Chat
) -> Told:
    """Follow a run, and act once at the moment."""
    told, done = Told(), False
    async for step in run.steps():
        told.bodies += step.bodies
        if not done and any(moment(body) for body in step.bodies):
            done = True
            await act()
    assert done, "the moment never came"
    chat.session_id = told.session_id
    return told


def test_a_message_sent_while_text_streams_is_answered_right_after_in_the_same_run(
    place: Place,
) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("steady")

            async def steer() -> None:
                assert run.can_steer
                assert await run.steer("echo the first", [])
                assert await run.steer("echo the second", [])

            told = await _meddle(run, _is_text, steer, chat)
            assert told.texts[0].endswith("word60")
            assert told.texts[1] == "echo the first\necho the second"
            assert told.complete.outcome == "completed"
            assert told.complete.num_turns == 2
            assert len(place.fake.calls) == 2
            assert not run.can_steer
            assert not await run.steer("echo too late", [])
            pid = chat.pid
            assert (await chat.say("echo next")).texts == ["echo next"]
            assert chat.pid == pid
            assert len(place.fake.calls) == 3

    asyncio.run(talk())


def test_a_message_sent_while_a_tool_runs_is_taken_up_in_its_turn(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("write file a.txt", permission="accept_edits")

            async def steer() -> None:
                assert await run.steer("echo folded in", [])

            told = await _meddle(run, lambda b: isinstance(b, ToolUseStart), steer, chat)
            assert told.texts[-1] == "echo folded in"
            assert told.complete.outcome == "completed"
            assert len(place.fake.calls) == 2

    asyncio.run(talk())


def test_stop_takes_back_what_still_waits(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("slow")

            async def steer_and_stop() -> None:
                assert await run.steer("echo never", [])
                await run.cancel()
                assert not run.can_steer

            told = await _meddle(run, _is_text, steer_and_stop, chat)
            assert told.complete.outcome == "cancelled"
            assert len(place.fake.calls) == 1
            told = await chat.say("recall")
            assert "echo never" not in told.texts[0]
            assert len(place.fake.calls) == 2

    asyncio.run(talk())


def test_stop_in_the_turn_of_a_steered_message_ends_the_run(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("steady")
            told, stopping = Told(), None
            steered = False
            async for step in run.steps():
                told.bodies += step.bodies
                if not steered and any(_is_text(body) for body in step.bodies):
                    steered = await run.steer("slow", [])
                if stopping is None and len(place.fake.calls) == 2:
                    stopping = asyncio.create_task(run.cancel())
            assert stopping is not None
            await stopping
            assert told.complete.outcome == "cancelled"
            assert told.texts[0].endswith("word60")
            chat.session_id = told.session_id
            assert (await chat.say("echo next")).texts == ["echo next"]

    asyncio.run(talk())
