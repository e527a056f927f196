"""Followers see each event once, in order, whenever they come; nobody's slowness is another's."""

from __future__ import annotations

import asyncio
import json
import random
from typing import Any

import pytest

from jupyter_agentchat.errors import Busy, Gone, NotFound
from jupyter_agentchat.protocol.events import Notice
from jupyter_agentchat.runs import channel as channel_module
from jupyter_agentchat.runs.channel import Channel
from tests.waiting import until

from .staged import DONE, SESSION, Stage, StagedRun, on_stage, say


class Follower:
    """A client as the contract wants it: knows its last seq, reports a real gap."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.seqs: list[int] = []
        self.frames: list[dict[str, Any]] = []
        self.upto = 0
        self.may_read = asyncio.Event()
        self.may_read.set()
        self.channel = Channel(self._send, stage.hub.unsubscribe)
        stage.hub.add_client(self.channel, "owner")
        self.writer = asyncio.get_running_loop().create_task(self.channel.write())

    async def _send(self, text: str) -> None:
        await self.may_read.wait()
        frame = json.loads(text)
        self.frames.append(frame)
        if frame["type"] == "events":
            assert frame["after"] <= self.upto, "a gap"
            new = [event["seq"] for event in frame["events"] if event["seq"] > self.upto]
            self.seqs += new
            self.upto = max(self.upto, frame["upto"])
        elif frame["type"] == "gap":
            self.load()
            self.follow()

    def load(self) -> None:
        """Catch up by pages, as after a `gap`."""
        while True:
            page = self.stage.store.events_after("c", self.upto, limit=500)
            self.seqs += [event.seq for event in page.events]
            self.upto = page.last_seq or self.upto
            if not page.has_more:
                return

    def follow(self) -> None:
        self.stage.hub.subscribe(self.channel, "c", self.upto, None)

    async def leave(self) -> None:
        self.stage.hub.remove_client(self.channel)
        self.may_read.set()
        await self.writer


def notice(number: int) -> Notice:
    return Notice(code="n", text=str(number))


def test_a_storm_of_followers_each_sees_each_event_once_in_order() -> None:
    chance = random.Random(7)
    total = 5_000

    async def scenario(stage: Stage) -> None:
        followers: list[Follower] = []
        run = stage.start()
        sent = 0
        while sent < total:
            burst = min(chance.randint(1, 60), total - sent)
            run.emit(*(notice(number) for number in range(sent, sent + burst)))
            sent += burst
            if len(followers) < 40:
                followers.append(Follower(stage))
                followers[-1].follow()
            follower = chance.choice(followers)
            match chance.randint(0, 3):
                case 0:
                    follower.follow()  # again, in mid-stream
                case 1:
                    stage.hub.unsubscribe(follower.channel, "c")
                    for _ in range(chance.randint(0, 3)):
                        await asyncio.sleep(0)
                    follower.follow()
                case 2:
                    follower.may_read.clear()
                case 3:
                    follower.may_read.set()
            await asyncio.sleep(0)
        run.end(DONE)
        await stage.until_idle()
        last = stage.store.last_seq("c")
        for follower in followers:
            follower.may_read.set()
        await until(lambda: all(follower.upto == last for follower in followers))
        for follower in followers:
            assert follower.seqs == list(range(1, last + 1))
            await follower.leave()
        assert stage.hub._rooms == {}

    on_stage(scenario)


def test_a_client_that_does_not_read_gets_one_gap_and_catches_up_and_costs_the_others_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def scenario(stage: Stage) -> None:
        slow, quick = Follower(stage), Follower(stage)
        for follower in (slow, quick):
            follower.follow()
        slow.may_read.clear()
        run = stage.start()
        most = 0
        for number in range(120):
            run.emit(Notice(code="n", text=f"{number} " + "x" * 100_000))
            await until(lambda: quick.upto == stage.store.last_seq("c"))
            most = max(most, slow.channel.pending_bytes)
        assert most < channel_module.PENDING_LIMIT_BYTES + 200_000
        assert not [frame for frame in quick.frames if frame["type"] == "gap"]
        run.end(DONE)
        await stage.until_idle()
        slow.may_read.set()
        last = stage.store.last_seq("c")
        await until(lambda: slow.upto == last)
        assert len([frame for frame in slow.frames if frame["type"] == "gap"]) == 1
        assert slow.seqs == quick.seqs == list(range(1, last + 1))
        for follower in (slow, quick):
            await follower.leave()

    on_stage(scenario)


def test_a_client_that_never_reads_is_hung_up_on() -> None:
    async def scenario(stage: Stage) -> None:
        deaf = Follower(stage)
        deaf.may_read.clear()
        for number in range(channel_module.OTHER_LIMIT + 10):
            stage.hub.broadcast(lambda _name, number=number: f'{{"type":"x{number}"}}')
        assert deaf.channel.closed
        assert deaf.channel.pending_bytes == 0
        deaf.may_read.set()
        await deaf.writer
        await deaf.leave()

    on_stage(scenario)


def test_running_is_known_before_the_prompt_and_idle_only_after_the_adapter_returned() -> None:
    async def scenario(stage: Stage) -> None:
        follower = Follower(stage)
        follower.follow()
        run = stage.adapter.next(StagedRun())
        stage.hub.start(stage.plan())
        run.emit(SESSION, say("x"), DONE)  # has said that it is done, and is still there
        await until(lambda: follower.upto == 4)
        assert stage.hub.state("c") == "running"
        assert not any(f["type"] == "sync" and not f["running"] for f in follower.frames[1:])
        run.end()
        await stage.until_idle()
        await until(lambda: follower.frames[-1]["type"] == "sync")
        order = [
            (f["type"], f.get("running", f.get("upto")))
            for f in follower.frames
            if f["type"] in ("sync", "events")
        ]
        assert order.index(("sync", True)) < next(
            i for i, (kind, _) in enumerate(order) if kind == "events"
        )
        assert run.closed
        assert order[-2:] == [("events", stage.store.last_seq("c")), ("sync", False)]
        await follower.leave()

    on_stage(scenario)


def test_nothing_stays_behind_for_chats_that_nobody_follows() -> None:
    async def scenario(stage: Stage) -> None:
        follower = Follower(stage)
        for number in range(50):
            stage.add_chat(f"c{number}")
            stage.hub.subscribe(follower.channel, f"c{number}", 0, None)
            with pytest.raises(Gone):
                stage.hub.subscribe(follower.channel, "c", 99, None)
            with pytest.raises(NotFound):
                stage.hub.subscribe(follower.channel, "nobody", 0, None)
            with pytest.raises(NotFound):
                stage.hub.start(stage.plan("nobody"))
        assert len(stage.hub._rooms) == 50
        stage.hub.unsubscribe(follower.channel, "c1")
        assert stage.hub.unsubscribe(follower.channel, "c1") == 0
        await follower.leave()
        assert stage.hub._rooms == {}

    on_stage(scenario)


def test_a_deleted_chat_does_not_trip_a_client_that_is_slow_with_it() -> None:
    async def scenario(stage: Stage) -> None:
        stage.add_chat("d")
        slow = Follower(stage)
        slow.may_read.clear()
        for chat_id in ("c", "d"):
            stage.hub.subscribe(slow.channel, chat_id, 0, None)
        stage.start("d").end(notice(1), DONE)
        await stage.until_idle("d")
        stage.store.delete_chat("d", when="2026-01-01T00:00:00.000Z")
        stage.hub.forget("d")
        run = stage.start()
        for _ in range(60):
            run.emit(Notice(code="n", text="x" * 100_000))
        run.end(DONE)
        await stage.until_idle()
        assert stage.outcomes() == ["completed"]
        await slow.leave()
        assert stage.hub._rooms == {}

    on_stage(scenario)


def test_nobody_begins_a_run_in_a_chat_that_is_being_deleted() -> None:
    async def scenario(stage: Stage) -> None:
        stage.start().emit(SESSION)
        await until(lambda: len(stage.log()) == 3)
        async with stage.hub.held("c"):
            assert stage.outcomes() == ["cancelled"]
            with pytest.raises(Busy):
                stage.hub.start(stage.plan())
            with pytest.raises(Busy):
                async with stage.hub.held("c"):
                    raise AssertionError
        stage.start().end(DONE)
        await stage.until_idle()

    on_stage(scenario)
