"""What the next server makes of the runs that it finds in one process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.protocol.events import Ask, AssistantText, Complete, EventBody, Session
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.codex import attaching, threads
from jupyter_agentchat.providers.codex.received import Received
from jupyter_agentchat.providers.codex.router import Router
from jupyter_agentchat.providers.codex.run import CodexRun
from tests.waiting import until

from .scripted import Json, ScriptedApp
from .stage import Stage, play


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not wait long for an answer that may be on its way."""
    monkeypatch.setattr(attaching, "SETTLE_S", 0.01)
    monkeypatch.setattr(threads, "SETTLE_S", 0.01)


def hold_turns(app: ScriptedApp, message: Json) -> bool:
    """Begins turns and leaves them open."""
    if message.get("method") == "turn/start":
        app.begin(message)
        return True
    return False


def swallow(*methods: str) -> Any:
    """Does not answer these requests of the first server."""

    def act(app: ScriptedApp, message: Json) -> bool:
        return message.get("method") in methods and app.argv != []

    return act


async def left_at(method: str, stage: Stage, **more: Any) -> Stage:
    """A run that was begun and came as far as this request; its server is gone then."""
    begun = asyncio.create_task(stage.start(**more))
    await until(lambda: stage.launcher.apps and stage.app.requests(method))
    begun.cancel()
    await asyncio.wait({begun})
    return stage.next_server()


def finals(bodies: list[EventBody]) -> list[str | None]:
    return [body.text for body in bodies if isinstance(body, AssistantText) and body.final]


