"""Diffs of file changes, from a call's arguments. Pure."""

from __future__ import annotations

import difflib

from ....protocol.tools import Diff
from ..wire import Json, text_of
from .places import Places

_COMPARE_LIMIT_LINES = 4000


def diffs_of(name: str, arguments: Json, places: Places) -> list[Diff]:
    """What an Edit or Write does, as far as its arguments say: hunks count lines of the piece.

    Whether the file was there before, a Write does not say: its whole new text is shown.
    """
    path = places.short(text_of(arguments, "path"))
    if not path:
        return []
    if name == "Edit" and "old_string" in arguments:
        return compare(path, text_of(arguments, "old_string"), text_of(arguments, "new_string"))
    if name == "Write" and "content" in arguments:
        content = text_of(arguments, "content")
        return [Diff(path=path, new=content, added=len(content.splitlines()))]
    return []


def compare(path: str, old: str, new: str) -> list[Diff]:
    """The change from `old` to `new`; empty when there is none."""
    if old == new:
        return []
    before, after = old.splitlines(), new.splitlines()
    if len(before) + len(after) > _COMPARE_LIMIT_LINES:
        # comparing is quadratic at worst, and this runs on the server's loop
        return [Diff(path=path, old=old, new=new, added=len(after), removed=len(before))]
    named = path.lstrip("/").replace("\n", " ")
    lines = list(difflib.unified_diff(before, after, f"a/{named}", f"b/{named}", lineterm=""))
    body = lines[2:]  # behind the two header lines
    return [
        Diff(
            path=path,
            patch="\n".join(lines) + "\n" if lines else None,
            added=sum(line.startswith("+") for line in body),
            removed=sum(line.startswith("-") for line in body),
        )
    ]
