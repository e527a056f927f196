"""A run over a CLI that the test plays: what the real one does rarely, or never on request."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.errors import (
    AlreadyResolved,
    ProcessExited,
    ProviderTimeout,
    SessionRejected,
)
from jupyter_agentchat.process.framing import Oversize, Torn
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.claude import hosting
from jupyter_agentchat.providers.claude import inbox as inbox_module
from jupyter_agentchat.providers.claude import session as session_module
from tests.goldens import TRANSCRIPTS, read_recording
from tests.waiting import until

from .scripted import ScriptedHandle, can_use_tool, init, result
from .stage import HELLO, OLD, Play, Stage


def test_introduction_and_prompt_are_sent_without_waiting(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        kinds = [message["type"] for message in stage.cli.heard]
        assert kinds == ["control_request", "user"]
        stage.cli.say(init(), HELLO, result())
        assert await stage.follow(run) == ["session", "assistant_text", "complete"]

    play(act)


def test_requests_that_we_do_not_know_are_answered_all_the_same(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        for number, subtype in enumerate(["elicitation", "hook_callback", "from_the_future"]):
            request = {"subtype": subtype}
            stage.cli.say(
                {"type": "control_request", "request_id": f"q{number}", "request": request}
            )
        stage.cli.say(init(), result())
        await stage.follow(run)
        await until(lambda: len(stage.cli.replies()) == 3)
        replies = stage.cli.replies()
        assert [replies[f"q{number}"]["subtype"] for number in range(3)] == ["error"] * 3

    play(act)


def test_nobody_is_asked_where_no_run_can_be_found(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "PAUSES_S", (0.0, 0.0))

    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(), result(), can_use_tool("q1", "Bash", {"command": "rm x"}))
        assert await stage.follow(run) == ["session", "complete"]
        stage.cli.say(can_use_tool("q2", "Bash", {"command": "rm x"}))
        await until(lambda: len(stage.cli.replies()) == 2)
        replies = stage.cli.replies()
        assert [replies[name]["response"]["behavior"] for name in ("q1", "q2")] == ["deny", "deny"]

    play(act)


def test_an_answer_reaches_the_cli_once(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(), can_use_tool("q1", "Bash", {"command": "make"}))
        async for step in run.steps():
            if step.bodies[0].type == "ask":
                await run.answer("q1", AskAnswer(decision="allow", option_id="allow_once"))
                with pytest.raises(AlreadyResolved):
                    await run.answer("q1", AskAnswer(decision="deny"))
                stage.cli.say(result())
        assert stage.cli.replies()["q1"]["response"]["behavior"] == "allow"

    play(act)


def test_a_line_above_the_cap_is_a_notice_and_a_torn_one_nothing(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init())
        stage.cli.put(Oversize(99, 20_000_000))
        stage.cli.say(HELLO)
        stage.cli.put(Torn('{"type":"result"', 120))
        stage.cli.die(0)
        with pytest.raises(ProcessExited):
            await stage.follow(run)
        assert [body.type for body in stage.bodies] == ["session", "notice", "assistant_text"]

    play(act)


def test_a_refused_resume_is_told_from_a_crash(play: Play) -> None:
    recorded = read_recording(TRANSCRIPTS / "claude/2.1.332/resume_unknown.jsonl")
    stdout = [item.line for item in recorded if item.dir == "out"]

    async def act(stage: Stage) -> None:
        run = await stage.start(provider_session_id=OLD)
        stage.cli.say(*stdout)
        stage.cli.die(1, "No conversation found with session ID: " + OLD)
        with pytest.raises(SessionRejected) as refused:
            await stage.follow(run)
        assert refused.value.provider_session_id == OLD
        assert stage.bodies == []
        run = await stage.start(provider_session_id=OLD)
        stage.cli.die(1, "Segmentation fault")
        with pytest.raises(ProcessExited) as crashed:
            await stage.follow(run)
        assert "Segmentation fault" in crashed.value.message

    play(act)


def test_a_conversation_without_a_finished_turn_begins_again_once(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start(provider_session_id=OLD, never_completed=True)
        stage.cli.die(1, "No conversation found with session ID: " + OLD)
        following = asyncio.create_task(stage.follow(run))
        await until(lambda: len(stage.launcher.handles) == 2 and len(stage.cli.heard) == 2)
        assert f"--session-id={OLD}" in stage.cli.argv
        assert stage.cli.heard[-1]["message"]["content"] == "Do it"
        stage.cli.say(init(OLD), HELLO, result())
        assert await following == ["session", "assistant_text", "complete"]

    play(act)


def test_stop_is_a_native_interrupt_that_also_drops_what_is_queued(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(), HELLO)
        stopping = asyncio.create_task(run.cancel())
        await until(lambda: stage.cli.requests("interrupt"))
        stage.cli.say(result(terminal_reason="aborted_streaming", is_error=True))
        await stopping
        assert await stage.follow(run) == ["session", "assistant_text", "complete"]
        assert stage.bodies[-1].outcome == "cancelled"
        assert stage.cli.requests("interrupt") == [{"subtype": "interrupt", "cancel_queued": True}]
        assert stage.cli.ladders == []

    play(act)


def test_an_agent_that_ignores_the_interrupt_is_taken_down_the_ladder(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_agentchat.providers.claude.run.INTERRUPT_TIMEOUT_S", 0.02)

    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init())
        await run.cancel()
        assert stage.cli.ladders == [session_module.LADDER]
        assert await stage.follow(run) == ["session", "complete"]
        assert stage.bodies[-1].outcome == "cancelled"
        await run.cancel()
        assert len(stage.cli.ladders) == 1

    play(act)


def test_an_agent_that_never_introduces_itself_is_given_up(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_module, "INITIALIZE_TIMEOUT_S", 0.02)

    async def act(stage: Stage) -> None:
        stage.launcher.answers_control = False
        run = await stage.start()
        with pytest.raises(ProviderTimeout):
            await stage.follow(run)
        assert len(stage.cli.ladders) >= 1

    play(act)


def test_control_answers_are_read_while_the_consumer_stalls(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(), *[HELLO | {"uuid": str(n)} for n in range(2_000)])
        assert await asyncio.wait_for(run.set_permission("accept_edits"), 5)
        stage.cli.say(result())
        kinds = await stage.follow(run)
        assert kinds.count("assistant_text") == 2_000

    play(act)


def test_above_its_room_the_reader_waits_for_the_consumer(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inbox_module, "ROOM_BYTES", 1_000)

    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(), *[HELLO | {"uuid": str(n)} for n in range(200)], result())
        await asyncio.sleep(0.01)
        assert not stage.cli._frames.empty()
        kinds = await stage.follow(run)
        assert kinds.count("assistant_text") == 200

    play(act)


def test_a_start_that_is_cancelled_leaves_no_process(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stuck = asyncio.Event()

        async def never(self: ScriptedHandle, line: str, *, timeout_s: float = 1) -> None:
            await stuck.wait()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ScriptedHandle, "write", never)
            starting = asyncio.create_task(stage.start())
            await until(lambda: stage.launcher.handles)
            starting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await starting
        assert stage.cli.exit is not None
        run = await stage.start()
        stage.cli.say(init(), result())
        assert await stage.follow(run) == ["session", "complete"]

    play(act)


def test_a_process_left_in_mid_turn_takes_no_other_prompt(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(OLD))
        steps = run.steps()
        await anext(steps)
        await steps.aclose()
        left = stage.cli
        again = await stage.start(run_id="r2", provider_session_id=OLD)
        assert left.exit is not None
        assert stage.cli is not left
        assert f"--resume={OLD}" in stage.cli.argv
        stage.cli.say(init(OLD), result())
        assert await stage.follow(again) == ["session", "complete"]

    play(act)
