"""Tools, asks and permissions with the real Claude Code CLI."""

from __future__ import annotations

import asyncio
import os

import pytest

from jupyter_agentchat.errors import AlreadyResolved
from jupyter_agentchat.protocol.events import Ask
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.tools import ReadInput, ShellInput, TextBlock, WriteInput
from tests.agents.claude_agent import Place, allow, deny, open_chat


def _names(place: Place) -> set[str]:
    """The tools that the CLI offered to the model last."""
    return {tool["name"] for tool in place.fake.calls[-1].body["tools"]}


def test_a_read_only_command_runs_without_an_ask(place: Place) -> None:
    (place.project / "data.csv").write_text("1,2\n")

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("run ls")
            (start,), (end,) = told.starts, told.ends
            assert start.kind == "shell"
            assert start.input == ShellInput(command="ls -1")
            assert start.tool_id == end.tool_id
            assert (end.status, end.is_error) == ("completed", False)
            assert end.output == [TextBlock(text="data.csv")]
            assert told.texts[-1] == "The folder holds: data.csv"

    asyncio.run(talk())


def test_failed_unknown_and_parallel_calls_end_as_what_they_are(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            (failed,) = (await chat.say("fail tool", allow())).ends
            assert (failed.status, failed.is_error, failed.exit_code) == ("failed", True, 2)
            told = await chat.say("bad tool")
            assert [start.kind for start in told.starts] == ["other"]
            assert [end.status for end in told.ends] == ["failed"]
            told = await chat.say("parallel")
            assert {start.tool_id for start in told.starts} == {end.tool_id for end in told.ends}
            assert len(told.ends) == 2

    asyncio.run(talk())


def test_much_output_is_shown_and_said_to_be_cut(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("huge tool", allow())
            (block,) = told.ends[0].output
            assert isinstance(block, TextBlock)
            assert block.text.startswith("y" * 20_000)
            assert "3000000 bytes in all, kept in " in block.text

    asyncio.run(talk())


def test_allow_once_asks_again_and_allow_for_this_chat_does_not(place: Place) -> None:
    made = place.project / "made-by-agent.txt"

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("touch", allow("allow_once"))
            (ask,) = told.all(Ask)
            assert ask.kind == "permission"
            assert ask.tool_id == told.starts[0].tool_id
            assert ask.input == ShellInput(command="touch made-by-agent.txt")
            assert [(o.decision, o.scope) for o in ask.options] == [
                ("allow", "once"),
                ("allow", "chat"),
                ("deny", "once"),
            ]
            assert made.exists()
            assert len((await chat.say("touch", allow("allow_chat"))).all(Ask)) == 1
            assert (await chat.say("touch")).all(Ask) == []
            assert not (place.project / ".claude").exists()

    asyncio.run(talk())


def test_a_denied_call_does_not_run_and_the_agent_reads_the_reason(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("touch", deny("Use another name."))
            (end,) = told.ends
            assert end.status == "denied"
            assert told.texts[-1] == "Tool said: Use another name."
            assert told.complete.outcome == "completed"
            assert not (place.project / "made-by-agent.txt").exists()

    asyncio.run(talk())


def test_a_new_file_and_a_change_come_with_their_diffs(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("write file", allow())
            assert told.starts[0].input == WriteInput(path="hello.txt", size=12)
            (asked,), (done,) = told.all(Ask)[0].diffs, told.ends[0].diffs
            assert asked == done
            assert (done.path, done.change, done.added, done.removed) == ("hello.txt", "add", 2, 0)
            told = await chat.say("edit file", allow("allow_chat"))
            assert told.starts[0].input == ReadInput(path="hello.txt")
            assert told.ends[0].output == [TextBlock(text="hello\nworld\n")]
            (diff,) = told.ends[1].diffs
            assert (diff.added, diff.removed) == (1, 1)
            assert diff.patch is not None
            assert diff.patch.startswith("--- a/hello.txt\n+++ b/hello.txt\n@@ -1,2 +1,2 @@\n")
            assert "-world\n+fake world\n" in diff.patch
            assert (place.project / "hello.txt").read_text() == "hello\nfake world\n"
            assert (await chat.say("write file other.txt")).all(Ask) == []

    asyncio.run(talk())


def test_questions_are_answered_inside_the_run(place: Place) -> None:
    def choose(ask: Ask) -> AskAnswer:
        assert ask.kind == "question"
        assert [question.multi_select for question in ask.questions] == [False, True]
        answers: dict[str, list[str] | str] = {"q1": "teal", "q2": ["PNG", "SVG"]}
        return AskAnswer(decision="answered", answers=answers)

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("ask me", choose)
            assert '"Which colour should the plot use?"="teal"' in told.texts[-1]
            assert '"Which formats should be saved?"="PNG, SVG"' in told.texts[-1]
            told = await chat.say("ask me", deny("Not now."))
            assert told.ends[0].status == "denied"
            assert told.texts[-1] == "You answered: Not now."

    asyncio.run(talk())


def test_a_plan_is_sent_back_or_approved_with_what_it_leads_to(place: Place) -> None:
    how = {"mode": "plan", "permission": "read_only"}

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("plan the work", deny("Add a test step."), **how)
            (ask,) = told.all(Ask)
            assert ask.kind == "plan"
            assert ask.plan.startswith("# Plan")
            leads = [o.leads_to for o in ask.options if o.decision == "allow"]
            assert leads == ["ask", "accept_edits"]
            assert told.texts[-1] == "Plan tool said: Add a test step."
            told = await chat.say("plan the work", allow("approve_accept_edits"), **how)
            assert [end.status for end in told.ends] == ["completed", "completed"]
            told = await chat.say("write file", mode="code", permission="accept_edits")
            assert told.all(Ask) == []
            assert (place.project / "hello.txt").exists()

    asyncio.run(talk())


def test_read_only_offers_no_tool_that_changes_something(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            assert {"Bash", "Write", "Edit"} <= _names(place)
            pid = chat.pid
            told = await chat.say("write file", permission="read_only")
            assert chat.pid != pid
            assert not {"Bash", "Write", "Edit", "NotebookEdit"} & _names(place)
            assert [end.status for end in told.ends] == ["failed"]
            assert not (place.project / "hello.txt").exists()
            # the plan file is the one thing that plan mode writes
            told = await chat.say("write file", mode="plan", permission="read_only")
            assert told.all(Ask) == []
            assert [end.status for end in told.ends] == ["denied"]
            assert not (place.project / "hello.txt").exists()

    asyncio.run(talk())


def test_accept_edits_asks_for_commands_only(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            assert (await chat.say("write file", permission="accept_edits")).all(Ask) == []
            told = await chat.say("fail tool", deny(), permission="accept_edits")
            assert len(told.all(Ask)) == 1

    asyncio.run(talk())


@pytest.mark.parametrize("sandboxed", [False, True])
def test_full_asks_nobody_but_still_puts_questions(place: Place, sandboxed: bool) -> None:
    if sandboxed:
        place.settings["IS_SANDBOX"] = "1"
    native = sandboxed or os.geteuid() != 0

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("touch", permission="full")
            assert told.all(Ask) == []
            assert (place.project / "made-by-agent.txt").exists()
            codes = [notice.code for notice in told.notices]
            assert codes == ([] if native else ["allowed_automatically"])
            told = await chat.say("ask me", deny(), permission="full")
            assert [ask.kind for ask in told.all(Ask)] == ["question"]

    asyncio.run(talk())


def test_a_permission_can_change_while_the_agent_waits(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            await chat.say("say hello")
            pid = chat.pid
            run = await chat.start("touch")
            async for step in run.steps():
                for ask in step.bodies:
                    if isinstance(ask, Ask):
                        assert await run.set_permission("accept_edits")
                        assert not await run.set_permission("read_only")
                        await run.answer(ask.ask_id, AskAnswer(decision="deny"))
                        with pytest.raises(AlreadyResolved):
                            await run.answer(ask.ask_id, AskAnswer(decision="deny"))
            told = await chat.say("write file", permission="accept_edits")
            assert told.all(Ask) == []
            assert chat.pid == pid

    asyncio.run(talk())
