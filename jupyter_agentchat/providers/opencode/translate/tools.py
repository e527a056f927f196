"""What opencode's tools are to a person: kind, title and typed input of a call. Pure.

An unknown tool, or one whose arguments do not fit, is `other` with its raw input: never lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
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
from ..wire import Json, int_of, text_of
from .places import Places

_TITLE_LIMIT: Final = 120
_Made = tuple[ToolKind, str, ToolInput] | None


def describe(
    name: str, arguments: Json, places: Places, servers: Collection[str] = ()
) -> tuple[ToolKind, str, ToolInput]:
    """(kind, title, input) of a call. `servers`: the MCP servers there are, by which `a_b` is told
    apart from a tool of that name."""
    made = (
        _BUILDERS[name](arguments, places) if name in _BUILDERS else _mcp(name, arguments, servers)
    )
    if made is None:
        return "other", _cut(name), OtherInput()
    kind, title, typed = made
    return kind, _cut(title), typed


def _read(arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "filePath"))
    start, count = int_of(arguments, "offset"), int_of(arguments, "limit")
    first = start if start and start > 0 else None
    last = (first or 1) + count - 1 if count else None
    typed = ReadInput(path=path, start_line=first or (1 if last else None), end_line=last)
    return ("read", f"Read {path}", typed) if path else None


def _list(arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "path") or ".")
    return "read", f"List {path}", ReadInput(path=path)


def _write(arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "filePath"))
    size = len(text_of(arguments, "content").encode()) if "content" in arguments else None
    return ("write", f"Write {path}", WriteInput(path=path, size=size)) if path else None


def _edit(arguments: Json, places: Places) -> _Made:
    path = places.short(text_of(arguments, "filePath"))
    return ("edit", f"Edit {path}", EditInput(path=path)) if path else None


def _patch(arguments: Json, places: Places) -> _Made:
    for line in text_of(arguments, "patchText").splitlines():
        for mark in ("*** Update File: ", "*** Add File: ", "*** Delete File: "):
            if line.startswith(mark):
                path = places.short(line.removeprefix(mark).strip())
                return "edit", f"Edit {path}", EditInput(path=path)
    return None


def _shell(arguments: Json, places: Places) -> _Made:
    command = text_of(arguments, "command")
    title = text_of(arguments, "description") or command.split("\n", 1)[0]
    cwd = places.short(text_of(arguments, "workdir")) or None
    return ("shell", title, ShellInput(command=command, cwd=cwd)) if command else None


def _search(arguments: Json, places: Places) -> _Made:
    query = text_of(arguments, "pattern")
    typed = SearchInput(
        query=query,
        path=places.short(text_of(arguments, "path")) or None,
        glob=text_of(arguments, "include") or None,
    )
    return ("search", f"Search for {query}", typed) if query else None


def _fetch(arguments: Json, places: Places) -> _Made:
    url = text_of(arguments, "url")
    return ("fetch", f"Fetch {url}", FetchInput(url=url)) if url else None


def _web_search(arguments: Json, places: Places) -> _Made:
    query = text_of(arguments, "query")
    typed = WebSearchInput(query=query)
    return ("web_search", f"Search the web for {query}", typed) if query else None


def _question(arguments: Json, places: Places) -> _Made:
    return "question", "Ask you", QuestionInput()


def _todo(arguments: Json, places: Places) -> _Made:
    return "plan", "Update the checklist", PlanInput()


def _task(arguments: Json, places: Places) -> _Made:
    description = text_of(arguments, "description") or "Work for a helper"
    agent = text_of(arguments, "subagent_type") or None
    return "subagent", description, SubagentInput(description=description, agent=agent)


def _mcp(name: str, arguments: Json, servers: Collection[str]) -> _Made:
    for server in sorted(servers, key=len, reverse=True):
        tool = name.removeprefix(f"{server}_")
        if tool and tool != name:
            typed = McpInput(server=server, tool=tool, arguments=arguments)
            return "mcp", f"{server}: {tool}", typed
    return None


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LIMIT else f"{line[: _TITLE_LIMIT - 1]}…"


_BUILDERS: Final[dict[str, Callable[[Json, Places], _Made]]] = {
    "read": _read,
    "list": _list,
    "write": _write,
    "edit": _edit,
    "multiedit": _edit,
    "apply_patch": _patch,
    "patch": _patch,
    "bash": _shell,
    "grep": _search,
    "glob": _search,
    "webfetch": _fetch,
    "websearch": _web_search,
    "codesearch": _web_search,
    "question": _question,
    "todowrite": _todo,
    "todoread": _todo,
    "task": _task,
}
