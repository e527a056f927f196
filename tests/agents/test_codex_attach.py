"""A server dies in the middle of runs of the real Codex: the next one goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.protocol.events import Ask, AssistantText, EventBody, Session, ToolUseStart
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import ChildMark
from tests.agents.codex_agent import Chat, Place, allow, open_servers, watch
from tests.conftest import ROOT
from tests.waiting import until

SLOW = " ".join(f"word{number}" for number in range(1, 61))


def _is_text(body: EventBody) -> bool:
    return isinstance(body, AssistantText)


def test_two_chats_of_one_process_both_stream_on_from_their_beginning(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            chat = servers.chat
            other = chat.other("chat-2")
            await other.say("echo before")
            seen = await watch(await chat.start("steady"), _is_text)
            seen_there = await watch(await other.start("steady"), _is_text)
            pid, leaving = chat.pid, chat.adapter
            chat, other = await servers.replaced(chat, other)
            await leaving.close()
            # in the order of their first lines, as the hub does
            run = await chat.attach(stored=seen.offset)
            run_there = await other.attach(stored=seen_there.offset)
            told, told_there = await asyncio.gather(chat.follow(run), other.follow(run_there))
            assert told.bodies[: len(seen.bodies)] == seen.bodies
            assert told_there.bodies[: len(seen_there.bodies)] == seen_there.bodies
            assert told.texts == told_there.texts == [SLOW]
            assert chat.pid == pid
            assert len(codex_place.fake.calls) == 3

    asyncio.run(talk())


def test_an_answer_that_had_arrived_already_is_given_twice_without_harm(codex_place: Place) -> None:
    made = codex_place.project / "made"

    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            run = await servers.chat.start("run touch made")
            asks: list[Ask] = []
            async with aclosing(run.steps()) as steps:
                async for step in steps:
                    asks += [body for body in step.bodies if isinstance(body, Ask)]
                    if asks:
                        answer = AskAnswer(decision="allow", option_id="allow_once")
                        await run.answer(asks[0].ask_id, answer)
                        break
                await until(made.exists)
            (chat,) = await servers.replaced()
            told = await chat.follow(await chat.attach(), allow())
            assert told.asks == asks
            assert [end.status for end in told.ends] == ["completed"]
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_stop_works_and_the_same_process_takes_the_next_prompts(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            await watch(await servers.chat.start("slow"), _is_text)
            pid = servers.chat.pid
            (chat,) = await servers.replaced()
            told = await chat.stop_at(await chat.attach(), _is_text)
            assert told.complete.outcome == "cancelled"
            assert (await chat.say("echo on")).texts == ["echo on"]
            assert chat.pid == pid

    asyncio.run(talk())


def test_it_can_be_steered_by_the_next_server(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            await watch(await servers.chat.start("steady"), _is_text)
            (chat,) = await servers.replaced()
            run = await chat.attach()
            await until(lambda: run.can_steer)
            assert await run.steer("echo and this", [])
            told = await chat.follow(run)
            assert "echo and this" in told.texts
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_a_prompt_that_was_taken_is_not_sent_again(codex_place: Place) -> None:
    """Its answer and its turn are in the output, however far the dead server had read."""

    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            chat = servers.chat
            await chat.start("run touch made", permission="accept_edits")
            await until((codex_place.project / "made").exists)
            (chat,) = await servers.replaced()
            told = await chat.follow(await chat.attach())
            assert told.complete.outcome == "completed"
            assert len(told.ends) == 1
            assert len(codex_place.fake.calls) == 2

    asyncio.run(talk())


def test_a_prompt_half_written_by_the_dead_server_is_sent_again_whole(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            chat = servers.chat
            await chat.say("echo one")
            (child,) = servers.launcher.children
            # the mark of a run whose first line was cut: half of it stands in the input
            chat.last = chat.request("echo two")
            assert chat.mark is not None
            chat.mark = replace(chat.mark, first=child.position)
            fifo = os.open(codex_place.home / "spool" / child.child_id / "in", os.O_WRONLY)
            os.write(fifo, b'{"id":"x","method":"turn/st')
            os.close(fifo)
            (chat,) = await servers.replaced()
            told = await chat.follow(await chat.attach())
            assert told.texts == ["echo two"]
            assert (await chat.say("recall")).texts == ["You said: echo one | echo two | recall"]

    asyncio.run(talk())


def test_an_agent_that_died_with_its_server_is_read_to_its_end(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            seen = await watch(await servers.chat.start("slow"), _is_text)
            os.kill(servers.chat.pid, signal.SIGKILL)
            (chat,) = await servers.replaced()
            run = await chat.attach()
            told: list[EventBody] = []
            with pytest.raises(ProcessExited):
                async for step in run.steps():
                    told += step.bodies
            assert told[: len(seen.bodies)] == seen.bodies
            # and the conversation is not lost with it
            (session,) = [body for body in told if isinstance(body, Session)]
            chat.session_id = session.provider_session_id
            assert "slow" in (await chat.say("recall")).texts[0]

    asyncio.run(talk())


def test_what_can_not_be_found_is_said_to_be_gone(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            await watch(
                await servers.chat.start("run sleep 30", permission="accept_edits"),
                lambda body: isinstance(body, ToolUseStart),
            )
            (chat,) = await servers.replaced()
            assert chat.mark is not None
            mark = chat.mark
            chat.mark = replace(mark, child_id="codex-never")
            with pytest.raises(ChildGone):
                await chat.attach()
            chat.mark = mark
            told = await chat.stop_at(
                await chat.attach(), lambda body: isinstance(body, ToolUseStart)
            )
            assert told.complete.outcome == "cancelled"

    asyncio.run(talk())


@pytest.mark.parametrize("prompt", ["steady", "run sleep 1; echo slept"])
def test_a_server_that_is_killed_costs_no_chat_a_word(codex_place: Place, prompt: str) -> None:
    codex_place.configure()
    arguments = [codex_place.program, codex_place.home, codex_place.project, prompt]
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.agents.codex_doomed", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdout is not None
    told = [json.loads(server.stdout.readline()) for _ in range(2)]
    server.kill()
    server.wait()
    server.stdout.close()
    told.sort(key=lambda one: one[1][1])

    async def talk() -> None:
        async with open_servers(codex_place) as servers:
            runs = []
            for request, (child_id, first, offset), _ in told:
                chat = servers.chat.other(request["chat_id"])
                chat.last = RunRequest.model_validate(request)
                chat.mark = ChildMark(child_id, first)
                runs.append((chat, await chat.attach(stored=offset)))
            for chat, run in runs:
                whole = await chat.follow(run)
                assert whole.complete.outcome == "completed"
                assert len(whole.texts) == 1
                assert [end.status for end in whole.ends] in ([], ["completed"])
                assert await _knows(chat, prompt)
            assert {runs[0][0].session_id, runs[1][0].session_id} == {one[2] for one in told}
            assert len(servers.launcher.children) == 1

    asyncio.run(talk())
    prompts = [str(call.body["input"][-1]) for call in codex_place.fake.calls]
    assert len([said for said in prompts if prompt in said]) == 2


async def _knows(chat: Chat, prompt: str) -> bool:
    return (await chat.say("recall")).texts == [f"You said: {prompt} | recall"]
