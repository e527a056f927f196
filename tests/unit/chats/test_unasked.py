"""A turn that the agent begins by itself is a run of its chat: stored, shown, stoppable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jupyter_agentchat.chats.plans import Planner
from jupyter_agentchat.chats.starts import Starter
from jupyter_agentchat.chats.unasked import UnaskedTurns
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AgentRun, RunContext
from tests.unit.runs.staged import DONE, StagedRun, say
from tests.waiting import until

from .desk import Desk, at_desk


class Own:
    """The agent's own turn: `begin` as an adapter gives it."""

    def __init__(self) -> None:
        self.run = StagedRun()
        self.asked: list[RunRequest] = []

    async def begin(self, request: RunRequest, context: RunContext) -> AgentRun:
        self.asked.append(request)
        return self.run


def turns(desk: Desk) -> UnaskedTurns:
    trust: Any = desk.trust
    planner = Planner(desk.store, desk.chats, desk.policies, trust)
    return UnaskedTurns(desk.store, planner, Starter(desk.store, desk.stage.hub, desk.chats))


async def one_run(desk: Desk) -> None:
    desk.finish_at_once(1)
    await desk.send("one")
    await until(lambda: desk.outcomes() == ["completed"])


def test_it_is_told_from_a_run_with_a_prompt_and_goes_on_in_the_agents_conversation(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk) -> None:
        await one_run(desk)
        own = Own()
        assert await turns(desk).host("staged", "c", own.begin)
        await until(lambda: own.asked)
        assert own.asked[0].prompt == ""
        own.run.end(say("The tests are green."), DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        assert desk.sent() == ["one"]
        origins = [e["origin"] for e in desk.stage.log() if e["type"] == "run_started"]
        assert origins == ["prompt", "provider"]

    at_desk(scenario, tmp_path)


def test_a_prompt_that_comes_meanwhile_waits_behind_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await one_run(desk)
        own = Own()
        assert await turns(desk).host("staged", "c", own.begin)
        assert (await desk.send("two")).queue_item
        desk.finish_at_once(1)
        own.run.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 3)
        assert desk.sent() == ["one", "two"]

    at_desk(scenario, tmp_path)


def test_stop_reaches_it(tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await one_run(desk)
        own = Own()
        assert await turns(desk).host("staged", "c", own.begin)
        await until(lambda: own.asked)
        assert desk.stage.hub.cancel("c")
        await until(lambda: desk.outcomes() == ["completed", "cancelled"])
        assert own.run.cancels

    at_desk(scenario, tmp_path)


def test_it_finds_no_place_beside_a_run_in_a_deleted_chat_or_one_of_another_agent(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk) -> None:
        own = Own()
        running = desk.next()
        await desk.send("one")
        assert not await turns(desk).host("staged", "c", own.begin)
        running.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"])
        assert not await turns(desk).host("staged", "no such chat", own.begin)
        assert not await turns(desk).host("another", "c", own.begin)
        assert own.asked == []

    at_desk(scenario, tmp_path)
