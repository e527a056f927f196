"""A server killed anywhere in a rewind or its undo: the next one has all of it, or nothing."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.chats.doomed_rewind import desk_in, prepare
from tests.unit.workspace.project_tree import photo

LAST = 60
"""More steps than there are."""


def doom(folder: Path, what: str, count: int) -> bool:
    """Whether it was killed; it was done otherwise."""
    arguments = [sys.executable, "-m", "tests.unit.chats.doomed_rewind", str(folder), what]
    ended = subprocess.run(
        [*arguments, str(count)], capture_output=True, text=True, timeout=50, check=False
    )
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr
    return ended.returncode != 0


@pytest.mark.parametrize(
    ("what", "count"),
    [
        *(("rewind", count) for count in (*range(1, 11), LAST)),
        *(("undo", count) for count in (1, 3, 4, 6, 8, 10, LAST)),
    ],
)
def test_a_kill_leaves_no_half_of_a_rewind(tmp_path: Path, what: str, count: int) -> None:
    async def before() -> None:
        desk = desk_in(tmp_path, "first/")
        seq = await prepare(desk)
        (tmp_path / "seq").write_text(str(seq))
        present.update(photo(desk.root))
        said.extend(desk.said())
        if what == "undo":
            await desk.rewind(seq)
            rewound.update(photo(desk.root))
        await desk.close()
        desk.store.close()

    async def after() -> None:
        desk = desk_in(tmp_path, "next/")
        recovered = desk.rewinds.recover()
        assert desk.rewinds.notes.pending() == []
        if not killed:
            assert recovered == 0
        cut = desk.said() == said[:2]
        if cut:
            assert photo(desk.root).keys() == {"a", "b", "c"}
            assert (desk.root / "a").read_text() == "a before"
            assert desk.chat().sessions == {}
            assert (await desk.undo()).kept == []
        assert desk.said() == said
        assert photo(desk.root) == present
        assert desk.chat().sessions == {"staged": "s1"}
        if what == "undo" and killed:
            assert not cut or count == 1
        assert desk.rewinds.recover() == 0
        await desk.close()
        desk.store.close()

    present: dict[str, tuple[str, int, bytes]] = {}
    rewound: dict[str, tuple[str, int, bytes]] = {}
    said: list[str] = []
    asyncio.run(before())
    killed = doom(tmp_path, what, count)
    asyncio.run(after())
    assert killed == (count != LAST)
