"""What a tool of Antigravity's is to a person: kind, title and typed input. Pure.

The names are those of its official SDK's recordings; what is unknown is `other`, never lost.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from ...protocol.tools import (
    EditInput,
    FetchInput,
    OtherInput,
    ReadInput,
    SearchInput,
    ShellInput,
    ToolInput,
    WebSearchInput,
    WriteInput,
)
from ...protocol.words import ToolKind
from .wire import Json, first_text, object_of

_PATHS = ("path", "file_path", "TargetFile", "AbsolutePath", "canonical_path")


def describe(tool: Json, cwd: str) -> tuple[ToolKind, str, ToolInput]:
    """(kind, title, input) of a call's `tool_info`."""
    name = first_text(tool, "name", "tool_name") or "tool"
    arguments = object_of(tool, "args") or object_of(tool, "input")
    path = _short(first_text(arguments, *_PATHS) or first_text(tool, *_PATHS), cwd)
    match name:
        case "run_command":
            command = first_text(arguments, "command_line", "CommandLine", "command")
            if command:
                return "shell", command.split("\n", 1)[0][:120], ShellInput(command=command)
        case "view_file" | "read_file" if path:
            return "read", f"Read {path}", ReadInput(path=path)
        case "create_file" | "write_to_file" if path:
            return "write", f"Write {path}", WriteInput(path=path)
        case "edit_file" | "replace_file_content" | "multi_replace_file_content" if path:
            return "edit", f"Edit {path}", EditInput(path=path)
        case "grep_search" | "find_by_name" | "codebase_search" | "list_dir":
            query = first_text(arguments, "query", "Query", "pattern", "Pattern") or path
            if query:
                return "search", f"Search for {query}"[:120], SearchInput(query=query)
        case "read_url_content":
            if url := first_text(arguments, "url", "Url"):
                return "fetch", f"Fetch {url}"[:120], FetchInput(url=url)
        case "search_web":
            if query := first_text(arguments, "query", "Query"):
                title = f"Search the web for {query}"[:120]
                return "web_search", title, WebSearchInput(query=query)
    return "other", name[:120], OtherInput()


def _short(path: str, cwd: str) -> str:
    pure = PurePosixPath(path)
    if path and cwd and ".." not in pure.parts and pure.is_relative_to(cwd):
        return str(pure.relative_to(cwd))
    return path
