"""What the fake model of the ACP tests says, chosen by words in the newest message of a person.

    say hello · echo WORDS · slow (words until the client hangs up) · steady (text for about a
    second) · stall (a word, then silence) · long text · big (one piece of 2 MB) · recall (every
    message of a person that it was sent) · how many images · http NNN · overflow
    run ls · run failing shell · run cmd: COMMAND · huge output · write file · edit file ·
    read file · make todo · subagent ls · mcp tool · ask question

Tools are called by what is offered: one script fits many agents. Own work; standard library only.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

NOTES = "notes.txt"
CONTENT = "alpha\nsecond line\n"
QUESTIONS = [
    {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [
            {"label": "Red", "description": "warm"},
            {"label": "Blue", "description": "cold"},
        ],
    },
    {
        "question": "Which fruits?",
        "header": "Fruits",
        "multiSelect": True,
        "options": [
            {"label": "Apple", "description": "round"},
            {"label": "Cherry", "description": "small"},
        ],
    },
]
_INJECTED = re.compile(
    r"<(system-reminder|session_context|environment_context|env)>.*?</\1>", re.DOTALL
)


@dataclass(frozen=True)
class Message:
    """A message to the model; `role` is user, assistant or tool."""

    role: str
    text: str = ""
    images: int = 0


@dataclass(frozen=True)
class Request:
    """What the model is asked. `tools` maps names to their schemas."""

    messages: list[Message]
    tools: dict[str, Json]
    model: str = ""
    path: str = ""

    @property
    def said(self) -> list[str]:
        """What a person said, without what agents put around it; the newest last."""
        texts = [_INJECTED.sub("", one.text).strip() for one in self.messages if one.role == "user"]
        return [text for text in texts if text]

    @property
    def results(self) -> int:
        """How many tool results stand behind the newest message of a person."""
        count = 0
        for message in reversed(self.messages):
            if message.role == "tool":
                count += 1
            elif message.role == "user" and _INJECTED.sub("", message.text).strip():
                return count
        return count


@dataclass
class Reply:
    """What is answered: a status, or pieces of text and calls. `delay_s` stands between pieces;
    `endless` goes on until the client hangs up, `stall` falls silent behind the first piece."""

    status: int = 200
    error: str = ""
    thoughts: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    calls: list[tuple[str, Json]] = field(default_factory=list)
    delay_s: float = 0.0
    endless: bool = False
    stall: bool = False


def reply_to(request: Request, workdir: str) -> Reply:
    """The reply; requests without tools are an agent's housekeeping (a title, a summary)."""
    said = request.said[-1] if request.said else ""
    low = said.lower()
    if found := re.search(r"http (\d{3})", low):
        return Reply(status=int(found[1]), error=f"scripted failure {found[1]}")
    if "overflow" in low:
        return Reply(status=400, error="This model's maximum context length is 8192 tokens.")
    if not request.tools:
        return Reply(text=["Fake title"])
    if request.results:
        return Reply(text=["Done. ", "The tool ", "has answered."])
    return _words(request, said, low) or _call(request, said, low, workdir)


def _words(request: Request, said: str, low: str) -> Reply | None:
    if "how many images" in low:
        count = sum(message.images for message in request.messages)
        return Reply(text=[f"I see {count} images."])
    if low.startswith("recall"):
        return Reply(text=[" | ".join(request.said)])
    if found := re.match(r"echo (.+)", said, re.DOTALL):
        return Reply(text=["You said: ", found[1]])
    if "stall" in low:
        return Reply(text=["Starting "], stall=True)
    if "slow" in low:
        return Reply(text=["word "], delay_s=0.05, endless=True)
    if "steady" in low:
        return Reply(text=[f"part {number} " for number in range(40)], delay_s=0.03)
    if "long text" in low:
        return Reply(text=[f"Paragraph {number}.\n\n" for number in range(100)])
    if low.startswith("big"):
        # never twice the same: agents stop a model that repeats itself
        return Reply(text=[" ".join(str(number) for number in range(320_000))])
    return None


