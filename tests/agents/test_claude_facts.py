"""What the real Claude Code tells beside its answers: plan, context, models, commands, lists."""

from __future__ import annotations

import asyncio
import base64
import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.protocol.events import Ask, Plan, PlanUsage, System, Usage
from jupyter_agentchat.protocol.resources import Attachment
from jupyter_agentchat.providers.claude import adapter as adapter_module
from tests.agents.claude_agent import Place, allow, deny, open_chat
from tests.fakes import anthropic_mcp
from tests.waiting import until

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
LIMITS = "anthropic-ratelimit-unified-"


def test_how_full_the_context_is_and_unknown_after_it_was_made_shorter(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            first = (await chat.say("say hello")).complete.usage
            assert first is not None
            assert first.context_used == (first.input_tokens or 0) + (first.output_tokens or 0)
            assert first.context_window == 1_000_000
            told = await chat.say("/compact")
            assert [body.subtype for body in told.all(System)] == ["compacting", "compaction"]
            assert told.complete.outcome == "completed"
            assert {usage.context_used for usage in told.all(Usage)} == {None}
            usages = (await chat.say("say hello")).all(Usage)
            # by now the size is known before the result
            assert usages[0].context_used
            assert usages[0].context_window == 1_000_000

    asyncio.run(talk())


def test_how_much_of_the_plan_is_used_up(place: Place) -> None:
    place.env = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "sk-ant-oat01-fake"}
    now = int(time.time())
    place.fake.headers = {
        f"{LIMITS}status": "allowed_warning",
        f"{LIMITS}reset": str(now + 3600),
        f"{LIMITS}representative-claim": "five_hour",
        f"{LIMITS}5h-status": "allowed_warning",
        f"{LIMITS}5h-utilization": "0.91",
        f"{LIMITS}5h-reset": str(now + 3600),
        f"{LIMITS}5h-surpassed-threshold": "0.9",
        f"{LIMITS}7d-status": "allowed",
        f"{LIMITS}7d-utilization": "0.4",
        f"{LIMITS}7d-reset": str(now + 100_000),
    }

    async def talk() -> None:
        async with open_chat(place) as chat:
            (usage,) = (await chat.say("say hello")).all(PlanUsage)
            assert [(one.name, one.used_percent) for one in usage.windows] == [
                ("5 hours", 91.0),
                ("7 days", 40.0),
            ]
            assert all(one.resets_at for one in usage.windows)

    asyncio.run(talk())


