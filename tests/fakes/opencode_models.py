"""What the fake model says beside `model_script` in the tests of the real opencode.

choose (a question, then the answer that came) · no end (an answer without a word why it ends)
· two tools (a quick and a slow command at once; "then two tools": after a second of text)
· child WORDS (a helper that is told WORDS)
· talk (text, a command, more text) · my todo · silence (nothing at all)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from tests.fakes.fake_models import FakeModels
from tests.fakes.model_script import Json, Reply, Request

_QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiple": False,
        "options": [
            {"label": "Red", "description": "warm"},
            {"label": "Blue", "description": "cold"},
        ],
    },
]


class _Unfinished(list[str]):
    """Pieces behind which the model hangs up."""

    def __iter__(self) -> Iterator[str]:
        yield from super().__iter__()
        raise BrokenPipeError


class OpencodeModels(FakeModels):
    """`FakeModels` with the scenarios above."""

    def take(self, request: Request, raw: str) -> Reply:
        """See `FakeModels.take`."""
        usual = super().take(request, raw)
        if not request.tools or not request.said:
            return usual
        said = request.said[-1]
        return _own(request, said, said.lower(), raw) or usual


def config(url: str, **more: Any) -> Json:
    """opencode's configuration with this model, and nothing of the internet."""
    limit = {"context": 128_000, "output": 8_000}
    plain: Json = {"name": "Fake Model", "tool_call": True, "limit": limit}
    thinker: Json = {
        "name": "Fake Thinker",
        "tool_call": True,
        "reasoning": True,
        "attachment": True,
        "modalities": {"input": ["text", "image"], "output": ["text"]},
        "limit": limit,
        "variants": {"low": {"reasoningEffort": "low"}, "high": {"reasoningEffort": "high"}},
    }
    return {
        "provider": {
            "fake": {
                "npm": "@ai-sdk/openai-compatible",
                "name": "Fake",
                "options": {"baseURL": f"{url}/v1", "apiKey": "sk-fake-secret-key"},
                "models": {"fake-model": plain, "fake-thinker": thinker},
            }
        },
        "model": "fake/fake-model",
        "small_model": "fake/fake-model",
        "enabled_providers": ["fake"],
        "autoupdate": False,
        "share": "disabled",
        **more,
    }


def _own(request: Request, said: str, low: str, raw: str) -> Reply | None:
    done = request.results
    if low.startswith("choose"):
        if done:
            return Reply(text=[_last_result(raw)])
        return Reply(calls=[("question", {"questions": _QUESTIONS})])
    if low.startswith("mirror"):
        return Reply(text=[said])
    if low.startswith("no end"):
        return Reply(text=_Unfinished(["And then "]))
    if ("then two tools" in low or low.startswith("two tools")) and not done:
        slow = {"command": "sleep 0.5; echo slow", "description": "Slow"}
        quick = {"command": "echo quick", "description": "Quick"}
        words = [f"part {number} " for number in range(40)] if "then" in low else []
        return Reply(text=words, calls=[("bash", slow), ("bash", quick)], delay_s=0.03)
    if (found := re.match(r"child (.+)", said, re.DOTALL)) and not done and "task" in request.tools:
        arguments = {
            "description": "Child job",
            "prompt": found[1],
            "subagent_type": "general",
        }
        return Reply(calls=[("task", arguments)])
    if low.startswith("talk"):
        if not done:
            command = {"command": "echo hi", "description": "Say hi"}
            return Reply(thoughts=["Let me "], text=["Look. "], calls=[("bash", command)])
        return Reply(text=[f"part {number} " for number in range(25)], delay_s=0.04)
    if low.startswith("my todo") and not done:
        todos = [
            {"content": "one", "status": "in_progress", "priority": "high"},
            {"content": "two", "status": "pending", "priority": "low"},
        ]
        return Reply(calls=[("todowrite", {"todos": todos})])
    if low.startswith("mcp tool") and not done and "demo_add" in request.tools:
        return Reply(calls=[("demo_add", {"a": 2, "b": 3})])
    if (found := re.match(r"inside (.+)", said)) and not done:
        return Reply(calls=[("read", {"filePath": found[1]})])
    if low.startswith("silence"):
        return Reply(stall=True)
    return None


def _last_result(raw: str) -> str:
    for message in reversed(json.loads(raw).get("messages") or []):
        if message.get("role") == "tool":
            return str(message.get("content"))
    return ""
