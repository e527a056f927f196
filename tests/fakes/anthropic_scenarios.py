"""What the fake model says: scenarios by a keyword in the person's last text. First match wins."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.fakes.anthropic_requests import Context, Json, everything_said


@dataclass(frozen=True)
class Text:
    """A text block."""

    text: str


@dataclass(frozen=True)
class Thinking:
    """A thinking block."""

    text: str


@dataclass(frozen=True)
class Tool:
    """A tool_use block."""

    name: str
    input: Json


Block = Text | Thinking | Tool


class HttpError(Exception):
    """Answer with this HTTP status instead."""

    def __init__(self, status: int, kind: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.kind = kind
        # "1" keeps the CLI's own retries short
        self.headers = {"retry-after": "1"} if status == 429 else {}


@dataclass(frozen=True)
class Reply:
    """What one call returns. `delay_s` between deltas of `chunk` characters.

    `fault` happens after the first delta: the line drops, an error event, or nothing more comes.
    """

    blocks: list[Block]
    stop: str = ""
    delay_s: float = 0.0
    chunk: int = 24
    fault: Literal["", "drop", "overloaded", "hang"] = ""
    usage: Json = field(default_factory=dict)

    @property
    def stop_reason(self) -> str:
        """Why the message ends."""
        calls = any(isinstance(block, Tool) for block in self.blocks)
        return self.stop or ("tool_use" if calls else "end_turn")


def say(text: str, **how: Any) -> Reply:
    """A reply of one text."""
    return Reply([Text(text)], **how)


def bash(command: str, description: str, **more: Any) -> Tool:
    """A Bash call."""
    return Tool("Bash", {"command": command, "description": description, **more})


def first(context: Context, *blocks: Block, then: str) -> Reply:
    """`blocks` in step 0, then the closing text; `{}` in it stands for the last tool result."""
    if context.step == 0:
        return Reply(list(blocks))
    return say(then.replace("{}", context.last_result[:2000]))


def _write(context: Context) -> Reply:
    found = re.search(r"write file(?: ([\w./-]+))?(?: with (.*))?", context.text, re.I | re.S)
    name, content = (found[1], found[2]) if found else (None, None)
    path = f"{context.cwd}/{name or 'hello.txt'}"
    tool = Tool("Write", {"file_path": path, "content": content or "hello\nworld\n"})
    if context.step == 0:
        return first(context, tool, then="")
    return say("Tool said: " + context.last_result.replace(f"{context.cwd}/", "")[:200])


def _edit(context: Context) -> Reply:
    found = re.search(r"edit file(?: ([\w./-]+))?", context.text, re.I)
    path = f"{context.cwd}/{(found and found[1]) or 'hello.txt'}"
    if context.step == 0:
        return Reply([Tool("Read", {"file_path": path})])
    if context.step == 1:
        change = {"file_path": path, "old_string": "world", "new_string": "fake world"}
        return Reply([Tool("Edit", change)])
    return say("Tool said: " + context.last_result.replace(f"{context.cwd}/", "")[:200])


def _notebook(context: Context) -> Reply:
    path = f"{context.cwd}/demo.ipynb"
    if context.step == 0:
        return Reply([Tool("Read", {"file_path": path})])
    if context.step == 1:
        change = {"notebook_path": path, "cell_id": "c1", "new_source": "print('edited')"}
        return Reply([Tool("NotebookEdit", {**change, "edit_mode": "replace"})])
    return say("Tool said: " + context.last_result[:200])


def _question(question: str, header: str, multi: bool, *labels: str) -> Json:
    options = [{"label": label, "description": f"Choose {label}"} for label in labels]
    return {"question": question, "header": header, "multiSelect": multi, "options": options}


def _ask(context: Context) -> Reply:
    questions = [
        _question("Which colour should the plot use?", "Colour", False, "Red", "Blue"),
        _question("Which formats should be saved?", "Formats", True, "PNG", "SVG", "PDF"),
    ]
    tool = Tool("AskUserQuestion", {"questions": questions})
    return first(context, tool, then="You answered: {}")


def _plan(context: Context) -> Reply:
    # outside plan mode no file is announced, and the tool takes no text
    step = context.step if context.plan_file else context.step + 1
    if step == 0:
        plan = "# Plan\n1. Read the data\n2. Plot it\n3. Save it\n"
        write = Tool("Write", {"file_path": context.plan_file, "content": plan})
        return Reply([Text("Here is my plan."), write])
    if step == 1:
        return Reply([Tool("ExitPlanMode", {})])
    return say("Plan tool said: " + context.last_result[:200])


def _subagent(context: Context) -> Reply:
    work = {
        "description": "Say hello",
        "prompt": "think, then say hello (you are a helper)",
        "subagent_type": "general-purpose",
    }
    name = "Agent" if "Agent" in context.tools else "Task"
    return first(context, Tool(name, work), then="The helper said: {}")


def _delegate(context: Context) -> Reply:
    """Hand the rest of the text to a helper: "delegate touch"."""
    work = context.text.partition("delegate")[2].strip()
    call = {"description": f"Help to {work}", "prompt": work, "subagent_type": "general-purpose"}
    return first(context, Tool("Agent", call), then="A helper works on it.")


def _background(context: Context) -> Reply:
    """Run a command in the background: "background 2" ends after two seconds."""
    found = re.search(r"background ([\d.]+)", context.text)
    command = bash(
        f"sleep {found[1] if found else 1}; echo done",
        "Work in the background",
        run_in_background=True,
    )
    return first(context, command, then="It runs in the background.")


_TODOS = [("Read the data", "Reading the data"), ("Plot it", "Plotting it")]


def _todo_list(context: Context) -> Reply:
    """A checklist by the tool that replaces it whole."""
    states = [("in_progress", "pending"), ("completed", "in_progress"), ("completed", "completed")]
    if context.step == len(states):
        return say("The list is done.")
    todos = [
        {"content": text, "activeForm": active, "status": status}
        for (text, active), status in zip(_TODOS, states[context.step], strict=True)
    ]
    return Reply([Tool("TodoWrite", {"todos": todos})])


def _task_list(context: Context) -> Reply:
    """A checklist by the tools that change one line at a time."""
    match context.step:
        case 0:
            return Reply(
                [
                    Tool("TaskCreate", {"subject": text, "description": text, "activeForm": active})
                    for text, active in _TODOS
                ]
            )
        case 1:
            return Reply([Tool("TaskUpdate", {"taskId": "1", "status": "in_progress"})])
        case 2:
            return Reply([Tool("TaskUpdate", {"taskId": "1", "status": "completed"})])
        case 3:
            return Reply([Tool("TaskUpdate", {"taskId": "2", "status": "deleted"})])
        case 4:
            return Reply([Tool("TaskList", {})])
    return say("The list is up to date.")


def _kinds(images: list[Json]) -> str:
    return ", ".join(image["source"]["media_type"] for image in images) or "none"


def _error(context: Context) -> Reply:
    found = re.search(r"error (\d{3})", context.text)
    status = int(found[1]) if found else 500
    kind, message = {
        400: ("invalid_request_error", "prompt is too long: 250000 tokens > 200000 maximum"),
        401: ("authentication_error", "invalid x-api-key"),
        403: ("permission_error", "Your account does not have access"),
        404: ("not_found_error", "model: no-such-model"),
        413: ("request_too_large", "Request exceeds the maximum size"),
        429: ("rate_limit_error", "This request would exceed your rate limit"),
        529: ("overloaded_error", "Overloaded"),
    }.get(status, ("api_error", "Internal server error"))
    raise HttpError(status, kind, message)


_SLOW = " ".join(f"word{number}" for number in range(1, 61))
_ENV = "env | cut -d= -f1 | sort | tr '\\n' ' '"
_TOUCH = "touch made-by-agent.txt"

SCENARIOS: list[tuple[str, Callable[[Context], Reply]]] = [
    ("delegate", _delegate),
    ("background", _background),
    ("todo list", _todo_list),
    ("task list", _task_list),
    (
        "huge tool",
        lambda c: first(
            c, bash("head -c 3000000 /dev/zero | tr '\\0' 'y'", "Print much"), then="That was much."
        ),
    ),
    ("bad tool", lambda c: first(c, Tool("NoSuchTool", {"x": 1}), then="Tool said: {}")),
    (
        "fail tool",
        lambda c: first(c, bash("ls /nonexistent-folder", "List it"), then="Tool said: {}"),
    ),
    (
        "run ls",
        lambda c: first(
            c,
            Text("I'll list the files."),
            bash("ls -1", "List files in the folder"),
            then="The folder holds: {}",
        ),
    ),
    (
        "run sleep",
        lambda c: first(c, bash("sleep 20; echo slept", "Sleep"), then="The command ended."),
    ),
    ("env names", lambda c: first(c, bash(_ENV, "List variable names"), then="Names: {}")),
    ("touch", lambda c: first(c, bash(_TOUCH, "Create an empty file"), then="Tool said: {}")),
    ("write file", _write),
    ("edit file", _edit),
    ("edit notebook", _notebook),
    ("ask me", _ask),
    ("plan", _plan),
    ("slow", lambda c: say(_SLOW, delay_s=0.15, chunk=12)),
    ("steady", lambda c: say(_SLOW, delay_s=0.03, chunk=6)),
    ("recall", lambda c: say("You said: " + " | ".join(everything_said(c.body)))),
    (
        "parallel",
        lambda c: first(
            c,
            Text("Two calls at once."),
            bash("echo one", "Print one"),
            bash("echo two", "Print two"),
            then="Both are done.",
        ),
    ),
    ("subagent", _subagent),
    ("use mcp", lambda c: first(c, Tool("mcp__demo__add", {"a": 2, "b": 3}), then="It said: {}")),
    (
        "think",
        lambda c: Reply([Thinking("I consider one by one."), Text("The answer is 42.")]),
    ),
    ("image", lambda c: say(f"I see {len(c.images)} image of kind {_kinds(c.images)}.")),
    ("say hello", lambda c: say("Hello from the fake model.")),
    ("big", lambda c: say("x" * 2_000_000, chunk=100_000)),
    ("refuse", lambda c: say("I can't", stop="refusal")),
    ("max tokens", lambda c: say("This is cut o", stop="max_tokens")),
    ("overloaded", lambda c: say("This starts but then", fault="overloaded")),
    ("drop", lambda c: say("This starts but then the line drops", fault="drop")),
    ("hang", lambda c: say("This starts and then nothing more comes", fault="hang")),
    ("error", _error),
    ("echo", lambda c: say(c.text)),
]


def choose(context: Context) -> Reply:
    """The scripted reply to one request."""
    if not context.tools:
        # a call for the CLI's own use
        if "title" in context.system.lower():
            return say(json.dumps({"title": "A scripted chat"}))
        if "summar" in context.system.lower() + context.text.lower():
            return say("<summary>A short summary of a scripted chat.</summary>")
    if context.wants_summary:
        return say("<summary>A short summary of a scripted chat.</summary>")
    if context.ended_task:
        return say(f"It ended: {context.ended_task}")
    for keyword, scenario in SCENARIOS:
        if re.search(rf"\b{re.escape(keyword)}\b", context.text, re.IGNORECASE):
            return scenario(context)
    return say("You said: " + context.text[:500])
