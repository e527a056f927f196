"""Two chats that write one file at the same time: both are told, once."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_agentchat.protocol.events import EventBody, ToolUseEnd, ToolUseStart
from jupyter_agentchat.protocol.tools import (
    Diff,
    EditInput,
    NotebookInput,
    ReadInput,
    ToolInput,
    WriteInput,
)
from jupyter_agentchat.protocol.words import ToolStatus
from jupyter_agentchat.runs.conflicts import Conflicts
from tests.waiting import until

from .staged import DONE, Stage, StagedRun, on_stage


def call(given: ToolInput, status: ToolStatus = "completed", *diffs: str) -> Sequence[EventBody]:
    changed = [Diff(path=path, change="update", added=1, removed=1) for path in diffs]
    start = ToolUseStart(tool_id="t", name="Tool", kind=given.kind, input=given)
    return start, ToolUseEnd(tool_id="t", status=status, diffs=changed)


def two_runs() -> Conflicts:
    conflicts = Conflicts()
    conflicts.began("r1", "one", "/project")
    conflicts.began("r2", "two", "/project/sub")
    return conflicts


def test_the_same_file_by_two_paths_is_one_file_and_is_told_once() -> None:
    conflicts = two_runs()
    assert conflicts.stored("r1", call(EditInput(path="sub/a.py"))) == []
    (found,) = conflicts.stored("r2", call(WriteInput(path="../sub/./a.py")))
    assert (found.path, found.other_run, found.other_chat) == ("/project/sub/a.py", "r1", "one")
    assert conflicts.stored("r1", call(EditInput(path="/project/sub/a.py"))) == []
    assert len(conflicts.stored("r1", call(NotebookInput(path="b.ipynb")))) == 0
    assert len(conflicts.stored("r2", call(ReadInput(path="x"), "completed", "../b.ipynb"))) == 1


def test_reading_failing_and_refused_calls_write_nothing() -> None:
    conflicts = two_runs()
    conflicts.stored("r1", call(WriteInput(path="/a")))
    assert conflicts.stored("r2", call(ReadInput(path="/a"))) == []
    assert conflicts.stored("r2", call(EditInput(path="/a"), "denied")) == []
    assert conflicts.stored("r2", call(EditInput(path="/a"), "failed")) == []
    assert conflicts.stored("r2", call(NotebookInput(path="/a", op="read"))) == []


def test_runs_one_after_the_other_do_not_conflict_and_are_forgotten() -> None:
    conflicts = Conflicts()
    conflicts.began("r1", "one", "/")
    conflicts.stored("r1", call(WriteInput(path="/a")))
    conflicts.ended("r1")
    conflicts.began("r2", "two", "/")
    assert conflicts.stored("r2", call(WriteInput(path="/a"))) == []
    conflicts.ended("r2")
    assert conflicts.stored("r1", call(WriteInput(path="/a"))) == []  # nothing is kept of them


def test_a_run_that_ended_before_the_other_wrote_still_counts() -> None:
    conflicts = two_runs()
    conflicts.stored("r1", call(WriteInput(path="/a")))
    conflicts.ended("r1")
    assert len(conflicts.stored("r2", call(WriteInput(path="/a")))) == 1


def test_both_threads_show_it_also_that_of_the_chat_that_is_done() -> None:
    async def scenario(stage: Stage) -> None:
        stage.add_chat("d")
        first, second = stage.start(), stage.start("d")

        def writes(run: StagedRun) -> None:
            run.emit(*call(EditInput(path="/etc/motd")))

        writes(first)
        first.end(DONE)
        await stage.until_idle()
        writes(second)
        second.end(DONE)
        await stage.until_idle("d")
        await until(lambda: stage.hub.active_runs == 0)

    stage = on_stage(scenario)
    for chat_id in ("c", "d"):
        (notice,) = [e for e in stage.log(chat_id) if e["type"] == "notice"]
        assert notice["code"] == "conflict"
        assert "/etc/motd" in notice["text"]
