"""A server dies and the next one goes on with its runs: each line counts once, nothing is stuck."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from jupyter_agentchat.errors import AlreadyResolved, Busy, ChildGone, ProcessExited
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Complete,
    Error,
    ToolUseEnd,
    ToolUseStart,
    User,
)
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.tools import AskOption, OtherInput, Question, QuestionOption
from jupyter_agentchat.providers.base import ChildMark
from jupyter_agentchat.runs import attempt
from jupyter_agentchat.runs.hub import Hub
from jupyter_agentchat.store.base import Draft
from tests.waiting import until

from .staged import DONE, OWNER, SESSION, Stage, StagedRun, on_stage, say
from .test_following import Follower

ASK = Ask(
    ask_id="a",
    kind="permission",
    title="May I?",
    tool_id="t",
    options=[
        AskOption(id="yes", label="Allow", decision="allow", scope="once"),
        AskOption(id="no", label="Deny", decision="deny", scope="once"),
    ],
)
ALLOW = AskAnswer(decision="allow")


class Second:
    """The server that comes after the killed one."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        stage.die()
        self.hub: Hub = stage.make_hub("next/")
        self.run = stage.adapter.next()
        self.closed = self.hub.recover()

    @property
    def state(self) -> str:
        return self.hub.state("c")

    async def until_idle(self) -> None:
        await until(lambda: self.state == "idle")


async def crash(stage: Stage, *steps: tuple[int, Any]) -> StagedRun:
    """A run of which these (offset, body) are stored, when its server is killed."""
    stage.adapter.mark = ChildMark("kid", 100)
    stage.children.add("kid")
    first = stage.start()
    for offset, body in steps:
        first.emit(body, offset=offset)
    last = steps[-1][0] if steps else 100
    await until(lambda: (row := stage.store.run("run1")) and row.child_id == "kid")
    await until(lambda: (row := stage.store.run("run1")) and row.spool_stored == last)
    return first


def killed(
    scenario: Callable[[Stage, Second], Awaitable[None]], *steps: tuple[int, Any], **options: Any
) -> Stage:
    """Play `scenario` on the server after the one that had stored `steps`."""

    async def play(stage: Stage) -> None:
        await crash(stage, *steps)
        second = Second(stage)
        await scenario(stage, second)
        stage.store.full = False
        await second.hub.close()

    return on_stage(play, **options)


def text_of(stage: Stage) -> str:
    finals = [e for e in stage.log() if e["type"] == "assistant_text" and e["final"]]
    return "".join(event["text"] for event in finals)


def test_the_next_server_shows_the_run_at_once_and_streams_on_each_line_once() -> None:
    async def scenario(stage: Stage, second: Second) -> None:
        assert second.closed == 0
        assert second.state == "running"  # before its loop has done anything
        with pytest.raises(Busy):
            second.hub.start(stage.plan())
        follower = Follower(stage)
        second.hub.add_client(follower.channel, "owner")
        second.hub.subscribe(follower.channel, "c", 0, None)
        second.hub.begin()
        # the adapter reads from the run's first line again
        second.run.emit(SESSION, offset=110)
        second.run.emit(say("Hel"), offset=120)
        second.run.emit(say("lo"), offset=130)
        second.run.end(say("!"), DONE)
        await second.until_idle()
        await until(lambda: follower.upto == stage.store.last_seq("c"))
        assert follower.frames[0]["type"] == "sync"
        assert follower.frames[0]["running"] is True
        assert follower.seqs == sorted(set(follower.seqs))
        await follower.leave()

    stage = killed(scenario, (110, SESSION), (120, say("Hel")))
    assert stage.outcomes() == ["completed"]
    assert text_of(stage) == "Hello!"
    ((request, context, mark),) = stage.adapter.attached
    assert mark == ChildMark("kid", 100, 120)
    assert (request.run_id, request.prompt) == ("run1", "hi")
    assert (context.trusted, context.first_session_id) == (False, "fresh")
    assert [event["type"] for event in stage.log()].count("run_started") == 1


