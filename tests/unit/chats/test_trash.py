"""Deleting a chat: its agent goes along, it can be brought back, and one day it is gone."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.chats.access import OWNER
from jupyter_agentchat.chats.trash import Trash
from jupyter_agentchat.errors import Busy, NotFound, StorageError
from jupyter_agentchat.process.tasks import TaskOwner
from tests.unit.chats.test_service import service
from tests.unit.runs.staged import Stage, on_stage
from tests.waiting import until


class Agents:
    """The agents of the chats; closing one fails."""

    def __init__(self) -> None:
        self.closed: list[str] = []

    async def close_chat(self, chat_id: str) -> None:
        self.closed.append(chat_id)
        raise RuntimeError("a fault of the adapter")


def trash_is_quiet() -> bool:
    return not any("empty the trash" in task.get_name() for task in asyncio.all_tasks())


def trash_of(stage: Stage, root: Path, agents: Agents, gone: list[str], days: float = 7) -> Trash:
    chats = service(stage, root)
    return Trash(
        stage.store,
        stage.hub,
        chats,
        agents,
        tasks=TaskOwner("t"),
        days=days,
        purged=gone.append,  # type: ignore[arg-type]
    )


def test_deleting_takes_the_agent_along_whatever_its_adapter_does(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        agents, gone = Agents(), list[str]()
        trash = trash_of(stage, tmp_path, agents, gone)
        stage.start()
        await until(lambda: stage.adapter.requests)
        results = await asyncio.gather(
            *(trash.delete("c") for _ in range(3)), return_exceptions=True
        )
        assert results[0] is None
        assert all(isinstance(late, Busy | NotFound) for late in results[1:])
        with pytest.raises(NotFound):
            stage.store.chat("c")
        assert stage.hub.active_runs == 0
        await until(trash_is_quiet)
        assert (agents.closed, gone) == (["c"], [])

    on_stage(scenario)


def test_what_has_been_in_the_trash_too_long_is_gone_and_told(tmp_path: Path) -> None:
    async def scenario(stage: Stage) -> None:
        gone: list[str] = []
        trash = trash_of(stage, tmp_path, Agents(), gone, days=-1)
        await trash.delete("c")
        await until(lambda: gone == ["c"] and trash_is_quiet())
        with pytest.raises(NotFound):
            trash.restore("c", OWNER)

    on_stage(scenario)


def test_a_disk_that_fails_keeps_nobody_from_deleting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_before: str, *, limit: int) -> list[str]:
        raise StorageError("no room")

    async def scenario(stage: Stage) -> None:
        trash = trash_of(stage, tmp_path, Agents(), [])
        monkeypatch.setattr(stage.store, "purge_trash", fail)
        await trash.delete("c")
        await until(trash_is_quiet)
        assert trash.restore("c", OWNER).id == "c"

    on_stage(scenario)
