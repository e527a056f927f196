"""Whatever an agent does, a run ends once, tidily, and the chat is free again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from jupyter_agentchat.errors import (
    NotFound,
    ProcessExited,
    ProviderError,
    SessionRejected,
    SpawnFailed,
)
from jupyter_agentchat.protocol.events import (
    Ask,
    Complete,
    Error,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.tools import OtherInput
from jupyter_agentchat.runs import driver, stopping
from tests.waiting import until

from .staged import DONE, SESSION, Stage, StagedRun, on_stage, say

TOOL = ToolUseStart(tool_id="t", name="Bash", input=OtherInput())
ASK = Ask(ask_id="q", kind="permission", title="May I?")
BROKEN = Error(code="network", message="no network")


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("CANCEL_DEADLINE_S", "FORCE_DEADLINE_S", "START_DEADLINE_S", "GRACE_S"):
        monkeypatch.setattr(stopping, name, 0.05)
    monkeypatch.setattr(driver, "CANCEL_DEADLINE_S", 1.0)
    monkeypatch.setattr(driver, "ANSWER_DEADLINE_S", 0.05)


def rejected() -> SessionRejected:
    return SessionRejected("unknown", provider_session_id="old", reason="gone")


async def hang() -> None:
    await asyncio.Event().wait()


def refuse(error: BaseException) -> Callable[[], Awaitable[None]]:
    async def act() -> None:
        raise error

    return act


# ---- by itself -----------------------------------------------------------------------------------


def test_an_answer_is_completed() -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(SESSION, say("Hel"))
        run.end(say("lo"), DONE)
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["completed"]
    assert [e["text"] for e in stage.log() if e["type"] == "assistant_text"][-1] == "Hello"
    assert stage.told[-1] == ("changed", "c")


@pytest.mark.parametrize(
    ("bodies", "outcome"),
    [
        ([DONE, DONE], "completed"),
        ([DONE, Complete(outcome="failed")], "completed"),
        ([DONE, say("more"), TOOL], "completed"),
        ([TOOL, ASK, say("x"), Thinking(item_id="th", delta="y"), DONE], "completed"),
        ([Complete(outcome="cancelled")], "cancelled"),
        ([BROKEN, BROKEN, Complete(outcome="failed")], "failed"),
        ([BROKEN, DONE], "failed"),
        ([Complete(outcome="failed")], "failed"),
        ([BROKEN], "failed"),
        ([], "failed"),
        ([ToolUseEnd(tool_id="never begun"), DONE], "completed"),
    ],
)
def test_one_complete_whatever_the_agent_says(bodies: list[Complete], outcome: str) -> None:
    async def scenario(stage: Stage) -> None:
        stage.start().end(*bodies)
        await stage.until_idle()

    assert on_stage(scenario).outcomes() == [outcome]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ProcessExited("It died.", exit_code=3), "process_exit"),
        (ProviderError("No."), "provider_error"),
        (rejected(), "provider_error"),
        (RuntimeError("a fault of the adapter"), "internal"),
        (asyncio.CancelledError(), "provider_error"),
    ],
)
def test_a_failing_agent_ends_its_run_and_keeps_what_it_said(
    error: BaseException, code: str
) -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(SESSION, say("Half an ans"), TOOL, ASK)
        run.fail(error)
        await stage.until_idle()
        stage.start().end(DONE)
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["failed", "completed"]
    log = stage.log()
    assert [e["code"] for e in log if e["type"] == "error"] == [code]
    assert [e["text"] for e in log if e["type"] == "assistant_text"] == ["Half an ans"]


def test_an_agent_that_fails_in_a_way_of_its_own_is_not_left_running() -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(say("x"))
        run.fail(RuntimeError("a fault of the adapter"))
        await stage.until_idle()
        assert (run.cancels, run.closed) == ([True], True)

    stage = on_stage(scenario)
    assert stage.adapter.closed_chats == ["c"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (SpawnFailed("Cannot start."), "spawn_failed"),
        (OSError("what is this"), "internal"),
        (rejected(), "provider_error"),
    ],
)
def test_a_start_that_fails_says_why(error: BaseException, code: str) -> None:
    async def scenario(stage: Stage) -> None:
        stage.adapter.starting.append(refuse(error))
        stage.start()
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["failed"]
    assert stage.log()[-2]["code"] == code


def test_an_agent_that_is_not_there_says_so() -> None:
    async def scenario(stage: Stage) -> None:
        stage.finding = refuse(NotFound("There is no such agent."))
        stage.start()
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["failed"]
    assert stage.log()[-2]["code"] == "provider_missing"


# ---- refused resume ------------------------------------------------------------------------------


def test_a_refused_resume_begins_anew_once_with_the_transcript_and_says_so() -> None:
    async def scenario(stage: Stage) -> None:
        first = stage.start(session="old")
        second = stage.adapter.next()
        first.emit(BROKEN)  # what the void attempt said about its end does not count
        first.fail(rejected())
        second.end(SESSION, say("Hello again"), DONE)
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["completed"]
    kinds = [event["type"] for event in stage.log()]
    assert kinds.index("resume_refused") < kinds.index("session")
    (_, before), (request, context) = stage.adapter.requests
    assert (request.provider_session_id, request.transcript) == (None, "what was said")
    assert context.first_session_id != before.first_session_id


@pytest.mark.parametrize("at_start", [True, False])
def test_a_second_refusal_fails(at_start: bool) -> None:
    async def scenario(stage: Stage) -> None:
        if at_start:
            stage.adapter.starting.append(refuse(rejected()))
        first = stage.start(session="old")
        second = stage.adapter.next()
        for run in (first, second):
            run.fail(rejected())
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["failed"]
    assert [e["type"] for e in stage.log()].count("resume_refused") == 1


def test_no_new_conversation_is_begun_after_stop() -> None:
    async def refuse_instead(run: StagedRun, _force: bool) -> None:
        run.fail(rejected())

    async def scenario(stage: Stage) -> None:
        run = stage.adapter.next(StagedRun(refuse_instead))
        stage.hub.start(stage.plan(session="old"))
        await until(lambda: stage.adapter.requests)
        run.emit(SESSION)
        await until(lambda: len(stage.log()) == 3)
        stage.hub.cancel("c")
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["cancelled"]
    assert len(stage.adapter.requests) == 1


# ---- Stop ----------------------------------------------------------------------------------------


async def ignore(_run: StagedRun, _force: bool) -> None:
    return None


async def hang_in_cancel(_run: StagedRun, _force: bool) -> None:
    await hang()


async def raise_in_cancel(_run: StagedRun, _force: bool) -> None:
    raise BrokenPipeError("gone")


async def complete_after_all(run: StagedRun, _force: bool) -> None:
    run.end(DONE)


async def die(run: StagedRun, _force: bool) -> None:
    run.fail(ProcessExited("It died.", signal=15))


@pytest.mark.parametrize(
    ("on_cancel", "outcome"),
    [
        (None, "cancelled"),
        (die, "cancelled"),
        (ignore, "cancelled"),
        (hang_in_cancel, "cancelled"),
        (raise_in_cancel, "cancelled"),
        (complete_after_all, "completed"),
    ],
)
@pytest.mark.parametrize("times", [1, 2, 3])
def test_stop_frees_the_chat(
    on_cancel: Callable[[StagedRun, bool], Awaitable[None]] | None, outcome: str, times: int
) -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.adapter.next(StagedRun(on_cancel))
        stage.hub.start(stage.plan())
        run.emit(SESSION, say("Half"), TOOL, ASK)
        await until(lambda: stage.hub.open_asks("c"))
        for _ in range(times):
            assert stage.hub.cancel("c")
            assert stage.hub.state("c") == "cancelling"
        await stage.until_idle()
        assert not stage.hub.cancel("c")
        stage.start().end(DONE)
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == [outcome, "completed"]
    assert "error" not in [event["type"] for event in stage.log()]


def test_stop_before_the_agent_has_started_leaves_nothing() -> None:
    undone = []

    async def slow_start() -> None:
        try:
            await hang()
        finally:
            undone.append(True)

    async def scenario(stage: Stage) -> None:
        stage.adapter.starting.append(slow_start)
        stage.start()
        await until(lambda: stage.adapter.requests)
        stage.hub.cancel("c")
        stage.hub.cancel("c")
        await stage.until_idle()

    assert on_stage(scenario).outcomes() == ["cancelled"]
    assert undone == [True]


def test_a_second_stop_does_not_interrupt_the_tidying_up_of_a_start() -> None:
    tidied = []

    async def careful_start() -> None:
        try:
            await hang()
        finally:
            await asyncio.sleep(0.01)
            tidied.append(True)

    async def scenario(stage: Stage) -> None:
        stage.adapter.starting.append(careful_start)
        stage.start()
        await until(lambda: stage.adapter.requests)
        stage.hub.cancel("c")
        await asyncio.sleep(0)
        stage.hub.cancel("c")
        await stage.until_idle()

    assert on_stage(scenario).outcomes() == ["cancelled"]
    assert tidied == [True]


def test_stop_in_the_same_moment_as_the_prompt() -> None:
    async def scenario(stage: Stage) -> None:
        stage.start()
        stage.hub.cancel("c")
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["cancelled"]
    assert stage.adapter.requests == []


def test_an_adapter_that_never_ends_does_not_hold_the_chat_for_ever() -> None:
    release: list[asyncio.Event] = []

    async def deaf() -> None:
        release.append(asyncio.Event())
        while not release[0].is_set():
            try:
                await release[0].wait()
            except asyncio.CancelledError:
                continue

    async def scenario(stage: Stage) -> None:
        stage.adapter.starting.append(deaf)
        run = stage.start()
        await until(lambda: release)
        stage.hub.cancel("c")
        await stage.until_idle()
        assert stage.outcomes() == ["cancelled"]
        run.end(say("too late"), DONE)
        release[0].set()
        await until(lambda: run.closed)

    assert on_stage(scenario).outcomes() == ["cancelled"]


def test_stop_right_after_the_agent_has_finished_changes_nothing() -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        await until(lambda: stage.adapter.requests)
        run.end(DONE)
        for _ in range(20):
            await asyncio.sleep(0)
            stage.hub.cancel("c")
        await stage.until_idle()

    (outcome,) = on_stage(scenario).outcomes()
    assert outcome in ("completed", "cancelled")


@pytest.mark.parametrize("steps", range(12))
def test_stop_at_any_moment_ends_the_run_once(steps: int) -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(SESSION, say("a"), TOOL)
        run.end(say("b"), DONE)
        for _ in range(steps):
            await asyncio.sleep(0)
        stage.hub.cancel("c")
        await stage.until_idle()

    on_stage(scenario).outcomes()


# ---- the server stops ----------------------------------------------------------------------------


@pytest.mark.parametrize("state", ["new", "finding", "starting", "streaming", "waiting", "deaf"])
def test_a_stopping_server_ends_its_runs_as_interrupted(
    state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_agentchat.runs.hub.STOP_DEADLINE_S", 0.5)

    async def scenario(stage: Stage) -> None:
        if state == "finding":
            stage.finding = hang
        if state == "starting":
            stage.adapter.starting.append(hang)
        run = stage.adapter.next(StagedRun(hang_in_cancel if state == "deaf" else None))
        stage.hub.start(stage.plan())
        if state == "new":
            return
        if state in ("streaming", "waiting", "deaf"):
            run.emit(say("Half"), TOOL, *([ASK] if state == "waiting" else []))
            await until(lambda: len(stage.log()) > 3)
        else:
            await asyncio.sleep(0.01)

    assert on_stage(scenario).outcomes() == ["interrupted"]


def test_a_run_that_waits_for_a_place_says_so_and_can_be_stopped() -> None:
    async def scenario(stage: Stage) -> None:
        stage.add_chat("d")
        first = stage.start()
        await until(lambda: stage.adapter.requests)
        stage.hub.start(stage.plan("d"))
        await until(lambda: any(e["type"] == "notice" for e in stage.log("d")))
        stage.hub.cancel("d")
        await stage.until_idle("d")
        first.end(DONE)
        await stage.until_idle()
        stage.start("d").end(DONE)
        await stage.until_idle("d")

    stage = on_stage(scenario, max_runs=1)
    assert stage.outcomes("d") == ["cancelled", "completed"]
    assert len(stage.adapter.requests) == 2
