"""What the real Codex may do in each permission, and how it asks."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.protocol.events import Ask
from jupyter_agentchat.protocol.resources import AskAnswer
from tests.agents.codex_agent import Place, allow, deny, open_chat


def test_ask_puts_each_command_to_a_person_and_a_deny_is_heard(codex_place: Place) -> None:
    made = codex_place.project / "made"

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            denied = await chat.say("run touch made", deny())
            assert denied.ends[0].status == "denied"
            assert denied.complete.outcome == "completed"
            assert not made.exists()
            allowed = await chat.say("run touch made", allow())
            (ask,) = allowed.asks
            assert ask.input.command == "touch made"
            assert ask.tool_id == allowed.starts[0].tool_id
            assert [option.scope for option in ask.options] == ["once", "chat", "once"]
            assert made.exists()

    asyncio.run(talk())


def test_allowed_for_the_chat_the_same_command_is_not_asked_again(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            first = await chat.say("run touch made", allow("allow_chat"))
            assert len(first.asks) == 1
            again = await chat.say("run touch made")
            assert again.ends[0].status == "completed"
        # and nothing of it stays in the person's files
        assert not (codex_place.home / ".codex" / "rules").exists()

    asyncio.run(talk())


def test_an_edit_is_asked_for_with_its_diff(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("add file", allow())
            (ask,) = told.asks
            assert ask.input.path == "added.txt"
            assert [(diff.path, diff.change, diff.added) for diff in ask.diffs] == [
                ("added.txt", "add", 2)
            ]
            assert (codex_place.project / "added.txt").read_text() == "hello\nsecond line\n"

    asyncio.run(talk())


def test_accept_edits_asks_only_for_what_leaves_the_sandbox(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            free = await chat.say("add file", permission="accept_edits")
            assert free.ends[0].status == "completed"
            told = await chat.say("run escalated touch made", allow(), permission="accept_edits")
            assert [ask.detail for ask in told.asks] == ["It must leave the sandbox."]
            assert (codex_place.project / "made").exists()

    asyncio.run(talk())


@pytest.mark.parametrize("prompt", ["run touch made", "run escalated touch made", "add file"])
def test_read_only_changes_nothing_and_asks_nobody(prompt: str, codex_place: Place) -> None:
    before = set(codex_place.project.iterdir())

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say(prompt, permission="read_only")
            assert told.complete.outcome == "completed"
            assert all(end.status in ("denied", "failed") for end in told.ends)

    asyncio.run(talk())
    assert set(codex_place.project.iterdir()) == before


def test_full_asks_for_nothing(codex_place: Place) -> None:
    outside = codex_place.home / "outside"

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say(f"run touch {outside}", permission="full")
            assert told.ends[0].status == "completed"
            assert outside.exists()

    asyncio.run(talk())


def test_a_permission_does_not_stick_to_the_conversation(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo one", permission="full")
            told = await chat.say("run touch made", deny())
            assert len(told.asks) == 1
            assert not (codex_place.project / "made").exists()

    asyncio.run(talk())


def test_raised_in_mid_run_the_rest_is_allowed_lowered_it_is_refused(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            run = await chat.start("run touch made")
            assert await run.set_permission("full")
            assert (await chat.follow(run)).asks == []
            assert (codex_place.project / "made").exists()
            run = await chat.start("run touch other")
            assert await run.set_permission("read_only")
            assert (await chat.follow(run)).ends[0].status == "denied"
            run = await chat.start("echo on", permission="full")
            assert not await run.set_permission("ask")
            await chat.follow(run)

    asyncio.run(talk())


def test_the_rights_that_a_model_asks_for_are_a_persons_to_give(codex_place: Place) -> None:
    codex_place.configure()
    config = codex_place.config.read_text()
    codex_place.config.write_text(
        config.replace("[features]", "[features]\nrequest_permissions_tool = true")
    )

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("ask rights", allow(), permission="accept_edits")
            (ask,) = told.asks
            assert ask.detail == "It wants the network.\nNetwork access."
            assert "network" in told.texts[0]
            refused = await chat.say("ask rights", deny(), permission="accept_edits")
            assert refused.complete.outcome == "completed"
            assert '"enabled":true' not in refused.texts[0]

    asyncio.run(talk())


def test_an_answer_counts_once(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            run = await chat.start("run touch made")
            errors: list[str] = []
            async for step in run.steps():
                for body in step.bodies:
                    if isinstance(body, Ask):
                        answer = AskAnswer(decision="deny", option_id="deny")
                        await run.answer(body.ask_id, answer)
                        with pytest.raises(Exception, match="not open any more"):
                            await run.answer(body.ask_id, answer)
                        errors.append(body.ask_id)
            assert len(errors) == 1

    asyncio.run(talk())
