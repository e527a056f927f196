"""What the real Kimi Code may do unasked, by the chat's permission and the project's trust."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Ask
from jupyter_agentchat.protocol.resources import AskAnswer
from tests.agents.kimi_agent import Chat, Place, a_place, allow, deny, is_text, open_chat

pytestmark = pytest.mark.timeout(180)

SERVER = """
import json, os, sys
open(sys.argv[1], "a").write("started\\n")
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = {}
    if asked["method"] == "initialize":
        version = asked["params"]["protocolVersion"]
        info = {"name": "demo", "version": "1"}
        result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    elif asked["method"] == "tools/list":
        schema = {"type": "object", "properties": {"text": {"type": "string"}}}
        result = {"tools": [{"name": "demo_echo", "description": "", "inputSchema": schema}]}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
"""


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


def test_ask_and_what_is_allowed_for_a_chat(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        denied = await chat.say("run cmd: touch a", deny("use git"))
        assert [end.status for end in denied.ends] == ["denied"]
        assert "use git" in place.fake.raw[-1]
        assert not (place.project / "a").exists()

        once = await chat.say("run cmd: touch a", allow("allow_chat"))
        assert len(once.all(Ask)) == 1
        again = await chat.say("run cmd: touch a")
        assert (again.all(Ask), again.ends[0].status) == ([], "completed")
        other = await chat.say("run cmd: touch b", deny())
        assert len(other.all(Ask)) == 1
        # what is allowed for a chat is no more allowed than the chat is
        lower = await chat.say("run cmd: touch a", permission="read_only")
        assert not [end for end in lower.ends if end.status == "completed"]
        # nor is it allowed for another chat
        assert len((await chat.other().say("run cmd: touch a", deny())).all(Ask)) == 1

    asyncio.run(_with_chat(place, talk))


def test_read_only_changes_nothing_not_even_through_a_helper(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        for mode in ("chat", "plan"):
            for prompt in ("write file", "child writes", "run cmd: touch c"):
                told = await chat.say(prompt, mode=mode, permission="read_only")
                assert told.complete.outcome == "completed"
                assert not [end for end in told.ends if end.status == "completed"]
        assert {path.name for path in place.project.iterdir()} == {".git"}
        # and from the next run on it may again
        await chat.say("write file", permission="ask")
        assert (place.project / "notes.txt").exists()

    asyncio.run(_with_chat(place, talk))


def test_a_plan_is_approved_by_a_person_and_leads_on(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        plans: list[Ask] = []

        def keep(ask: Ask) -> AskAnswer:
            plans.append(ask)
            return AskAnswer(decision="deny", option_id="keep_planning", message="think again")

        told = await chat.say("make a plan", keep, mode="plan", permission="read_only")
        assert plans[0].plan == "# Plan\n1. Do it.\n"
        assert "think again" in place.fake.raw[-1]
        assert told.complete.outcome == "completed"
        approved = await chat.say(
            "make a plan", allow("approve_ask"), mode="plan", permission="read_only"
        )
        assert approved.all(Ask)[0].kind == "plan"
        await chat.say("write file")
        assert (place.project / "notes.txt").exists()

    asyncio.run(_with_chat(place, talk))


def test_edits_outside_the_project_are_asked_for_even_when_edits_are_accepted(
    place: Place,
) -> None:
    async def talk(chat: Chat) -> None:
        elsewhere = place.home / "elsewhere"
        elsewhere.mkdir()
        place.fake.workdir = str(elsewhere)
        asked = await chat.say("write file", allow())
        (ask,) = asked.all(Ask)
        assert ask.diffs[0].path == str(elsewhere / "notes.txt")
        assert (elsewhere / "notes.txt").exists()
        told = await chat.say("edit file", deny(), permission="accept_edits")
        assert len(told.all(Ask)) == 1
        shell = await chat.say("run ls", deny(), permission="accept_edits")
        assert len(shell.all(Ask)) == 1

    asyncio.run(_with_chat(place, talk))


def test_full_asks_nothing_and_a_lower_permission_holds_at_once(place: Place) -> None:
    async def talk(chat: Chat) -> None:
        told = await chat.say("run ls", permission="full")
        assert told.all(Ask) == []
        run = await chat.start("talk", permission="full")
        lowered: list[bool] = []
        asks: list[Ask] = []
        async for step in run.steps():
            for body in step.bodies:
                if is_text(body) and not lowered:
                    lowered.append(await run.set_permission("ask"))
                if isinstance(body, Ask):
                    asks.append(body)
                    await run.answer(body.ask_id, AskAnswer(decision="allow"))
        assert lowered == [True]
        assert asks

    asyncio.run(_with_chat(place, talk))


def test_a_projects_servers_start_with_trust_only_and_trust_can_be_taken_back(
    place: Place,
) -> None:
    started = place.home / "started"
    script = place.home / "server.py"
    script.write_text(SERVER, "utf-8")
    entry = {"command": "/usr/bin/python3", "args": [str(script), str(started)]}
    (place.project / ".mcp.json").write_text(json.dumps({"mcpServers": {"demo": entry}}), "utf-8")
    skill = place.project / ".kimi-code/skills/demo"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: demo\ndescription: Demo\n---\nDo it.\n", "utf-8")
    (place.project / "AGENTS.md").write_text("Be kind.", "utf-8")

    async def talk(chat: Chat) -> None:
        loads = chat.adapter.loads(place.project, place.project)
        assert {(load.kind, load.path) for load in loads} == {
            ("mcp", ".mcp.json"),
            ("instructions", "AGENTS.md"),
            ("skills", ".kimi-code/skills/demo/SKILL.md"),
        }
        await chat.say("quick hello")
        tools = place.fake.turns[-1].tools
        assert not started.exists()
        assert not any("demo" in name for name in tools)
        assert "Skill" not in tools

        chat.session_id, chat.trusted = None, True
        await chat.say("quick hello")
        assert started.exists()
        tools = place.fake.turns[-1].tools
        assert "Skill" in tools

        chat.trusted = False
        told = await chat.say("quick hello")
        assert told.complete.outcome == "completed"
        tools = place.fake.turns[-1].tools
        assert not any("demo" in name for name in tools), "a loaded session keeps no server"
        started.unlink()
        chat.session_id = None
        await chat.say("quick hello")
        assert not started.exists()

    asyncio.run(_with_chat(place, talk))


async def _with_chat(place: Place, talk: object) -> None:
    assert callable(talk)
    async with open_chat(place) as chat:
        await talk(chat)
