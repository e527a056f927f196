"""Rewind, files and fork with the real Claude Code CLI: what the agent still knows afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import AssistantText
from tests.agents.claude_agent import Chat, Place, Told, open_chat
from tests.waiting import until

EDITS = {"permission": "accept_edits"}


async def _rewind(chat: Chat, count: int) -> bool:
    """Cut the last `count` runs."""
    cut = chat.runs[-count:]
    del chat.runs[-count:]
    return await chat.adapter.rewinder.rewind(chat.request(""), chat.context(), cut)


async def _known(chat: Chat) -> list[str]:
    """The prompts that the agent knows."""
    told: Told = await chat.say("recall")
    return [text for text in told.texts[0].removeprefix("You said: ").split(" | ") if text]


@pytest.fixture(params=["warm", "cold"])
def ended(request: pytest.FixtureRequest) -> bool:
    """Whether the process has ended before the rewind."""
    return request.param == "cold"


def test_the_agent_forgets_what_was_cut(place: Place, ended: bool) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            for name in ("one", "two", "three"):
                await chat.say(f"echo {name}")
            if ended:
                await chat.adapter.close_chat(chat.id)
            assert await _rewind(chat, 2)
            assert len(place.fake.calls) == 3
            pid = chat.pid
            assert [*dict.fromkeys(await _known(chat))] == ["echo one", "recall"]
            assert chat.pid == pid

    asyncio.run(talk())


def test_the_first_prompt_can_be_cut_too_and_the_cut_outlives_the_process(
    place: Place, ended: bool
) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            await chat.say("echo two")
            if ended:
                await chat.adapter.close_chat(chat.id)
            assert await _rewind(chat, 2)
            await chat.adapter.close_chat(chat.id)
            assert [*dict.fromkeys(await _known(chat))] == ["recall"]

    asyncio.run(talk())


def test_a_second_cut_follows_the_first(place: Place, ended: bool) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            for name in ("one", "two", "three", "four"):
                await chat.say(f"echo {name}")
            assert await _rewind(chat, 1)
            if ended:
                await chat.adapter.close_chat(chat.id)
            assert await _rewind(chat, 1)
            await chat.say("echo five")
            assert await _rewind(chat, 1)
            assert [*dict.fromkeys(await _known(chat))] == ["echo one", "echo two", "recall"]

    asyncio.run(talk())


def test_a_run_with_steered_messages_is_cut_whole(place: Place, ended: bool) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            run = await chat.start("steady")
            steered = False
            async for step in run.steps():
                if not steered and any(isinstance(body, AssistantText) for body in step.bodies):
                    steered = True
                    assert await run.steer("echo first steered", [])
                    assert await run.steer("echo second steered", [])
            if ended:
                await chat.adapter.close_chat(chat.id)
            assert await _rewind(chat, 1)
            assert [*dict.fromkeys(await _known(chat))] == ["echo one", "recall"]

    asyncio.run(talk())


def test_a_stopped_run_is_cut(place: Place, ended: bool) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            run = await chat.start("slow")
            await chat.stop_at(run, lambda body: isinstance(body, AssistantText))
            if ended:
                await chat.adapter.close_chat(chat.id)
            assert await _rewind(chat, 1)
            assert [*dict.fromkeys(await _known(chat))] == ["echo one", "recall"]

    asyncio.run(talk())


def test_a_run_that_never_reached_the_agent_needs_no_cut(place: Place, ended: bool) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            await chat.say("echo two")
            chat.runs += ["never-sent"]
            if ended:
                await chat.adapter.close_chat(chat.id)
            assert await _rewind(chat, 1)
            chat.runs.insert(-1, "never-sent-either")
            assert await _rewind(chat, 2)
            assert [*dict.fromkeys(await _known(chat))] == ["echo one", "recall"]

    asyncio.run(talk())


def test_files_are_previewed_and_put_back(place: Place, ended: bool) -> None:
    kept = place.project / "kept.txt"
    kept.write_text("hello world\n")

    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            await chat.say("edit file kept.txt", **EDITS)
            await chat.say("write file made.txt", **EDITS)
            assert kept.read_text() == "hello fake world\n"
            if ended:
                await chat.adapter.close_chat(chat.id)
            rewinder, first = chat.adapter.rewinder, chat.runs[1]
            request, context = chat.request("", **EDITS), chat.context()
            files = await rewinder.preview_files(request, context, first)
            assert files == ["kept.txt", "made.txt"]
            assert (place.project / "made.txt").exists()
            assert await rewinder.restore_files(request, context, first) == files
            assert kept.read_text() == "hello world\n"
            assert not (place.project / "made.txt").exists()
            assert await _rewind(chat, 2)
            assert await rewinder.preview_files(request, context, "no-such-run") == []

    asyncio.run(talk())


def _record(place: Place, session_id: str) -> Path:
    (record,) = place.home.glob(f".claude/projects/*/{session_id}.jsonl")
    return record


def test_a_fork_leaves_its_parent_as_it_was_byte_for_byte(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            await chat.adapter.close_chat(chat.id)
            assert chat.session_id is not None
            parent = _record(place, chat.session_id)
            before = parent.read_bytes()
            branch = Chat(chat.adapter, chat.launcher, place, "chat-2", chat.session_id)
            await branch.say("echo two", fork=True)
            assert branch.session_id == branch.first_session_id
            assert [*dict.fromkeys(await _known(branch))] == ["echo one", "echo two", "recall"]
            await branch.adapter.close_chat(branch.id)
            assert [*dict.fromkeys(await _known(branch))][:2] == ["echo one", "echo two"]
            assert parent.read_bytes() == before
            assert [*dict.fromkeys(await _known(chat))] == ["echo one", "recall"]

    asyncio.run(talk())


def test_the_rewound_process_ends_when_it_rests(place: Place) -> None:
    place.idle_timeout_s = 0.3

    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("echo one")
            assert await _rewind(chat, 1)
            await until(lambda: not chat.launcher.children)

    asyncio.run(talk())
