"""What the fake model says beside `model_script` in the tests of the real Kimi Code.

quick WORDS (one piece) · repeat (its own words) · talk (text, a call, twice, then text) ·
background (a command in the background) · child writes (a helper that writes a file) · make a
plan (plan file, then the plan to be approved) · many steps (a call again and again) · my
question · my todo · no such tool
"""

from __future__ import annotations

import re

from tests.fakes.fake_models import FakeModels
from tests.fakes.model_script import Json, Reply, Request

MANY = 130
_PLAN_FILE = re.compile(r"/[^\s\"'`\\]+/plans/[^\s\"'`\\]+\.md")
_QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multi_select": False,
        "options": [
            {"label": "Red", "description": "warm"},
            {"label": "Blue", "description": "cold"},
        ],
    },
    {
        "question": "Which fruits?",
        "header": "Fruits",
        "multi_select": True,
        "options": [
            {"label": "Apple", "description": "round"},
            {"label": "Cherry", "description": "small"},
        ],
    },
]


class KimiModels(FakeModels):
    """`FakeModels` with the scenarios above."""

    def take(self, request: Request, raw: str) -> Reply:
        """See `FakeModels.take`."""
        usual = super().take(request, raw)
        said = request.said[-1] if request.said else ""
        if not request.tools:
            return usual
        return _own(request, said, said.lower(), raw) or usual


def _own(request: Request, said: str, low: str, raw: str) -> Reply | None:
    done = request.results
    if found := re.match(r"quick (.+)", said, re.DOTALL):
        return Reply(text=[found[1]])
    if low.startswith("repeat "):
        return Reply(text=[said])
    if low.startswith("talk"):
        if done < 2:
            return Reply(
                thoughts=[f"Thought {done}."],
                text=[f"Look {done}. "],
                calls=[_bash(f"echo {done}")],
            )
        return Reply(text=[f"part {number} " for number in range(25)], delay_s=0.04)
    if low.startswith("many steps") and done < MANY:
        return Reply(text=[f"Step {done}. "], calls=[_bash(f"echo {done}")])
    if low.startswith("background") and not done:
        arguments = {"command": "sleep 0.3", "description": "A task", "run_in_background": True}
        return Reply(calls=[("Bash", arguments)])
    if low.startswith("child writes") and "Agent" in request.tools and not done:
        arguments = {"description": "Child", "prompt": "write file", "subagent_type": "coder"}
        return Reply(calls=[("Agent", arguments)])
    if low.startswith("make a plan"):
        files = _PLAN_FILE.findall(raw)
        if files and done == 0:
            return Reply(calls=[("Write", {"path": files[-1], "content": "# Plan\n1. Do it.\n"})])
        if files and done == 1:
            return Reply(calls=[("ExitPlanMode", {})])
    if low.startswith("my question") and not done:
        return Reply(calls=[("AskUserQuestion", {"questions": _QUESTIONS})])
    if low.startswith("my todo") and not done:
        todos = [{"title": "one", "status": "in_progress"}, {"title": "two", "status": "done"}]
        return Reply(calls=[("TodoList", {"todos": todos})])
    if low.startswith("no such tool") and not done:
        return Reply(calls=[("no_such_tool", {})])
    return None


def _bash(command: str) -> tuple[str, Json]:
    return "Bash", {"command": command, "description": f"Runs {command}"}
