"""What the fake Responses model says: scenarios by a keyword in the person's last text.

First match wins. A turn may take several calls: `step` counts the tool outputs since the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Message:
    """A streamed answer; `delay_s` between pieces of `chunk` characters."""

    text: str
    chunk: int = 8
    delay_s: float = 0.0
    phase: str | None = None


@dataclass(frozen=True)
class Reasoning:
    """A reasoning with a summary of several parts."""

    parts: list[str]


@dataclass(frozen=True)
class Call:
    """A function call."""

    name: str
    arguments: Json
    namespace: str | None = None


@dataclass(frozen=True)
class Custom:
    """A call of a tool that takes plain text."""

    name: str
    text: str


@dataclass(frozen=True)
class Item:
    """Any other item, whole."""

    item: Json


Block = Message | Reasoning | Call | Custom | Item


class HttpError(Exception):
    """Answer with this HTTP status instead."""

    def __init__(self, status: int, error: Json, headers: dict[str, str] | None = None) -> None:
        super().__init__(str(error))
        self.status = status
        self.error = error
        self.headers = headers or {}


@dataclass(frozen=True)
class Failed:
    """A `response.failed` event."""

    code: str
    message: str


@dataclass(frozen=True)
class Broken:
    """The stream begins, and then: `drop` it ends, `hang` nothing more comes."""

    how: str


Reply = list[Block] | Failed | Broken


@dataclass(frozen=True)
class Context:
    """What a scenario may look at."""

    body: Json
    text: str
    after: list[Json] = field(default_factory=list)

    @property
    def outputs(self) -> list[Json]:
        """The tool outputs since the prompt."""
        return [item for item in self.after if str(item.get("type", "")).endswith("_output")]

    @property
    def step(self) -> int:
        """How many there are."""
        return len(self.outputs)

    @property
    def last_output(self) -> str:
        """What the last tool said."""
        out = self.outputs[-1].get("output", "") if self.outputs else ""
        if isinstance(out, list):
            return "".join(part.get("text", "") for part in out if isinstance(part, dict))
        return str(out.get("content", out) if isinstance(out, dict) else out)

    @property
    def tools(self) -> dict[str, Json]:
        """The tools on offer; those of a namespace as `namespace.name`."""
        found: dict[str, Json] = {}
        for tool in self.body.get("tools") or []:
            if tool.get("type") == "namespace":
                for inner in tool.get("tools") or []:
                    found[f"{tool.get('name')}.{inner.get('name')}"] = inner
            else:
                found[str(tool.get("name") or tool.get("type"))] = tool
        return found

    @property
    def said(self) -> list[str]:
        """Everything that a person said, oldest first."""
        return [text_of(item) for item in inputs(self.body) if is_of_person(item)]


def inputs(body: Json) -> list[Json]:
    """The items of a request."""
    items = body.get("input") or []
    return items if isinstance(items, list) else [{"role": "user", "content": items}]


def text_of(item: Json) -> str:
    """The text of a message item."""
    content = item.get("content")
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or [] if part.get("text"))


def is_of_person(item: Json) -> bool:
    """Codex sends its context as a user's messages, too: `<environment_context>`, AGENTS.md."""
    if item.get("type", "message") != "message" or item.get("role") != "user":
        return False
    text = text_of(item).lstrip()
    return not text.startswith(("<", "# AGENTS.md"))


def read_context(body: Json) -> Context:
    """The last thing a person said, and what followed it."""
    items = inputs(body)
    for index in range(len(items) - 1, -1, -1):
        if is_of_person(items[index]):
            return Context(body, text_of(items[index]), items[index + 1 :])
    return Context(body, "", items)


def shell(context: Context, command: str, **more: Any) -> Call:
    """A shell call in the dialect that this model was given."""
    if "exec_command" in context.tools:
        return Call("exec_command", {"cmd": command, **more})
    if "shell_command" in context.tools:
        return Call("shell_command", {"command": command, **more})
    return Call("shell", {"command": ["bash", "-lc", command], **more})


