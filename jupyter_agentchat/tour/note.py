"""The one small file the tour may write: its name, its text, and changes with their own diff."""

from __future__ import annotations

import difflib
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from ..errors import Refused
from ..workspace.paths import resolve_inside
from .wire import Body

UNTICKED = "- [ ] Take the tour"
TICKED = "- [x] Take the tour"

_MAX_NAMES = 1_000


@dataclass(frozen=True, slots=True)
class Change:
    """What is to happen to one file. `old` is None for a new file."""

    path: str
    old: str | None
    new: str

    def diff(self) -> Body:
        """The diff as the wire carries it: both texts, a unified patch, counts of lines."""
        before, after = (self.old or "").splitlines(True), self.new.splitlines(True)
        source = "/dev/null" if self.old is None else f"a/{self.path}"
        lines = list(difflib.unified_diff(before, after, source, f"b/{self.path}"))
        return {
            "path": self.path,
            "change": "add" if self.old is None else "update",
            "old": self.old,
            "new": self.new,
            "patch": "".join(lines),
            "added": sum(line.startswith("+") for line in lines[2:]),
            "removed": sum(line.startswith("-") for line in lines[2:]),
        }


def free_name(root: Path) -> str:
    """A name that no file of `root` has: `agentchat-tour.md`, `agentchat-tour-2.md`, ..."""
    names = ["agentchat-tour.md", *(f"agentchat-tour-{n}.md" for n in range(2, _MAX_NAMES))]
    for name in names:
        if not os.path.lexists(root / name):
            return name
    raise OSError(0, "Every name for the note is taken.")


def compose(reason: list[str], files: list[str], keep: list[str]) -> str:
    """The text of the note: why the person is here, and the parts they chose to keep."""
    parts = [
        "# Notes from the tour",
        "Written by the Tour, a scripted agent of agentchat. Delete this file whenever you like.",
        UNTICKED,
    ]
    if reason:
        parts.append("You came for: " + ", ".join(reason) + ".")
    if FILES in keep and files:
        parts += ["## What was here", "\n".join(f"- `{name}`" for name in files)]
    if KEYS in keep:
        parts += [
            "## Keys",
            "- Enter sends, Shift+Enter begins a new line\n- Escape stops the agent",
        ]
    if NEXT in keep:
        parts += ["## Next", "- Choose an agent below the message box and ask it something real"]
    return "\n\n".join(parts) + "\n"


FILES, KEYS, NEXT = "The files I found", "The keys worth knowing", "What to try next"


def apply(root: Path, change: Change) -> None:
    """Write exactly what the diff of `change` shows.

    Raises OSError, with a sentence for a person and the file untouched, when the file is not as
    the diff has it: there already, or changed meanwhile.
    """
    try:
        path = resolve_inside(root, change.path)
    except Refused as refusal:
        raise OSError(0, refusal.message) from refusal
    if change.old is None:
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(change.new)
        return
    if path.read_bytes() != change.old.encode("utf-8"):
        raise OSError(0, "The file has changed meanwhile, so I left it alone.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".agentchat-tour-")
    try:
        with open(handle, "w", encoding="utf-8", newline="") as file:  # noqa: PTH123 - descriptor
            file.write(change.new)
        Path(temporary).chmod(path.stat().st_mode & 0o777)
        Path(temporary).replace(path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
