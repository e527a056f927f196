"""Prompts and answers with the real Claude Code CLI: turns, processes, resume, models, errors."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import Any

import pytest

from jupyter_agentchat.errors import ProcessExited, SessionRejected
from jupyter_agentchat.protocol.events import AssistantText, Thinking, ToolUseStart
from tests.agents.claude_agent import Chat, Place, open_chat
from tests.waiting import until

UNKNOWN_SESSION = "845742ec-aec9-46c6-880e-f929255a787b"


def test_an_answer_streams_and_the_final_replaces_its_deltas(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("say hello")
            texts = told.all(AssistantText)
            assert [body.final for body in texts] == [False, False, True]
            assert len({body.item_id for body in texts}) == 1
            assert "".join(body.delta or "" for body in texts) == "Hello from the fake model."
            assert told.texts == ["Hello from the fake model."]
            assert told.complete.outcome == "completed"
            assert told.complete.usage is not None
            assert (told.complete.usage.output_tokens or 0) > 0
            assert (told.complete.cost_usd or 0) > 0

    asyncio.run(talk())


def test_two_prompts_share_one_process_that_is_gone_after_close(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            first = await chat.say("say hello")
            pid = chat.pid
            second = await chat.say("echo once more")
            assert chat.pid == pid
            assert second.texts == ["echo once more"]
            assert second.session_id == first.session_id
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)

    asyncio.run(talk())


def test_the_conversation_goes_on_after_its_process_ended(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            first = await chat.say("echo remember the colour teal")
            await chat.adapter.close_chat(chat.id)
            assert chat.launcher.children == []
            second = await chat.say("say hello")
            assert second.complete.outcome == "completed"
            assert second.session_id == first.session_id
            assert "colour teal" in str(place.fake.calls[-1].body["messages"])

    asyncio.run(talk())


def test_an_idle_process_ends_by_itself_and_the_next_prompt_resumes(place: Place) -> None:
    place.idle_timeout_s = 0.05

    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            await until(lambda: not chat.launcher.children)
            assert (await chat.say("say hello")).complete.outcome == "completed"

    asyncio.run(talk())


def test_a_conversation_that_the_agent_forgot_is_refused(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place, session_id=UNKNOWN_SESSION) as chat:
            with pytest.raises(SessionRejected) as refused:
                await chat.say("say hello")
            assert refused.value.provider_session_id == UNKNOWN_SESSION
            assert "No conversation found" in refused.value.reason
            assert place.fake.calls == []

    asyncio.run(talk())


def test_a_first_turn_that_was_never_written_begins_again_under_its_id(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place, session_id=UNKNOWN_SESSION) as chat:
            told = await chat.say("say hello", never_completed=True)
            assert told.complete.outcome == "completed"
            assert told.session_id == UNKNOWN_SESSION

    asyncio.run(talk())


def test_a_fork_knows_the_past_under_a_new_id(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo remember the colour teal")
            branch = Chat(chat.adapter, chat.launcher, place, "chat-2", chat.session_id)
            told = await branch.say("say hello", fork=True)
            assert told.session_id != chat.session_id
            assert "colour teal" in str(place.fake.calls[-1].body["messages"])

    asyncio.run(talk())


def test_a_transcript_stands_before_the_prompt_as_it_is(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            transcript = "Before: the person likes teal.\n"
            told = await chat.say("say hello", transcript=transcript)
            assert told.texts == ["Hello from the fake model."]
            content = place.fake.calls[-1].body["messages"]
            assert "the person likes teal" in str(content)

    asyncio.run(talk())


def test_model_and_effort_change_between_turns_in_the_same_process(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            pid = chat.pid
            told = await chat.say("say hello", model="sonnet", effort="high")
            assert chat.pid == pid
            body = place.fake.calls[-1].body
            assert "sonnet" in body["model"]
            assert body["output_config"]["effort"] == "high"
            assert told.all(ToolUseStart) == []
            await chat.say("say hello")
            assert chat.pid == pid
            assert "sonnet" not in place.fake.calls[-1].body["model"]
            ids = [model.id for model in (await chat.adapter.probe()).models]
            assert "sonnet" in ids

    asyncio.run(talk())


def test_thinking_is_told_apart_from_the_answer(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("think")
            thoughts = [body.text for body in told.all(Thinking) if body.final]
            assert thoughts == ["I consider one by one."]
            assert told.texts == ["The answer is 42."]

    asyncio.run(talk())


def test_an_answer_of_two_megabytes_arrives_whole_and_the_chat_goes_on(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("big")
            assert [len(text) for text in told.texts] == [2_000_000]
            assert (await chat.say("say hello")).texts == ["Hello from the fake model."]

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("status", "code", "retried"),
    [
        (401, "provider_signed_out", True),
        (404, "model_not_found", False),
        (400, "context_overflow", False),
        (429, "provider_rate_limited", True),
        (500, "provider_error", True),
        (529, "provider_overloaded", True),
    ],
)
def test_an_api_error_says_what_it_is_and_what_to_do(
    place: Place, status: int, code: str, retried: bool
) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say(f"error {status}")
            assert told.error.code == code
            assert told.error.message
            assert told.error.hint
            assert told.error.detail["http_status"] == status
            assert told.complete.outcome == "failed"
            assert told.texts == []
            assert bool(told.notices) == retried
            assert all(f"HTTP {status}" in notice.text for notice in told.notices)
            assert (await chat.say("say hello")).complete.outcome == "completed"

    asyncio.run(talk())


@pytest.mark.parametrize("fault", ["drop", "overloaded"])
def test_a_broken_stream_leaves_nothing_shown_twice(place: Place, fault: str) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say(fault)
            assert any(body.delta for body in told.all(AssistantText))
            shown: dict[str, str] = {}
            for body in told.all(AssistantText):
                text = body.text if body.final else shown.get(body.item_id, "") + body.delta
                shown[body.item_id] = text
            assert sum("This starts" in text for text in shown.values()) <= 1
            assert told.complete.outcome in ("completed", "failed")

    asyncio.run(talk())


def test_a_killed_agent_is_reported_and_the_next_prompt_resumes(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            run = await chat.start("hang")
            with pytest.raises(ProcessExited) as died:
                async for step in run.steps():
                    if any(isinstance(body, AssistantText) for body in step.bodies):
                        os.kill(chat.pid, signal.SIGKILL)
            assert died.value.signal == signal.SIGKILL
            assert (await chat.say("say hello")).complete.outcome == "completed"

    asyncio.run(talk())


def test_an_agent_that_cannot_start_says_why(place: Place) -> None:
    place.settings["CLAUDE_CODE_SUBPROCESS_ENV_SCRUB"] = "1"  # wants bubblewrap

    async def talk() -> None:
        async with open_chat(place) as chat:
            with pytest.raises(ProcessExited) as died:
                await chat.say("say hello")
            assert died.value.exit_code == 1
            assert died.value.stderr_tail.strip()
            assert died.value.hint

    asyncio.run(talk())


async def _probe(place: Place) -> Any:
    async with open_chat(place) as chat:
        return await chat.adapter.probe()


def test_the_probe_tells_signed_in_from_signed_out(place: Place) -> None:
    ready = asyncio.run(_probe(place))
    assert (ready.state, ready.available, ready.version) == ("ready", True, "2.1.332")
    assert "API key" in ready.account.label
    place.env["ANTHROPIC_API_KEY"] = ""
    out = asyncio.run(_probe(place))
    assert (out.state, out.available) == ("signed_out", False)
    assert out.sign_in_hint == "claude auth login"
    assert place.fake.calls == []
