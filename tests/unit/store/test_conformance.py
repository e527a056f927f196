"""Both stores keep the promises of the shipped suite, in every journal mode."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_agentchat.store.base import Store
from jupyter_agentchat.store.conformance import SUITE, Factory
from jupyter_agentchat.store.filesystem import JournalMode
from jupyter_agentchat.store.memory import MemoryStore
from jupyter_agentchat.store.sqlite import SqliteStore, open_store


def _open(folder: Path, mode: JournalMode) -> Store:
    store = open_store(folder / "data", mode)
    assert isinstance(store, SqliteStore)
    # the suite asks what is stored, not what survives power loss: no waiting for the disk
    store.database.connection.execute("PRAGMA synchronous=OFF")
    return store


FACTORIES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "wal": lambda folder: _open(folder, "wal"),
    "delete": lambda folder: _open(folder, "delete"),
}


@pytest.mark.parametrize("kind", FACTORIES)
@pytest.mark.parametrize("check", SUITE, ids=lambda check: check.__name__)
def test_store(check: Callable[[Factory], None], kind: str, tmp_path: Path) -> None:
    check(lambda: FACTORIES[kind](tmp_path))
