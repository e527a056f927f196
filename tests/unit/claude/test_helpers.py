"""Helpers that work beside the conversation: where their words stand, and when the run is over."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_agentchat.protocol.events import Complete, System, ToolUseEnd, ToolUseUpdate
from jupyter_agentchat.protocol.tools import TextBlock
from jupyter_agentchat.providers.claude.translate import Commands, Translator, Turn, steer_uuid

from .scripted import Json, assistant, init, result, tool_result
from .test_commands import PROMPT, answered, life

OWN = result(origin={"kind": "task-notification"})
IDLE = {"type": "system", "subtype": "session_state_changed", "state": "idle"}
AGENT = {"type": "tool_use", "id": "t1", "name": "Agent", "input": {"description": "Look it up"}}
LAUNCHED = tool_result("t1", "For the model", tool_use_result={"status": "async_launched"})


def tasks(*ids: str, kind: str = "local_agent") -> Json:
    """What works in the background now."""
    listed = [{"task_id": one, "task_type": kind, "description": "Work"} for one in ids]
    return {"type": "system", "subtype": "background_tasks_changed", "tasks": listed}


def notified(status: str = "completed", summary: str = "It is 42.", tool: str = "t1") -> Json:
    """The end of a helper or of a background command."""
    line = {"type": "system", "subtype": "task_notification", "tool_use_id": tool}
    return {**line, "status": status, "summary": summary}


def says(text: str) -> Json:
    """Words of the helper."""
    return assistant("m9", {"type": "text", "text": text}, parent_tool_use_id="t1")


def ends(*messages: Json, unasked: bool = False) -> list[int]:
    """At which messages the run is over."""
    commands = Commands(PROMPT, unasked=unasked)
    return [index for index, message in enumerate(messages) if commands.ends(message)]


def feed(*messages: Json, unasked: bool = False) -> list[Any]:
    """The bodies of a run."""
    translator = Translator(Turn(PROMPT, "/project", unasked=unasked))
    return [body for message in messages for body in translator.feed(json.dumps(message))]


def test_a_run_lasts_while_a_helper_works() -> None:
    assert ends(tasks("a"), answered(PROMPT), tasks(), OWN) == [3]
    assert ends(tasks("a", "b"), answered(PROMPT), tasks("b"), OWN, tasks(), OWN) == [5]
    assert ends(tasks("a"), tasks(), answered(PROMPT)) == [2]


def test_a_background_command_holds_no_run() -> None:
    assert ends(tasks("a", kind="local_bash"), answered(PROMPT)) == [1]


def test_a_helper_that_was_stopped_ends_the_run_without_a_turn_of_its_own() -> None:
    assert ends(tasks("a"), answered(PROMPT), tasks(), IDLE) == [3]


def test_old_news_of_the_turn_before_end_no_run() -> None:
    assert ends(IDLE, life(PROMPT, "queued"), answered(PROMPT)) == [2]


def test_helpers_of_a_later_turn_do_not_open_a_run_again() -> None:
    commands = Commands(PROMPT)
    for line in (answered(PROMPT), init(), tasks("a"), OWN):
        commands.ends(line)
    assert commands.over


def test_a_message_sent_while_a_helper_works_is_done_in_the_same_run() -> None:
    first = steer_uuid(PROMPT, 0)
    lines = (life(first, "queued"), life(first, "started"), answered(first))
    assert ends(tasks("a"), answered(PROMPT), *lines, tasks(), OWN) == [6]


def test_a_turn_that_nobody_asked_for_ends_with_its_own_result() -> None:
    assert ends(notified(), init(), OWN, unasked=True) == [2]
    assert ends(says("Still at it."), IDLE, unasked=True) == [1]
    first = steer_uuid(PROMPT, 0)
    lines = (life(first, "queued"), OWN, life(first, "started"), answered(first))
    assert ends(init(), *lines, unasked=True) == [4]


def test_a_helpers_words_stand_in_its_call_and_never_in_the_answer() -> None:
    bodies = feed(
        init(),
        assistant("m1", AGENT),
        tasks("a"),
        LAUNCHED,
        says("Looking."),
        says("Found it."),
        answered(PROMPT),
        notified(summary="Found it."),
        tasks(),
        OWN,
    )
    kinds = [body.type for body in bodies if body.type not in ("session", "usage")]
    updates, end = ["tool_use_update"] * 2, ["tool_use_end", "complete"]
    assert kinds == ["tool_use_start", *updates, *end]
    deltas = [body.output_delta for body in bodies if isinstance(body, ToolUseUpdate)]
    assert deltas == ["Looking.", "\n\nFound it."]
    (ended,) = [body for body in bodies if isinstance(body, ToolUseEnd)]
    assert (ended.tool_id, ended.status) == ("t1", "completed")
    assert ended.output == [TextBlock(text="Looking.\n\nFound it.")]


def test_a_helper_that_answers_at_once_ends_with_its_result() -> None:
    bodies = feed(assistant("m1", AGENT), says("Looking."), tool_result("t1", "It is 42."))
    assert [body.type for body in bodies] == ["tool_use_start", "tool_use_update", "tool_use_end"]
    assert feed(says("Nobody called this one.")) == []


def test_a_stopped_helper_keeps_what_it_said_and_the_run_was_stopped() -> None:
    bodies = feed(
        init(),
        assistant("m1", AGENT),
        tasks("a"),
        LAUNCHED,
        says("Looking."),
        answered(PROMPT),
        notified("stopped", "Look it up"),
        tasks(),
        IDLE,
    )
    (ended,) = [body for body in bodies if isinstance(body, ToolUseEnd)]
    assert (ended.status, ended.output) == ("cancelled", [TextBlock(text="Looking.")])
    assert [body.outcome for body in bodies if isinstance(body, Complete)] == ["cancelled"]


@pytest.mark.parametrize(("pressed", "outcome"), [(True, "cancelled"), (False, "completed")])
def test_stop_counts_though_the_turn_itself_ended_well(pressed: bool, outcome: str) -> None:
    translator = Translator(Turn(PROMPT, "/project"))
    translator.stopping = pressed
    lines = [init(), assistant("m1", AGENT), LAUNCHED, notified("stopped"), answered(PROMPT)]
    bodies = [body for line in lines for body in translator.feed(json.dumps(line))]
    assert [body.outcome for body in bodies if isinstance(body, Complete)] == [outcome]


def test_a_helper_that_failed_says_why() -> None:
    bodies = feed(assistant("m1", AGENT), LAUNCHED, notified("failed", "Out of luck."))
    assert (bodies[-1].status, bodies[-1].is_error) == ("failed", True)
    assert bodies[-1].output == [TextBlock(text="Out of luck.")]


def test_the_end_of_a_background_command_is_told() -> None:
    (body,) = feed(notified(summary="Tests passed.", tool="t7"), unasked=True)
    data = {"tool_id": "t7", "status": "completed", "text": "Tests passed."}
    assert body == System(subtype="background_task", data=data)


def test_what_all_turns_of_a_run_used_is_added_up() -> None:
    model = {"m": {"inputTokens": 10, "outputTokens": 1, "costUSD": 0.5}}
    first = answered(PROMPT, model_usage_since_last_result=model, num_turns=2)
    own = {**OWN, "model_usage_since_last_result": model}
    complete = feed(init(), tasks("a"), first, tasks(), own)[-1]
    assert (complete.usage.input_tokens, complete.cost_usd, complete.num_turns) == (20, 1.0, 3)
