"""Stop with the real Claude Code CLI: at every moment, and the chat goes on."""

from __future__ import annotations

import asyncio

from jupyter_agentchat.protocol.events import Ask, AssistantText, EventBody
from tests.agents.claude_agent import Place, open_chat
from tests.waiting import until


def test_stop_in_mid_stream_keeps_the_partial_text_and_the_process(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            pid = chat.pid
            told = await chat.stop_at(await chat.start("slow"), _is_text)
            assert told.complete.outcome == "cancelled"
            assert told.texts[-1].startswith("word1")
            assert "word60" not in told.texts[-1]
            assert (await chat.say("say hello")).texts == ["Hello from the fake model."]
            assert chat.pid == pid

    asyncio.run(talk())


def test_stop_while_an_ask_is_open_takes_the_ask_back(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.stop_at(await chat.start("touch"), lambda b: isinstance(b, Ask))
            (ask,) = told.all(Ask)
            (withdrawn,) = told.withdrawn
            assert (withdrawn.ask_id, withdrawn.decision) == (ask.ask_id, "withdrawn")
            assert [end.status for end in told.ends] == ["cancelled"]
            assert told.complete.outcome == "cancelled"
            pid = chat.pid
            chat.session_id = told.session_id
            assert (await chat.say("say hello")).complete.outcome == "completed"
            assert chat.pid == pid
            assert not (place.project / "made-by-agent.txt").exists()

    asyncio.run(talk())


def test_stop_right_after_send_ends_the_run(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("slow")
            following = asyncio.create_task(chat.follow(run))
            await run.cancel()
            told = await following
            assert told.complete.outcome == "cancelled"
            assert not any("word60" in text for text in told.texts)

    asyncio.run(talk())


def test_stop_works_while_nobody_reads_the_run(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            run = await chat.start("hang")
            await until(lambda: place.fake.calls)
            await run.cancel()
            assert (await chat.follow(run)).complete.outcome == "cancelled"

    asyncio.run(talk())


def test_stop_by_force_ends_a_run_and_the_next_prompt_resumes(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            run = await chat.start("hang")
            following = asyncio.create_task(chat.follow(run))
            await until(lambda: len(place.fake.calls) == 2)
            await run.cancel(force=True)
            assert (await following).complete.outcome == "cancelled"
            assert (await chat.say("say hello")).complete.outcome == "completed"

    asyncio.run(talk())


def _is_text(body: EventBody) -> bool:
    return isinstance(body, AssistantText)
