"""What can be typed behind a slash, and which models there are, from what a CLI tells of itself."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProviderError
from jupyter_agentchat.providers.claude import catalogue as catalogue_module
from jupyter_agentchat.providers.claude.catalogue import AgentCommand
from tests.waiting import until

from .scripted import ScriptedHandle, init, result
from .stage import Play, Stage

COMMANDS = [
    {"name": "greet", "description": "Greets a person", "argumentHint": "[name]"},
    {"name": "shout", "description": "Shouts"},
    {"name": "compact", "description": "Makes it shorter", "builtin": True},
    {"name": "model", "description": "Chooses a model", "builtin": True},
    {"name": "__inner", "description": ""},
    {"description": "nameless"},
]
MODELS = [{"value": "default"}, {"value": "fable", "supportedEffortLevels": ["low", "high"]}]
TOLD = {"response": {"commands": COMMANDS, "models": MODELS}}


def tell(cli: ScriptedHandle, message: dict[str, Any]) -> None:
    """Answer the introduction."""
    if message.get("request", {}).get("subtype") == "initialize":
        cli.payloads["initialize"] = [TOLD]


def skill(folder: Path, name: str) -> None:
    path = folder / ".claude/skills" / name / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("Do it")


def test_commands_and_skills_are_told_apart_and_the_pickers_own_are_left_out(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.act = tell
        project = stage.project / "below-the-home"
        skill(project, "greet")
        found = await stage.adapter.commands(project, trusted=True)
        assert found == [
            AgentCommand("greet", "Greets a person", "skill", "[name]"),
            AgentCommand("shout", "Shouts", "command"),
            AgentCommand("compact", "Makes it shorter", "command"),
        ]
        # told without the project's own skills, the name is somebody else's
        untrusted = await stage.adapter.commands(project, trusted=False)
        assert {one.name: one.kind for one in untrusted}["greet"] == "command"

    play(act)


def test_a_program_that_is_only_asked_runs_nothing_and_is_gone(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.act = tell
        await stage.adapter.commands(stage.project, trusted=False)
        assert {"--setting-sources=user", "--strict-mcp-config"} <= set(stage.cli.argv)
        assert '--settings={"disableAllHooks":true}' in stage.cli.argv
        assert [line["type"] for line in stage.cli.heard] == ["control_request"]
        assert stage.cli.exit is not None

    play(act)


def test_it_is_asked_once_for_a_while(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.act = tell
        ask = stage.adapter.commands
        await asyncio.gather(*(ask(stage.project, trusted=True) for _ in range(3)))
        assert len(stage.launcher.handles) == 1
        await ask(stage.project, trusted=False)
        assert len(stage.launcher.handles) == 2
        monkeypatch.setattr(catalogue_module, "FRESH_S", -1.0)
        await ask(stage.project, trusted=True)
        assert len(stage.launcher.handles) == 3

    play(act)


def test_what_a_chats_process_told_is_enough(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.act = tell
        run = await stage.start()
        stage.cli.say(init(), result())
        await stage.follow(run)
        await until(lambda: stage.adapter._models[-1].model.id == "fable")
        assert len(await stage.adapter.commands(stage.project, trusted=True)) == 3
        assert len(stage.launcher.handles) == 1

    play(act)


def test_a_program_that_does_not_start_is_an_error_and_is_asked_again(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.act = lambda cli, message: cli.die(1, "no luck")
        with pytest.raises(ProviderError):
            await stage.adapter.commands(stage.project, trusted=True)
        stage.launcher.act = tell
        assert await stage.adapter.commands(stage.project, trusted=True)

    play(act)
