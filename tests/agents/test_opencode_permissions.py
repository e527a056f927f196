"""What the real opencode may do by itself in each permission, its subagents included."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.protocol.events import Ask, AssistantText, Plan, ToolUseEnd
from tests.agents.opencode_agent import Place, allow, deny, open_chat

pytestmark = pytest.mark.timeout(300)


def test_each_permission_means_the_same_as_with_every_agent(opencode_place: Place) -> None:
    async def scenario() -> None:
        project = opencode_place.project
        notes = project / "notes.txt"
        async with open_chat(opencode_place) as chat:
            # read only: nothing is changed or run, and nobody is bothered
            for prompt in ("write file", "run cmd: touch made"):
                told = await chat.say(prompt, permission="read_only", mode="plan")
                assert told.complete.outcome == "completed"
                assert told.asks == []
                assert {end.status for end in told.ends} == {"denied"}
            assert sorted(path.name for path in project.iterdir()) == [".git", "README.md"]
            told = await chat.say("inside README.md", permission="read_only")
            assert told.ends[0].status == "completed"

            # ask: edits and commands ask, reading does not; a person's no reaches the model
            told = await chat.say("write file", deny("Not there."), permission="ask")
            assert [ask.input.kind for ask in told.asks] == ["write"]
            assert told.asks[0].diffs[0].change == "add"
            assert told.ends[0].status == "denied"
            assert "Not there." in told.ends[0].output[0].text
            assert told.text == "Done. The tool has answered."
            told = await chat.say("write file", allow(), permission="ask")
            assert notes.read_text() == "alpha\nsecond line\n"
            assert told.ends[0].diffs[0].added == 2

            # accept edits: files are written at once, commands still ask
            told = await chat.say("edit file", permission="accept_edits")
            assert notes.read_text() == "beta\nsecond line\n"
            assert told.ends[0].diffs[0].path == "notes.txt"
            told = await chat.say("child write file", permission="accept_edits")
            assert notes.read_text() == "alpha\nsecond line\n"
            told = await chat.say("child run ls", allow(), permission="accept_edits")
            assert len(told.asks) == 1
            task, command = told.starts[0], told.starts[-1]
            assert command.parent_tool_id == task.tool_id
            assert told.asks[0].tool_id == command.tool_id

            # full: nothing asks, in subagents neither
            told = await chat.say("child run cmd: touch made", permission="full")
            assert told.asks == []
            assert (project / "made").exists()

            # back again, in the same conversation
            told = await chat.say("run cmd: touch more", deny(), permission="ask")
            assert len(told.asks) == 1
            assert not (project / "more").exists()

            # lowered in mid-run: at once, or refused
            for before, after, taken in (("full", "ask", False), ("ask", "read_only", True)):
                run = await chat.start("talk a second, then two tools", permission=before)
                lowered: list[bool] = []
                ends: list[str] = []
                async for step in run.steps():
                    for body in step.bodies:
                        if isinstance(body, AssistantText) and not lowered:
                            lowered.append(await run.set_permission(after))
                        assert not isinstance(body, Ask)
                        if isinstance(body, ToolUseEnd):
                            ends.append(body.status)
                assert lowered == [taken]
                assert ends == ["denied" if taken else "completed"] * 2

            told = await chat.say("my todo")
            assert [entry.status for entry in told.all(Plan)[0].entries] == [
                "in_progress",
                "pending",
            ]

    asyncio.run(scenario())


def test_what_a_person_forbids_in_their_own_settings_stays_forbidden(opencode_place: Place) -> None:
    async def scenario() -> None:
        rules = {"bash": {"*": "allow", "touch *": "deny"}}
        opencode_place.write_config(permission=rules)
        async with open_chat(opencode_place) as chat:
            told = await chat.say("run cmd: touch made", permission="full")
            assert told.ends[0].status in ("denied", "failed")
            assert not (opencode_place.project / "made").exists()
            # what they allow is asked here all the same: the chat's permission says so
            told = await chat.say("run ls", allow("allow_always"), permission="ask")
            assert len(told.asks) == 1
            told = await chat.say("run ls", permission="ask")
            assert told.asks == []

    asyncio.run(scenario())
