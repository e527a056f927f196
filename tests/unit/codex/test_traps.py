"""What Codex does that one would not expect, and what a person must not notice of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProviderError, ProviderTimeout, SessionRejected
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Notice,
    Session,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import Begin
from jupyter_agentchat.providers.codex import link, run
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from tests.waiting import until

from .scripted import Act, Json, ScriptedApp
from .stage import Stage, context_of, play


def on(method: str, then: Callable[[ScriptedApp, Json], Any]) -> Act:
    """Deals with the requests of one method."""

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") != method:
            return False
        then(app, message)
        return True

    return act


def of(bodies: list[EventBody], kind: type[Any]) -> list[Any]:
    return [body for body in bodies if isinstance(body, kind)]


def test_a_turn_whose_end_is_not_told_is_looked_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MISSING_END_S", 0.01)

    def silent(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        app.text(thread_id, turn_id, "All of it.")
        app.tell("thread/status/changed", thread_id, status={"type": "idle"})
        app.results["thread/turns/list"] = {"data": [{"id": turn_id, "status": "completed"}]}

    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        assert of(bodies, Complete)[0].outcome == "completed"

    play(tmp_path, scene, on("turn/start", silent))


def test_a_turn_that_is_still_at_work_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MISSING_END_S", 0.01)
    looks: list[str] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start":
            thread_id, _ = app.begin(message)
            app.tell("thread/status/changed", thread_id, status={"type": "idle"})
            return True
        if message.get("method") == "thread/turns/list":
            looks.append("look")
            app.answer(message, {"data": [{"id": "turn-1", "status": "inProgress"}]})
            if len(looks) == 2:
                app.finish("thread-1", "turn-1")
            return True
        return False

    async def scene(stage: Stage) -> None:
        assert of(await stage.say(), Complete)[0].outcome == "completed"
        assert len(looks) == 2

    play(tmp_path, scene, act)


def test_an_overloaded_server_is_asked_again_and_nobody_hears_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_PAUSES_S", (0.0, 0.0, 0.0))
    refused: list[Json] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start" and len(refused) < 2:
            refused.append(message)
            app.refuse(message, "Server overloaded; retry later.", -32001)
            return True
        return False

    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        assert of(bodies, Complete)[0].outcome == "completed"
        assert len(stage.app.requests("turn/start")) == 3
        assert of(bodies, Notice) == of(bodies, Error) == []

    play(tmp_path, scene, act)


def test_an_overload_that_does_not_end_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_PAUSES_S", (0.0, 0.0))

    async def scene(stage: Stage) -> None:
        with pytest.raises(ProviderError, match="overloaded"):
            await stage.start()
        assert len(stage.app.requests("turn/start")) == 3

    def overloaded(app: ScriptedApp, message: Json) -> None:
        app.refuse(message, "Server overloaded; retry later.", -32001)

    play(tmp_path, scene, on("turn/start", overloaded))


def test_many_requests_at_once_wait_for_each_other(tmp_path: Path) -> None:
    waiting: list[Json] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "thread/loaded/list":
            waiting.append(message)
            return True
        return False

    async def scene(stage: Stage) -> None:
        await stage.say()
        (alive,) = stage.adapter._children.alive
        asking = [asyncio.create_task(alive.request("thread/loaded/list")) for _ in range(40)]
        answered = 0
        while answered < len(asking):
            await asyncio.sleep(0)
            assert len(waiting) - answered <= 16
            for message in waiting[answered:]:
                stage.app.answer(message, {})
                answered += 1
        await asyncio.gather(*asking)

    play(tmp_path, scene, act)


def test_a_request_that_codex_does_not_answer_ends_with_its_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that Codex cannot read gets no answer at all."""
    monkeypatch.setattr(
        link.CodexLink.request, "__kwdefaults__", {"request_id": None, "timeout_s": 0.01}
    )

    async def scene(stage: Stage) -> None:
        with pytest.raises(ProviderTimeout):
            await stage.start()

    play(tmp_path, scene, on("turn/start", lambda _app, _message: None))


