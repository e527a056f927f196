"""Chats with the real Qwen Code and Gemini CLI: what goes beyond the promises of every adapter."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import (
    Ask,
    Complete,
    EventBody,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from jupyter_agentchat.protocol.resources import AskAnswer, Attachment
from tests.agents.acp_agent import Place, allow, deny, open_chat, replaced
from tests.fakes.model_script import CONTENT

MCP = Path(__file__).parent.parent / "fakes" / "mcp_demo.py"
# one black dot
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)


def test_an_edit_is_asked_for_with_its_diff_and_done(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say("write file", allow)
            (asked,), (end,) = told.all(Ask), told.all(ToolUseEnd)
            assert asked.diffs[0].path == "notes.txt"
            assert (end.status, end.diffs[0].change) == ("completed", "add")
            assert (acp_place.project / "notes.txt").read_text() == CONTENT
            told = await chat.say("edit file", allow)
            (end,) = told.all(ToolUseEnd)
            assert (end.diffs[0].added, end.diffs[0].removed) == (1, 1)
            assert told.all(ToolUseStart)[0].kind == "edit"

    asyncio.run(act())


def test_permissions_are_the_agents_own_modes(acp_place: Place) -> None:
    notes = acp_place.project / "notes.txt"

    async def act() -> None:
        async with open_chat(acp_place) as chat:
            await chat.say("write file", permission="accept_edits")  # nobody is asked
            assert notes.exists()
            await chat.say("run cmd: touch free", permission="full")
            assert (acp_place.project / "free").exists()
            told = await chat.say("run cmd: touch never", permission="read_only", mode="plan")
            assert told.complete.outcome == "completed"
            assert not (acp_place.project / "never").exists()
            told = await chat.say("run cmd: touch asked", deny)
            assert told.all(Ask)
            assert not (acp_place.project / "asked").exists()
            (end,) = told.all(ToolUseEnd)
            assert end.status == "denied"
            assert len(chat.launcher.children) == 1

    asyncio.run(act())


def test_a_permission_that_an_untrusted_folder_forbids_is_answered_by_us(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place, trusted=False) as chat:
            told = await chat.say("run cmd: touch free", permission="full")
            assert [one.code for one in told.bodies if one.type == "notice"] == [
                "allowed_automatically"
            ]
            assert (acp_place.project / "free").exists()

    asyncio.run(act())


def test_the_conversation_goes_on_in_another_process(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            await chat.say("echo first words")
            first = chat.session_id
            await chat.adapter.close_chat(chat.id)
            assert chat.launcher.children == []
            _age(acp_place.home)
            told = await chat.say("recall")
            assert chat.session_id == first
            assert "first words" in told.text
            assert told.text.count("echo first words") == 1

    asyncio.run(act())


def _age(home: Path) -> None:
    """Gemini CLI names a conversation's file by the minute, and one that is loaded within the
    minute of its beginning overwrites itself: let it have begun long ago."""
    for path in home.glob(".gemini/tmp/*/chats/session-*.jsonl"):
        path.rename(path.with_name(f"session-2026-01-01T00-00-{path.name.rsplit('-', 1)[1]}"))


def test_two_chats_at_once_do_not_meet(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as one:
            other = type(one)(one.adapter, one.launcher, acp_place, id="chat-2")
            told = await asyncio.gather(one.say("echo apples"), other.say("echo pears"))
            assert ["apples" in told[0].text, "pears" in told[1].text] == [True, True]
            assert "pears" not in told[0].text
            assert one.session_id != other.session_id
            assert len(one.launcher.children) == 2

    asyncio.run(act())


def test_stop_ends_a_running_command_and_the_chat_goes_on(acp_place: Place) -> None:
    def runs(body: EventBody) -> bool:
        return isinstance(body, ToolUseStart)

    async def act() -> None:
        async with open_chat(acp_place) as chat:
            run = await chat.start("run cmd: sleep 30", permission="full")
            told = await chat.stop_at(run, runs)
            assert told.complete.outcome == "cancelled"
            assert (await chat.say("say hello", provider_session_id=told.session_id)).text

    asyncio.run(act())


def test_stop_while_it_asks_answers_the_ask(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            run = await chat.start("run cmd: touch asked")
            told = await chat.stop_at(run, lambda body: isinstance(body, Ask))
            assert told.complete.outcome == "cancelled"
            assert not (acp_place.project / "asked").exists()

    asyncio.run(act())


def test_a_silent_model_can_be_stopped(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            run = await chat.start("stall")
            told = await chat.stop_at(run, lambda body: body.type == "assistant_text")
            assert told.complete.outcome == "cancelled"

    asyncio.run(act())


@pytest.mark.parametrize(("status", "code"), [(401, "provider_signed_out"), (400, None)])
def test_a_refusal_of_the_models_service_is_said(
    status: int, code: str | None, acp_place: Place
) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say(f"http {status}")
            assert told.complete.outcome == "failed"
            assert "scripted failure" in told.error.message
            assert code is None or told.error.code == code

    asyncio.run(act())


def test_usage_is_told(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say("say hello")
            usage = told.complete.usage
            assert usage is not None
            assert usage.output_tokens == 20
            assert usage.input_tokens == (90 if acp_place.agent == "qwen" else 100)
            assert told.all(Usage)[-1] == usage

    asyncio.run(act())


def test_an_image_reaches_the_model(acp_place: Place) -> None:
    picture = acp_place.project / "dot.png"
    picture.write_bytes(PNG)
    attachment = Attachment(
        id="1", name="dot.png", path=str(picture), mime="image/png", kind="image"
    )

    # Qwen Code goes by the model's name
    acp_place.env["OPENAI_MODEL"] = "qwen-vl-max"

    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say("how many images", attachments=[attachment])
            assert "I see 1 images." in told.text

    asyncio.run(act())


def test_an_mcp_server_is_handed_over(acp_place: Place) -> None:
    servers = {"demo": {"command": sys.executable, "args": [str(MCP)], "env": {}}}

    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say("mcp tool", allow, mcp_servers=servers)
            start = told.all(ToolUseStart)[-1]
            assert start.kind == "mcp"
            assert (start.input.server, start.input.tool) == ("demo", "demo_echo")
            (end,) = told.all(ToolUseEnd)
            assert end.status == "completed"
            assert "hi" in json.dumps([one.model_dump() for one in end.output])

    asyncio.run(act())


def test_questions_of_qwen_code_are_a_form(acp_place: Place) -> None:
    if acp_place.agent != "qwen":
        # Gemini CLI has no such tool over this protocol
        async def without() -> None:
            async with open_chat(acp_place) as chat:
                assert not (await chat.say("ask question", permission="full")).all(Ask)

        asyncio.run(without())
        return
    answer = AskAnswer(decision="answered", answers={"q0": "Blue", "q1": ["Apple", "Cherry"]})

    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say("ask question", lambda _ask: answer, permission="full")
            (asked,), (end,) = told.all(Ask), told.all(ToolUseEnd)
            assert (asked.kind, len(asked.questions)) == ("question", 2)
            assert [one.multi_select for one in asked.questions] == [False, True]
            assert "**Colour**: Blue" in end.output[0].text
            assert "Apple, Cherry" in end.output[0].text

    asyncio.run(act())


def test_huge_output_of_a_command_comes_through(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            told = await chat.say("huge output", permission="full")
            assert told.complete.outcome == "completed"
            assert told.all(ToolUseEnd)[0].status == "completed"

    asyncio.run(act())


def test_a_server_that_is_replaced_in_mid_turn_loses_and_doubles_nothing(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            whole = (await chat.say("steady")).text
            request = chat.request("steady")
            run = await chat.start("steady", run_id=request.run_id)
            count = 0
            async for step in run.steps():
                count += any(body.type == "assistant_text" for body in step.bodies)
                if count == 5:
                    break
            mark, session_id = chat.marks[-1], chat.session_id
            chat = await replaced(chat)
            again = chat.request("steady", run_id=request.run_id, provider_session_id=session_id)
            told = await chat.follow(await chat.adapter.attach(again, chat.context(), mark))
            assert told.complete.outcome == "completed"
            assert told.text == whole
            assert len([one for one in acp_place.fake.turns if one.said[-1:] == ["steady"]]) == 2
            await chat.adapter.close()
            await chat.launcher.close()

    asyncio.run(act())


def test_the_agent_leaves_no_process_when_its_chat_is_closed(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            assert (await chat.say("say hello")).all(Complete)
            await chat.adapter.close_chat(chat.id)
            assert chat.launcher.children == []

    asyncio.run(act())