def test_the_models_of_the_account_are_known_before_the_first_prompt(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    # this test's machine may be slow; a probe that runs out of time keeps the lasting names
    monkeypatch.setattr(adapter_module, "INTRODUCED_BY_S", 60.0)

    async def talk() -> None:
        async with open_chat(place) as chat:
            found = await chat.adapter.probe()
            models = {model.id: model for model in found.models}
            assert {"default", "opus", "sonnet", "haiku"} <= set(models)
            assert models["default"].default
            assert "high" in models["sonnet"].efforts
            assert "fable" in models  # no lasting name of ours: the CLI told it
            assert chat.launcher.children == []
            assert models["default"].context_window is None
            await chat.say("say hello")
            models = {model.id: model for model in (await chat.adapter.probe()).models}
            assert models["default"].context_window == 1_000_000
            assert place.fake.calls[0].body["model"]

    asyncio.run(talk())


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_commands_and_skills_are_listed_and_an_untrusted_project_adds_none(place: Place) -> None:
    _write(
        place.project / ".claude/skills/greet/SKILL.md",
        "---\nname: greet\ndescription: Greets a person\n---\nsay hello to $ARGUMENTS\n",
    )
    _write(
        place.project / ".claude/commands/shout.md", "---\ndescription: Shouts\n---\necho loud\n"
    )
    hook = {"type": "command", "command": f"touch {place.project}/hook-ran"}
    _write(
        place.project / ".claude/settings.json",
        json.dumps({"hooks": {"SessionStart": [{"hooks": [hook]}]}}),
    )

    async def talk() -> None:
        async with open_chat(place) as chat:
            trusted = await chat.adapter.commands(place.project, trusted=True)
            kinds = {one.name: one.kind for one in trusted}
            assert (kinds["greet"], kinds["shout"]) == ("skill", "command")
            assert kinds["compact"] == "command"
            assert "model" not in kinds
            assert next(one for one in trusted if one.name == "greet").description
            names = {one.name for one in await chat.adapter.commands(place.project, trusted=False)}
            assert "compact" in names
            assert not {"greet", "shout"} & names
            assert chat.launcher.children == []
            assert not (place.project / "hook-ran").exists()
            assert place.fake.calls == []
            chat.trusted = True
            assert (await chat.say("/greet Ada")).texts == ["Hello from the fake model."]
            assert (place.project / "hook-ran").exists()

    asyncio.run(talk())


@pytest.mark.parametrize("prompt", ["todo list", "task list"])
def test_the_agents_checklist_is_the_plan(place: Place, prompt: str) -> None:
    place.settings["CLAUDE_CODE_ENABLE_TODO_TOOLS"] = "1"
    if prompt == "todo list":
        place.settings["CLAUDE_CODE_ENABLE_TASKS"] = "0"

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say(prompt)
            plans = [
                [(entry.text, entry.status) for entry in plan.entries] for plan in told.all(Plan)
            ]
            assert ("Read the data", "in_progress") in plans[0] + plans[2]
            assert plans[-1][0] == ("Read the data", "completed")
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_an_attached_image_reaches_the_model(place: Place) -> None:
    path = place.project / "plot.png"
    path.write_bytes(PNG)
    image = Attachment(id="a", name="plot.png", path=str(path), mime="image/png", kind="image")

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("What is in this image?", attachments=[image])
            assert told.texts == ["I see 1 image of kind image/png."]
            assert f"Attached image: {path}" in str(place.fake.calls[-1].body["messages"])

    asyncio.run(talk())


def _cmdline(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def _server(**env: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": [anthropic_mcp.__file__], "env": env}


def test_a_server_that_is_handed_over_can_be_used_and_asks(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            servers = {"demo": _server(TOKEN="canary")}
            told = await chat.say("use mcp", allow(), mcp_servers=servers)
            (ask,) = told.all(Ask)
            assert ask.title == "demo: add"
            assert told.starts[0].kind == "mcp"
            assert told.texts[-1] == "It said: 5"
            cmdline = _cmdline(chat.pid)
            assert "canary" not in cmdline
            assert "--mcp-config=" in cmdline
            folder = place.home / "scratch" / "claude-mcp"
            await until(lambda: list(folder.iterdir()) == [])
            told = await chat.say("use mcp", mcp_servers=servers, permission="full")
            assert told.all(Ask) == []
            assert told.texts[-1] == "It said: 5"

    asyncio.run(talk())


def test_read_only_starts_no_server_of_other_people(place: Place) -> None:
    started = place.project / "server-started"

    async def talk() -> None:
        async with open_chat(place) as chat:
            servers = {"demo": _server(STARTED=str(started))}
            told = await chat.say("use mcp", mcp_servers=servers, permission="read_only")
            assert [end.status for end in told.ends] == ["failed"]
            assert not started.exists()
            own = {"agentchat": servers["demo"]}
            await chat.say("say hello", mcp_servers=own, permission="read_only")
            await until(started.exists)

    asyncio.run(talk())


def test_allow_for_this_chat_holds_in_its_next_process(place: Place) -> None:
    async def talk() -> None:
        async with open_chat(place) as chat:
            assert len((await chat.say("touch", allow("allow_chat"))).all(Ask)) == 1
            assert len((await chat.say("write file", allow("allow_chat"))).all(Ask)) == 1
            await chat.adapter.close_chat(chat.id)
            assert (await chat.say("touch")).all(Ask) == []
            told = await chat.say("write file other.txt")
            assert told.all(Ask) == []
            assert (place.project / "other.txt").exists()
            assert not (place.project / ".claude").exists()

    asyncio.run(talk())


def test_the_ask_for_an_edit_has_the_files_own_line_numbers(place: Place) -> None:
    (place.project / "hello.txt").write_text("first\n" * 20 + "hello\nworld\n")

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("edit file", allow())
            (asked,), (done,) = told.all(Ask)[0].diffs, told.ends[1].diffs
            assert asked.patch is not None
            assert "@@ -19,4 +19,4 @@" in asked.patch
            assert asked.patch == done.patch
            await chat.say("write file", deny())

    asyncio.run(talk())
