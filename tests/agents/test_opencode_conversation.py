"""What a conversation with the real opencode is like: errors, stop, rewind with files, models."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.protocol.events import AssistantText, Notice, System, ToolUseStart
from tests.agents.opencode_agent import Place, allow, open_chat

pytestmark = pytest.mark.timeout(300)


def test_failures_say_what_to_do_and_the_next_prompt_works(opencode_place: Place) -> None:
    async def scenario() -> None:
        async with open_chat(opencode_place) as chat:
            told = await chat.say("http 401")
            assert told.error.code == "provider_signed_out"
            assert "opencode auth login" in (told.error.hint or "")
            told = await chat.say("say hello", model="fake/nope")
            assert told.error.code == "model_not_found"
            told = await chat.say("no end", model="fake/fake-model")
            assert "break off" in told.error.message
            told = await chat.say("say hello", model="fake/fake-thinker", effort="high")
            assert told.complete.outcome == "completed"
            assert '"high"' in opencode_place.fake.raw[-1]
            told = await chat.say("say hello", model="fake/fake-thinker", effort="enormous")
            assert [notice.code for notice in told.notices] == ["effort_ignored"]
            before = len(opencode_place.fake.turns)
            told = await chat.say("overflow")
            assert told.error.code == "context_overflow"
            assert len(opencode_place.fake.turns) - before < 10

    asyncio.run(scenario())


def test_stop_keeps_what_was_said_and_retries_can_be_stopped(opencode_place: Place) -> None:
    async def scenario() -> None:
        async with open_chat(opencode_place) as chat:
            run = await chat.start("slow")
            told = await chat.stop_at(run, lambda body: isinstance(body, AssistantText))
            assert told.complete.outcome == "cancelled"
            assert told.text.startswith("word ")
            run = await chat.start("http 500")
            told = await chat.stop_at(run, lambda body: isinstance(body, Notice))
            assert told.complete.outcome == "cancelled"
            assert told.notices[0].code == "retrying"
            run = await chat.start("run cmd: sleep 60", permission="full")
            told = await chat.stop_at(run, lambda body: isinstance(body, ToolUseStart))
            assert told.complete.outcome == "cancelled"
            assert told.ends[0].status == "cancelled"
            assert (await chat.say("mirror me")).text == "mirror me"

    asyncio.run(scenario())


def test_a_rewind_cuts_the_conversation_and_files_come_back_where_it_can(
    opencode_place: Place,
) -> None:
    async def scenario() -> None:
        notes = opencode_place.project / "notes.txt"
        async with open_chat(opencode_place) as chat:
            await chat.say("mirror one")
            await chat.say("write file", allow())
            await chat.say("edit file", allow())
            first, cut = chat.runs[0], chat.runs[1:]
            rewinder = chat.adapter.rewinder
            request, context = chat.request(""), chat.context()
            files = await rewinder.preview_files(request, context, cut[0])
            assert files == ["notes.txt"]
            assert notes.read_text().startswith("beta")
            assert await rewinder.restore_files(request, context, cut[0]) == ["notes.txt"]
            assert not notes.exists()
            assert await rewinder.rewind(request, context, cut)
            recalled = (await chat.say("recall")).text
            assert "mirror one" in recalled
            assert "write file" not in recalled
            assert not notes.exists()
            # of the conversation alone, files stay
            await chat.say("write file", allow())
            assert await rewinder.rewind(request, context, [chat.runs[-1]])
            assert notes.exists()
            assert "write file" not in (await chat.say("recall")).text
            # nothing that it does not know is a reason to fail
            assert await rewinder.rewind(request, context, ["never-sent"])
            assert first

    asyncio.run(scenario())


def test_outside_a_work_tree_files_stay_and_nothing_is_offered(opencode_place: Place) -> None:
    async def scenario() -> None:
        plain = opencode_place.home.parent / "plain"
        plain.mkdir()
        opencode_place.fake.workdir = str(plain)
        async with open_chat(opencode_place, cwd=plain) as chat:
            await chat.say("write file", allow())
            rewinder = chat.adapter.rewinder
            request, context = chat.request(""), chat.context()
            assert await rewinder.preview_files(request, context, chat.runs[0]) == []
            assert await rewinder.restore_files(request, context, chat.runs[0]) == []
            assert await rewinder.rewind(request, context, chat.runs)
            assert (plain / "notes.txt").exists()

    asyncio.run(scenario())


def test_commands_titles_and_compaction(opencode_place: Place) -> None:
    async def scenario() -> None:
        async with open_chat(opencode_place) as chat:
            told = await chat.say("say hello")
            titles = [body.data for body in told.all(System) if body.subtype == "title"]
            assert titles == [{"title": "Fake title"}]
            assert (await chat.say("/init")).complete.outcome == "completed"
            assert (await chat.say("/etc/hosts is a file")).complete.outcome == "completed"
            told = await chat.say("/compact")
            assert told.complete.outcome == "completed"
            assert "compaction" in {body.subtype for body in told.all(System)}
            assert (await chat.say("mirror on")).text == "mirror on"
            provider = await chat.adapter.probe()
            assert provider.state == "ready"
            assert provider.version == "1.18.33"
            assert [model.id for model in provider.models] == [
                "fake/fake-model",
                "fake/fake-thinker",
            ]

    asyncio.run(scenario())
