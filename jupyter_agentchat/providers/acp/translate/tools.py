"""What a call is to a person: kind, title and typed input. Pure.

The protocol gives a kind and a title; the arguments (`rawInput`) have other names with each agent,
and some agents give none. What does not fit is `other` with its raw input: never lost.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
from ..wire import Json, first_text, int_of, object_of, objects_of, text_of
from .places import Places

_TITLE_LIMIT = 120
_HELPERS: Final = frozenset({"agent", "task", "subagent"})
_PATHS: Final = ("path", "file_path", "filePath", "filepath", "absolute_path", "notebook_path")
_CONTENTS: Final = ("content", "newText", "text")
_QUERIES: Final = ("pattern", "query", "regex", "glob", "search")
_MCP_NAME: Final = re.compile(r"mcp__(?P<server>[^\s]+?)__(?P<tool>\S+)")
_MCP_TITLE: Final = re.compile(r"(?P<tool>[\w./-]{1,100}) \((?P<server>[^()]{1,100}) MCP Server\)")
_URL: Final = re.compile(r"https?://[^\s\"'<>)]{1,2000}")
_WORD: Final = re.compile(r"[A-Za-z][\w.:-]{0,100}")
_NAMED_ID: Final = re.compile(r"(?P<name>\w{1,80}?)__(?P=name)_\d+_\d+")
_QUESTIONS: Final = frozenset({"askuserquestion", "question", "ask_user", "ask_user_question"})


@dataclass(frozen=True, slots=True)
class Described:
    """A call in our words. `name` is the agent's own, as far as it says one."""

    name: str
    kind: ToolKind
    title: str
    input: ToolInput


def describe(call: Json, places: Places) -> Described:
    """`call` holds all that is known of the call so far, the newest of each field."""
    arguments, title = object_of(call, "rawInput"), text_of(call, "title")
    name = _name(call)
    made = _special(name, title, arguments) or _by_kind(
        text_of(call, "kind"), name, title, arguments, call, places
    )
    if made is None:
        return Described(name, "other", _cut(title or name), OtherInput())
    said, typed = made
    return Described(name, typed.kind, _cut(said), typed)


def plain_kind(call: Json) -> str:
    """The protocol's own kind of a call, "other" where it says none."""
    return text_of(call, "kind") or "other"


_Made = tuple[str, ToolInput] | None


def _special(name: str, title: str, arguments: Json) -> _Made:
    """Calls that their name tells better than their kind."""
    if mcp := (_MCP_NAME.match(name) or _MCP_NAME.match(title) or _MCP_TITLE.match(title)):
        server, tool = mcp["server"], mcp["tool"]
        # a name with both in it may stand before its server
        tool = tool.removeprefix(f"mcp__{server}__")
        return f"{server}: {tool}", McpInput(server=server, tool=tool, arguments=arguments or None)
    if name.lower() in _QUESTIONS:
        return "Ask you", QuestionInput()
    agent = first_text(arguments, "subagent_type", "subagentType", "agent_name")
    if agent or (name.lower() in _HELPERS and text_of(arguments, "description")):
        described = text_of(arguments, "description") or title or "Work for a helper"
        return described, SubagentInput(description=described, agent=agent or None)
    return None


def _by_kind(
    kind: str, name: str, title: str, arguments: Json, call: Json, places: Places
) -> _Made:
    path = _path(call, arguments, places)
    match kind:
        case "read" if path:
            start = first_int(arguments, "offset", "line", "start_line")
            count = first_int(arguments, "limit")
            end = (start or 1) + count - 1 if count and count > 0 else None
            if start is None and end is not None:
                start = 1
            typed = ReadInput(path=path, start_line=start or None, end_line=end)
            return f"Read {path}", typed
        case "edit" | "delete" | "move" if path:
            if kind == "edit" and name.lower() in _WRITERS:
                content = first_text(arguments, *_CONTENTS)
                size = len(content.encode("utf-8", "replace")) if content else None
                return f"Write {path}", WriteInput(path=path, size=size)
            return f"{kind.capitalize()} {path}", EditInput(path=path)
        case "search":
            query = first_text(arguments, *_QUERIES) or title
            where = first_text(arguments, "path", "dir_path") or None
            glob = first_text(arguments, "include", "glob") or None
            shown = places.short(where) if where else None
            typed_search = SearchInput(query=query, path=shown, glob=glob)
            return (f"Search for {query}", typed_search) if query else None
        case "execute":
            command = _command(arguments)
            if not command and "rawInput" not in call and title != name:
                command = title  # before its arguments are there, a title is only the tool's name
            cwd = first_text(arguments, "cwd", "workdir", "directory") or None
            background = arguments.get("is_background") is True
            shell = ShellInput(
                command=command, cwd=places.short(cwd) if cwd else None, background=background
            )
            said = text_of(arguments, "description") or command.split("\n", 1)[0]
            return (said, shell) if command else None
        case "fetch":
            url = text_of(arguments, "url") or _first_url(title, first_text(arguments, "prompt"))
            if url:
                return f"Fetch {url}", FetchInput(url=url)
            query = first_text(arguments, "query")
            web = WebSearchInput(query=query)
            return (f"Search the web for {query}", web) if query else None
        case "switch_mode":
            return title or "Propose a plan", PlanInput()
    return None


_WRITERS: Final = frozenset({"write", "write_file", "writefile", "create", "create_file"})


def first_int(message: Json, *keys: str) -> int | None:
    """The first of `keys` that holds a whole number."""
    return next((value for key in keys if (value := int_of(message, key)) is not None), None)


def _name(call: Json) -> str:
    meta = object_of(call, "_meta")
    own = text_of(meta, "toolName") or text_of(object_of(meta, "claudeCode"), "toolName")
    if own:
        return own
    if named := _NAMED_ID.fullmatch(text_of(call, "toolCallId")):
        return named["name"]
    first = text_of(call, "firstTitle")
    if _WORD.fullmatch(first) and first != _command(object_of(call, "rawInput")):
        return first
    return plain_kind(call)


def _path(call: Json, arguments: Json, places: Places) -> str:
    given = first_text(arguments, *_PATHS)
    places_said = [text_of(item, "path") for item in objects_of(call, "locations")]
    changed = [
        text_of(block, "path")
        for block in objects_of(call, "content")
        if text_of(block, "type") == "diff"
    ]
    found = next((path for path in (*changed, *places_said, given) if path), "")
    return places.short(found) if found else ""


def _command(arguments: Json) -> str:
    value = arguments.get("command")
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(str(part) for part in value)
    return first_text(arguments, "command", "cmd", "script")


def _first_url(*texts: str) -> str:
    return next((hit[0] for text in texts if (hit := _URL.search(text))), "")


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LIMIT else f"{line[: _TITLE_LIMIT - 1]}…"
