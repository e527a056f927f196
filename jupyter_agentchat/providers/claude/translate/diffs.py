"""Diffs of file changes: from the CLI's structured patches, or from old and new text. Pure."""

from __future__ import annotations

import difflib
import re
from typing import Final

from ....protocol.tools import Diff
from ....protocol.words import FileChange
from ..wire import Json, int_of, objects_of, text_of, texts_of, true_at
from .places import Places

_COMPARE_LIMIT_LINES: Final = 4000
_CONTEXT_LINES: Final = 3
_HUNK: Final = re.compile(r"@@ -(\d+)((?:,\d+)?) \+(\d+)((?:,\d+)?) @@")


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


def diffs_of_ask(
    tool_name: str, tool_input: Json, places: Places, before: str | None = None
) -> list[Diff]:
    """What an Edit or Write would do.

    `before` is the text of the file as it is now. Without it the input is all that is known: hunks
    of an Edit then count the lines of its piece, and a Write is shown whole (the CLI lets an agent
    write over a file only after it has read it).
    """
    path = places.short(text_of(tool_input, "file_path"))
    pieces = objects_of(tool_input, "edits") if tool_name == "MultiEdit" else [tool_input]
    match tool_name:
        case "Write":
            content = text_of(tool_input, "content")
            return [created(path, content)] if before is None else compare(path, before, content)
        case "Edit" | "MultiEdit":
            after = None if before is None else _edited(before, pieces)
            if before is not None and after is not None:
                return compare(path, before, after)
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
    first, last = _same_ends(before, after)
    before, after = before[first : len(before) - last], after[first : len(after) - last]
    if len(before) + len(after) > _COMPARE_LIMIT_LINES:
        # comparing is quadratic at worst, and this runs on the server's loop
        old, new = "\n".join(before), "\n".join(after)
        return [Diff(path=path, old=old, new=new, added=len(after), removed=len(before))]
    name = _named(path)
    lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))
    return [_counted(path, "update", [_moved(line, first) for line in lines])]


def _same_ends(before: list[str], after: list[str]) -> tuple[int, int]:
    """How many lines can be left out at the beginning and at the end: all but some context."""
    most = min(len(before), len(after))
    first = 0
    while first < most and before[first] == after[first]:
        first += 1
    last = 0
    while last < most - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return max(0, first - _CONTEXT_LINES), max(0, last - _CONTEXT_LINES)


def _moved(line: str, by: int) -> str:
    """A hunk's header for a text of which the first `by` lines were left out."""
    found = _HUNK.fullmatch(line) if by else None
    if found is None:
        return line
    return f"@@ -{int(found[1]) + by}{found[2]} +{int(found[3]) + by}{found[4]} @@"


def _edited(text: str, pieces: list[Json]) -> str | None:
    """`text` after the edits; None where one does not fit, as an edit that was done already."""
    for piece in pieces:
        old, new = text_of(piece, "old_string"), text_of(piece, "new_string")
        if not old or old not in text:
            return None
        text = text.replace(old, new, -1 if true_at(piece, "replace_all") else 1)
    return text


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
