"""The dialog of a rewind tells how many lines come and go, or says nothing."""

from __future__ import annotations

import random
from pathlib import Path

from jupyter_agentchat.chats.rewind_counts import FILE_LINES, count_lines
from jupyter_agentchat.protocol.controls import FileRestore
from jupyter_agentchat.store.memory import MemoryStore

from .rewind_desk import RewindDesk, at_desk


def test_counts_are_those_of_a_line_by_line_comparison() -> None:
    chance = random.Random(3)
    for _ in range(200):
        now, then = ([str(chance.randrange(4)) for _ in range(chance.randrange(12))] for _ in "ab")
        counts = count_lines(now, then)
        assert counts is not None
        added, removed = counts
        assert len(now) - removed == len(then) - added, "what stays is the same on both sides"
    assert count_lines(["a", "b"], ["a", "x", "b"]) == (1, 0)
    assert count_lines([], ["a"]) == (1, 0)
    assert count_lines(["a"] * (FILE_LINES + 1), ["b"]) is None


def test_a_dry_run_counts_text_and_is_silent_on_notebooks_and_pictures(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        files = {
            "edited.py": ("one\ntwo\nthree\n", "one\n2\nthree\nfour\n"),
            "plot.png": ("\0old", "\0new"),
            "notes.ipynb": ('{"cells": []}', '{"cells": [1]}'),
        }
        for name, (before, _) in files.items():
            (desk.root / name).write_text(before)

        def work() -> None:
            for name, (_, after) in files.items():
                (desk.root / name).write_text(after)
            (desk.root / "created.txt").write_text("a\nb\n")

        await desk.run("one")
        seq = await desk.run("two", work)
        looked = await desk.rewind(seq, files="restore", dry_run=True)
        assert looked.files == [
            FileRestore(path="created.txt", change="delete", added=0, removed=2),
            FileRestore(path="edited.py", change="restore", added=1, removed=2),
            FileRestore(path="notes.ipynb", change="restore"),
            FileRestore(path="plot.png", change="restore"),
        ]

    at_desk(MemoryStore(), tmp_path, scenario)