def _call(request: Request, said: str, low: str, workdir: str) -> Reply:
    path = f"{workdir}/{NOTES}"
    paths = {"filepath": path, "path": path, "absolutepath": path, "targetfile": path}
    if found := re.search(r"run cmd: *(.+)", said):
        return _shell(request, found[1].strip())
    if "run failing shell" in low:
        return _shell(request, "echo out; echo err >&2; exit 3")
    if "huge output" in low:
        return _shell(
            request, 'for i in $(seq 1 4000); do echo "line $i 01234567890123456789"; done'
        )
    if "run ls" in low and "subagent" not in low:
        return _shell(request, "ls")
    if "write file" in low:
        return _use(request, ["write", "write_file"], {**paths, "content": CONTENT})
    if "edit file" in low:
        hints = {**paths, "oldstring": "alpha", "newstring": "beta", "instruction": "alpha to beta"}
        return _use(request, ["edit", "replace"], hints)
    if "read file" in low:
        return _use(request, ["read", "read_file"], paths)
    if "make todo" in low:
        todos = [
            {"content": "one", "description": "one", "status": "in_progress", "id": "1"},
            {"content": "two", "description": "two", "status": "pending", "id": "2"},
        ]
        return _use(request, ["todo_write", "write_todos", "todowrite"], {"todos": todos})
    if "subagent" in low:
        hints = {"description": "Child job", "prompt": "run ls", "objective": "run ls"}
        return _use(request, ["task", "agent", "codebase_investigator"], hints)
    if "mcp tool" in low:
        if "tool_call" in request.tools:  # some keep such tools behind another one
            call = {"name": "mcp__demo__demo_echo", "arguments": {"text": "hi"}}
            return Reply(calls=[("tool_call", call)])
        return _use(request, [".*demo.*"], {"text": "hi"})
    if "ask question" in low:
        return _use(request, ["ask_user_question", "ask_user"], {"questions": QUESTIONS})
    return Reply(
        thoughts=["Thinking ", "about it."], text=["Hello ", "from ", "the fake ", "model."]
    )


def _shell(request: Request, command: str) -> Reply:
    names = ["bash", "shell", "run_shell_command", ".*shell.*"]
    return _use(request, names, {"command": command, "description": "Runs a command"})


def _use(request: Request, patterns: list[str], hints: Json) -> Reply:
    name = next(
        (name for one in patterns for name in request.tools if re.fullmatch(one, name, re.I)), None
    )
    if name is None:
        return Reply(text=["The tool for this scenario was not offered."])
    arguments = _fill(request.tools[name], hints)
    return Reply(thoughts=["I will use ", f"the {name} tool."], calls=[(name, arguments)])


def _fill(schema: Json, hints: Json) -> Json:
    """Arguments for a tool: every hinted property it has, and whatever else it requires."""
    properties, required = schema.get("properties") or {}, set(schema.get("required") or [])
    arguments: Json = {}
    for name, sub in properties.items():
        key = re.sub(r"[^a-z]", "", name.lower())
        if key in hints:
            arguments[name] = _fitting(sub, hints[key])
        elif name in required:
            arguments[name] = _default(sub)
    return arguments


def _fitting(sub: Json, value: Any) -> Any:
    items = (sub.get("items") or {}).get("properties")
    if isinstance(value, list) and items:
        return [{key: one[key] for key in one if key in items} for one in value]
    return value


def _default(sub: Json) -> Any:
    if "enum" in sub:
        return sub["enum"][0]
    kind = str(sub.get("type") or "string").lower()
    if kind == "object":
        return _fill(sub, {})
    if kind == "array":
        return [_default(sub.get("items") or {})]
    return {"integer": 1, "number": 1, "boolean": False}.get(kind, "fake")


def dump(value: Json) -> bytes:
    """`value` as the bytes of a body."""
    return json.dumps(value).encode()
