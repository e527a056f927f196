"""What the real programs showed in the conformance run, and the table of it: docs/agents.md.

The tests of `test_every_agent` note one fact each below `build/agents`; `make agents-table` runs
them and writes `docs/agents.json` and `docs/agents.md`. Nothing in the table is written by hand.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent.parent
FACTS = ROOT / "build" / "agents"
DATA = ROOT / "docs" / "agents.json"
PAGE = ROOT / "docs" / "agents.md"

Json = dict[str, Any]

FEATURES = {
    "resume": "goes on with its conversation",
    "fork": "fork",
    "rewind": "rewind of the conversation",
    "restore_files": "restores files itself (our checkpoints do it for every agent)",
    "steer": "takes a message into a running turn",
    "asks": "asks for permission",
    "questions": "asks questions with options",
    "reasoning": "shows its reasoning",
    "plan_usage": "tells how much of the plan is used",
    "skills": "skills are called by",
    "images": "takes images",
    "mcp": "MCP servers handed over",
    "reattach": "survives a crash of the server",
}
SCENARIOS = {
    "hello": "answers in a stream",
    "tool_ok": "a tool call, typed",
    "tool_failed": "a tool call that fails",
    "permission_granted": "an ask, allowed",
    "permission_denied": "an ask, denied",
    "cancel": "Stop, then the next prompt",
    "huge_line": "a line of 2 MB",
    "resume_refused": "a conversation that it does not know any more",
    "attach": "the server dies in mid-answer",
    "attach_ask": "the server dies while an ask is open",
    "attach_over": "the server dies, and the run ends without it",
    "resend": "the server dies before the prompt is written",
    "steer": "a message into the running turn",
    "rewind": "a turn is taken back",
    "fork": "a branch, the parent untouched",
    "two_chats": "two chats at once",
    "huge_output": "100 KB of output of a tool",
    "question": "a question, answered",
    "image": "an image that is attached",
    "mcp": "an MCP server that is handed over",
    "child_killed": "the agent is killed in mid-turn",
}
"""Scenario of the shipped suites -> what it shows, in words."""


def note(agent: str, **facts: Any) -> None:
    """Keep facts of one agent. Called by tests; one file for each call, so that any may run."""
    folder = FACTS / agent
    folder.mkdir(parents=True, exist_ok=True)
    name = facts.get("scenario", "about")
    staged = folder / f"{name}.{os.getpid()}"
    staged.write_text(json.dumps(facts))
    staged.replace(folder / f"{name}.json")


def gather() -> Json:
    """Everything that was noted, by agent."""
    agents: Json = {}
    for folder in sorted(FACTS.iterdir() if FACTS.is_dir() else ()):
        about = json.loads((folder / "about.json").read_text())
        results = {
            file.stem: json.loads(file.read_text())["result"]
            for file in sorted(folder.glob("*.json"))
            if file.stem != "about"
        }
        agents[folder.name] = about | {"scenarios": results}
    return {"when": time.strftime("%Y-%m-%d"), "agents": agents}


def render(data: Json) -> str:
    """docs/agents.md."""
    agents: Json = data["agents"]
    ids = sorted(agents, key=lambda one: agents[one]["name"])
    head = " | ".join(f"{agents[one]['name']} {agents[one]['version']}" for one in ids)
    rule = "|---" * (len(ids) + 1) + "|"
    lines = [
        "<!-- Written by `make agents-table` from the conformance run. Do not edit. -->",
        "# What each agent can do",
        "",
        "Every agent is driven by its own best protocol and brings the same events. This table",
        f"was made on {data['when']} by the suites that we ship (`providers/conformance*`), each",
        "run with the **real program** against a fake model server. A gap is what the agent itself",
        "does not offer; it is declared in its `features`, and the test fails when it is not.",
        "",
        f"| what it can do | {head} |",
        rule,
    ]
    for name, words in FEATURES.items():
        cells = (_feature(agents[one]["features"].get(name)) for one in ids)
        lines.append(f"| {words} | {' | '.join(cells)} |")
    lines += ["", "## What was shown, scenario by scenario", "", f"| scenario | {head} |", rule]
    for name, words in SCENARIOS.items():
        cells = (_result(agents[one]["scenarios"].get(name)) for one in ids)
        lines.append(f"| {words} (`{name}`) | {' | '.join(cells)} |")
    lines += ["", "## Permissions", ""]
    for one in ids:
        for permission, text in (agents[one].get("permission_notes") or {}).items():
            lines.append(f"- {agents[one]['name']}, `{permission}`: {text}")
    return "\n".join(lines) + "\n"


def _feature(value: object) -> str:
    if value is True:
        return "yes"
    return "-" if value in (False, None, "none") else f"`{value}`"


def _result(value: object) -> str:
    return {"kept": "kept", "gap": "-"}.get(str(value), "**not shown**")


def main() -> int:
    """Write the page from what was noted; --page: from the data that is committed."""
    if "--page" not in sys.argv:
        DATA.write_text(json.dumps(gather(), indent=1) + "\n")
    PAGE.write_text(render(json.loads(DATA.read_text())))
    return 0


if __name__ == "__main__":
    sys.exit(main())
