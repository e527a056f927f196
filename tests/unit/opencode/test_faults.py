"""What can go wrong between us and opencode, with a scripted one."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited, ProviderTimeout, TooOld
from jupyter_agentchat.protocol.events import (
    Ask,
    AskResolved,
    AssistantText,
    Complete,
    Error,
    Notice,
    Session,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import ChildMark, RunContext
from jupyter_agentchat.providers.opencode import run as running
from jupyter_agentchat.providers.opencode.adapter import OpencodeAdapter
from tests.unit.opencode.stage import SESSION, context, follow, local, of, request, say, spool
from tests.waiting import until


def test_a_cut_of_the_event_stream_loses_and_doubles_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with local(tmp_path) as adapter:
            bodies = await say(adapter, request("cut", tmp_path))
            texts = [body for body in of(AssistantText, bodies) if body.final]
            assert [body.text for body in texts] == ["".join(f"part {n} " for n in range(20))]
            assert [notice.code for notice in of(Notice, bodies)] == ["gap"]
            assert len(of(ToolUseStart, bodies)) == len(of(ToolUseEnd, bodies)) == 1
            assert of(Complete, bodies)[0].outcome == "completed"

    asyncio.run(scenario())


def test_a_prompt_that_begins_nothing_ends_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(running, "BEGIN_S", 0.3)
        async with local(tmp_path) as adapter:
            with pytest.raises(ProviderTimeout):
                await say(adapter, request("nothing", tmp_path))
            again = await say(adapter, request("hello", tmp_path, run_id="r1"))
            assert of(Complete, again)[0].outcome == "completed"

    asyncio.run(scenario())


def test_a_refused_prompt_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(running, "REFUSED_S", 0.1)
        async with local(tmp_path) as adapter:
            bodies = await say(adapter, request("refused", tmp_path))
            assert of(Error, bodies)[0].message == "no image"
            assert of(Complete, bodies)[0].outcome == "failed"

    asyncio.run(scenario())


def test_a_subagents_question_stands_in_the_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with local(tmp_path) as adapter:
            bodies = await say(adapter, request("child", tmp_path))
            task, command = of(ToolUseStart, bodies)
            assert command.parent_tool_id == task.tool_id
            assert of(Ask, bodies)[0].tool_id == command.tool_id
            assert of(AskResolved, bodies) == []
            assert {end.status for end in of(ToolUseEnd, bodies)} == {"completed"}

    asyncio.run(scenario())


@pytest.mark.parametrize(("permission", "status"), [("full", "completed"), ("read_only", "denied")])
def test_full_and_read_only_answer_for_subagents(
    tmp_path: Path, permission: str, status: str
) -> None:
    async def scenario() -> None:
        async with local(tmp_path) as adapter:
            bodies = await say(adapter, request("child", tmp_path, permission=permission))
            assert of(Ask, bodies) == []
            assert of(ToolUseEnd, bodies)[0].status == status

    asyncio.run(scenario())


def test_a_late_answer_is_told_apart(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with local(tmp_path) as adapter:
            run = await adapter.start(request("question", tmp_path), RunContext(True, SESSION))
            answers: list[str] = []
            async for step in run.steps():
                for body in step.bodies:
                    if isinstance(body, Ask):
                        given = AskAnswer(decision="answered", answers={"q1": ["Blue"]})
                        await run.answer(body.ask_id, given)
                        with pytest.raises(Exception, match="does not wait"):
                            await run.answer(body.ask_id, given)
                    if isinstance(body, AssistantText) and body.final:
                        answers.append(body.text or "")
            assert answers == ["You chose [['Blue']]"]

    asyncio.run(scenario())


def test_an_old_one_is_refused_and_a_broken_one_says_its_words(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with local(tmp_path, env={"FAKE_OPENCODE_VERSION": "1.0.215"}) as adapter:
            with pytest.raises(TooOld):
                await say(adapter, request("hello", tmp_path))
            assert (await adapter.probe()).state == "too_old"
        async with local(tmp_path, env={"FAKE_OPENCODE_BROKEN": "1"}) as adapter:
            with pytest.raises(ProcessExited, match="not valid JSON"):
                await say(adapter, request("hello", tmp_path))

    asyncio.run(scenario())


def test_its_key_never_comes_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with local(tmp_path) as adapter:
            await say(adapter, request("hello", tmp_path))
            provider = await adapter.probe()
            assert provider.state == "ready"
            assert provider.models[0].id == "fake/fake-model"
            assert provider.models[0].efforts == ["low", "high"]
            assert "sk-fake-secret-key" not in provider.model_dump_json()

    asyncio.run(scenario())


def test_two_chats_of_two_directories_share_one_process_which_rests_when_idle(
    tmp_path: Path,
) -> None:
    async def scenario() -> None:
        async with local(tmp_path, idle_timeout_s=0.1) as adapter:
            other = tmp_path / "other"
            other.mkdir()
            asked = [
                request("mirror one", tmp_path, run_id="r0", chat_id="a"),
                request("mirror two", other, run_id="r1", chat_id="b"),
            ]
            told = await asyncio.gather(*(say(adapter, one) for one in asked))
            texts = [
                body.text for bodies in told for body in of(AssistantText, bodies) if body.final
            ]
            assert texts == ["mirror one", "mirror two"]
            sessions = {of(Session, bodies)[0].provider_session_id for bodies in told}
            assert len(sessions) == 2
            await until(lambda: not adapter.children.alive)

    asyncio.run(scenario())


def test_two_runs_of_one_process_are_both_taken_over(tmp_path: Path) -> None:
    async def scenario() -> None:
        launcher = spool(tmp_path)
        adapter = OpencodeAdapter(context(launcher, tmp_path))
        marks: list[ChildMark] = []

        async def on_child(mark: ChildMark) -> None:
            marks.append(mark)

        asked = [request("steady", tmp_path, run_id=f"r{n}", chat_id=f"c{n}") for n in range(2)]
        how = RunContext(True, SESSION, on_child=on_child)
        offsets = []
        for one in asked:
            run = await adapter.start(one, how)
            async with aclosing(run.steps()) as steps:
                async for step in steps:
                    if of(AssistantText, list(step.bodies)):
                        offsets.append(step.offset or 0)
                        break
        await launcher.leave()
        launcher = spool(tmp_path)
        adapter = OpencodeAdapter(context(launcher, tmp_path))
        runs = [
            await adapter.attach(one, RunContext(True, SESSION), replace(mark, stored=offset))
            for one, mark, offset in zip(asked, marks, offsets, strict=True)
        ]
        told = await asyncio.gather(*(follow(run) for run in runs))
        for bodies in told:
            finals = [body.text for body in of(AssistantText, bodies) if body.final]
            assert finals == ["".join(f"part {n} " for n in range(30))]
            assert of(Notice, bodies) == []
        await adapter.close()
        await launcher.close()

    asyncio.run(scenario())


@pytest.mark.parametrize("prompt", ["steady", "hello"])
def test_what_a_dead_one_had_said_is_told_with_how_it_ended(tmp_path: Path, prompt: str) -> None:
    async def scenario() -> None:
        launcher = spool(tmp_path)
        adapter = OpencodeAdapter(context(launcher, tmp_path))
        marks: list[ChildMark] = []

        async def on_child(mark: ChildMark) -> None:
            marks.append(mark)

        asked = request(prompt, tmp_path)
        run = await adapter.start(asked, RunContext(True, SESSION, on_child=on_child))
        moment = Complete if prompt == "hello" else AssistantText
        async with aclosing(run.steps()) as steps:
            async for step in steps:
                if of(moment, list(step.bodies)):
                    break
        (child,) = launcher.children
        await launcher.leave()
        os.kill(child.identity.pid, signal.SIGKILL)
        launcher = spool(tmp_path)
        adapter = OpencodeAdapter(context(launcher, tmp_path))
        run = await adapter.attach(asked, RunContext(True, SESSION), marks[0])
        if prompt == "hello":
            assert of(Complete, await follow(run))[0].outcome == "completed"
        else:
            with pytest.raises(ProcessExited) as ended:
                await follow(run)
            assert ended.value.signal == signal.SIGKILL
        with pytest.raises(ChildGone):
            other = request("hello", tmp_path, run_id="never-sent")
            await adapter.attach(other, RunContext(True, SESSION), marks[0])
        await adapter.close()
        await launcher.close()

    asyncio.run(scenario())


def test_a_stop_that_is_not_heeded_frees_the_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        monkeypatch.setattr(running, "HEED_S", 0.0)
        async with local(tmp_path) as adapter:
            run = await adapter.start(request("steady", tmp_path), RunContext(True, SESSION))
            bodies = []
            async for step in run.steps():
                bodies += step.bodies
                if of(AssistantText, list(step.bodies)):
                    await run.cancel(force=True)
            assert of(Complete, bodies)[0].outcome == "cancelled"

    asyncio.run(scenario())


def test_a_slash_command_of_its_list_is_run_as_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with local(tmp_path) as adapter:
            bodies = await say(adapter, request("/tidy all of it", tmp_path))
            assert of(Complete, bodies)[0].outcome == "completed"
            words = await say(adapter, request("/home/x is a path", tmp_path, run_id="r1"))
            assert of(Complete, words)[0].outcome == "completed"

    asyncio.run(scenario())
