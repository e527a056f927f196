"""Diffs of file changes: from the CLI's structured patches, or from old and new text. Pure."""

from __future__ import annotations

import difflib

from ....protocol.tools import Diff
from ....protocol.words import FileChange
from ..wire import Json, int_of, objects_of, text_of, texts_of
from .places import Places

_COMPARE_LIMIT_LINES = 4000


def diffs_of_result(structured: Json, places: Places) -> list[Diff]:
    """What an Edit, Write or NotebookEdit did, from its `tool_use_result`; empty when unchanged."""
    if "notebook_path" in structured:
        path = places.short(text_of(structured, "notebook_path"))
        return compare(path, text_of(structured, "old_source"), text_of(structured, "new_source"))
    if not isinstance(structured.get("filePath"), str):
        return []
    path = places.short(text_of(structured, "filePath"))
    hunks = objects_of(structured, "structuredPatch")
    if hunks:
        return [_from_hunks(path, hunks)]
    if text_of(structured, "type") == "create":
        return [created(path, text_of(structured, "content"))]
    if isinstance(structured.get("originalFile"), str) and "content" in structured:
        return compare(path, text_of(structured, "originalFile"), text_of(structured, "content"))
    return []


def diffs_of_ask(tool_name: str, tool_input: Json, places: Places) -> list[Diff]:
    """What an Edit or Write would do, as far as its input says: hunks count lines of the piece.

    The CLI lets an agent write over a file only after it has read it, so a Write is shown whole.
    """
    path = places.short(text_of(tool_input, "file_path"))
    match tool_name:
        case "Write":
            return [created(path, text_of(tool_input, "content"))]
        case "Edit":
            return compare(
                path, text_of(tool_input, "old_string"), text_of(tool_input, "new_string")
            )
        case "MultiEdit":
            pieces = objects_of(tool_input, "edits")
            old = "\n".join(text_of(piece, "old_string") for piece in pieces)
            new = "\n".join(text_of(piece, "new_string") for piece in pieces)
            return compare(path, old, new)
    return []


def created(path: str, content: str) -> Diff:
    """A file that was not there before."""
    lines = content.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    header = f"--- /dev/null\n+++ b/{_named(path)}\n"
    hunk = f"@@ -0,0 +1,{len(lines)} @@\n" if lines else ""
    return Diff(path=path, change="add", patch=header + hunk + body, added=len(lines))


def compare(path: str, old: str, new: str) -> list[Diff]:
    """The change from `old` to `new`; empty when there is none."""
    if old == new:
        return []
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _COMPARE_LIMIT_LINES:
        # comparing is quadratic at worst, and this runs on the server's loop
        return [Diff(path=path, old=old, new=new, added=len(after), removed=len(before))]
    name = _named(path)
    lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))
    return [_counted(path, "update", lines)]


def _from_hunks(path: str, hunks: list[Json]) -> Diff:
    name = _named(path)
    lines = [f"--- a/{name}", f"+++ b/{name}"]
    for hunk in hunks:
        old = f"{int_of(hunk, 'oldStart') or 0},{int_of(hunk, 'oldLines') or 0}"
        new = f"{int_of(hunk, 'newStart') or 0},{int_of(hunk, 'newLines') or 0}"
        lines.append(f"@@ -{old} +{new} @@")
        lines += texts_of(hunk, "lines")
    return _counted(path, "update", lines)


def _counted(path: str, change: FileChange, lines: list[str]) -> Diff:
    body = lines[2:]  # behind the two header lines
    return Diff(
        path=path,
        change=change,
        patch="\n".join(lines) + "\n" if lines else None,
        added=sum(line.startswith("+") for line in body),
        removed=sum(line.startswith("-") for line in body),
    )


def _named(path: str) -> str:
    """`path` for a header line: no newline may end it early."""
    return path.lstrip("/").replace("\n", " ")