def test_a_message_into_the_turn_that_may_not_have_arrived_is_said_once() -> None:
    def steered(client_id: str) -> User:
        return User(text="left", author=OWNER, client_id=client_id, origin="steered")

    async def play(stage: Stage) -> None:
        await crash(stage, (110, say("Hel")))
        lease = (row := stage.store.run("run1")) and row.lease
        sent = [Draft(steered("taken")), Draft(steered("on its way"))]
        stage.store.append("c", sent, run_id="run1", lease=lease)
        stage.store.remember_prompt("c", "owner", "taken", {"run_id": "run1"})
        second = Second(stage)
        second.hub.begin()
        await until(lambda: stage.adapter.attached)
        stage.alive.discard("next/")  # that one is killed, too
        third = stage.make_hub("third/")
        run = stage.adapter.next()
        third.recover()
        third.begin()
        run.end(say("Hello"), DONE)
        await until(lambda: third.active_runs == 0)
        await third.close()
        await second.hub.close()

    codes = [e["code"] for e in on_stage(play).log() if e["type"] == "notice"]
    assert codes == ["steer_not_taken"]


def test_an_end_that_the_dead_server_had_read_but_not_written_is_the_runs_end() -> None:
    failed = Complete(outcome="failed")
    error = Error(code="provider_rate_limited", message="Too much.")

    async def scenario(_stage: Stage, second: Second) -> None:
        second.hub.begin()
        second.run.emit(say("a"), offset=110)
        second.run.emit(error, offset=120)
        second.run.emit(failed, offset=130)
        second.run.end()
        await second.until_idle()

    stage = killed(scenario, (110, say("a")), (120, error), (130, failed))
    assert stage.outcomes() == ["failed"]
    assert [e["code"] for e in stage.log() if e["type"] == "error"] == ["provider_rate_limited"]


def test_an_ask_is_open_on_the_next_server_and_its_answer_reaches_the_agent_once() -> None:
    async def scenario(stage: Stage, second: Second) -> None:
        assert second.state == "waiting"
        assert [ask.ask_id for ask in second.hub.open_asks("c")] == ["a"]
        # before the agent is attached to: kept, and given as soon as its ask was read again
        await second.hub.answer("c", "a", ALLOW, OWNER)
        assert second.run.answers == []
        second.hub.begin()
        second.run.emit(ASK, offset=110)
        await until(lambda: second.run.answers)
        with pytest.raises(AlreadyResolved):
            await second.hub.answer("c", "a", ALLOW, OWNER)
        second.run.end(DONE)
        await second.until_idle()
        assert [(ask_id, given.option_id) for ask_id, given in second.run.answers] == [("a", "yes")]

    stage = killed(scenario, (110, ASK))
    assert stage.outcomes() == ["completed"]
    assert [e["type"] for e in stage.log()].count("ask") == 1


def test_an_ask_that_is_answered_after_the_take_over_is_answered_at_once() -> None:
    async def scenario(_stage: Stage, second: Second) -> None:
        second.hub.begin()
        second.run.emit(ASK, offset=110)
        second.run.emit(say("x"), offset=120)
        await until(lambda: any(e["type"] == "assistant_text" for e in _stage.log()))
        await second.hub.answer("c", "a", ALLOW, OWNER)
        assert len(second.run.answers) == 1
        second.run.end(DONE)
        await second.until_idle()

    assert killed(scenario, (110, ASK)).outcomes() == ["completed"]


async def _answered_then_killed(stage: Stage, ask: Ask, answer: AskAnswer, *behind: Any) -> Second:
    first = await crash(stage, (110, ask))
    await stage.hub.answer("c", "a", answer, OWNER)
    for number, body in enumerate(behind):
        first.emit(body, offset=120 + number)
    if behind:
        await until(
            lambda: (row := stage.store.run("run1")) and row.spool_stored == 119 + len(behind)
        )
    second = Second(stage)
    second.hub.begin()
    second.run.emit(ask, offset=110)
    for number, body in enumerate(behind):
        second.run.emit(body, offset=120 + number)
    second.run.emit(say("on"), offset=200)
    await until(lambda: any(e["type"] == "assistant_text" for e in stage.log()))
    second.run.end(DONE)
    await second.until_idle()
    await second.hub.close()
    return second


