"""Turns that the agent begins by itself: a run is found for them, and nothing of them is lost."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, StorageError
from jupyter_agentchat.protocol.events import AssistantText
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import Begin, ChildMark
from jupyter_agentchat.providers.claude import hosting, processes, unhosted
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.claude.prompts import prompt_uuid
from jupyter_agentchat.providers.claude.run import ClaudeRun
from tests.waiting import until

from .scripted import Json, assistant, can_use_tool, init, result
from .stage import OLD, Play, Stage, context_of
from .test_commands import answered, life
from .test_helpers import IDLE, OWN, notified, tasks

PROMPT = prompt_uuid("r")
ENDED = assistant("m5", {"type": "text", "text": "The tests passed."})
TURN = (notified(summary="Tests passed."), tasks(), init(OLD), ENDED, OWN)


@dataclass
class Hub:
    """Makes runs of turns that nobody asked for, when it may."""

    stage: Stage
    refusals: int = 0
    how: dict[str, Any] = field(default_factory=dict)
    asked: int = 0
    runs: list[ClaudeRun] = field(default_factory=list)
    failure: Exception | None = None

    async def begin_unasked(self, chat_id: str, begin: Begin) -> bool:
        self.asked += 1
        if self.asked <= self.refusals:
            return False
        request = self.stage.request(run_id="own", prompt="", provider_session_id=OLD, **self.how)
        try:
            run = await begin(request, self.stage.context())
        except (ChildGone, StorageError) as error:
            self.failure = error
        else:
            assert isinstance(run, ClaudeRun)
            self.runs.append(run)
        return True


def hosted(stage: Stage, **how: Any) -> Hub:
    """Give the stage a hub that hosts."""
    hub = Hub(stage, **how)
    context = replace(context_of(stage.launcher, stage.project), begin_unasked=hub.begin_unasked)
    stage.adapter = ClaudeAdapter(context)
    return hub


async def first_run(stage: Stage, *more: Json) -> None:
    """A run that leaves a command working in the background."""
    run = await stage.start()
    working = tasks("b", kind="local_bash")
    stage.cli.say(init(OLD), working, answered(PROMPT, session_id=OLD))
    stage.cli.say(life(PROMPT, "completed"), IDLE, *more)
    assert (await stage.follow(run))[-1] == "complete"
    stage.bodies.clear()


def test_the_turn_becomes_a_run_that_sends_nothing(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        await first_run(stage)
        heard, begins = len(stage.cli.heard), stage.cli.position
        stage.cli.say(*TURN)
        await until(lambda: hub.runs)
        kinds = await stage.follow(hub.runs[0])
        assert kinds == ["system", "session", "assistant_text", "complete"]
        assert stage.marks[-1] == ChildMark(stage.cli.child_id, begins)
        assert stage.cli.settled == begins
        assert len(stage.cli.heard) == heard
        assert hub.asked == 1
        again = await stage.start(run_id="r2", provider_session_id=OLD)
        stage.cli.say(init(OLD), answered(prompt_uuid("r2")))
        assert "assistant_text" not in (await stage.follow(again))[4:]
        assert len(stage.launcher.handles) == 1

    play(act)


def test_what_trails_behind_a_run_begins_none(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        stopped = {"type": "user", "parent_tool_use_id": "t1", "message": {"content": []}}
        await first_run(stage, stopped, tasks())
        stage.cli.say(*TURN)
        await until(lambda: hub.runs)
        await stage.follow(hub.runs[0])
        assert hub.asked == 1

    play(act)


def test_a_hub_that_is_busy_is_asked_again(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "PAUSES_S", (0.0, 0.01, 0.01))

    async def act(stage: Stage) -> None:
        hub = hosted(stage, refusals=2)
        await first_run(stage)
        stage.cli.say(*TURN)
        await until(lambda: hub.runs)
        assert "assistant_text" in await stage.follow(hub.runs[0])
        assert hub.asked == 3

    play(act)


def test_a_turn_that_nobody_takes_is_stopped_and_told_by_the_next_run(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "PAUSES_S", (0.0,))

    async def act(stage: Stage) -> None:
        hub = hosted(stage, refusals=99)
        await first_run(stage)
        asked = can_use_tool("q1", "Bash", {"command": "make"})
        begins = stage.cli.position
        stage.cli.say(notified(), init(OLD), ENDED, asked)
        await until(lambda: stage.cli.requests("interrupt"))
        await until(lambda: "q1" in stage.cli.replies())
        assert stage.cli.replies()["q1"]["response"]["behavior"] == "deny"
        stage.cli.say({**OWN, "terminal_reason": "aborted_streaming"})
        run = await stage.start(run_id="r2", provider_session_id=OLD)
        assert stage.marks[-1].first == begins
        stage.cli.say(init(OLD), answered(prompt_uuid("r2")))
        kinds = await stage.follow(run)
        assert "ask" not in kinds
        assert [b.text for b in stage.bodies if isinstance(b, AssistantText)] == [
            "The tests passed."
        ]
        assert stage.bodies[-1].type == "complete"
        assert hub.asked == 1

    play(act)


def test_a_turn_that_says_too_much_while_no_run_is_found_is_stopped(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unhosted, "ROOM_BYTES", 1_000)
    monkeypatch.setattr(hosting, "PAUSES_S", (0.0, 60.0))

    async def act(stage: Stage) -> None:
        hosted(stage, refusals=99)
        await first_run(stage)
        stage.cli.say(init(OLD), *[ENDED | {"uuid": str(number)} for number in range(20)])
        await until(lambda: stage.cli.requests("interrupt"))
        stage.cli.say({**OWN, "terminal_reason": "aborted_streaming"})
        run = await stage.start(run_id="r2", provider_session_id=OLD)
        stage.cli.say(init(OLD), answered(prompt_uuid("r2")))
        assert (await stage.follow(run)).count("assistant_text") == 20
        assert len(stage.cli.requests("interrupt")) == 1

    play(act)


def test_the_next_turn_is_offered_again(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosting, "PAUSES_S", (0.0,))

    async def act(stage: Stage) -> None:
        hub = hosted(stage, refusals=1)
        await first_run(stage)
        stage.cli.say(*TURN)
        await until(lambda: stage.cli.requests("interrupt"))
        stage.cli.say(*TURN)
        await until(lambda: hub.runs)
        assert (await stage.follow(hub.runs[0])).count("complete") == 1

    play(act)


def test_what_a_turn_asks_reaches_a_person(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        await first_run(stage)
        stage.cli.say(init(OLD), can_use_tool("q1", "Bash", {"command": "make"}))
        await until(lambda: hub.runs)
        async for step in hub.runs[0].steps():
            if step.bodies[0].type == "ask":
                allow = AskAnswer(decision="allow", option_id="allow_once")
                await hub.runs[0].answer("q1", allow)
                stage.cli.say(OWN)
        assert stage.cli.replies()["q1"]["response"]["behavior"] == "allow"

    play(act)


def test_a_permission_that_was_lowered_meanwhile_holds_in_the_turn(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage, how={"permission": "accept_edits"})
        await first_run(stage)
        stage.cli.say(*TURN)
        await until(lambda: hub.runs)
        await stage.follow(hub.runs[0])
        (request,) = stage.cli.requests("set_permission_mode")
        assert request["mode"] == "acceptEdits"
        assert stage.cli.requests("interrupt") == []

    play(act)


def test_a_permission_that_was_raised_meanwhile_stops_nothing(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "may_bypass_permissions", lambda *_, **__: True)

    async def act(stage: Stage) -> None:
        hub = hosted(stage, how={"permission": "full"})
        await first_run(stage)
        stage.cli.say(*TURN)
        await until(lambda: hub.runs)
        assert (await stage.follow(hub.runs[0]))[-1] == "complete"
        assert stage.cli.requests("interrupt") == []

    play(act)


def test_a_turn_whose_rights_were_taken_away_is_stopped(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage, how={"permission": "read_only"})
        await first_run(stage)
        asked = can_use_tool("q1", "Bash", {"command": "make"})
        stage.cli.say(init(OLD), ENDED, asked)
        await until(lambda: hub.runs)
        assert len(stage.cli.requests("interrupt")) == 1
        await until(lambda: "q1" in stage.cli.replies())
        assert stage.cli.replies()["q1"]["response"]["behavior"] == "deny"
        stage.cli.say({**OWN, "is_error": True, "terminal_reason": "aborted_streaming"})
        kinds = await stage.follow(hub.runs[0])
        assert kinds == ["session", "assistant_text", "complete"]
        assert stage.bodies[-1].model_dump()["outcome"] == "cancelled"

    play(act)


def test_stop_in_such_a_turn_interrupts_it(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        await first_run(stage)
        stage.cli.say(init(OLD), ENDED)
        await until(lambda: hub.runs)
        stopping = asyncio.create_task(hub.runs[0].cancel())
        await until(lambda: stage.cli.requests("interrupt"))
        stage.cli.say({**OWN, "is_error": True, "terminal_reason": "aborted_streaming"})
        await stopping
        await stage.follow(hub.runs[0])
        assert stage.bodies[-1].model_dump()["outcome"] == "cancelled"

    play(act)


def test_another_server_takes_such_a_run_over_and_sends_no_prompt(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        await first_run(stage)
        stage.cli.say(*TURN[:-1])
        await until(lambda: hub.runs)
        run = await stage.attach(run_id="own", prompt="", provider_session_id=OLD)
        await until(lambda: stage.cli.requests("get_session_cost"))
        stage.cli.say(OWN)
        assert await stage.follow(run) == ["system", "session", "assistant_text", "complete"]
        assert [line for line in stage.cli.heard if line["type"] == "user"] == []

    play(act)


def test_turns_that_are_over_before_the_hub_comes_are_told_whole(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        await first_run(stage)
        stage.cli.say(*TURN, IDLE, *TURN)
        await until(lambda: len(hub.runs) == 2)
        whole = ["system", "session", "assistant_text", "complete"]
        assert await stage.follow(hub.runs[0]) == whole
        stage.bodies.clear()
        assert await stage.follow(hub.runs[1]) == whole

    play(act)


def test_a_hub_that_cannot_note_the_child_leaves_no_process(play: Play) -> None:
    async def act(stage: Stage) -> None:
        hub = hosted(stage)
        await first_run(stage)

        async def full(_mark: ChildMark) -> None:
            raise StorageError("disk full")

        stage.on_mark = full
        stage.cli.say(*TURN)
        await until(lambda: hub.failure)
        assert isinstance(hub.failure, StorageError)
        assert stage.cli.exit is not None

    play(act)


class Looked(dict[str, str]):
    """A session's background work that counts how often it is looked for."""

    looks = 0

    def __len__(self) -> int:
        self.looks += 1
        return super().__len__()


