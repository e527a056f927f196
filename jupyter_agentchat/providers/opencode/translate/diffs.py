"""Diffs of file changes, from the patches that opencode makes. Pure."""

from __future__ import annotations

from ....protocol.tools import Diff
from ....protocol.words import FileChange
from ..wire import Json, object_of, objects_of, text_of, true_at
from .places import Places

_STATUS: dict[str, FileChange] = {
    "added": "add",
    "add": "add",
    "deleted": "delete",
    "delete": "delete",
    "move": "move",
    "renamed": "move",
}


def diffs_of_call(arguments: Json, metadata: Json, asked: str, places: Places) -> list[Diff]:
    """What a finished call did to files. `asked`: the patch of its ask, for tools that keep none
    (`write`); a new file's content stands in the arguments."""
    files = objects_of(metadata, "files")
    if files:
        return [diff for one in files if (diff := _of_file(one, places))]
    one = object_of(metadata, "filediff")
    path = text_of(one, "file") or text_of(arguments, "filePath")
    patch = text_of(one, "patch") or text_of(metadata, "diff") or asked
    if not path:
        return []
    if patch:
        return [from_patch(places.short(path), patch)]
    if "content" in arguments and metadata.get("exists") is False:
        return [created(places.short(path), text_of(arguments, "content"))]
    return []


def diffs_of_ask(metadata: Json, places: Places) -> list[Diff]:
    """What a call that asks would do."""
    files = objects_of(metadata, "files")
    if files:
        return [diff for one in files if (diff := _of_file(one, places))]
    path, patch = text_of(metadata, "filepath"), text_of(metadata, "diff")
    return [from_patch(places.short(path), patch)] if path and patch else []


def created(path: str, content: str) -> Diff:
    """A file that was not there before."""
    lines = content.splitlines()
    body = "".join(f"+{line}\n" for line in lines)
    header = f"--- /dev/null\n+++ b/{path.replace(chr(10), ' ')}\n"
    hunk = f"@@ -0,0 +1,{len(lines)} @@\n" if lines else ""
    return Diff(path=path, change="add", patch=header + hunk + body, added=len(lines))


def from_patch(path: str, patch: str, change: FileChange = "update") -> Diff:
    """The hunks of `patch` as they are, below header lines with the path as it is shown."""
    start = patch.find("@@")
    hunks = patch[start:] if start >= 0 else ""
    lines = hunks.split("\n")
    if change == "update" and hunks.startswith("@@ -0,0 "):
        change = "add"
    name = path.replace("\n", " ")
    before = "/dev/null" if change == "add" else f"a/{name}"
    after = "/dev/null" if change == "delete" else f"b/{name}"
    return Diff(
        path=path,
        change=change,
        patch=f"--- {before}\n+++ {after}\n{hunks}",
        added=sum(line.startswith("+") for line in lines),
        removed=sum(line.startswith("-") for line in lines),
    )


def _of_file(one: Json, places: Places) -> Diff | None:
    path = text_of(one, "filePath") or text_of(one, "file") or text_of(one, "relativePath")
    patch = text_of(one, "patch") or text_of(one, "diff")
    if not path or not patch:
        return None
    change = _STATUS.get(text_of(one, "type") or text_of(one, "status"), "update")
    if true_at(one, "deleted"):
        change = "delete"
    return from_patch(places.short(path), patch, change)
