"""How many lines putting a file back adds and removes, for the dialog that asks for it.

Told from the contents that checkpoints have kept on both sides; nothing of the project is read.
Where a content is not kept, is no text or is a notebook (its lines are not what a person sees),
nothing is told. Work is bounded: a large rewind is counted as far as that goes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Final

from ..protocol.controls import FileRestore
from ..workspace.objects import Objects
from ..workspace.restore import Change
from ..workspace.snapshot import Entry

FILE_BYTES: Final = 1024 * 1024
FILE_LINES: Final = 1_500
"""Of the part between what both sides begin and end with: comparing takes its square at worst."""
TOTAL_LINES: Final = 20_000


class LineCounts:
    """Counts from the objects below `folder`, which it only reads."""

    def __init__(self, folder: Path) -> None:
        self._objects = Objects(folder, 0)

    async def counted(
        self, files: Sequence[FileRestore], changes: Sequence[Change]
    ) -> list[FileRestore]:
        """`files` with the counts of `changes` where they can be told. In a thread; raises
        nothing."""
        return await asyncio.to_thread(self._counted, files, changes)

    def _counted(
        self, files: Sequence[FileRestore], changes: Sequence[Change]
    ) -> list[FileRestore]:
        by_path = {change.path: change for change in changes}
        left = TOTAL_LINES
        found = []
        for file in files:
            sides = self._sides(by_path[file.path])
            if sides is not None:
                now, then = _different(*sides)
                left -= len(now) + len(then)
                counts = count_lines(now, then) if left >= 0 else None
                if counts is not None:
                    update = {"added": counts[0], "removed": counts[1]}
                    file = file.model_copy(update=update)
            found.append(file)
        return found

    def _sides(self, change: Change) -> tuple[list[str], list[str]] | None:
        """The lines that are there, and those that shall be; None where they are not known."""
        if change.path.endswith(".ipynb"):
            return None
        now, then = self._lines(change.now), self._lines(change.then)
        return None if now is None or then is None else (now, then)

    def _lines(self, entry: Entry | None) -> list[str] | None:
        if entry is None:
            return []
        if entry.kind != "file" or not entry.content or entry.size > FILE_BYTES:
            return None
        data = self._objects.get(entry.content)
        if data is None or b"\0" in data:
            return None
        try:
            return data.decode().splitlines(keepends=True)
        except UnicodeDecodeError:
            return None


def count_lines(now: Sequence[str], then: Sequence[str]) -> tuple[int, int] | None:
    """(added, removed) on the way from `now` to `then`; None for too many lines to compare."""
    if not now or not then:
        return len(then), len(now)
    if max(len(now), len(then)) > FILE_LINES:
        return None
    matcher = SequenceMatcher(None, now, then, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return len(then) - same, len(now) - same


def _different(now: list[str], then: list[str]) -> tuple[list[str], list[str]]:
    """Both without what they begin and end with in common."""
    shorter = min(len(now), len(then))
    head = 0
    while head < shorter and now[head] == then[head]:
        head += 1
    tail = 0
    while tail < shorter - head and now[-1 - tail] == then[-1 - tail]:
        tail += 1
    return now[head : len(now) - tail], then[head : len(then) - tail]
