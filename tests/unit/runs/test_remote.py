"""A chat that another server runs can be watched here, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from jupyter_agentchat.errors import Busy
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import ChildMark
from jupyter_agentchat.runs import audience, control, remote
from jupyter_agentchat.runs.hub import Hub
from tests.waiting import until

from .staged import DONE, OWNER, Stage, on_stage, say
from .test_following import Follower
from .test_reattach import ASK


@pytest.fixture(autouse=True)
def on_one_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Holders of these tests are no real processes."""
    monkeypatch.setattr(control, "is_of_this_host", lambda _holder: True)
    monkeypatch.setattr(audience, "POLL_S", 0.02)
    monkeypatch.setattr(remote, "FRESH_S", 0.0)


def beside(scenario: Callable[[Stage, Hub, Follower], Awaitable[None]]) -> Stage:
    """Play it with a second server on the store, where somebody follows the chat."""

    async def play(stage: Stage) -> None:
        other = stage.make_hub("next/")
        other.begin()
        follower = Follower(stage)
        other.add_client(follower.channel, "owner")
        other.subscribe(follower.channel, "c", 0, None)
        await scenario(stage, other, follower)
        await other.close()
        await asyncio.wait({follower.writer})

    return on_stage(play)


def test_its_events_arrive_here_and_its_state_is_shown_as_remote() -> None:
    async def scenario(stage: Stage, other: Hub, follower: Follower) -> None:
        run = stage.start()
        run.emit(say("Hel"))
        await until(lambda: any(f.get("remote") for f in follower.frames))
        run.emit(ASK)
        await until(lambda: any(f.get("phase") == "waiting" for f in follower.frames))
        shown = next(f for f in follower.frames if f.get("phase") == "waiting")
        assert (shown["running"], shown["remote"], shown["holder"]) == (True, True, "here/")
        assert [ask["ask_id"] for ask in shown["asks"]] == ["a"]
        assert other.state("c") == "waiting"
        await stage.hub.answer("c", "a", AskAnswer(decision="allow"), OWNER)
        run.end(say("lo"), DONE)
        await stage.until_idle()
        last = stage.store.last_seq("c")
        await until(lambda: follower.upto == last and follower.frames[-1].get("running") is False)
        assert follower.seqs == sorted(set(follower.seqs))
        assert other.state("c") == "idle"
        assert stage.told.count(("changed", "c")) >= 2  # the list is told there, too

    assert beside(scenario).outcomes() == ["completed"]


def test_every_command_on_it_is_refused_with_the_name_of_its_server() -> None:
    async def scenario(stage: Stage, other: Hub, _follower: Follower) -> None:
        run = stage.start()
        run.emit(ASK)
        await until(lambda: stage.hub.open_asks("c"))

        async def held() -> None:
            async with other.held("c"):
                pass

        async def answer() -> None:
            await other.answer("c", "a", AskAnswer(decision="allow"), OWNER)

        commands: list[Callable[[], object]] = [
            lambda: other.start(stage.plan()),
            lambda: other.cancel("c"),
            lambda: other.refuse_remote("c"),
            lambda: other.open_ask("c", "a"),
        ]
        for command in commands:
            with pytest.raises(Busy) as busy:
                command()
            assert busy.value.details["holder"] == "here/"
        for waiting in (held, answer):
            with pytest.raises(Busy):
                await waiting()
        assert stage.hub.open_asks("c")
        run.end(DONE)
        await stage.until_idle()

    assert beside(scenario).outcomes() == ["completed"]


def test_when_its_server_dies_the_one_that_watches_takes_the_run_over() -> None:
    async def scenario(stage: Stage, other: Hub, follower: Follower) -> None:
        stage.adapter.mark = ChildMark("kid", 0)
        stage.children.add("kid")
        first = stage.start()
        first.emit(say("Hel"), offset=10)
        await until(lambda: (row := stage.store.run("run1")) and row.spool_stored == 10)
        await until(lambda: any(f.get("remote") for f in follower.frames))
        again = stage.adapter.next()
        stage.die()
        await until(lambda: stage.adapter.attached)
        again.emit(say("Hel"), offset=10)
        again.end(say("lo"), DONE)
        await until(lambda: other.active_runs == 0)
        last = stage.store.last_seq("c")
        await until(lambda: follower.upto == last)
        assert follower.seqs == sorted(set(follower.seqs))

    assert beside(scenario).outcomes() == ["completed"]


def test_a_prompt_for_a_chat_whose_server_has_just_died_does_not_run_beside_its_agent() -> None:
    async def scenario(stage: Stage) -> None:
        other = stage.make_hub("next/")
        stage.adapter.mark = ChildMark("kid", 0)
        stage.children.add("kid")
        stage.start()
        await until(lambda: (row := stage.store.run("run1")) and row.child_id == "kid")
        again = stage.adapter.next()
        stage.die()
        with pytest.raises(Busy):
            other.start(stage.plan())
        await until(lambda: stage.adapter.attached)
        again.end(DONE)
        await until(lambda: other.active_runs == 0)
        await other.close()

    assert on_stage(scenario).outcomes() == ["completed"]


async def _delete(hub: Hub) -> None:
    async with hub.held("c"):
        pass


async def _rewind(hub: Hub) -> None:
    with pytest.raises(Busy), hub.still("c"):
        pass


async def _look(hub: Hub) -> None:
    assert hub.state("c") != "idle"


async def _stop(hub: Hub) -> None:
    assert hub.cancel("c")


@pytest.mark.parametrize("command", [_look, _stop, _delete, _rewind])
def test_a_dead_servers_agent_is_not_taken_for_gone_where_nobody_follows_its_chat(
    command: Callable[[Hub], Awaitable[None]],
) -> None:
    async def scenario(stage: Stage) -> None:
        other = stage.make_hub("next/")
        other.begin()
        stage.adapter.mark = ChildMark("kid", 0)
        stage.children.add("kid")
        stage.start()
        await until(lambda: (row := stage.store.run("run1")) and row.child_id == "kid")
        again = stage.adapter.next()
        stage.die()
        stage.reaped.clear()
        await command(other)
        if stopped:
            await until(lambda: stage.reaped)  # its agent, and nothing is spared
        else:
            await until(lambda: stage.adapter.attached)
            again.end(DONE)
        await until(lambda: other.active_runs == 0)
        await other.close()

    stopped = command in (_stop, _delete)
    assert on_stage(scenario).outcomes() == ["cancelled" if stopped else "completed"]
