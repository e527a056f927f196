"""The child table on a disk that takes nothing."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.errors import StorageError
from jupyter_agentchat.process.reaper import ChildRecord
from jupyter_agentchat.runs.ledger import StoreLedger
from jupyter_agentchat.store.memory import MemoryStore
from tests.unit.runs.staged import Stage


class ReadOnly(MemoryStore):
    """Nothing can be removed from it."""

    def forget_child(self, child_id: str) -> None:
        raise StorageError("Chats are read-only.")


def test_a_child_that_is_gone_is_no_failure_where_its_record_cannot_be_removed(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = ReadOnly()
    ledger = StoreLedger(store)
    ledger.record(ChildRecord(child_id="kid", argv0="agent", identity=None, owner=None))
    ledger.forget("kid")
    assert [record.child_id for record in ledger.all()] == ["kid"]
    assert "its record stays" in caplog.text


def test_a_stop_waits_until_what_an_earlier_server_left_is_ended() -> None:
    ended: list[str] = []

    async def slow(_spare: frozenset[str]) -> None:
        await asyncio.sleep(0.1)
        ended.append("all")

    async def main() -> None:
        stage = Stage()
        stage.hub._reap = slow
        stage.hub.begin()
        await asyncio.sleep(0)
        await stage.hub.close()

    asyncio.run(main())
    assert ended == ["all"]