def test_an_agent_with_work_in_the_background_is_not_idle(play: Play) -> None:
    async def act(stage: Stage) -> None:
        context = context_of(stage.launcher, stage.project)
        stage.adapter = ClaudeAdapter(replace(context, idle_timeout_s=0.001))
        await first_run(stage)
        session = stage.adapter._processes._sessions["c"]
        session.work.tasks = looked = Looked(session.work.tasks)
        await until(lambda: looked.looks >= 3)
        assert stage.cli.exit is None
        looked.clear()
        await until(lambda: stage.cli.exit)

    play(act)


def test_work_that_a_new_process_ends_is_told_and_so_is_a_turn_that_no_run_took(
    play: Play,
) -> None:
    async def act(stage: Stage) -> None:
        asked = can_use_tool("q1", "Bash", {"command": "make"})
        await first_run(stage, init(OLD), ENDED, asked)
        run = await stage.start(run_id="r2", provider_session_id=OLD, permission="read_only")
        assert len(stage.launcher.handles) == 2
        stage.cli.say(init(OLD), result(user_message_uuids=[prompt_uuid("r2")]))
        kinds = await stage.follow(run)
        assert kinds == ["notice", "session", "assistant_text", "complete"]
        assert stage.bodies[0].model_dump()["code"] == "background_ended"
        assert "Work" in stage.bodies[0].model_dump()["text"]

    play(act)
