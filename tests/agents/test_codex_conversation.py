"""A conversation with the real Codex: what it says, thinks, does and counts."""

from __future__ import annotations

import asyncio
import base64
import subprocess
import sys

from jupyter_agentchat.protocol.events import Ask, Plan, PlanUsage, Session, System, Usage
from jupyter_agentchat.protocol.resources import AskAnswer, Attachment
from tests.agents.codex_agent import Place, allow, command_line, open_chat
from tests.fakes import anthropic_mcp

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4"
    "2mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
DEMO = {"command": sys.executable, "args": [anthropic_mcp.__file__], "env": {}}


def test_text_and_reasoning_stream_and_the_run_counts_only_its_own_tokens(
    codex_place: Place,
) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            first = await chat.say("say hello")
            assert first.texts == ["Hello from the fake model!\n\n```python\nprint('hi')\n```\n"]
            assert first.thoughts == [
                "**Thinking about a greeting** They want a hello.\n\n**Deciding** Short."
            ]
            second = await chat.say("say hello")
            spent = [told.all(Usage)[-1] for told in (first, second)]
            assert all(usage.output_tokens == spent[0].output_tokens for usage in spent)
            assert all(usage.context_used > usage.input_tokens for usage in spent)
            failed = await chat.say("error quota")
            assert failed.all(Usage) == []
            assert failed.complete.usage is None

    asyncio.run(talk())


