"""Diffs of file changes, from old and new text. Pure."""

from __future__ import annotations

import difflib

from ....protocol.tools import Diff
from ....protocol.words import FileChange
from ..wire import Json, object_of, objects_of, text_of
from .places import Places

_COMPARE_LIMIT_LINES = 4000


def diffs_of(content: list[Json], places: Places) -> list[Diff]:
    """The diffs among the blocks of a call's content; a change that changes nothing is none.

    Agents show the whole file or the piece that changes: hunks count lines of what they show.
    """
    found: list[Diff] = []
    for block in content:
        if text_of(block, "type") != "diff" or not text_of(block, "path"):
            continue
        path = places.short(text_of(block, "path"))
        old, new = text_of(block, "oldText"), text_of(block, "newText")
        kind = text_of(object_of(block, "_meta"), "kind")
        if kind == "delete":
            found.append(_gone(path, old))
        elif kind == "add" or not old:
            # null by the protocol; some say "" of a file that is not there
            found.append(_created(path, new))
        else:
            found += _compared(path, old, new)
    return found


def has_diff(content: list[Json]) -> bool:
    """Whether a block of `content` is a diff, changed or not."""
    return any(text_of(block, "type") == "diff" for block in content)


def blocks_of(update: Json) -> list[Json]:
    """The content blocks of a tool call or its update."""
    return objects_of(update, "content")


def _created(path: str, content: str) -> Diff:
    lines = content.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    hunk = f"@@ -0,0 +1,{len(lines)} @@\n" if lines else ""
    patch = f"--- /dev/null\n+++ b/{_named(path)}\n{hunk}{body}"
    return Diff(path=path, change="add", patch=patch, added=len(lines))


def _gone(path: str, content: str) -> Diff:
    lines = content.splitlines()
    body = "".join(f"-{line}\n" for line in lines)
    hunk = f"@@ -1,{len(lines)} +0,0 @@\n" if lines else ""
    patch = f"--- a/{_named(path)}\n+++ /dev/null\n{hunk}{body}"
    return Diff(path=path, change="delete", patch=patch, removed=len(lines))


def _compared(path: str, old: str, new: str) -> list[Diff]:
    if old == new:
        return []
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _COMPARE_LIMIT_LINES:
        # comparing is quadratic at worst, and this runs on the server's loop
        return [Diff(path=path, old=old, new=new, added=len(after), removed=len(before))]
    name = _named(path)
    lines = list(difflib.unified_diff(before, after, f"a/{name}", f"b/{name}", lineterm=""))
    return [_counted(path, "update", lines)]


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