def test_a_turn_in_progress_is_followed_without_a_word_to_codex(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.start()
        stage.app.text("thread-1", "turn-1", "Before.", "m1")
        after = stage.next_server()
        run = await after.attach()
        app = after.app
        app.text("thread-1", "turn-1", "After.", "m2")
        app.finish("thread-1", "turn-1")
        bodies = await after.follow(run)
        assert finals(bodies) == ["Before.", "After."]
        (session,) = [body for body in bodies if isinstance(body, Session)]
        assert session.provider_session_id == "thread-1"
        # half a line of the dead server would swallow the first of ours
        assert app.lines_in[0] == ""
        assert [message["method"] for message in app.heard] == ["thread/loaded/list"]
        await after.adapter.close()

    play(tmp_path, scene, hold_turns)


def test_a_prompt_of_which_nothing_is_known_is_sent_again(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        after = await left_at("thread/start", stage)
        bodies = await after.follow(await after.attach())
        assert finals(bodies) == ["Here is the answer."]
        assert len(after.app.requests("thread/start")) == 1
        assert after.app.params("turn/start")["clientUserMessageId"] == "r"
        await after.adapter.close()

    play(tmp_path, scene, swallow("thread/start"))


def test_a_thread_that_was_opened_for_it_is_used(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        after = await left_at("turn/start", stage)
        bodies = await after.follow(await after.attach())
        assert finals(bodies) == ["Here is the answer."]
        assert after.app.requests("thread/start") == []
        assert after.app.params("turn/start")["threadId"] == "thread-1"
        await after.adapter.close()

    play(tmp_path, scene, swallow("turn/start"))


def test_a_prompt_whose_turn_is_in_the_thread_is_not_sent_again(tmp_path: Path) -> None:
    turn = {
        "id": "turn-9",
        "status": "inProgress",
        "items": [{"type": "userMessage", "clientId": "r"}],
    }

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "thread/turns/list":
            app.answer(message, {"data": [{"id": "older", "items": []}, turn]})
            app.tell("turn/started", "thread-1", turn={"id": "turn-9", "rootTurnId": "turn-9"})
            app.text("thread-1", "turn-9", "It was there.")
            app.finish("thread-1", "turn-9")
            return True
        return bool(swallow("turn/start")(app, message))

    async def scene(stage: Stage) -> None:
        after = await left_at("turn/start", stage)
        bodies = await after.follow(await after.attach())
        assert finals(bodies) == ["It was there."]
        assert after.app.requests("turn/start") == []
        await after.adapter.close()

    play(tmp_path, scene, act)


def test_lines_of_a_chat_wait_until_it_is_attached_to(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.start(run_id="r1", chat_id="c1")
        await stage.start(run_id="r2", chat_id="c2")
        stage.app.text("thread-2", "turn-2", "Two.", "m1")
        stage.app.text("thread-1", "turn-1", "One.", "m1")
        stage.app.finish("thread-2", "turn-2")
        stage.app.finish("thread-1", "turn-1")
        after = stage.next_server()
        first = await after.attach(run_id="r1", chat_id="c1")
        assert finals(await after.follow(first)) == ["One."]
        second = await after.attach(run_id="r2", chat_id="c2")
        assert finals(await after.follow(second)) == ["Two."]
        await after.adapter.close()

    play(tmp_path, scene, hold_turns)


def test_an_ask_waits_for_its_chat_and_is_answered_once(tmp_path: Path) -> None:
    method = "item/commandExecution/requestApproval"

    async def scene(stage: Stage) -> None:
        await stage.start()
        asked = {"threadId": "thread-1", "turnId": "turn-1", "itemId": "c", "command": "make"}
        stage.app.say({"method": method, "id": 0, "params": asked})
        after = stage.next_server()
        run = await after.attach()
        asks = []
        async for step in run.steps():
            for body in step.bodies:
                if isinstance(body, Ask):
                    asks.append(body)
                    answer = AskAnswer(decision="allow", option_id="allow_once")
                    await run.answer(body.ask_id, answer)
                    await until(lambda: 0 in after.app.replies())
                    after.app.tell("serverRequest/resolved", "thread-1", requestId=0)
                    after.app.finish("thread-1", "turn-1")
        assert [ask.ask_id for ask in asks] == ["r:0"]
        assert after.app.replies() == {0: {"decision": "accept"}}
        assert stage.launcher.apps[0].replies() == {}
        await after.adapter.close()

    play(tmp_path, scene, hold_turns)


def test_a_server_that_leaves_declines_nothing(tmp_path: Path) -> None:
    """Its consumer goes first; what Codex asks then is for the next server."""
    method = "item/commandExecution/requestApproval"

    async def scene(stage: Stage) -> None:
        run = await stage.start()
        steps = run.steps()
        await anext(steps)
        await steps.aclose()  # type: ignore[attr-defined]
        stage.app.say({"method": method, "id": 0, "params": {"threadId": "thread-1"}})
        for _ in range(20):
            await asyncio.sleep(0)
        stage.app.leave()
        for _ in range(20):
            await asyncio.sleep(0)
        assert stage.app.replies() == {}

    play(tmp_path, scene, hold_turns)


def test_a_process_that_died_is_read_to_its_end(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.start()
        stage.app.text("thread-1", "turn-1", "Before.", "m1")
        stage.app.die(3, "out of luck")
        after = stage.next_server()
        bodies: list[EventBody] = []
        with pytest.raises(ProcessExited) as caught:
            async for step in (await after.attach()).steps():
                bodies += step.bodies
        assert finals(bodies) == ["Before."]
        assert caught.value.exit_code == 3
        await after.adapter.close()

    play(tmp_path, scene, hold_turns)


def test_a_conversation_that_is_lost_meanwhile_ends_the_run(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") != "thread/resume":
            return False
        if app.argv == []:
            app.refuse(message, "no rollout found for thread id thread-7")
        return True

    async def scene(stage: Stage) -> None:
        after = await left_at("thread/resume", stage, provider_session_id="thread-7")
        with pytest.raises(Exception, match="does not know this conversation"):
            await after.follow(await after.attach(provider_session_id="thread-7"))
        await after.adapter.close()

    play(tmp_path, scene, act)


def test_the_bodies_are_the_same_the_second_time(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        after = stage.next_server()
        again = await after.follow(await after.attach())
        assert again == bodies
        assert any(isinstance(body, Complete) for body in again)
        await after.adapter.close()

    play(tmp_path, scene)


def planning(app: ScriptedApp, message: Json) -> bool:
    """The first turn ends with a plan; the second does it."""
    if message.get("method") != "turn/start" or app.turns:
        return False
    thread_id, turn_id = app.begin(message)
    item = {"type": "plan", "id": "p", "text": "# Plan"}
    app.tell("item/completed", thread_id, turnId=turn_id, item=item)
    app.finish(thread_id, turn_id)
    return True


PLAN = {"mode": "plan", "permission": "read_only"}
APPROVE = AskAnswer(decision="allow", option_id="approve_ask")


async def _decided(stage: Stage, run: CodexRun, answer: AskAnswer) -> list[EventBody]:
    bodies: list[EventBody] = []
    async for step in run.steps():
        bodies += step.bodies
        for body in step.bodies:
            if isinstance(body, Ask):
                assert (body.kind, body.plan) == ("plan", "# Plan")
                await run.answer(body.ask_id, answer)
    return bodies


def test_a_plan_can_be_approved_after_a_change_of_server(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.start(**PLAN)
        after = stage.next_server()
        bodies = await _decided(after, await after.attach(**PLAN), APPROVE)
        assert finals(bodies) == ["Here is the answer."]
        params = after.app.params("turn/start")
        assert params["clientUserMessageId"] == "r#go-ahead"
        assert params["approvalPolicy"] == "untrusted"
        assert params["collaborationMode"]["mode"] == "default"
        await after.adapter.close()

    play(tmp_path, scene, planning)


def test_an_approval_that_was_passed_on_is_not_passed_on_again(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        first = await _decided(stage, await stage.start(**PLAN), APPROVE)
        after = stage.next_server()
        # the hub was told of the answer, and may give it again
        run = await after.attach(**PLAN)
        steps = run.steps()
        again: list[EventBody] = []
        async for step in steps:
            again += step.bodies
            if any(isinstance(body, Ask) for body in step.bodies):
                await run.answer("r:plan", APPROVE)
        assert again == first
        assert after.app.requests("turn/start") == []
        await after.adapter.close()

    play(tmp_path, scene, planning)


def test_a_plan_kept_ends_the_run_also_after_a_change_of_server(tmp_path: Path) -> None:
    deny = AskAnswer(decision="deny", option_id="keep_planning")

    async def scene(stage: Stage) -> None:
        await stage.start(**PLAN)
        after = stage.next_server()
        bodies = await _decided(after, await after.attach(**PLAN), deny)
        assert bodies[-1] == Complete(outcome="completed", num_turns=1)
        assert after.app.requests("turn/start") == []
        await after.adapter.close()

    play(tmp_path, scene, planning)


def test_a_plan_whose_turn_was_stopped_is_not_lost(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") != "turn/start":
            return False
        thread_id, turn_id = app.begin(message)
        delta = {"turnId": turn_id, "itemId": "p", "delta": "# Pl"}
        app.tell("item/plan/delta", thread_id, **delta)
        app.finish(thread_id, turn_id, "interrupted")
        return True

    async def scene(stage: Stage) -> None:
        bodies = await stage.say(**PLAN)
        assert finals(bodies) == ["# Pl"]
        assert not [body for body in bodies if isinstance(body, Ask)]

    play(tmp_path, scene, act)


def _line(end: int, thread_id: str = "t", size: int = 100) -> Received:
    return Received("notification", "warning", {"threadId": thread_id}, end, size)


def test_what_waits_for_nobody_is_bounded_and_its_loss_is_not_hidden() -> None:
    async def scene() -> None:
        router = Router(waiting_bytes=250)
        for number in range(1, 5):
            router.message(_line(number * 100, "t"))
        with pytest.raises(ChildGone):
            router.open("r1", 0, "t")
        inbox = router.open("r2", 200, "t")
        first, second = await inbox.get(), await inbox.get()
        assert [first and first.end, second and second.end] == [300, 400]

    asyncio.run(scene())


def test_what_a_thread_said_before_a_run_is_not_the_runs() -> None:
    async def scene() -> None:
        router = Router()
        router.message(_line(100))
        inbox = router.open("r", 150, "t")
        router.message(_line(200))
        item = await inbox.get()
        assert item is not None
        assert item.end == 200

    asyncio.run(scene())
