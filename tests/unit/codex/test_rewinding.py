"""Cutting runs from a thread: exactly those, or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .scripted import Act, Json, ScriptedApp
from .stage import Stage, play


def turn(turn_id: str, mark: str | None) -> Json:
    """A turn as `thread/turns/list` gives it; `mark` is our prompt's."""
    item = {"type": "userMessage", "clientId": mark}
    return {"id": turn_id, "status": "completed", "items": [item]}


def pages(*listed: list[Json]) -> Act:
    """A thread whose turns come newest first, page by page."""

    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") != "thread/turns/list":
            return False
        at = int(message["params"].get("cursor") or 0)
        more = str(at + 1) if at + 1 < len(listed) else None
        app.answer(message, {"data": listed[at], "nextCursor": more})
        return True

    return act


async def rewind(stage: Stage, *cut: str, **more: Any) -> bool:
    """Cut these runs from the conversation."""
    rewinder = stage.adapter.rewinder
    request = stage.request(provider_session_id="thread-1", run_id="new", **more)
    return await rewinder.rewind(request, stage.context(), list(cut))


def cuts(stage: Stage) -> list[str]:
    """Before which turns the thread was cut."""
    return [message["params"]["beforeTurnId"] for message in stage.app.requests("thread/revert")]


def test_the_thread_is_cut_before_the_first_of_the_runs(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        assert await rewind(stage, "r2", "r3")
        assert cuts(stage) == ["t2"]
        resumed = stage.app.params("thread/resume")
        assert resumed["threadId"] == "thread-1"

    listed = [turn("t3", "r3"), turn("t2", "r2"), turn("t1", "r1")]
    play(tmp_path, scene, pages(listed))


def test_the_first_of_them_may_lie_pages_back(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        assert await rewind(stage, "r1", "r2", "r3")
        assert cuts(stage) == ["t1"]

    play(tmp_path, scene, pages([turn("t3", "r3")], [turn("t2", "r2")], [turn("t1", "r1")]))


def test_a_run_that_never_became_a_turn_needs_no_cut(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        assert await rewind(stage, "never")
        assert cuts(stage) == []
        # one that did, behind one that did not
        assert await rewind(stage, "never", "r2")
        assert cuts(stage) == ["t2"]

    play(tmp_path, scene, pages([turn("t2", "r2"), turn("t1", "r1")]))


def test_where_a_turn_of_nobody_stands_at_the_cut_a_transcript_is_better(tmp_path: Path) -> None:
    """A review or a compaction bears no mark: it may be the one that is to go."""

    async def scene(stage: Stage) -> None:
        assert not await rewind(stage, "review", "r2")
        assert not await rewind(stage, "review")
        assert cuts(stage) == []
        assert await rewind(stage, "r1", "review", "r2")
        assert cuts(stage) == ["t1"]

    listed = [turn("t2", "r2"), turn("review", None), turn("t1", "r1")]

    def act(app: ScriptedApp, message: Json) -> bool:
        asked = [one for one in app.heard if one.get("method") == "thread/turns/list"]
        # the second time, the review is the newest
        at = listed[1:] if len(asked) == 2 else listed
        return bool(pages(at)(app, message))

    play(tmp_path, scene, act)


def test_a_steered_message_belongs_to_its_turn(tmp_path: Path) -> None:
    steered = turn("t2", "r2")
    steered["items"].append({"type": "userMessage", "clientId": "r2#steer-1"})

    async def scene(stage: Stage) -> None:
        assert await rewind(stage, "r2")
        assert cuts(stage) == ["t2"]

    play(tmp_path, scene, pages([steered, turn("t1", "r1")]))


def test_nothing_is_cut_while_a_run_goes_on(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "turn/start":
            app.begin(message)
            return True
        return False

    async def scene(stage: Stage) -> None:
        run = await stage.start()
        assert not await rewind(stage, "r")
        await run.cancel()
        await stage.follow(run)

    play(tmp_path, scene, act)


def test_what_codex_refuses_is_left_to_a_transcript(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "thread/revert":
            app.refuse(message, "legacy threads cannot be reverted")
            return True
        return bool(pages([turn("t1", "r1")])(app, message))

    async def scene(stage: Stage) -> None:
        assert not await rewind(stage, "r1")
        # and the chat goes on
        bodies = await stage.say(provider_session_id="thread-1", run_id="r9")
        assert bodies

    play(tmp_path, scene, act)


def test_a_lost_conversation_is_left_to_a_transcript(tmp_path: Path) -> None:
    def act(app: ScriptedApp, message: Json) -> bool:
        if message.get("method") == "thread/resume":
            app.refuse(message, "no rollout found for thread id thread-1")
            return True
        return False

    async def scene(stage: Stage) -> None:
        assert not await rewind(stage, "r1")
        assert not await stage.adapter.rewinder.rewind(stage.request(), stage.context(), ["r1"])

    play(tmp_path, scene, act)


def test_codex_puts_no_files_back(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        rewinder, request, context = stage.adapter.rewinder, stage.request(), stage.context()
        assert await rewinder.preview_files(request, context, "r1") == []
        assert await rewinder.restore_files(request, context, "r1") == []

    play(tmp_path, scene)
