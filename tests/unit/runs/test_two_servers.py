"""Two servers on one store: a run belongs to one of them, and is closed by one of them."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from jupyter_agentchat.errors import Busy
from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.events import (
    AssistantText,
    Notice,
    RunStarted,
    ToolUseStart,
    User,
)
from jupyter_agentchat.protocol.resources import Chat
from jupyter_agentchat.protocol.tools import OtherInput
from jupyter_agentchat.runs import control
from jupyter_agentchat.runs.channel import Channel
from jupyter_agentchat.runs.hub import Hub
from jupyter_agentchat.runs.ledger import holder_alive, own_holder
from jupyter_agentchat.runs.recovery import close_interrupted, orphaned
from jupyter_agentchat.store.base import ChatRecord, Draft, Lease, RunRecord, Store
from jupyter_agentchat.store.memory import MemoryStore
from jupyter_agentchat.store.sqlite import open_store
from tests.waiting import until

from .staged import DONE, OWNER, Stage, StagedAdapter, on_stage, say


def test_a_second_server_is_refused_and_told_who_holds_the_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    living = {"first/"}

    async def scenario() -> None:
        stores = [open_store(tmp_path / "data", served_root=tmp_path / "root") for _ in range(2)]
        adapter = StagedAdapter()

        async def adapter_for(_name: str) -> StagedAdapter:
            return adapter

        first, second = (
            Hub(store, adapter_for, max_runs=2, holder=name, lives=living.__contains__)
            for store, name in zip(stores, ("first/", "second/"), strict=True)
        )
        chat = Chat(id="c", provider="staged", created=now(), updated=now())
        stores[0].create_chat(ChatRecord(chat))
        stage = Stage()
        run = adapter.next()
        first.start(stage.plan())
        run.emit(say("Hel"))
        with pytest.raises(Busy) as busy:
            second.start(stage.plan())
        assert busy.value.details["holder"] == "first/"
        async with second.held("c"):
            pass  # first/ is another host: it may be gone for good
        monkeypatch.setattr(control, "is_of_this_host", lambda _holder: True)
        with pytest.raises(Busy):  # nor may it be deleted under the first one
            async with second.held("c"):
                pass
        assert second.recover() == 0
        run.end(say("lo"), DONE)
        await until(lambda: first.state("c") == "idle")
        adapter.next().end(DONE)
        second.start(stage.plan())
        await until(lambda: second.state("c") == "idle")
        kinds = [event.type for event in stores[1].events_after("c", 0).events]
        assert kinds.count("complete") == 2
        for hub, store in zip((first, second), stores, strict=True):
            await hub.close()
            store.close()

    asyncio.run(scenario())


def test_a_run_counts_on_when_another_server_has_written_into_its_chat(tmp_path: Path) -> None:
    async def scenario() -> None:
        here, there = (
            open_store(tmp_path / "data", served_root=tmp_path / "root") for _ in range(2)
        )
        adapter = StagedAdapter()

        async def adapter_for(_name: str) -> StagedAdapter:
            return adapter

        hub = Hub(here, adapter_for, max_runs=2, holder="here/", lives=lambda _holder: True)
        here.create_chat(ChatRecord(Chat(id="c", provider="staged", created=now(), updated=now())))
        run = adapter.next()
        hub.start(Stage().plan())
        frames: list[str] = []

        async def send(text: str) -> None:
            frames.append(text)

        page = Channel(send)
        hub.subscribe(page, "c", 0, None)
        writer = asyncio.get_running_loop().create_task(page.write())
        run.emit(say("before", "a"))
        await until(lambda: here.last_seq("c") == 3)
        there.append("c", [Draft(Notice(code="elsewhere", text="hello from there"))])
        run.emit(say("behind", "b"))
        await until(lambda: here.last_seq("c") == 5)
        run.end(AssistantText(item_id="b", text="behind it", final=True), DONE)
        await until(lambda: hub.state("c") == "idle")
        events = {event.seq: event for event in there.events_after("c", 0).events}
        finals = {
            body.item_id: body.first_seq
            for body in (event.body() for event in events.values())
            if isinstance(body, AssistantText)
        }
        assert finals == {"a": 3, "b": 5}
        assert events[4].type == "notice"
        assert 5 not in events  # its final stands for it
        await until(lambda: any('"complete"' in frame for frame in frames))
        shown = [e["seq"] for frame in frames for e in json.loads(frame).get("events", [])]
        assert shown == list(range(1, max(events) + 1))
        page.close()
        await writer
        await hub.close()
        here.close()
        there.close()

    asyncio.run(scenario())


def left_over(store: Store, run_id: str = "r", holder: str | None = "dead/") -> None:
    """A run whose server died."""
    store.start_run(
        RunRecord(
            run_id=run_id,
            chat_id="c",
            provider="staged",
            client_id=run_id,
            lease=Lease(holder, 1) if holder else None,
        ),
        [
            Draft(User(text="hi", author=OWNER, client_id=run_id)),
            Draft(RunStarted(provider="staged")),
        ],
    )
    store.append(
        "c",
        [
            Draft(say("Half an")),
            Draft(ToolUseStart(tool_id="t", name="Bash", input=OtherInput())),
        ],
        run_id=run_id,
    )


def test_of_two_servers_that_find_a_dead_ones_run_one_closes_it() -> None:
    store = MemoryStore()
    store.create_chat(ChatRecord(Chat(id="c", created=now(), updated=now())))
    for run_id, holder in (("r1", "dead/"), ("r2", None)):
        left_over(store, run_id, holder)
        (seen_by_both,) = orphaned(store, holder_alive)
        close_interrupted(store, seen_by_both, "first/")
        with pytest.raises(Busy):
            close_interrupted(store, seen_by_both, "second/")
    kinds = [event.type for event in store.events_after("c", 0).events]
    assert kinds.count("complete") == 2
    assert store.open_runs() == []


def test_what_cannot_be_closed_does_not_keep_the_server_from_starting() -> None:
    async def scenario(stage: Stage) -> None:
        left_over(stage.store)
        stage.store.full = True
        assert stage.hub.recover() == 0
        stage.store.full = False
        assert stage.hub.recover() == 1
        assert stage.hub.recover() == 0

    stage = on_stage(scenario)
    assert stage.outcomes() == ["interrupted"]
    assert [e["text"] for e in stage.log() if e["type"] == "assistant_text"] == ["Half an"]


def test_a_holder_lives_as_long_as_its_process_and_no_longer() -> None:
    own = own_holder()
    assert holder_alive(own)
    host, _, identity = own.rpartition("/")
    boot, pid, start, pgid = identity.rsplit(":", 3)
    assert int(pid) == os.getpid()
    assert not holder_alive(f"{host}/{boot}:{pid}:{int(start) + 1}:{pgid}")
    assert not holder_alive(f"{host}/another-boot:{pid}:{start}:{pgid}")
    assert holder_alive(f"elsewhere.example/{identity}")
    assert not holder_alive("")
    assert not holder_alive("nonsense")


def test_a_chat_of_a_host_that_is_gone_is_freed_when_a_person_stops_it() -> None:
    """A container made anew has another host name: nobody can prove the old one dead."""

    async def scenario() -> None:
        store = MemoryStore()
        adapter = StagedAdapter()

        async def adapter_for(_name: str) -> StagedAdapter:
            return adapter

        store.create_chat(ChatRecord(Chat(id="c", provider="staged", created=now(), updated=now())))
        run = RunRecord("old", "c", "staged", lease=Lease("a-container/boot:1:2:1", 1))
        store.start_run(run, [Draft(RunStarted(provider="staged"))])
        hub = Hub(store, adapter_for, max_runs=2)
        stage = Stage()
        assert hub.recover() == 0
        with pytest.raises(Busy, match=r"on a-container .*Stop the agent"):
            hub.start(stage.plan())
        assert hub.cancel("c") is True
        assert [event.type for event in store.events_after("c", 0).events][-1] == "complete"
        assert store.open_runs() == []
        assert hub.cancel("c") is False
        next_run = adapter.next()
        hub.start(stage.plan())
        next_run.end(DONE)
        await until(lambda: hub.active_runs == 0)
        await hub.close()

    asyncio.run(scenario())
