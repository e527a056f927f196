"""A server that is killed in the middle of a rewind or its undo, at its n-th step to the disk.

    python -m tests.unit.chats.doomed_rewind FOLDER {rewind,undo} N

Exits 0 when it is done before it comes to that. What it begins with is made by `prepare`.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_agentchat.chats import rewind_notes
from jupyter_agentchat.store.sqlite import open_store
from jupyter_agentchat.workspace import objects, records, restore
from tests.unit.chats.rewind_desk import RewindDesk

DEAD = "doomed/"
"""The holder of its notes: of a server that does not live."""


def desk_in(folder: Path, holder: str) -> RewindDesk:
    """The desk on the store in `folder`."""
    store: Any = open_store(folder / "data", "auto", served_root=folder / "project")
    return RewindDesk(store, folder / "data", folder / "project", holder)


async def prepare(desk: RewindDesk) -> int:
    """Two prompts, the second of which changes files; returns its seq."""
    root = desk.root
    root.mkdir()
    for name in ("a", "b", "c"):
        (root / name).write_text(f"{name} before")
    desk.add_chat()
    await desk.run("one")

    def work() -> None:
        (root / "a").write_text("agent")
        (root / "b").unlink()
        (root / "new").mkdir()
        (root / "new" / "file").write_text("agent")
        (root / "c").chmod(0o755)

    return await desk.run("two", work)


def die_at(count: int, store: Any) -> None:
    """From here on, every step that lasts counts; the `count`-th is the last thing that happens,
    and half the time it has happened."""
    steps = 0

    def counted(work: Callable[..., Any]) -> Callable[..., Any]:
        def step(*args: Any, **options: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == count and count % 2:
                os.kill(os.getpid(), signal.SIGKILL)
            result = work(*args, **options)
            if steps == count:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return step

    for name in ("append", "save_chat"):
        setattr(store, name, counted(getattr(store, name)))
    for module in (objects, records, rewind_notes):
        module.write_private = counted(module.write_private)  # type: ignore[attr-defined]
    restore._attempt = counted(restore._attempt)
    rewind_notes.RewindNotes.discard = counted(  # type: ignore[method-assign]
        rewind_notes.RewindNotes.discard
    )


async def main(folder: Path, what: str, count: int) -> None:
    desk = desk_in(folder, DEAD)
    seq = int((folder / "seq").read_text())
    die_at(count, desk.store)
    if what == "rewind":
        await desk.rewind(seq)
    else:
        await desk.undo()
    await desk.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
