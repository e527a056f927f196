"""What a person sees of a conversation with the real Kimi Code."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Ask, Plan, Thinking, Usage
from jupyter_agentchat.protocol.resources import AskAnswer, Attachment
from tests.agents.kimi_agent import Chat, Place, a_place, allow, open_chat

DOT = (
    "iVBORw0KGgoAAAANSUhEUgAAAAgAAAAICAIAAABLbSncAAAAEklEQVR4nGP4z8CAFWEXHbQSACj/P8Fu7N9hAAAAAElF"
    "TkSuQmCC"
)

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


def test_thinking_calls_files_and_tokens_of_one_conversation(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        told = await chat.say("talk", allow())
        assert told.complete.outcome == "completed"
        assert told.texts[:2] == ["Look 0. ", "Look 1. "]
        assert told.streamed == "".join(told.texts)
        assert [body.text for body in told.all(Thinking) if body.final] == [
            "Thought 0.",
            "Thought 1.",
        ]
        assert [start.input.command for start in told.starts] == ["echo 0", "echo 1"]
        assert [end.output[0].text for end in told.ends] == ["0\n", "1\n"]
        assert told.complete.usage is not None
        assert told.complete.usage.context_window == 128_000
        assert (told.complete.usage.input_tokens or 0) > 0
        assert told.all(Usage)[-1] == told.complete.usage

        wrote = await chat.say("write file")
        assert (place.project / "notes.txt").read_text() == "alpha\nsecond line\n"
        assert wrote.ends[0].diffs[0].path == "notes.txt"
        edited = await chat.say("edit file")
        (diff,) = edited.ends[0].diffs
        assert (diff.added, diff.removed) == (1, 1)
        assert diff.patch is not None
        assert "+beta" in diff.patch

        failing = await chat.say("run failing shell", allow())
        (end,) = failing.ends
        assert (end.status, end.exit_code) == ("failed", 3)
        assert end.output[0].text == "out\nerr"

        recalled = await chat.say("recall")
        assert "talk" in recalled.texts[-1]
        assert {chat.session_id} == {told.session_id, recalled.session_id}

    asyncio.run(_with_chat(place, talk))


def test_questions_are_answered_with_one_choice_several_and_own_words(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        def answer(ask: Ask) -> AskAnswer:
            assert ask.kind == "question"
            assert [one.multi_select for one in ask.questions] == [False, True]
            answers: dict[str, list[str] | str] = {
                ask.questions[0].id: "Red",
                ask.questions[1].id: ["Apple", "Quince"],
            }
            return AskAnswer(decision="answered", answers=answers)

        told = await chat.say("my question", answer)
        assert told.complete.outcome == "completed"
        assert "Red" in place.fake.raw[-1]
        assert "Quince" in place.fake.raw[-1]

        dismissed = await chat.say("my question", lambda ask: AskAnswer(decision="deny"))
        assert dismissed.complete.outcome == "completed"
        assert "dismissed" in place.fake.raw[-1]

    asyncio.run(_with_chat(place, talk))


def test_the_checklist_an_image_and_an_answer_of_a_helper_arrive(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        listed = await chat.say("my todo")
        (plan,) = listed.all(Plan)
        assert [(entry.text, entry.status) for entry in plan.entries] == [
            ("one", "in_progress"),
            ("two", "completed"),
        ]
        picture = place.home / "dot.png"
        picture.write_bytes(base64.b64decode(DOT))
        image = Attachment(
            id="a", name="dot.png", path=str(picture), mime="image/png", kind="image"
        )
        seen = await chat.say("how many images", attachments=[image])
        assert seen.texts == ["I see 1 images."]

        helped = await chat.say("subagent ls", allow())
        helper, child = helped.starts[:2]
        assert helper.kind == "subagent"
        assert child.parent_tool_id == helper.tool_id
        (ask,) = helped.all(Ask)
        assert ask.tool_id == child.tool_id
        assert helped.complete.outcome == "completed"
        assert len(helped.texts) == 1, "the helper's own words are not the answer"

    asyncio.run(_with_chat(place, talk))


@pytest.mark.parametrize(
    ("prompt", "code", "status"),
    [
        ("http 401", "provider_signed_out", 401),
        ("http 400", "provider_error", 400),
        ("http 429", "provider_rate_limited", 429),
    ],
)
def test_a_failed_turn_says_why_and_that_its_prompt_is_kept(
    place: Place, prompt: str, code: str, status: int
) -> None:
    async def talk(chat: Chat) -> None:
        told = await chat.say(prompt)
        assert told.complete.outcome == "failed"
        assert told.error.code == code
        assert told.error.detail["http_status"] == status
        assert told.error.hint
        assert told.codes[-1] == "prompt_kept"
        if status == 429:
            assert "api_retry" in told.codes
        again = await chat.say("quick hello")
        assert again.texts == ["hello"]

    asyncio.run(_with_chat(place, talk))


def test_a_model_that_is_not_set_up_is_named(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        with pytest.raises(Exception, match="no/such") as caught:
            await chat.say("quick hello", model="no/such")
        assert caught.value.event_code == "model_not_found"  # type: ignore[attr-defined]
        assert (await chat.say("quick hello", effort="high")).texts == ["hello"]

    asyncio.run(_with_chat(place, talk))


async def _with_chat(place: Place, talk: object) -> None:
    assert callable(talk)
    async with open_chat(place) as chat:
        await talk(chat)
