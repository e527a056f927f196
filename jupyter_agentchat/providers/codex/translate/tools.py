"""Names, kinds, titles and typed inputs of Codex' tool items. Pure."""

from __future__ import annotations

import shlex
from typing import Final, NamedTuple

from ....protocol.tools import (
    EditInput,
    McpInput,
    OtherInput,
    ReadInput,
    ShellInput,
    SubagentInput,
    ToolInput,
    WebSearchInput,
    WriteInput,
)
from ....protocol.words import ToolKind
from ..wire import Json, object_of, objects_of, sound_json, text_of
from .places import Places

_TITLE_LIMIT = 120
_SHELLS: Final = frozenset({"bash", "sh", "zsh", "dash"})
_SHELL_WORDS: Final = 3


class Described(NamedTuple):
    """A tool item for a person."""

    kind: ToolKind
    name: str
    title: str
    input: ToolInput


def describe(item: Json, places: Places) -> Described | None:
    """A tool item; None for one that is no tool we know."""
    match text_of(item, "type"):
        case "commandExecution":
            return describe_command(item, places)
        case "fileChange":
            return describe_changes(item, places)
        case "mcpToolCall":
            server, tool = text_of(item, "server"), text_of(item, "tool")
            arguments = sound_json(item.get("arguments"))
            typed = McpInput(server=server, tool=tool, arguments=arguments)
            return Described("mcp", tool, _cut(f"{server}: {tool}"), typed)
        case "webSearch":
            query = text_of(item, "query") or text_of(object_of(item, "action"), "query")
            title = f"Search the web for {query}" if query else "Search the web"
            return Described("web_search", "web_search", _cut(title), WebSearchInput(query=query))
        case "imageView":
            path = places.short(text_of(item, "path"))
            return Described("read", "view_image", _cut(f"Look at {path}"), ReadInput(path=path))
        case "collabAgentToolCall":
            tool, prompt = text_of(item, "tool"), text_of(item, "prompt")
            what = prompt or tool or "Work with a helper"
            return Described("subagent", tool, _cut(what), SubagentInput(description=what))
        case "dynamicToolCall":
            tool = text_of(item, "tool")
            return Described("other", tool, _cut(tool), OtherInput())
    return None


def describe_command(item: Json, places: Places) -> Described:
    """A command; the title says what it is for where Codex knows, the input holds it verbatim."""
    command = unwrap(text_of(item, "command"))
    cwd = text_of(item, "cwd")
    shown = places.short(cwd) if cwd else ""
    typed = ShellInput(command=command, cwd=None if shown in ("", ".") else shown)
    return Described("shell", "shell", _cut(_purpose(item, places) or command), typed)


def describe_changes(item: Json, places: Places) -> Described:
    """Changes of files by a patch."""
    changes = objects_of(item, "changes")
    paths = [places.short(text_of(change, "path")) for change in changes]
    first = paths[0] if paths else ""
    kinds = {text_of(object_of(change, "kind"), "type") for change in changes}
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    if kinds == {"add"} and len(changes) == 1:
        size = len(text_of(changes[0], "diff").encode())
        typed: ToolInput = WriteInput(path=first, size=size)
        return Described("write", "apply_patch", _cut(f"Write {first}"), typed)
    word = "Delete" if kinds == {"delete"} else "Edit"
    title = f"{word} {first}{more}" if first else "Change files"
    return Described("edit", "apply_patch", _cut(title), EditInput(path=first))


def unwrap(command: str) -> str:
    """The command line inside `/bin/bash -lc '...'`; `command` itself when it is no such thing."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    if len(words) == _SHELL_WORDS and words[1] in ("-lc", "-c"):
        shell = words[0].rsplit("/", 1)[-1]
        return words[2] if shell in _SHELLS else command
    return command


def _purpose(item: Json, places: Places) -> str:
    actions = objects_of(item, "commandActions")
    if len(actions) != 1:
        return ""
    (action,) = actions
    path = places.short(text_of(action, "path"))
    match text_of(action, "type"):
        case "read":
            return f"Read {path}" if path else ""
        case "listFiles":
            return f"List the files of {path}" if path else "List files"
        case "search":
            query = text_of(action, "query")
            return f"Search for {query}" if query else ""
    return ""


def _cut(title: str) -> str:
    line = " ".join(title.split())
    return line if len(line) <= _TITLE_LIMIT else f"{line[: _TITLE_LIMIT - 1]}…"