def patch(context: Context, text: str) -> Block:
    """An apply_patch call in the dialect that this model was given."""
    if context.tools.get("apply_patch", {}).get("type") == "custom":
        return Custom("apply_patch", text)
    if "apply_patch" in context.tools:
        return Call("apply_patch", {"input": text})
    return shell(context, f"apply_patch <<'EOF'\n{text}EOF")


def first(context: Context, *blocks: Block, then: str) -> Reply:
    """`blocks` in step 0, then the closing text; `{}` in it stands for the last tool output."""
    if context.step == 0:
        return list(blocks)
    return [Message(then.replace("{}", context.last_output[:2000]))]


def _run(context: Context) -> Reply:
    command = context.text.partition("run ")[2].strip() or "ls"
    rights: Json = {}
    if command.startswith("escalated "):
        command = command.removeprefix("escalated ")
        rights = {
            "sandbox_permissions": "require_escalated",
            "justification": "It must leave the sandbox.",
        }
    thought = Reasoning(["**Running a command** I will run it in the shell."])
    return first(context, thought, shell(context, command, **rights), then="It printed: {}")


_UPDATE = "*** Begin Patch\n*** Update File: notes.txt\n@@\n-old line\n+new line\n*** End Patch\n"
_ADD = "*** Begin Patch\n*** Add File: added.txt\n+hello\n+second line\n*** End Patch\n"
_OUTSIDE = "*** Begin Patch\n*** Add File: ../outside.txt\n+outside\n*** End Patch\n"


def _plan(context: Context) -> Reply:
    steps = ["Look at the code", "Write the change", "Test it"]
    states = [["in_progress", "pending", "pending"], ["completed", "in_progress", "pending"]]
    if context.step == len(states):
        return [Message("The plan is set.")]
    plan = [
        {"step": step, "status": state}
        for step, state in zip(steps, states[context.step], strict=True)
    ]
    return [Call("update_plan", {"explanation": "As we go", "plan": plan})]


def _ask(context: Context) -> Reply:
    options = [
        {"label": "Red (Recommended)", "description": "Warm"},
        {"label": "Blue", "description": "Cool"},
    ]
    question = {
        "id": "colour",
        "header": "Colour",
        "question": "Which colour?",
        "options": options,
    }
    call = Call("request_user_input", {"questions": [question]})
    return first(context, call, then="You answered: {}")


def _rights(context: Context) -> Reply:
    wanted = {"reason": "It wants the network.", "permissions": {"network": {"enabled": True}}}
    return first(context, Call("request_permissions", wanted), then="Rights: {}")


def _mcp(context: Context) -> Reply:
    found = re.search(r"use mcp (\w+) (\w+)", context.text)
    server, tool = (found[1], found[2]) if found else ("demo", "add")
    given = {"a": 2, "b": 3}
    if f"mcp__{server}.{tool}" in context.tools:
        call = Call(tool, given, namespace=f"mcp__{server}")
    else:
        call = Call(f"mcp__{server}__{tool}", given)
    return first(context, call, then="MCP said: {}")


def _delegate(context: Context) -> Reply:
    """Hand the rest of the text to a helper: "delegate run touch x"."""
    work = context.text.partition("delegate ")[2]
    match context.step:
        case 0:
            call = Call("spawn_agent", {"message": work}, namespace="multi_agent_v1")
            return [call]
        case 1:
            found = re.search(r"[0-9a-f]{8}-[0-9a-f-]{27}", context.last_output)
            wait = {"targets": [found[0] if found else ""], "timeout_ms": 20000}
            return [Call("wait_agent", wait, namespace="multi_agent_v1")]
    return [Message("The helper said: " + context.last_output[:500])]


def _search(_context: Context) -> Reply:
    action = {"type": "search", "query": "fake query", "queries": ["fake query"]}
    item = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": action}
    return [Item(item), Message("I searched.")]