def test_an_answer_that_may_not_have_arrived_is_given_again() -> None:
    async def scenario(stage: Stage) -> None:
        answer = AskAnswer(decision="deny", message="not now")
        second = await _answered_then_killed(stage, ASK, answer)
        ((ask_id, given),) = second.run.answers
        assert (ask_id, given.decision, given.message) == ("a", "deny", "not now")

    assert on_stage(scenario).outcomes() == ["completed"]


def test_an_answer_whose_call_has_ended_is_not_given_again() -> None:
    async def scenario(stage: Stage) -> None:
        started = ToolUseStart(tool_id="t", name="Bash", input=OtherInput())
        second = await _answered_then_killed(
            stage, ASK, ALLOW, started, ToolUseEnd(tool_id="t", status="completed")
        )
        assert second.run.answers == []

    assert on_stage(scenario).outcomes() == ["completed"]


def test_a_secret_is_not_kept_so_that_it_may_be_lost_is_said() -> None:
    question = Question(
        id="q", header="Key", question="Which?", options=[QuestionOption(label="x")], secret=True
    )
    ask = Ask(ask_id="a", kind="question", title="A secret", questions=[question])

    async def scenario(stage: Stage) -> None:
        answer = AskAnswer(decision="answered", answers={"q": "s3cr3t"})
        second = await _answered_then_killed(stage, ask, answer)
        assert second.run.answers == []

    stage = on_stage(scenario)
    assert [e["code"] for e in stage.log() if e["type"] == "notice"] == ["answer_not_delivered"]
    assert "s3cr3t" not in str(stage.log())


def test_a_child_that_is_gone_closes_its_run_and_what_is_left_of_it_is_ended() -> None:
    async def scenario(stage: Stage, second: Second) -> None:
        async def gone() -> None:
            raise ChildGone("nothing is left")

        stage.adapter.attaching = gone
        second.hub.begin()
        await second.until_idle()
        await until(lambda: len(stage.reaped) == 3)

    stage = killed(scenario, (110, say("Half")))
    assert stage.outcomes() == ["interrupted"]
    assert text_of(stage) == "Half"
    # the first server had none; the next spared the child while it tried, then no more
    assert stage.reaped == [frozenset(), frozenset({"kid"}), frozenset()]


def test_an_agent_that_cannot_be_attached_to_in_time_does_not_hold_its_chat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempt, "ATTACH_DEADLINE_S", 0.05)

    async def scenario(stage: Stage, second: Second) -> None:
        async def hangs() -> None:
            await asyncio.sleep(60)

        stage.adapter.attaching = hangs
        second.hub.begin()
        await second.until_idle()
        stage.adapter.mark = None
        second.hub.start(stage.plan())
        second.run.end(DONE)
        await second.until_idle()

    assert killed(scenario, (110, say("x"))).outcomes() == ["interrupted", "completed"]


@pytest.mark.parametrize(
    ("code", "outcome"), [(7, "failed"), (None, "interrupted")], ids=["known", "unknown"]
)
def test_an_agent_that_died_meanwhile_ends_its_run_as_far_as_that_is_known(
    code: int | None, outcome: str
) -> None:
    async def scenario(_stage: Stage, second: Second) -> None:
        second.hub.begin()
        second.run.emit(say("x"), offset=110)
        second.run.emit(say("y"), offset=120)
        second.run.fail(ProcessExited("gone", exit_code=code))
        await second.until_idle()

    stage = killed(scenario, (110, say("x")))
    assert stage.outcomes() == [outcome]
    assert text_of(stage) == "xy"


