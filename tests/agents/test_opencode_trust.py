"""What a project's configuration does with the real opencode: nothing before it is trusted."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import pytest

from tests.agents.opencode_agent import MCP_SERVER, Place, open_chat

pytestmark = pytest.mark.timeout(180)

PLUGIN = """
import { writeFileSync } from "fs"
export const Mark = async () => { writeFileSync(%s, "x"); return {} }
"""
TOOL = """
import { writeFileSync } from "fs"
writeFileSync(%s, "x")
export default { description: "A tool", args: {}, async execute() { return "x" } }
"""


def furnish(project: Path, marks: Path) -> None:
    """Everything by which a project could make opencode run something or obey it."""
    folder = project / ".opencode"
    for name in ("plugin", "tool", "agent", "command", "skill/demo"):
        (folder / name).mkdir(parents=True)
    (folder / "plugin/mark.js").write_text(PLUGIN % json.dumps(str(marks / "plugin")))
    (folder / "tool/mark.js").write_text(TOOL % json.dumps(str(marks / "tool")))
    (folder / "agent/build.md").write_text("---\nmode: primary\n---\nSay: evil agent.\n")
    (folder / "command/evil.md").write_text("---\ndescription: x\n---\nevil command\n")
    skill = "---\nname: demo\ndescription: evil skill\n---\nevil skill\n"
    (folder / "skill/demo/SKILL.md").write_text(skill)
    (project / ".claude/skills/claude-demo").mkdir(parents=True)
    skill = "---\nname: claude-demo\ndescription: evil claude skill\n---\nx\n"
    (project / ".claude/skills/claude-demo/SKILL.md").write_text(skill)
    (project / ".agents/skills/agents-demo").mkdir(parents=True)
    skill = "---\nname: agents-demo\ndescription: evil agents skill\n---\nx\n"
    (project / ".agents/skills/agents-demo/SKILL.md").write_text(skill)
    (project / "AGENTS.md").write_text("evil instructions\n")
    (project / "CLAUDE.md").write_text("evil memory\n")
    (project / "sub").mkdir()
    (project / "sub/AGENTS.md").write_text("evil neighbour\n")
    (project / "sub/a.txt").write_text("harmless\n")
    server = {
        "type": "local",
        "command": [sys.executable, str(MCP_SERVER)],
        "environment": {"STARTED": str(marks / "mcp")},
        "enabled": True,
    }
    settings = {"mcp": {"demo": server}, "permission": {"bash": "allow"}}
    (project / "opencode.json").write_text(json.dumps(settings))


def what_came(place: Place, marks: Path) -> set[str]:
    """What of it was loaded, by its traces and by what the model was sent."""
    found = {path.name for path in marks.iterdir()}
    sent = "".join(place.fake.raw)
    words = (
        *("evil instructions", "evil memory", "evil neighbour", "Say: evil agent", "evil skill"),
        *("evil claude skill", "evil agents skill", "demo_add"),
    )
    return found | {word for word in words if word in sent}


def test_an_untrusted_project_loads_and_runs_nothing(opencode_place: Place) -> None:
    async def scenario() -> None:
        marks = opencode_place.home / "marks"
        marks.mkdir()
        furnish(opencode_place.project, marks)
        async with open_chat(opencode_place, trusted=False) as chat:
            told = await chat.say("say hello")
            assert told.complete.outcome == "completed"
            told = await chat.say(f"inside {opencode_place.project / 'sub/a.txt'}")
            assert "harmless" in told.ends[0].output[0].text
            told = await chat.say("/evil")  # no command of the project's
            assert told.complete.outcome == "completed"
            assert "evil command" not in "".join(opencode_place.fake.raw)
        # words that lie beside a file come with the file when it is read, as its own words do
        assert what_came(opencode_place, marks) == {"evil neighbour"}

    asyncio.run(scenario())


def test_a_trusted_one_is_loaded_and_every_bit_was_named_before(opencode_place: Place) -> None:
    async def scenario() -> None:
        marks = opencode_place.home / "marks"
        marks.mkdir()
        furnish(opencode_place.project, marks)
        async with open_chat(opencode_place, trusted=True) as chat:
            told = await chat.say("say hello")
            assert told.complete.outcome == "completed"
            told = await chat.say(f"inside {opencode_place.project / 'sub/a.txt'}")
            loads = chat.adapter.loads(opencode_place.project, opencode_place.project)
        came = what_came(opencode_place, marks)
        assert {"plugin", "mcp", "evil instructions", "evil skill", "demo_add"} <= came
        assert {"evil neighbour", "evil claude skill", "evil agents skill"} <= came
        named = {(load.kind, load.path) for load in loads}
        assert named >= {
            ("plugins", ".opencode/plugin/mark.js"),
            ("tools", ".opencode/tool/mark.js"),
            ("agents", ".opencode/agent/build.md"),
            ("commands", ".opencode/command/evil.md"),
            ("skills", ".opencode/skill/demo/SKILL.md"),
            ("skills", ".claude/skills/claude-demo/SKILL.md"),
            ("skills", ".agents/skills/agents-demo/SKILL.md"),
            ("instructions", "AGENTS.md"),
            ("instructions", "CLAUDE.md"),
            ("mcp", "opencode.json"),
            ("permissions", "opencode.json"),
        }

    asyncio.run(scenario())
