"""A run of the real Kimi Code outlives its Jupyter server, word for word."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Ask, AssistantText, EventBody, ToolUseEnd
from jupyter_agentchat.protocol.resources import AskAnswer
from tests.agents.kimi_agent import (
    Place,
    Told,
    a_place,
    allow,
    is_text,
    open_chat,
    open_servers,
    watch,
)

TALK = "".join(f"part {number} " for number in range(25))

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


def _part(number: int) -> object:
    return lambda body: isinstance(body, AssistantText) and body.delta == f"part {number} "


def _fresh(told: Told, steps: list[tuple[int | None, tuple[EventBody, ...]]], stored: int) -> str:
    """The text as the hub has it: what was stored, then the steps behind it."""
    rest = [
        body.delta or ""
        for offset, bodies in steps
        if offset is None or offset > stored
        for body in bodies
        if isinstance(body, AssistantText)
    ]
    return told.streamed + "".join(rest)


def test_text_that_was_written_with_no_server_there_is_neither_lost_nor_doubled(
    place: Place,
) -> None:
    async def scene() -> None:
        async with open_servers(place) as servers:
            run = await servers.chat.start("talk", permission="full")
            told, stored = await watch(run, _part(4))  # type: ignore[arg-type]
            chat = await servers.replaced()
            await asyncio.sleep(0.3)
            run = await chat.attach(stored=stored)
            steps = [(step.offset, step.bodies) async for step in run.steps()]
            assert _fresh(told, steps, stored) == f"Look 0. Look 1. {TALK}"
            offsets = [offset for offset, _ in steps if offset is not None]
            assert offsets == sorted(offsets)
            again = [body for _, bodies in steps for body in bodies]
            finals = [b.text for b in again if isinstance(b, AssistantText) and b.final]
            assert finals == ["Look 0. ", "Look 1. ", TALK]
            ends = [body for body in again if isinstance(body, ToolUseEnd)]
            assert [end.output[0].text for end in ends] == ["0\n", "1\n"]  # type: ignore[union-attr]

    asyncio.run(scene())


def test_an_ask_that_was_open_is_answered_in_the_next_server(place: Place) -> None:
    async def scene() -> None:
        async with open_servers(place) as servers:
            run = await servers.chat.start("talk")
            _, stored = await watch(run, lambda body: isinstance(body, Ask))
            chat = await servers.replaced()
            again = await chat.follow(await chat.attach(stored=stored), allow())
            assert again.complete.outcome == "completed"
            assert len(again.ends) == 2
            told = await chat.say("my question", lambda ask: AskAnswer(decision="deny"))
            assert told.complete.outcome == "completed"

    asyncio.run(scene())


def test_a_run_of_more_events_than_the_server_replays_goes_on_and_says_so(place: Place) -> None:
    async def scene() -> None:
        async with open_servers(place) as servers:
            chat = servers.chat
            run = await chat.start("many steps", permission="full")
            told, stored = await watch(run, is_text)
            chat = await servers.replaced()
            place_link = await chat.attach(stored=stored)
            again = await chat.follow(place_link)
            assert again.complete.outcome == "completed"
            assert again.texts[-1] == "Done. The tool has answered."
            assert told.texts == []

    asyncio.run(scene())


def test_an_answer_of_before_is_found_whole_after_the_agents_own_end(place: Place) -> None:
    async def scene() -> None:
        async with open_chat(place) as chat:
            first = await chat.say("echo one")
            await chat.adapter.close_chat(chat.id)
        async with open_chat(place, session_id=first.session_id) as chat:
            told = await chat.say("recall")
            assert told.session_id == first.session_id
            assert "echo one" in told.texts[-1]

    asyncio.run(scene())
