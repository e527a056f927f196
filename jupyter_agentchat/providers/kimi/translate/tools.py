"""What Kimi Code's tools are to a person: kind, title and typed input of a call. Pure.

An unknown tool, or one whose arguments do not fit, is `other` with its raw input: never lost.
Before an ask only the `display` of a call is known, not its arguments: `arguments_of` reads that.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ....protocol.tools import (
    EditInput,
    FetchInput,
    McpInput,
    OtherInput,
    PlanInput,
    QuestionInput,
    ReadInput,
    SearchInput,
    ShellInput,
    SubagentInput,
    ToolInput,
    WebSearchInput,
    WriteInput,
)
from ....protocol.words import ToolKind
from ..wire import Json, int_of, object_of, text_of, true_at
from .places import Places

KINDS: Final[dict[str, ToolKind]] = {
    "Read": "read",
    "ReadMediaFile": "read",
    "Write": "write",
    "Edit": "edit",
    "Bash": "shell",
    "Glob": "search",
    "Grep": "search",
    "FetchURL": "fetch",
    "WebSearch": "web_search",
    "AskUserQuestion": "question",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "Agent": "subagent",
    "AgentSwarm": "subagent",
}

_TITLE_LIMIT = 120
_Made = tuple[str, ToolInput] | None


def kind_of(name: str) -> ToolKind:
    """The kind of tool `name`."""
    return "mcp" if _mcp_names(name) else KINDS.get(name, "other")


def describe(
    name: str, arguments: Json, places: Places, said: str = ""
) -> tuple[ToolKind, str, ToolInput]:
    """(kind, title, input) of a call; `said` is what Kimi Code itself calls it."""
    kind = kind_of(name)
    make = _INPUTS.get(kind)
    made = make(name, arguments, places) if make else None
    if made is None:
        return "other", _cut(said or name), OtherInput()
    title, typed = made
    return kind, _cut(title), typed


def arguments_of(payload: Json) -> Json:
    """The arguments of a call: as they are, or read from how it is displayed."""
    if given := object_of(payload, "args"):
        return given
    display = object_of(payload, "tool_input_display") or object_of(payload, "display")
    match text_of(display, "kind"):
        case "command":
            return _chosen(display, "command", "cwd", "description")
        case "file_io" | "diff":
            shown: Json = {"path": display.get("path")}
            if "content" in display:
                shown["content"] = display["content"]
            if "before" in display:
                shown |= {"old_string": display["before"], "new_string": display.get("after")}
            if text_of(display, "operation") in ("glob", "grep"):
                shown["pattern"] = display.get("detail")
            return shown
        case "search":
            return {"pattern": display.get("query"), "query": display.get("query")}
        case "url_fetch":
            return _chosen(display, "url")
        case "agent_call":
            return {"subagent_type": display.get("agent_name"), "prompt": display.get("prompt")}
    return {}


def _chosen(display: Json, *keys: str) -> Json:
    return {key: display[key] for key in keys if key in display}


def _read(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "path"))
    start, count = int_of(arguments, "line_offset"), int_of(arguments, "n_lines")
    if start is not None and start < 1:
        start = count = None  # counted from the end
    end = (start or 1) + count - 1 if count else None
    if start is None and end is not None:
        start = 1
    return (f"Read {path}", ReadInput(path=path, start_line=start, end_line=end)) if path else None


def _write(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "path"))
    size = len(text_of(arguments, "content").encode()) if "content" in arguments else None
    return (f"Write {path}", WriteInput(path=path, size=size)) if path else None


def _edit(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "path"))
    return (f"Edit {path}", EditInput(path=path)) if path else None


def _shell(name: str, arguments: Json, places: Places) -> _Made:
    command = text_of(arguments, "command")
    title = text_of(arguments, "description") or command.split("\n", 1)[0]
    typed = ShellInput(command=command, background=true_at(arguments, "run_in_background"))
    return (title, typed) if command else None


def _search(name: str, arguments: Json, places: Places) -> _Made:
    query = text_of(arguments, "pattern")
    path = places.short(text_of(arguments, "path")) or None
    typed = SearchInput(query=query, path=path, glob=text_of(arguments, "glob") or None)
    return (f"Search for {query}", typed) if query else None


def _fetch(name: str, arguments: Json, places: Places) -> _Made:
    url = text_of(arguments, "url")
    return (f"Fetch {url}", FetchInput(url=url)) if url else None


def _web_search(name: str, arguments: Json, places: Places) -> _Made:
    query = text_of(arguments, "query")
    return (f"Search the web for {query}", WebSearchInput(query=query)) if query else None


def _question(name: str, arguments: Json, places: Places) -> _Made:
    return "Ask you", QuestionInput()


def _plan(name: str, arguments: Json, places: Places) -> _Made:
    return ("Propose a plan" if name == "ExitPlanMode" else "Start planning"), PlanInput()


def _subagent(name: str, arguments: Json, places: Places) -> _Made:
    description = text_of(arguments, "description") or "Work for a helper"
    agent = text_of(arguments, "subagent_type") or None
    return description, SubagentInput(description=description, agent=agent)


def _mcp(name: str, arguments: Json, places: Places) -> _Made:
    names = _mcp_names(name)
    if names is None:
        return None
    server, tool = names
    return f"{server}: {tool}", McpInput(server=server, tool=tool, arguments=arguments)


_INPUTS: Final[dict[ToolKind, Callable[[str, Json, Places], _Made]]] = {
    "read": _read,
    "write": _write,
    "edit": _edit,
    "shell": _shell,
    "search": _search,
    "fetch": _fetch,
    "web_search": _web_search,
    "question": _question,
    "plan": _plan,
    "subagent": _subagent,
    "mcp": _mcp,
}


def _mcp_names(name: str) -> tuple[str, str] | None:
    prefix, _, rest = name.partition("mcp__")
    server, _, tool = rest.partition("__")
    return (server, tool) if not prefix and server and tool else None


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LIMIT else f"{line[: _TITLE_LIMIT - 1]}…"
