"""What the CLI's tools are to a person: kind, title and typed input from a call's arguments. Pure.

An unknown tool, or one whose arguments do not fit, is `other` with its raw input: never lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from ....protocol.tools import (
    EditInput,
    FetchInput,
    McpInput,
    NotebookInput,
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
from ..wire import Json, int_of, text_of, true_at
from .places import Places

KINDS: Final[dict[str, ToolKind]] = {
    "Read": "read",
    "Write": "write",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "notebook",
    "Bash": "shell",
    "PowerShell": "shell",
    "Glob": "search",
    "Grep": "search",
    "WebFetch": "fetch",
    "WebSearch": "web_search",
    "AskUserQuestion": "question",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "Agent": "subagent",
    "Task": "subagent",
}

_TITLE_LIMIT = 120
_OPS = {"replace": "edit", "insert": "insert", "delete": "delete"}


def kind_of(name: str) -> ToolKind:
    """The kind of tool `name`."""
    return "mcp" if _mcp_names(name) else KINDS.get(name, "other")


def describe(name: str, arguments: Json, places: Places) -> tuple[ToolKind, str, ToolInput]:
    """(kind, title, input) of a call."""
    kind = kind_of(name)
    made = _INPUTS[kind](name, arguments, places)
    if made is None:
        return "other", _cut(name), OtherInput()
    title, typed = made
    return kind, _cut(title), typed


_Made = tuple[str, ToolInput] | None


def _read(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "file_path"))
    start, count = int_of(arguments, "offset"), int_of(arguments, "limit")
    end = (start or 1) + count - 1 if count else None
    if start is None and end is not None:
        start = 1
    return (f"Read {path}", ReadInput(path=path, start_line=start, end_line=end)) if path else None


def _write(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "file_path"))
    # while the arguments stream, the content is not known yet
    size = len(text_of(arguments, "content").encode()) if "content" in arguments else None
    return (f"Write {path}", WriteInput(path=path, size=size)) if path else None


def _edit(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "file_path"))
    return (f"Edit {path}", EditInput(path=path)) if path else None


def _notebook(name: str, arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "notebook_path"))
    cell = text_of(arguments, "cell_id")
    op = _OPS.get(text_of(arguments, "edit_mode") or "replace", "edit")
    typed = NotebookInput(path=path, cells=[cell] if cell else [], op=op)
    return (f"{op.capitalize()} a cell of {path}", typed) if path else None


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


def _other(name: str, arguments: Json, places: Places) -> _Made:
    match name:
        case "TodoWrite" | "TaskUpdate" | "TaskList":
            return "Update the checklist", OtherInput()
        case "TaskCreate" if subject := text_of(arguments, "subject"):
            return f"Add to the checklist: {subject}", OtherInput()
    return None


_INPUTS: Final[dict[ToolKind, Callable[[str, Json, Places], _Made]]] = {
    "read": _read,
    "write": _write,
    "edit": _edit,
    "notebook": _notebook,
    "shell": _shell,
    "search": _search,
    "fetch": _fetch,
    "web_search": _web_search,
    "question": _question,
    "plan": _plan,
    "subagent": _subagent,
    "mcp": _mcp,
    "other": _other,
}


def _mcp_names(name: str) -> tuple[str, str] | None:
    prefix, _, rest = name.partition("mcp__")
    server, _, tool = rest.partition("__")
    return (server, tool) if not prefix and server and tool else None


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LIMIT else f"{line[: _TITLE_LIMIT - 1]}…"
