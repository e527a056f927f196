"""The agent's checklist, from both kinds of its tools."""

from __future__ import annotations

import json
from typing import Any

from jupyter_agentchat.protocol.events import Plan
from jupyter_agentchat.providers.claude.translate import Translator, Turn
from jupyter_agentchat.providers.claude.translate.checklist import Line

from .scripted import Json, assistant, tool_result
from .stage import OLD, Play, Stage
from .test_commands import answered


def call(tool_id: str, name: str, arguments: Json, structured: Json, **more: Any) -> list[Json]:
    """A call and its result."""
    block = {"type": "tool_use", "id": tool_id, "name": name, "input": arguments}
    return [
        assistant(f"m{tool_id}", block, **more),
        tool_result(tool_id, "For the model", tool_use_result=structured, **more),
    ]


def create(task: str, subject: str) -> list[Json]:
    return call(
        task, "TaskCreate", {"subject": subject}, {"task": {"id": task, "subject": subject}}
    )


def update(tool_id: str, task: str, status: str, **more: Any) -> list[Json]:
    change = {"taskId": task, "statusChange": {"to": status}}
    return call(tool_id, "TaskUpdate", {"taskId": task, "status": status, **more}, change)


def plans(*messages: Json, checklist: tuple[Line, ...] = ()) -> list[list[tuple[str, str]]]:
    """The lists that were told."""
    translator = Translator(Turn("u", "/project", checklist=checklist))
    bodies = [body for message in messages for body in translator.feed(json.dumps(message))]
    return [
        [(entry.text, entry.status) for entry in body.entries]
        for body in bodies
        if isinstance(body, Plan)
    ]


def test_a_list_that_is_replaced_whole() -> None:
    todos = [{"content": "Read", "status": "in_progress"}, {"content": "Plot", "status": "odd"}]
    lines = call("t1", "TodoWrite", {"todos": todos}, {"oldTodos": [], "newTodos": todos})
    assert plans(*lines) == [[("Read", "in_progress"), ("Plot", "pending")]]


def test_a_list_that_changes_line_by_line() -> None:
    told = plans(
        *create("1", "Read"),
        *create("2", "Plot"),
        *update("t3", "1", "completed"),
        *update("t4", "2", "in_progress", subject="Plot twice"),
        *update("t5", "1", "deleted"),
    )
    assert told[-3:] == [
        [("Read", "completed"), ("Plot", "pending")],
        [("Read", "completed"), ("Plot twice", "in_progress")],
        [("Plot twice", "in_progress")],
    ]


def test_a_list_is_told_when_it_changes_only() -> None:
    listed = {"tasks": [{"id": "1", "subject": "Read", "status": "pending"}]}
    lines = call("t2", "TaskList", {}, listed)
    assert plans(*create("1", "Read"), *lines, *lines) == [[("Read", "pending")]]


def test_a_line_that_nobody_remembers_is_not_made_up() -> None:
    assert plans(*update("t1", "7", "completed")) == []
    known = (Line("7", "Read"),)
    assert plans(*update("t1", "7", "completed"), checklist=known) == [[("Read", "completed")]]


def test_a_helpers_list_is_not_the_chats() -> None:
    todos = [{"content": "Read", "status": "pending"}]
    lines = call("t1", "TodoWrite", {"todos": todos}, {"newTodos": todos}, parent_tool_use_id="t0")
    assert plans(*lines) == []


def test_the_next_run_goes_on_with_the_list(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(*create("1", "Read"), answered(run._turn.prompt_uuid, session_id=OLD))
        await stage.follow(run)
        again = await stage.start(run_id="r2", provider_session_id=OLD)
        stage.cli.say(*update("t2", "1", "completed"), answered(again._turn.prompt_uuid))
        await stage.follow(again)
        lists = [body.entries for body in stage.bodies if isinstance(body, Plan)]
        assert [(entry.text, entry.status) for entry in lists[-1]] == [("Read", "completed")]

    play(act)
