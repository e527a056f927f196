"""Diffs of file changes, from the pieces that Codex sends. Pure.

For a file that is added or deleted Codex sends its bare content, for one that is changed the hunks
without header lines.
"""

from __future__ import annotations

from ....protocol.tools import Diff
from ....protocol.words import FileChange
from ..wire import Json, object_of, objects_of, text_of
from .places import Places


def diffs_of(item: Json, places: Places) -> list[Diff]:
    """The diffs of a `fileChange` item."""
    return [_diff(change, places) for change in objects_of(item, "changes")]


def _diff(change: Json, places: Places) -> Diff:
    path, piece = places.short(text_of(change, "path")), text_of(change, "diff")
    kind = object_of(change, "kind")
    name = _named(path)
    match text_of(kind, "type"):
        case "add":
            return _whole(path, piece, "add", "/dev/null", f"b/{name}")
        case "delete":
            return _whole(path, piece, "delete", f"a/{name}", "/dev/null")
    moved = places.short(text_of(kind, "move_path"))
    header = f"--- a/{name}\n+++ b/{_named(moved or path)}\n"
    if moved:
        piece = piece.split("\n\nMoved to: ")[0]  # Codex' own words behind the hunks
    lines = piece.splitlines()
    body = "".join(f"{line}\n" for line in lines)
    return Diff(
        path=moved or path,
        change="move" if moved and moved != path else "update",
        patch=header + body,
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
    )


def _whole(path: str, content: str, change: FileChange, old: str, new: str) -> Diff:
    lines = content.splitlines()
    sign = "+" if change == "add" else "-"
    span = f"@@ -0,0 +1,{len(lines)} @@\n" if change == "add" else f"@@ -1,{len(lines)} +0,0 @@\n"
    body = "".join(f"{sign}{line}\n" for line in lines)
    patch = f"--- {old}\n+++ {new}\n" + (span + body if lines else "")
    if change == "add":
        return Diff(path=path, change=change, patch=patch, added=len(lines))
    return Diff(path=path, change=change, patch=patch, removed=len(lines))


def _named(path: str) -> str:
    """`path` for a header line: no newline may end it early."""
    return path.lstrip("/").replace("\n", " ")