def test_an_error_that_codex_tells_twice_is_shown_once(tmp_path: Path) -> None:
    error = {"message": "You exceeded your quota.", "codexErrorInfo": "usageLimitExceeded"}

    def failing(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        for number in range(1, 6):
            again = {"message": f"Reconnecting... {number}/5"}
            app.tell("error", thread_id, turnId=turn_id, willRetry=True, error=again)
        app.tell("error", thread_id, turnId=turn_id, willRetry=False, error=error)
        app.finish(thread_id, turn_id, "failed", error=error)

    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        (told,) = of(bodies, Error)
        assert (told.code, told.message) == ("provider_rate_limited", error["message"])
        (notice,) = of(bodies, Notice)
        assert notice.code == "retrying"

    play(tmp_path, scene, on("turn/start", failing))


def test_a_failed_turn_without_a_reason_uses_the_one_told_before(tmp_path: Path) -> None:
    def failing(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        error = {"message": "out of luck", "codexErrorInfo": {"fromTheFuture": {"x": 1}}}
        app.tell("error", thread_id, turnId=turn_id, willRetry=False, error=error)
        app.finish(thread_id, turn_id, "failed", error=None)

    async def scene(stage: Stage) -> None:
        (told,) = of(await stage.say(), Error)
        assert (told.code, told.message) == ("provider_error", "out of luck")

    play(tmp_path, scene, on("turn/start", failing))


def test_what_is_open_at_an_interrupt_gets_no_invented_end(tmp_path: Path) -> None:
    """Codex never closes it; the hub does, and knows why."""

    def working(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        app.command(thread_id, turn_id, over=False)

    async def scene(stage: Stage) -> None:
        started = await stage.start()
        await started.cancel()
        bodies = await stage.follow(started)
        assert len(of(bodies, ToolUseStart)) == 1
        assert of(bodies, ToolUseEnd) == []
        assert of(bodies, Complete)[0].outcome == "cancelled"

    play(tmp_path, scene, on("turn/start", working))


def test_stop_pressed_before_codex_knows_the_turn_is_not_lost(tmp_path: Path) -> None:
    refused: list[Json] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start":
            app.begin(message)
            return True
        if message.get("method") == "turn/interrupt" and not refused:
            refused.append(message)
            app.refuse(message, "no active turn to interrupt")
            return True
        return False

    async def scene(stage: Stage) -> None:
        started = await stage.start()
        await started.cancel()
        assert of(await stage.follow(started), Complete)[0].outcome == "cancelled"

    play(tmp_path, scene, act)


def test_one_that_does_not_heed_stop_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "INTERRUPT_TIMEOUT_S", 0.02)

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start":
            app.begin(message)
        return message.get("method") in ("turn/start", "turn/interrupt")

    async def scene(stage: Stage) -> None:
        started = await stage.start()
        await started.cancel()
        assert of(await stage.follow(started), Complete)[0].outcome == "cancelled"
        assert stage.app.exit is not None

    play(tmp_path, scene, act)


def test_a_review_is_followed_though_its_turn_has_another_id(tmp_path: Path) -> None:
    def reviewing(app: ScriptedApp, message: Json) -> None:
        thread_id = message["params"]["threadId"]
        app.answer(message, {"turn": {"id": "real"}, "reviewThreadId": thread_id})
        app.tell("turn/started", thread_id, turn={"id": "child", "rootTurnId": "real"})
        item = {"type": "enteredReviewMode", "id": "e", "review": "changes"}
        app.tell("item/completed", thread_id, turnId="child", item=item)
        # begun and never completed
        delta = {"turnId": "child", "itemId": "m0", "delta": '{"findings'}
        app.tell("item/agentMessage/delta", thread_id, **delta)
        item = {"type": "exitedReviewMode", "id": "x", "review": "One thing to fix."}
        app.tell("item/completed", thread_id, turnId="child", item=item)
        app.text(thread_id, "child", "One thing to fix.", "m1")
        app.tell("turn/completed", thread_id, turn={"id": "child", "status": "completed"})
        app.tell("turn/completed", thread_id, turn={"id": "real", "status": "completed"})

    async def scene(stage: Stage) -> None:
        started = await stage.start(prompt="/review")
        assert stage.app.params("review/start")["target"] == {"type": "uncommittedChanges"}
        assert not started.can_steer
        bodies = await stage.follow(started)
        finals = [body.text for body in of(bodies, AssistantText) if body.final]
        assert finals == ["One thing to fix."]
        assert of(bodies, Complete)[0].outcome == "completed"

    play(tmp_path, scene, on("review/start", reviewing))


def test_another_turn_of_the_thread_neither_speaks_nor_ends_the_run(tmp_path: Path) -> None:
    def crowded(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        app.tell("turn/started", thread_id, turn={"id": "other", "rootTurnId": "other"})
        app.text(thread_id, "other", "Not for you.", "m9")
        app.tell("turn/completed", thread_id, turn={"id": "other", "status": "failed"})
        app.text(thread_id, turn_id, "For you.")
        app.finish(thread_id, turn_id)

    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        assert [body.text for body in of(bodies, AssistantText) if body.final] == ["For you."]
        assert of(bodies, Complete)[0].outcome == "completed"

    play(tmp_path, scene, on("turn/start", crowded))


@pytest.mark.parametrize(
    "said",
    [
        "no rollout found for thread id X",
        "invalid session id: X",
        "thread-store internal error: rollout at /home/x/rollout.jsonl is empty",
    ],
)
def test_a_conversation_that_codex_lost_is_told_apart(said: str, tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        with pytest.raises(SessionRejected) as caught:
            await stage.start(provider_session_id="thread-9")
        assert caught.value.provider_session_id == "thread-9"

    play(tmp_path, scene, on("thread/resume", lambda app, message: app.refuse(message, said)))


def test_a_conversation_open_elsewhere_is_said_to_be(tmp_path: Path) -> None:
    said = "thread thread-9 already has an active writer"

    async def scene(stage: Stage) -> None:
        with pytest.raises(ProviderError, match="open in another Codex process") as caught:
            await stage.start(provider_session_id="thread-9")
        assert not isinstance(caught.value, SessionRejected)
        assert "Close it there" in (caught.value.hint or "")

    play(tmp_path, scene, on("thread/resume", lambda app, message: app.refuse(message, said)))


def test_a_conversation_that_codex_has_put_down_is_taken_up_again(tmp_path: Path) -> None:
    refused: list[Json] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        prompts = app.requests("turn/start")
        if message.get("method") == "turn/start" and len(prompts) == 2 and not refused:
            refused.append(message)
            app.refuse(message, "thread not found: thread-1")
            return True
        return False

    async def scene(stage: Stage) -> None:
        await stage.say(run_id="r1")
        bodies = await stage.say(run_id="r2", provider_session_id="thread-1")
        assert of(bodies, Complete)[0].outcome == "completed"
        assert len(stage.app.requests("thread/resume")) == 1
        # told of it before, it does not even try
        (alive,) = stage.adapter._children.alive
        stage.app.tell("thread/status/changed", "thread-1", status={"type": "notLoaded"})
        await until(lambda: not alive.loaded)
        await stage.say(run_id="r3", provider_session_id="thread-1")
        assert len(stage.app.requests("thread/resume")) == 2

    play(tmp_path, scene, act)


def test_a_start_that_is_given_up_leaves_no_turn_behind(tmp_path: Path) -> None:
    asked: list[Json] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start":
            asked.append(message)
            return True
        return False

    async def scene(stage: Stage) -> None:
        starting = asyncio.create_task(stage.start())
        await until(lambda: asked)
        starting.cancel()
        await asyncio.wait({starting})
        stage.app.begin(asked[0])
        await until(lambda: stage.app.requests("turn/interrupt"))

    play(tmp_path, scene, act)


def test_a_process_that_does_not_start_says_why(tmp_path: Path) -> None:
    def broken(app: ScriptedApp, _message: Json) -> None:
        app.die(1, "Error: CODEX_HOME points to nowhere")

    async def scene(stage: Stage) -> None:
        with pytest.raises(ProviderError, match="CODEX_HOME points to nowhere"):
            await stage.start()
        found = await stage.adapter.probe()
        assert found.state == "error"
        assert "CODEX_HOME points to nowhere" in (found.reason or "")

    play(tmp_path, scene, on("initialize", broken))


def test_a_broken_configuration_names_the_file_to_mend(tmp_path: Path) -> None:
    said = "failed to load configuration: /home/x/.codex/config.toml:3:1: expected a table"

    async def scene(stage: Stage) -> None:
        with pytest.raises(ProviderError, match=r"config\.toml") as caught:
            await stage.start()
        assert "Mend" in (caught.value.hint or "")

    play(tmp_path, scene, on("thread/start", lambda app, message: app.refuse(message, said)))


def test_an_archived_conversation_is_taken_out_again(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        archived = not app.requests("thread/unarchive")
        if message.get("method") == "thread/resume" and archived:
            app.refuse(message, "session thread-9 is archived. Run `codex unarchive`")
            return True
        return False

    async def scene(stage: Stage) -> None:
        bodies = await stage.say(provider_session_id="thread-9")
        assert of(bodies, Complete)[0].outcome == "completed"

    play(tmp_path, scene, act)


def test_a_request_that_no_person_can_answer_is_refused_and_told(tmp_path: Path) -> None:
    def asking(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        for number in (7, 8):
            app.say({"method": "item/tool/call", "id": number, "params": {"threadId": thread_id}})
        app.finish(thread_id, turn_id)

    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        assert {stage.app.replies()[number]["code"] for number in (7, 8)} == {-32601}
        (notice,) = of(bodies, Notice)
        assert "item/tool/call" in notice.text

    play(tmp_path, scene, on("turn/start", asking))


def test_an_approval_of_a_thread_that_is_no_chats_is_declined(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say()
        method = "item/fileChange/requestApproval"
        stage.app.say({"method": method, "id": 5, "params": {"threadId": "stranger"}})
        await until(lambda: 5 in stage.app.replies())
        assert stage.app.replies()[5] == {"decision": "decline"}

    play(tmp_path, scene)


def test_words_from_the_future_lose_nothing(tmp_path: Path) -> None:
    def strange(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        app.command(thread_id, turn_id, over=False, commandActions=[{"type": "hologram"}, 7])
        app.command(thread_id, turn_id, over=True, status="evaporated")
        plan = [{"step": "Look", "status": "dreaming"}, "x"]
        app.tell("turn/plan/updated", thread_id, turnId=turn_id, plan=plan)
        app.tell("item/completed", thread_id, turnId=turn_id, item={"type": "fileChange"})
        app.tell("item/completed", thread_id, turnId=turn_id, item=None)
        app.tell("thread/tokenUsage/updated", thread_id, turnId=turn_id, tokenUsage="many")
        app.tell("account/rateLimits/updated", thread_id, rateLimits={"primary": []})
        app.say("{broken", "[1]", '{"method": 7}', "")
        app.text(thread_id, turn_id, "Still here.")
        app.finish(thread_id, turn_id, "delighted")

    async def scene(stage: Stage) -> None:
        bodies = await stage.say()
        assert [body.text for body in of(bodies, AssistantText) if body.final] == ["Still here."]
        assert [end.status for end in of(bodies, ToolUseEnd)] == ["completed"]
        assert of(bodies, Complete)[0].outcome == "completed"

    play(tmp_path, scene, on("turn/start", strange))


def test_a_process_that_is_too_old_is_not_driven(tmp_path: Path) -> None:
    def old(app: ScriptedApp, message: Json) -> None:
        app.answer(message, {"userAgent": "jupyter_agentchat/0.150.1 (x)"})

    async def scene(stage: Stage) -> None:
        with pytest.raises(ProviderError, match=r"0\.150\.1 is older"):
            await stage.start()
        assert stage.app.exit is not None
        assert (await stage.adapter.probe()).state == "too_old"

    play(tmp_path, scene, on("initialize", old))


def test_a_loaded_thread_is_loaded_anew_when_its_trust_changes(tmp_path: Path) -> None:
    """A resume of a loaded thread changes nothing of its configuration (seen)."""

    async def scene(stage: Stage) -> None:
        await stage.say(run_id="r1", trusted=False)
        await stage.say(run_id="r2", trusted=False, provider_session_id="thread-1")
        assert stage.app.requests("thread/resume") == []
        await stage.say(run_id="r3", trusted=True, provider_session_id="thread-1")
        order = [m["method"] for m in stage.app.heard if m.get("method", "").startswith("thread/")]
        assert order == ["thread/start", "thread/unsubscribe", "thread/resume"]

    play(tmp_path, scene)


def test_not_more_than_a_few_idle_threads_stay_loaded(tmp_path: Path) -> None:
    """Each may hold MCP servers of its own."""

    async def scene(stage: Stage) -> None:
        for number in range(12):
            await stage.say(chat_id=f"c{number}", run_id=f"r{number}")
        (alive,) = stage.adapter._children.alive
        await until(lambda: len(alive.loaded) == 8)
        unloaded = [m["params"]["threadId"] for m in stage.app.requests("thread/unsubscribe")]
        assert unloaded == [f"thread-{number}" for number in range(1, 5)]

    play(tmp_path, scene)


def _begin_by_itself(app: ScriptedApp) -> None:
    app.tell("turn/started", "thread-1", turn={"id": "own", "rootTurnId": "own"})
    app.text("thread-1", "own", "I went on.", "m7")


def test_a_turn_that_codex_begins_by_itself_becomes_a_run(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        offered: list[str] = []
        told: list[EventBody] = []
        over = asyncio.Event()

        async def host(chat_id: str, begin: Begin) -> bool:
            offered.append(chat_id)
            request = stage.request(run_id="unasked", prompt="", provider_session_id="thread-1")
            run = await begin(request, stage.context("unasked"))
            async for step in run.steps():
                told.extend(step.bodies)
                assert step.offset is not None
                assert step.offset > stage.marks["unasked"].first
            over.set()
            return True

        adapter = CodexAdapter(replace(context_of(stage.launcher, tmp_path), begin_unasked=host))
        stage.adapter = adapter
        await stage.say()
        _begin_by_itself(stage.app)
        stage.app.finish("thread-1", "own")
        await over.wait()
        assert offered == ["c"]
        assert of(told, Session)[0].provider_session_id == "thread-1"
        assert [body.text for body in of(told, AssistantText) if body.final] == ["I went on."]
        assert of(told, Complete)[0].outcome == "completed"
        await adapter.close()

    play(tmp_path, scene)


def test_one_that_cannot_be_shown_is_stopped(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.say()
        _begin_by_itself(stage.app)
        await until(lambda: stage.app.requests("turn/interrupt"))
        assert stage.app.params("turn/interrupt") == {"threadId": "thread-1", "turnId": "own"}
        # and its words are not the next run's
        bodies = await stage.say(run_id="r2", provider_session_id="thread-1")
        finals = [body.text for body in of(bodies, AssistantText) if body.final]
        assert finals == ["Here is the answer."]

    play(tmp_path, scene)


def test_a_turn_of_a_start_that_was_given_up_is_not_offered_as_one_of_codex_own(
    tmp_path: Path,
) -> None:
    asked: list[Json] = []

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start" and len(app.requests("turn/start")) == 2:
            asked.append(message)
            return True
        return False

    async def scene(stage: Stage) -> None:
        offered: list[str] = []

        async def host(chat_id: str, begin: Begin) -> bool:
            offered.append(chat_id)
            return False

        adapter = CodexAdapter(replace(context_of(stage.launcher, tmp_path), begin_unasked=host))
        stage.adapter = adapter
        await stage.say(run_id="r1")
        starting = asyncio.create_task(stage.start(run_id="r2", provider_session_id="thread-1"))
        await until(lambda: asked)
        starting.cancel()
        await asyncio.wait({starting})
        stage.app.begin(asked[0])
        await until(lambda: stage.app.requests("turn/interrupt"))
        assert offered == []
        await adapter.close()

    play(tmp_path, scene, act)


def test_a_helper_that_rests_does_not_make_the_run_look_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "MISSING_END_S", 0.0)

    def delegating(app: ScriptedApp, message: Json) -> None:
        thread_id, turn_id = app.begin(message)
        spawn = {
            "type": "collabAgentToolCall",
            "id": "s1",
            "tool": "spawnAgent",
            "prompt": "Look",
            "receiverThreadIds": ["helper"],
            "status": "completed",
        }
        app.tell("item/completed", thread_id, turnId=turn_id, item=spawn)
        app.tell("turn/started", "helper", turn={"id": "h1", "rootTurnId": turn_id})
        app.command("helper", "h1", over=False)
        app.command("helper", "h1", over=True)
        app.text("helper", "h1", "For the other agent only.")
        app.tell("thread/status/changed", "helper", status={"type": "idle"})
        app.tell("turn/completed", "helper", turn={"id": "h1", "status": "completed"})

    async def scene(stage: Stage) -> None:
        started = await stage.start()
        for _ in range(20):
            await asyncio.sleep(0)
        stage.app.text("thread-1", "turn-1", "Done.")
        stage.app.finish("thread-1", "turn-1")
        bodies = await stage.follow(started)
        assert stage.app.requests("thread/turns/list") == []
        starts = of(bodies, ToolUseStart)
        assert [start.kind for start in starts] == ["subagent", "shell"]
        assert starts[1].parent_tool_id == starts[0].tool_id
        assert [body.text for body in of(bodies, AssistantText) if body.final] == ["Done."]
        assert of(bodies, Complete)[0].outcome == "completed"

    play(tmp_path, scene, on("turn/start", delegating))


def test_an_approval_that_codex_refuses_fails_the_run(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") != "turn/start":
            return False
        if app.turns:
            app.refuse(message, "out of luck")
            return True
        thread_id, turn_id = app.begin(message)
        item = {"type": "plan", "id": "p", "text": "# Plan"}
        app.tell("item/completed", thread_id, turnId=turn_id, item=item)
        app.finish(thread_id, turn_id)
        return True

    async def scene(stage: Stage) -> None:
        started = await stage.start(mode="plan", permission="read_only")
        with pytest.raises(ProviderError, match="out of luck"):
            async for step in started.steps():
                for body in step.bodies:
                    if isinstance(body, Ask):
                        answer = AskAnswer(decision="allow", option_id="approve_ask")
                        await started.answer(body.ask_id, answer)

    play(tmp_path, scene, act)
