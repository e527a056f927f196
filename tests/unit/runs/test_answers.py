"""An answer is stored first, then told; the first one wins; none gets lost on the way."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from jupyter_agentchat.errors import (
    AlreadyResolved,
    Busy,
    NotFound,
    ProcessExited,
    StorageError,
)
from jupyter_agentchat.protocol.events import Ask, AskResolved
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.tools import AskOption, Question
from jupyter_agentchat.runs import driver
from tests.waiting import until

from .staged import DONE, OWNER, Stage, StagedRun, on_stage

ALLOW = AskAnswer(decision="allow")
DENY = AskAnswer(decision="deny")
ASK = Ask(
    ask_id="q",
    kind="permission",
    title="May I?",
    options=[
        AskOption(id="yes", label="Allow", decision="allow"),
        AskOption(id="no", label="Deny", decision="deny"),
    ],
)
SECRET = Ask(
    ask_id="q",
    kind="question",
    title="Sign in",
    questions=[
        Question(id="key", header="Key", question="Which key?", secret=True, allow_other=True),
        Question(id="name", header="Name", question="Who?", allow_other=True),
    ],
)


async def asked(stage: Stage, ask: Ask = ASK) -> StagedRun:
    run = stage.start()
    run.emit(ask)
    await until(lambda: stage.hub.open_asks("c"))
    return run


def test_the_first_answer_wins_and_the_agent_hears_it_once() -> None:
    async def scenario(stage: Stage) -> None:
        run = await asked(stage)
        results = await asyncio.gather(
            *(stage.hub.answer("c", "q", answer, OWNER) for answer in (ALLOW, DENY, ALLOW)),
            return_exceptions=True,
        )
        assert isinstance(results[0], AskResolved)
        assert all(isinstance(late, AlreadyResolved) for late in results[1:])
        assert [(ask_id, a.decision, a.option_id) for ask_id, a in run.answers] == [
            ("q", "allow", "yes")
        ]
        run.end(DONE)
        await stage.until_idle()
        with pytest.raises(AlreadyResolved) as late:
            await stage.hub.answer("c", "q", DENY, OWNER)
        assert late.value.details["answer"]["decision"] == "allow"
        with pytest.raises(NotFound):
            await stage.hub.answer("c", "other", DENY, OWNER)

    on_stage(scenario)


def test_an_ask_of_an_earlier_run_is_still_known_while_the_next_one_runs() -> None:
    async def scenario(stage: Stage) -> None:
        run = await asked(stage)
        await stage.hub.answer("c", "q", DENY, OWNER)
        run.end(DONE)
        await stage.until_idle()
        stage.start()
        with pytest.raises(AlreadyResolved):
            await stage.hub.answer("c", "q", ALLOW, OWNER)

    on_stage(scenario)


def test_nothing_is_allowed_any_more_after_stop() -> None:
    async def ignore(_run: StagedRun, _force: bool) -> None:
        return None

    async def scenario(stage: Stage) -> None:
        run = stage.adapter.next(StagedRun(ignore))
        stage.hub.start(stage.plan())
        run.emit(ASK)
        await until(lambda: stage.hub.open_asks("c"))
        stage.hub.cancel("c")
        with pytest.raises(Busy):
            await stage.hub.answer("c", "q", ALLOW, OWNER)
        run.end()
        await stage.until_idle()
        assert run.answers == []

    stage = on_stage(scenario)
    assert stage.outcomes() == ["cancelled"]


async def dead() -> None:
    raise ProcessExited("It died.")


async def broken() -> None:
    raise ValueError("a fault of the adapter")


async def deaf() -> None:
    await asyncio.Event().wait()


@pytest.mark.parametrize("answering", [dead, broken, deaf])
def test_an_answer_that_cannot_be_told_is_kept_and_the_chat_says_so(
    answering: Callable[[], Awaitable[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "ANSWER_DEADLINE_S", 0.02)

    async def scenario(stage: Stage) -> None:
        run = await asked(stage)
        run.answering = answering
        resolved = await stage.hub.answer("c", "q", ALLOW, OWNER)
        assert resolved.decision == "allow"
        run.end(DONE)
        await stage.until_idle()

    stage = on_stage(scenario)
    assert stage.outcomes() == ["completed"]
    assert [e["code"] for e in stage.log() if e["type"] == "notice"] == ["answer_not_delivered"]


def test_an_answer_is_good_even_when_the_run_ends_before_the_agent_heard_it() -> None:
    async def scenario(stage: Stage) -> None:
        run = await asked(stage)
        ended = asyncio.Event()

        async def late_failure() -> None:
            await ended.wait()
            raise ProcessExited("It died.")

        run.answering = late_failure
        answer = asyncio.get_running_loop().create_task(stage.hub.answer("c", "q", ALLOW, OWNER))
        await asyncio.sleep(0)
        run.fail(ProcessExited("It died."))
        await stage.until_idle()
        ended.set()
        assert (await answer).decision == "allow"

    assert on_stage(scenario).outcomes() == ["failed"]


def test_a_page_that_closes_does_not_keep_its_answer_from_the_agent() -> None:
    async def scenario(stage: Stage) -> None:
        run = await asked(stage)
        go = asyncio.Event()

        async def slow() -> None:
            await go.wait()

        run.answering = slow
        request = asyncio.get_running_loop().create_task(stage.hub.answer("c", "q", ALLOW, OWNER))
        await until(lambda: not stage.hub.open_asks("c"))
        request.cancel()
        await asyncio.wait({request})
        go.set()
        await until(lambda: run.answers)

    on_stage(scenario)


def test_on_a_full_disk_the_ask_stays_open() -> None:
    async def scenario(stage: Stage) -> None:
        run = await asked(stage)
        stage.store.full = True
        with pytest.raises(StorageError):
            await stage.hub.answer("c", "q", ALLOW, OWNER)
        assert [ask.ask_id for ask in stage.hub.open_asks("c")] == ["q"]
        assert run.answers == []
        stage.store.full = False
        await stage.hub.answer("c", "q", ALLOW, OWNER)
        assert len(run.answers) == 1

    on_stage(scenario)


def test_a_secret_reaches_the_agent_and_nothing_else() -> None:
    async def scenario(stage: Stage) -> None:
        run = await asked(stage, SECRET)
        answer = AskAnswer(decision="answered", answers={"key": "hunter2", "name": "Ada"})
        resolved = await stage.hub.answer("c", "q", answer, OWNER)
        assert run.answers[0][1].answers == {"key": "hunter2", "name": "Ada"}
        assert resolved.answers == {"key": None, "name": "Ada"}
        with pytest.raises(AlreadyResolved) as late:
            await stage.hub.answer("c", "q", answer, OWNER)
        assert "hunter2" not in repr(late.value.details)

    stage = on_stage(scenario)
    assert "hunter2" not in repr(stage.log())


def test_a_plan_may_lead_to_no_more_than_the_admin_allows() -> None:
    plan_ask = Ask(
        ask_id="q",
        kind="plan",
        title="The plan",
        plan="do it",
        options=[
            AskOption(id="all", label="Go", decision="allow", leads_to="full"),
            AskOption(id="ask", label="Ask each", decision="allow", leads_to="ask"),
        ],
    )

    async def scenario(stage: Stage) -> None:
        run = stage.adapter.next()
        stage.hub.start(replace(stage.plan(), max_permission="accept_edits"))
        run.emit(plan_ask)
        await until(lambda: stage.hub.open_asks("c"))
        (shown,) = stage.hub.open_asks("c")
        assert [option.id for option in shown.options] == ["ask"]

    on_stage(scenario)


def test_the_running_agent_is_only_ever_lowered() -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        await until(lambda: stage.adapter.requests)
        run.emit()
        assert await stage.hub.lower_permission("c", "accept_edits")
        assert run.permissions == []
        assert await stage.hub.lower_permission("c", "read_only")
        assert run.permissions == ["read_only"]

    on_stage(scenario)
