"""Another server takes a run over, from a CLI that the test plays."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited, SessionRejected, StorageError
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import ChildMark
from jupyter_agentchat.providers.claude import adapter as adapter_module
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.claude.inbox import ROOM_BYTES, Inbox, Received
from jupyter_agentchat.providers.claude.prompts import prompt_uuid
from jupyter_agentchat.providers.claude.translate import steer_uuid
from tests.waiting import until

from .scripted import assistant, can_use_tool, init, result
from .stage import HELLO, OLD, Play, Stage, context_of
from .test_commands import answered, life

PROMPT = prompt_uuid("r")
FIRST = steer_uuid(PROMPT, 0)
BEGUN = (life(PROMPT, "queued"), life(PROMPT, "started"), init(), HELLO)


async def _left(stage: Stage, *lines: Any) -> None:
    """A run whose server dies once its CLI has said this."""
    await stage.start()
    stage.cli.say(*lines)


def _users(stage: Stage) -> list[Any]:
    return [line for line in stage.cli.heard if line["type"] == "user"]


def test_the_hub_knows_the_child_before_the_prompt_is_written(play: Play) -> None:
    async def act(stage: Stage) -> None:
        async def look(mark: ChildMark) -> None:
            assert _users(stage) == []
            assert mark == ChildMark(stage.cli.child_id, stage.cli.position)

        stage.on_mark = look
        run = await stage.start()
        assert len(_users(stage)) == 1
        stage.cli.say(*BEGUN, answered(PROMPT), life(PROMPT, "completed"))
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_a_second_run_begins_behind_the_first_and_frees_its_space(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(*BEGUN[:2], init(OLD), HELLO, answered(PROMPT, session_id=OLD))
        await stage.follow(run)
        at = stage.cli.position
        await stage.start(run_id="r2", provider_session_id=OLD)
        assert stage.marks[-1] == ChildMark(stage.cli.child_id, at)
        assert stage.cli.settled == at > 0

    play(act)


def test_a_hub_that_cannot_note_the_child_gets_no_run_and_no_process(play: Play) -> None:
    async def act(stage: Stage) -> None:
        async def full(_mark: ChildMark) -> None:
            raise StorageError("disk full")

        stage.on_mark = full
        with pytest.raises(StorageError):
            await stage.start()
        assert _users(stage) == []
        assert stage.cli.exit is not None

    play(act)


def test_the_run_is_told_again_from_its_first_line_and_goes_on(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN)
        run = await stage.attach()
        stage.cli.say(assistant("m2", {"type": "text", "text": "More."}), answered(PROMPT))
        kinds = await stage.follow(run)
        assert kinds == ["session", "assistant_text", "assistant_text", "complete"]
        assert stage.cli.requests("initialize") == []
        assert _users(stage) == []

    play(act)


def test_a_prompt_that_never_arrived_is_sent_again_under_its_uuid(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage)
        run = await stage.attach()
        await until(lambda: _users(stage))
        (sent,) = _users(stage)
        assert (sent["uuid"], sent["message"]["content"]) == (PROMPT, "Do it")
        stage.cli.say(*BEGUN, answered(PROMPT))
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_a_prompt_that_only_waits_in_the_cli_is_not_sent_again(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage, life(PROMPT, "queued"))
        run = await stage.attach()
        await until(lambda: stage.cli.requests("get_session_cost"))
        stage.cli.say(*BEGUN[1:], answered(PROMPT))
        assert (await stage.follow(run))[-1] == "complete"
        assert _users(stage) == []

    play(act)


def test_answers_to_the_dead_server_mean_nothing(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage)
        (old,) = [line for line in stage.cli.heard if line["type"] == "control_request"]
        stage.launcher.answers_control = False
        run = await stage.attach()
        await until(lambda: stage.cli.requests("get_session_cost"))
        new = next(line for line in stage.cli.heard if line["type"] == "control_request")
        assert old["request_id"] != new["request_id"]
        late = {"subtype": "success", "request_id": old["request_id"]}
        stage.cli.say({"type": "control_response", "response": late}, *BEGUN)
        stage.cli.say(answered(PROMPT))
        following = asyncio.create_task(stage.follow(run))
        await until(lambda: run._inbox.commands.over)
        assert not following.done()
        now = {"subtype": "success", "request_id": new["request_id"]}
        stage.cli.say({"type": "control_response", "response": now})
        assert (await following)[-1] == "complete"
        assert _users(stage) == []

    play(act)


def test_an_open_ask_is_answerable_and_the_old_answer_too(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN, can_use_tool("q1", "Bash", {"command": "make"}))
        run = await stage.attach()
        async for step in run.steps():
            for body in step.bodies:
                if body.type == "ask":
                    await run.answer("q1", AskAnswer(decision="allow", option_id="allow_once"))
                    stage.cli.say(answered(PROMPT))
        assert stage.cli.replies()["q1"]["response"]["behavior"] == "allow"

    play(act)


def test_what_the_permission_alone_decides_is_decided_again(play: Play) -> None:
    async def act(stage: Stage) -> None:
        asked = can_use_tool("q1", "Bash", {"command": "make"})
        await stage.start(permission="full")
        stage.cli.say(*BEGUN, asked)
        run = await stage.attach(permission="full")
        following = asyncio.create_task(stage.follow(run))
        await until(lambda: stage.cli.replies())
        assert stage.cli.replies()["q1"]["response"]["behavior"] == "allow"
        stage.cli.say(answered(PROMPT))
        assert "ask" not in await following

    play(act)


def test_a_plan_that_was_approved_before_lets_the_agent_work(play: Play) -> None:
    async def act(stage: Stage) -> None:
        plan = can_use_tool("q1", "ExitPlanMode", {"plan": "Do"}, requires_user_interaction=True)
        approved = {"type": "system", "subtype": "status", "permissionMode": "default"}
        edit = can_use_tool("q2", "Bash", {"command": "make"})
        how = {"permission": "read_only", "mode": "plan"}
        await stage.start(**how)
        stage.cli.say(life(PROMPT, "queued"), init(permissionMode="plan"), plan, approved, edit)
        run = await stage.attach(**how)
        following = asyncio.create_task(stage.follow(run))
        await until(lambda: "ask" in [body.type for body in stage.bodies][3:])
        stage.cli.say(answered(PROMPT))
        await following
        asks = [body.ask_id for body in stage.bodies if body.type == "ask"]
        assert asks == ["q1", "q2"]
        assert stage.cli.replies() == {}

    play(act)


@pytest.mark.parametrize("delivered", [True, False])
def test_a_result_is_not_the_end_when_something_was_steered_in_behind_it(
    play: Play, delivered: bool
) -> None:
    """The server died between the result and what the CLI then said of the steered message."""
    rest = [life(PROMPT, "completed")]
    if delivered:
        rest += [life(FIRST, "queued"), life(FIRST, "started")]

    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN, answered(PROMPT), *rest)
        run = await stage.attach()
        if delivered:
            stage.cli.say(assistant("m2", {"type": "text", "text": "More."}), answered(FIRST))
        kinds = await stage.follow(run)
        assert kinds.count("assistant_text") == 1 + delivered
        assert kinds.count("complete") == 1

    play(act)


def test_a_message_of_the_dead_server_keeps_its_uuid(play: Play) -> None:
    """It may still be on its way to the CLI, which would drop another one of the same uuid."""

    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN)
        run = await stage.attach()
        await until(lambda: run.can_steer)
        assert await run.steer("And this", [])
        sent = _users(stage)[-1]["uuid"]
        assert sent != FIRST
        stage.cli.say(life(FIRST, "queued"), answered(PROMPT), answered(FIRST), answered(sent))
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_a_reader_that_waits_for_room_goes_on_when_the_consumer_waits_for_it() -> None:
    async def main() -> None:
        inbox = Inbox(PROMPT, replaying=True)
        inbox.put(Received(HELLO, 1, ROOM_BYTES + 1))
        reader = asyncio.create_task(inbox.room())
        consumer = asyncio.create_task(inbox.current())
        await asyncio.wait_for(reader, 5)
        assert not consumer.done()
        inbox.caught_up()
        await asyncio.wait_for(consumer, 5)

    asyncio.run(main())


def test_steps_have_the_offsets_that_they_had(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(*BEGUN, answered(PROMPT))
        before = [(step.bodies, step.offset) async for step in run.steps()]
        run = await stage.attach()
        assert [(step.bodies, step.offset) async for step in run.steps()] == before

    play(act)


def test_of_a_dead_cli_the_rest_is_told_and_then_its_end(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN)
        stage.cli.die(3, "out of luck")
        with pytest.raises(ProcessExited) as died:
            await stage.follow(await stage.attach())
        assert died.value.exit_code == 3
        assert [body.type for body in stage.bodies] == ["session", "assistant_text"]

    play(act)


def test_a_run_that_its_server_lets_go_of_is_gone_without_alarm(
    play: Play, caplog: pytest.LogCaptureFixture
) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(*BEGUN)
        stage.cli.leave()
        with pytest.raises(ChildGone):
            await stage.follow(run)

    play(act)
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


def test_a_dead_cli_that_had_ended_its_run_is_no_failure(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN, answered(PROMPT), life(PROMPT, "completed"))
        stage.cli.die(0)
        kinds = await stage.follow(await stage.attach())
        assert kinds == ["session", "assistant_text", "complete"]

    play(act)


def test_a_refused_resume_is_told_by_the_next_server_too(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await stage.start(provider_session_id=OLD)
        refused = result(is_error=True, errors=[f"No conversation found with session ID: {OLD}"])
        stage.cli.say(refused)
        stage.cli.die(1, "No conversation found")
        with pytest.raises(SessionRejected):
            await stage.follow(await stage.attach(provider_session_id=OLD))

    play(act)


def test_where_agents_end_with_their_server_there_is_nothing_to_take_over(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN)
        adapter = ClaudeAdapter(context_of(LocalLauncher(), stage.project))
        with pytest.raises(ChildGone):
            await adapter.attach(stage.request(), stage.context(), stage.marks[-1])

    play(act)


def test_a_cli_that_does_not_answer_is_followed_all_the_same(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(adapter_module, "BARRIER_TIMEOUT_S", 0.02)

    async def act(stage: Stage) -> None:
        await _left(stage, *BEGUN)
        stage.launcher.answers_control = False
        run = await stage.attach()
        stage.cli.say(answered(PROMPT))
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_much_that_was_written_while_nobody_read_does_not_stick(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_agentchat.providers.claude.inbox.ROOM_BYTES", 1_000)
    many = [HELLO | {"uuid": str(number)} for number in range(200)]

    async def act(stage: Stage) -> None:
        steered = [life(FIRST, "queued"), life(FIRST, "started")]
        turns = [*BEGUN, *many, answered(PROMPT), *steered, *many, answered(FIRST)]
        await _left(stage, *turns)
        kinds = await asyncio.wait_for(stage.follow(await stage.attach()), 10)
        assert kinds[-1] == "complete"
        assert json.dumps(kinds).count("assistant_text") == 201

    play(act)