def test_a_run_that_nobody_stopped_is_interrupted_where_a_stop_of_the_server_was_cut_short() -> (
    None
):
    async def scenario(_stage: Stage, second: Second) -> None:
        second.hub.begin()
        second.run.end(Complete(outcome="cancelled"))  # what the killed server had told the agent
        await second.until_idle()

    assert killed(scenario, (110, say("x"))).outcomes() == ["interrupted"]


@pytest.mark.parametrize("early", [True, False], ids=["before the loop", "while it runs"])
def test_stop_works_on_a_run_of_the_server_before(early: bool) -> None:
    async def scenario(stage: Stage, second: Second) -> None:
        if early:
            second.hub.cancel("c")
            second.hub.begin()
        else:
            second.hub.begin()
            second.run.emit(say("x"), offset=110)
            await until(lambda: stage.adapter.attached)
            await asyncio.sleep(0)
            second.hub.cancel("c")
        assert second.state == "cancelling"
        await second.until_idle()

    stage = killed(scenario, (110, say("x")))
    assert stage.outcomes() == ["cancelled"]
    if early:  # it was never attached to: its child is ended all the same
        assert stage.reaped[-1] == frozenset()


def test_a_run_without_a_child_or_from_an_older_version_is_closed_at_once() -> None:
    async def scenario(stage: Stage) -> None:
        stage.start()
        second = Second(stage)
        assert second.closed == 1
        assert second.state == "idle"
        await second.hub.close()

    assert on_stage(scenario).outcomes() == ["interrupted"]


def test_a_run_of_a_living_server_is_left_alone() -> None:
    async def scenario(stage: Stage) -> None:
        first = await crash(stage, (110, say("x")))
        other = stage.make_hub("next/")
        assert other.recover() == 0
        assert other.active_runs == 0
        first.end(DONE)
        await stage.until_idle()
        await other.close()

    assert on_stage(scenario).outcomes() == ["completed"]


def test_a_server_that_leaves_its_agents_running_says_nothing_of_an_end() -> None:
    async def scenario(stage: Stage) -> None:
        first = await crash(stage, (110, say("x")))
        follower = Follower(stage)
        follower.follow()
        first.emit(say("y"), offset=120)
        await stage.hub.close(leave=True)
        assert first.cancels == []
        assert all(frame.get("running", True) for frame in follower.frames)
        await follower.leave()
        (row,) = stage.store.open_runs()
        assert row.spool_stored == 120  # what had come is stored
        second = Second(stage)
        second.hub.begin()
        second.run.emit(say("x"), offset=110)
        second.run.emit(say("y"), offset=120)
        second.run.end(say("z"), DONE)
        await second.until_idle()
        await second.hub.close()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["completed"]
    assert text_of(stage) == "xyz"


def test_a_run_that_moves_to_another_child_is_found_in_that_one() -> None:
    async def scenario(stage: Stage) -> None:
        first = await crash(stage, (5000, say("old")))
        first.emit(say(" li"), offset=5500)
        await until(lambda: (row := stage.store.run("run1")) and row.spool_stored == 5500)
        first.emit(say("ne"), offset=6000)  # soon after: it waits for more, to be stored together
        for _ in range(5):
            await asyncio.sleep(0)
        _, context = stage.adapter.requests[0]
        await context.on_child(ChildMark("other", 10))
        await asyncio.sleep(0.1)  # longer than anything waits
        row = stage.store.run("run1")
        assert row is not None
        assert (row.child_id, row.spool_first, row.spool_stored) == ("other", 10, 10)
        first.emit(say("!"), offset=20)
        first.end(DONE)
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["completed"]
    assert text_of(stage) == "old line!"


def test_a_run_keeps_nothing_of_its_prompt_in_its_row_once_it_is_over() -> None:
    async def scenario(stage: Stage) -> None:
        first = await crash(stage, (110, AssistantText(item_id="m", text="done", final=True)))
        row = stage.store.run("run1")
        assert row is not None
        assert '"prompt":"hi"' in row.request
        first.end(DONE)
        await stage.until_idle()
        row = stage.store.run("run1")
        assert row is not None
        assert (row.request, row.context) == ("", "")

    on_stage(scenario)
