"""Cut connections, lost pieces, forgotten events, open tokens: nothing is lost, nothing lies."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    EventBody,
    PlanUsage,
    ToolUseEnd,
)
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import Begin, RunContext
from jupyter_agentchat.providers.kimi.run import KimiRun

from .stage import Chat, Played, open_chat, open_servers

WORDS = "".join(f"word{number} " for number in range(40))


def test_a_connection_that_is_cut_in_mid_answer_is_made_again_and_no_word_is_missing(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            played = await chat.say("cut")
            assert played.outcome == "completed"
            assert played.text == WORDS
            assert (await chat.say("say more")).text == "more "

    asyncio.run(scene())


def test_a_piece_that_got_lost_is_fetched(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            played = await chat.say("gap")
            assert played.text == WORDS
            assert played.codes == []

    asyncio.run(scene())


def test_events_that_the_server_has_no_more_are_named_as_lost_and_the_run_goes_on(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with open_servers(tmp_path) as servers:
            await servers.chat.follow(await servers.chat.start("many"), upto=1_200)
            chat = await servers.replaced()
            played = await chat.follow(await chat.attach())
            assert played.outcome == "completed"
            assert "events_lost" in played.codes
            assert played.text.endswith("the end")

    asyncio.run(scene())


def test_where_no_place_is_known_any_more_the_run_goes_on_from_now(tmp_path: Path) -> None:
    async def scene() -> None:
        env = {"FAKE_KIMI_FORGETS": "1"}
        async with open_servers(tmp_path, env=env) as servers:
            await servers.chat.follow(await servers.chat.start("steady"), upto=3)
            chat = await servers.replaced()
            played = await chat.follow(await chat.attach())
            assert played.outcome == "completed"
            assert "events_lost" in played.codes
            assert WORDS.endswith(played.text[-50:])

    asyncio.run(scene())


def test_a_token_that_others_can_read_is_not_used_and_its_server_is_ended(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path, env={"FAKE_KIMI_MODE": "644"}) as chat:
            with pytest.raises(ChildGone, match="can be read by others"):
                await chat.start("say x")
            assert chat.launcher.children == []

    asyncio.run(scene())


def test_two_chats_share_one_process_which_ends_when_it_was_idle(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path, idle_timeout_s=0.2) as chat:
            other = Chat(chat.adapter, chat.launcher, chat.cwd, "other")
            first, second = await asyncio.gather(chat.say("steady"), other.say("steady"))
            assert (first.text, second.text) == (WORDS, WORDS)
            assert chat.mark is not None
            assert other.mark is not None
            assert chat.mark.child_id == other.mark.child_id
            assert chat.session_id != other.session_id
            (child,) = chat.launcher.children
            assert await child.wait_quiet(10)
            assert (await chat.say("recall")).outcome == "completed"

    asyncio.run(_refused_resume_is_fine(scene))


async def _refused_resume_is_fine(scene: Any) -> None:
    # the stand-in keeps no conversation beyond its process
    with pytest.raises(Exception, match="does not know this conversation"):
        await scene()


def test_the_death_of_the_process_ends_its_runs_and_the_next_prompt_starts_another(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            other = Chat(chat.adapter, chat.launcher, chat.cwd, "other")
            run = await other.start("endless")
            with pytest.raises(ProcessExited) as caught:
                await chat.say("crash")
            assert "a last word" in caught.value.stderr_tail
            with pytest.raises(ProcessExited):
                await other.follow(run)
            chat.session_id = None
            assert (await chat.say("say again")).text == "again "

    asyncio.run(scene())


def test_stop_takes_back_what_was_steered_in_as_well(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            run = await chat.start("endless")
            steered: list[bool] = []

            async def steer_then_stop() -> None:
                steered.append(await run.steer("endless too", []))
                await run.cancel()

            def react(body: EventBody) -> Any:
                first = isinstance(body, AssistantText) and not steered
                return steer_then_stop() if first else None

            played = await chat.follow(run, react)
            assert steered == [True]
            assert played.outcome == "cancelled"
            assert not run.can_steer
            assert (await chat.say("say more")).outcome == "completed"

    asyncio.run(scene())


def test_a_steered_message_that_comes_too_late_begins_nothing(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            run = await chat.start("say x")
            await chat.follow(run)
            assert await run.steer("say y", []) is False
            assert "say y" not in (await chat.say("recall")).text

    asyncio.run(scene())


def test_a_turn_that_nobody_asked_for_is_hosted_as_a_run_or_stopped(tmp_path: Path) -> None:
    hosted: list[Played] = []
    chats: list[Chat] = []
    taken = asyncio.Event()

    async def begin_unasked(chat_id: str, begin: Begin) -> bool:
        assert chat_id == "chat"
        (chat,) = chats
        request = RunRequest(
            chat_id=chat_id,
            run_id="by-itself",
            prompt="",
            cwd=chat.cwd,
            provider_session_id=chat.session_id,
        )
        run = await begin(request, RunContext(True, "x", on_child=chat._on_child))
        assert isinstance(run, KimiRun)
        hosted.append(await chat.follow(run))
        taken.set()
        return True

    async def scene() -> None:
        async with open_chat(tmp_path, begin_unasked=begin_unasked) as chat:
            chats.append(chat)
            await chat.say("task")
            async with asyncio.timeout(10):
                await taken.wait()
            assert hosted[0].outcome == "completed"
            assert hosted[0].text == "by itself "
            assert (await chat.say("say more")).outcome == "completed"
        async with open_chat(tmp_path) as chat:
            await chat.say("task")
            # nobody hosts it here; the conversation is free for the next prompt all the same
            assert (await chat.say("say more")).text == "more "

    asyncio.run(scene())


def test_the_plan_is_told_only_for_the_makers_own_account(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path, env={"FAKE_KIMI_PLAN": "1"}) as chat:
            played = await chat.say("steady")
            (usage,) = [body for body in played.bodies if isinstance(body, PlanUsage)]
            (window,) = usage.windows
            assert (window.name, window.used_percent) == ("5 h", 25.0)
        async with open_chat(tmp_path) as chat:
            played = await chat.say("steady")
            assert not [body for body in played.bodies if isinstance(body, PlanUsage)]

    asyncio.run(scene())


def test_neither_the_token_nor_a_prompt_is_logged_or_named_in_arguments(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)

    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            await chat.say("say unmistakable")
            (child,) = chat.launcher.children
            line, token = _line_and_token(child.identity.pid, tmp_path)
            assert len(token) > 20
            for secret in (token, "unmistakable"):
                assert secret not in line
                assert secret not in caplog.text

    asyncio.run(scene())


def test_an_answer_that_counts_no_more_is_said_to_be_late(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            run = await chat.start("ask")
            answers: list[str] = []

            async def answer(ask_id: str) -> None:
                await run.answer(ask_id, AskAnswer(decision="allow", option_id="allow_once"))
                with pytest.raises(Exception, match="not open any more"):
                    await run.answer(ask_id, AskAnswer(decision="deny"))
                answers.append(ask_id)

            played = await chat.follow(
                run, lambda body: answer(body.ask_id) if body.type == "ask" else None
            )
            assert played.outcome == "completed"
            assert len(answers) == 1

    asyncio.run(scene())


def _line_and_token(pid: int, tmp_path: Path) -> tuple[str, str]:
    line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    return line, (tmp_path / "home/.kimi-code/server.token").read_text()


def test_pings_are_answered_so_that_the_connection_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)

    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            for _ in range(3):  # the stand-in waits a second for an answer
                assert (await chat.say("steady")).text == WORDS
            assert "connected again" not in caplog.text

    asyncio.run(scene())


def test_an_agent_that_does_not_heed_stop_is_ended_only_when_nobody_else_works_in_it(
    tmp_path: Path,
) -> None:
    async def scene() -> None:
        async with open_chat(tmp_path) as chat:
            other = Chat(chat.adapter, chat.launcher, chat.cwd, "other")
            beside = await other.start("deaf")
            run = await chat.start("deaf")

            def force(body: EventBody) -> Any:
                return run.cancel(force=True) if isinstance(body, AssistantText) else None

            assert (await chat.follow(run, force)).outcome == "cancelled"
            assert len(chat.launcher.children) == 1

            def force_other(body: EventBody) -> Any:
                return beside.cancel(force=True) if isinstance(body, AssistantText) else None

            (child,) = chat.launcher.children
            assert (await other.follow(beside, force_other)).outcome == "cancelled"
            assert await child.wait_quiet(10)

    asyncio.run(scene())


def test_what_an_approved_plan_allows_is_asked_in_the_next_server_too(tmp_path: Path) -> None:
    async def scene() -> None:
        async with open_servers(tmp_path) as servers:
            run = await servers.chat.start("plan", mode="plan", permission="read_only")
            asks: list[str] = []

            def approve(body: EventBody) -> Any:
                if not isinstance(body, Ask):
                    return None
                asks.append(body.kind)
                allowed = AskAnswer(decision="allow", option_id=body.options[0].id)
                return run.answer(body.ask_id, allowed) if body.kind == "plan" else None

            played = await servers.chat.follow(run, approve, until=lambda: len(asks) == 2)
            assert asks == ["plan", "permission"]
            stored = max(step.offset or 0 for step in played.steps)
            chat = await servers.replaced()
            again = await chat.attach(stored)

            def allow(body: EventBody) -> Any:
                open_ask = isinstance(body, Ask) and body.kind == "permission"
                allowed = AskAnswer(decision="allow", option_id="allow_once")
                return again.answer(body.ask_id, allowed) if open_ask else None  # type: ignore

            done = await chat.follow(again, allow)
            assert done.outcome == "completed"
            assert done.text == "Behind the plan."
            ends = [body.status for body in done.bodies if isinstance(body, ToolUseEnd)]
            assert ends[-1] == "completed"

    asyncio.run(scene())