def _review(_context: Context) -> Reply:
    place = {"absolute_file_path": "/project/notes.txt", "line_range": {"start": 1, "end": 1}}
    finding = {
        "title": "[P1] Guard the empty case",
        "body": "notes.txt may be empty.",
        "confidence_score": 0.9,
        "priority": 1,
        "code_location": place,
    }
    said = {
        "findings": [finding],
        "overall_correctness": "patch is incorrect",
        "overall_explanation": "One thing to fix.",
        "overall_confidence_score": 0.8,
    }
    return [Message(json.dumps(said), chunk=200)]


def _images(context: Context) -> Reply:
    parts = [
        part
        for item in inputs(context.body)
        if isinstance(item.get("content"), list)
        for part in item["content"]
        if part.get("type") == "input_image"
    ]
    starts = [str(part.get("image_url", ""))[:22] for part in parts]
    return [Message(f"I see {len(parts)}: {starts}")]


_ERRORS: dict[str, tuple[int, Json]] = {
    "500": (500, {"message": "fake server error", "type": "server_error"}),
    "503": (503, {"message": "fake overload", "code": "server_is_overloaded"}),
    "429": (429, {"message": "Rate limit reached.", "code": "rate_limit_exceeded"}),
    "usage": (429, {"message": "The usage limit has been reached", "type": "usage_limit_reached"}),
    "401": (401, {"message": "Incorrect API key provided", "code": "invalid_api_key"}),
    "400": (400, {"message": "Unsupported parameter: 'fake'", "type": "invalid_request_error"}),
    "404": (404, {"message": "The model `x` does not exist", "code": "model_not_found"}),
}


def _error(context: Context) -> Reply:
    found = re.search(r"error (\w+)", context.text)
    word = found[1] if found else "500"
    if word == "quota":
        return Failed("insufficient_quota", "You exceeded your current quota.")
    if word == "context":
        return Failed("context_length_exceeded", "Your input exceeds the context window.")
    if word in ("drop", "hang"):
        return Broken(word)
    status, error = _ERRORS.get(word, _ERRORS["500"])
    raise HttpError(status, {"error": error}, {"retry-after": "1"} if status == 429 else {})


_SLOW = " ".join(f"word{number}" for number in range(1, 61))

SCENARIOS: list[tuple[str, Callable[[Context], Reply]]] = [
    ("delegate", _delegate),
    ("implement the plan", lambda c: first(c, patch(c, _ADD), then="Patch: {}")),
    ("say hello", lambda c: [
        Reasoning(["**Thinking about a greeting** They want a hello.", "**Deciding** Short."]),
        Message("Hello from the fake model!\n\n```python\nprint('hi')\n```\n"),
    ]),
    ("run", _run),
    ("edit file", lambda c: first(c, patch(c, _UPDATE), then="Patch: {}")),
    ("add file", lambda c: first(c, patch(c, _ADD), then="Patch: {}")),
    ("edit outside", lambda c: first(c, patch(c, _OUTSIDE), then="Patch: {}")),
    ("propose plan", lambda c: [
        Message("I propose this.\n<proposed_plan>\n# Plan\n1. Read\n2. Write\n</proposed_plan>\n")
    ]),
    ("make plan", _plan),
    ("ask me", _ask),
    ("ask rights", _rights),
    ("slow", lambda c: [Message(_SLOW, delay_s=0.15, chunk=12)]),
    ("steady", lambda c: [Message(_SLOW, delay_s=0.03, chunk=6)]),
    ("recall", lambda c: [Message("You said: " + " | ".join(c.said), chunk=400)]),
    ("two messages", lambda c: [Message("Final answer.", phase="final_answer")]
     if c.step
     else [Message("I will look first.", phase="commentary"), shell(c, "echo looking")]),
    ("use mcp", _mcp),
    ("search", _search),
    ("big", lambda c: [Message("x" * 2_000_000, chunk=100_000)]),
    ("look at", _images),
    ("error", _error),
    ("echo", lambda c: [Message(c.text)]),
    ("review", _review),
]  # fmt: skip


def choose(context: Context) -> Reply:
    """The scripted reply to one request."""
    for keyword, scenario in SCENARIOS:
        if re.search(rf"\b{re.escape(keyword)}\b", context.text, re.IGNORECASE):
            return scenario(context)
    return [Message("You said: " + context.text[:500])]