def test_two_chats_share_one_process_and_see_nothing_of_each_other(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            other = chat.other("chat-2")
            first, second = await asyncio.gather(chat.say("steady one"), other.say("steady two"))
            assert chat.session_id != other.session_id
            for told in (first, second):
                assert told.complete.outcome == "completed"
                assert len(told.texts) == 1
            ours, theirs = await asyncio.gather(chat.say("recall mine"), other.say("recall theirs"))
            assert ours.texts == ["You said: steady one | recall mine"]
            assert theirs.texts == ["You said: steady two | recall theirs"]
            assert len(chat.launcher.children) == 1

    asyncio.run(talk())


def test_another_server_resumes_the_conversation(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo one")
            session_id = chat.session_id
        async with open_chat(codex_place, session_id=session_id) as chat:
            told = await chat.say("recall")
            assert told.texts == ["You said: echo one | recall"]
            assert chat.session_id == session_id

    asyncio.run(talk())


def test_a_picture_is_seen_by_the_model(codex_place: Place) -> None:
    picture = codex_place.project / "dot.png"
    picture.write_bytes(base64.b64decode(PIXEL))
    attached = Attachment(id="a", name="dot.png", path=str(picture), kind="image")

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("look at it", attachments=[attached])
            assert told.texts == ["I see 1: ['data:image/png;base64,']"]

    asyncio.run(talk())


def test_a_skill_of_the_persons_own_is_handed_over(codex_place: Place) -> None:
    skill = codex_place.home / ".codex" / "skills" / "greeting" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: greeting\ndescription: How to greet\n---\nBow THREE times.\n")

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo hi", skills=["host:greeting"])
            assert "Bow THREE times." in str(codex_place.fake.calls[-1].body)

    asyncio.run(talk())


def test_an_mcp_server_handed_over_is_asked_for_and_answers(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo before")
            told = await chat.say(
                "use mcp demo add", allow("allow_chat"), mcp_servers={"demo": DEMO}
            )
            (ask,) = told.asks
            assert (ask.input.server, ask.input.tool) == ("demo", "add")
            assert ask.tool_id == told.ends[0].tool_id
            assert told.ends[0].output[0].text == "5"
            # allowed for the chat: not asked again
            again = await chat.say("use mcp demo add", mcp_servers={"demo": DEMO})
            assert again.ends[0].status == "completed"

    asyncio.run(talk())


def test_a_broken_mcp_server_is_told_and_the_turn_goes_on(codex_place: Place) -> None:
    broken = {"command": "/nonexistent/server", "args": []}

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("say hello", mcp_servers={"broken": broken})
            assert told.complete.outcome == "completed"
            (notice,) = [one for one in told.notices if one.code == "mcp_failed"]
            assert "broken" in notice.text

    asyncio.run(talk())


def test_the_checklist_and_the_plans_usage_are_shown(codex_place: Place) -> None:
    codex_place.fake.rate_limits = True

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("make plan")
            states = [[entry.status for entry in plan.entries] for plan in told.all(Plan)]
            assert states == [
                ["in_progress", "pending", "pending"],
                ["completed", "in_progress", "pending"],
            ]
            (usage,) = told.all(PlanUsage)
            assert [(one.name, one.resets_at) for one in usage.windows] == [
                ("5 hours", "2030-03-17T17:46:40+00:00"),
                ("7 days", "2030-03-23T12:40:00+00:00"),
            ]

    asyncio.run(talk())


def test_a_question_in_plan_mode_is_answered_by_a_person(codex_place: Place) -> None:
    def answer(ask: object) -> AskAnswer:
        return AskAnswer(decision="answered", answers={"colour": ["Blue"]})

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("ask me", answer, mode="plan", permission="read_only")
            (ask,) = told.asks
            assert ask.kind == "question"
            assert [one.label for one in ask.questions[0].options] == ["Red (Recommended)", "Blue"]
            assert "Blue" in told.texts[0]
            # the mode does not stick
            after = await chat.say("ask me")
            assert "unavailable" in after.texts[0]

    asyncio.run(talk())


def test_an_approved_plan_is_carried_out_in_the_same_run_and_as_it_says(
    codex_place: Place,
) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say(
                "propose plan", allow("approve_accept_edits"), mode="plan", permission="read_only"
            )
            (ask,) = told.asks
            assert (ask.kind, ask.plan) == ("plan", "# Plan\n1. Read\n2. Write\n")
            # no ask for the edit, and the plan stands in the ask alone
            assert (codex_place.project / "added.txt").exists()
            assert [text.strip() for text in told.texts][:1] == ["I propose this."]
            assert "1. Read" not in "".join(told.texts)
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_a_plan_that_is_not_approved_ends_the_run_and_planning_goes_on(codex_place: Place) -> None:
    def keep(ask: object) -> AskAnswer:
        return AskAnswer(decision="deny", option_id="keep_planning")

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("propose plan", keep, mode="plan", permission="read_only")
            assert told.complete.outcome == "completed"
            told = await chat.say("propose plan", keep, mode="plan", permission="read_only")
            assert len(told.asks) == 1
            run = await chat.start("propose plan", mode="plan", permission="read_only")
            told = await chat.stop_at(run, lambda body: isinstance(body, Ask))
            assert told.complete.outcome == "cancelled"
            assert not (codex_place.project / "added.txt").exists()

    asyncio.run(talk())


def test_a_helpers_calls_stand_below_the_call_that_began_it_and_its_asks_reach_a_person(
    codex_place: Place,
) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("delegate run touch by-helper", allow())
            spawn = next(start for start in told.starts if start.kind == "subagent")
            work = next(start for start in told.starts if start.kind == "shell")
            assert work.parent_tool_id == spawn.tool_id
            assert [ask.tool_id for ask in told.asks] == [work.tool_id]
            assert (codex_place.project / "by-helper").exists()
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_compaction_and_review_are_turns_of_their_own(codex_place: Place) -> None:
    subprocess.run(["git", "init", "-q", codex_place.project], check=True)
    (codex_place.project / "notes.txt").write_text("new\n")

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo one")
            compacted = await chat.say("/compact")
            assert compacted.complete.outcome == "completed"
            assert "compaction" in [one.subtype for one in compacted.all(System)]
            review = await chat.say("/review")
            assert review.complete.outcome == "completed"
            assert ["Guard the empty case" in text for text in review.texts] == [True]
            assert (await chat.say("echo after")).texts == ["echo after"]

    asyncio.run(talk())


def test_model_effort_and_tier_go_with_each_turn_and_do_not_stick(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo one", model="gpt-5.5", effort="low", service_tier="priority")
            body = codex_place.fake.calls[-1].body
            assert (body["model"], body["service_tier"]) == ("gpt-5.5", "priority")
            assert body["reasoning"]["effort"] == "low"
            await chat.say("echo two")
            body = codex_place.fake.calls[-1].body
            assert body["model"] == "gpt-fake-codex"
            assert "service_tier" not in body

    asyncio.run(talk())


def test_what_the_agent_changed_is_shown_with_its_diff(codex_place: Place) -> None:
    (codex_place.project / "notes.txt").write_text("old line\n")

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("edit file", permission="accept_edits")
            (end,) = told.ends
            (diff,) = end.diffs
            assert (diff.path, diff.change, diff.added, diff.removed) == (
                "notes.txt",
                "update",
                1,
                1,
            )
            assert (
                diff.patch
                == "--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-old line\n+new line\n"
            )
            (whole,) = [one for one in told.all(System) if one.subtype == "turn_diff"]
            assert "+new line" in whole.data["diff"]

    asyncio.run(talk())


def test_the_prompt_and_the_secrets_stand_on_no_command_line(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            run = await chat.start("slow whisper")
            argv = command_line(chat.pid)
            assert "whisper" not in argv
            # at once: the turn is not known to Codex yet, and Stop must not get lost
            told = await chat.stop_at(run, lambda body: isinstance(body, Session))
            assert told.complete.outcome == "cancelled"

    asyncio.run(talk())
