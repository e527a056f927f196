"""When a run is over, told from what the CLI says of our messages."""

from __future__ import annotations

import json
from typing import Any

from jupyter_agentchat.protocol.events import Complete, Notice
from jupyter_agentchat.providers.claude.translate import Commands, Translator, Turn, steer_uuid

from .scripted import Json, assistant, init, result

PROMPT = "11111111-0000-4000-8000-000000000001"
FIRST, SECOND = steer_uuid(PROMPT, 0), steer_uuid(PROMPT, 1)
FOREIGN = "22222222-0000-4000-8000-000000000002"


def life(command: str, state: str) -> Json:
    """What the CLI says of a message."""
    return {"type": "command_lifecycle", "command_uuid": command, "state": state}


def answered(*commands: str, **more: Any) -> Json:
    """The end of a turn that answers these messages."""
    return result(user_message_uuids=list(commands), **more)


def ends(*messages: Json, steered: tuple[str, ...] = ()) -> list[int]:
    """At which messages the run is told to be over."""
    commands = Commands(PROMPT)
    for one in steered:
        commands.expect(one)
    return [index for index, message in enumerate(messages) if commands.ends(message)]


def test_a_run_without_more_ends_with_its_result() -> None:
    assert ends(life(PROMPT, "queued"), life(PROMPT, "started"), answered(PROMPT)) == [2]
    assert ends(result()) == [0]
    assert ends(result(origin={"kind": "task-notification"}), answered(FOREIGN)) == []


def test_a_result_in_between_is_not_the_end() -> None:
    turns = (
        answered(PROMPT),
        life(PROMPT, "completed"),
        life(FIRST, "started"),
        life(SECOND, "started"),
        answered(FIRST, SECOND),
    )
    assert ends(*turns, steered=(FIRST, SECOND)) == [4]


def test_what_was_folded_in_ends_with_its_turn() -> None:
    folded = (life(FIRST, "queued"), life(FIRST, "started"), life(FIRST, "completed"))
    assert ends(*folded, answered(PROMPT, FIRST)) == [3]
    assert ends(*folded, answered(PROMPT)) == [3]


def test_a_message_that_is_lost_does_not_hold_the_run() -> None:
    assert ends(life(FIRST, "cancelled"), answered(PROMPT), steered=(FIRST,)) == [1]
    assert ends(answered(PROMPT), life(FIRST, "discarded"), steered=(FIRST,)) == [1]
    assert ends(life(PROMPT, "cancelled")) == [0]


def test_another_server_knows_what_was_steered_in() -> None:
    commands = Commands(PROMPT)
    commands.ends(life(FOREIGN, "queued"))
    assert commands.steered == []
    for number in (0, 1, 9):
        commands.ends(life(steer_uuid(PROMPT, number), "queued"))
    assert commands.steered == [FIRST, SECOND, steer_uuid(PROMPT, 9)]
    assert not commands.ends(answered(PROMPT))
    # what is still on its way to the CLI keeps its uuid
    assert commands.next_steer(skip=True) == steer_uuid(PROMPT, 18)
    assert commands.next_steer() == steer_uuid(PROMPT, 19)


def test_the_end_of_an_earlier_message_begins_nothing() -> None:
    commands = Commands(PROMPT)
    commands.ends(life(steer_uuid(PROMPT, 3), "completed"))
    assert commands.steered == []


def _told(*messages: Json, steered: tuple[str, ...] = (FIRST,)) -> list[Any]:
    translator = Translator(Turn(PROMPT, "/project"))
    for one in steered:
        translator.commands.expect(one)
    return [body for message in messages for body in translator.feed(json.dumps(message))]


def _spent(count: int, cost: float) -> Json:
    return {"m": {"inputTokens": count, "outputTokens": 1, "costUSD": cost}}


def test_the_end_counts_all_turns_of_the_run() -> None:
    first = answered(PROMPT, duration_ms=10, model_usage_since_last_result=_spent(5, 0.25))
    second = answered(FIRST, duration_ms=5, model_usage_since_last_result=_spent(7, 0.5))
    usage, complete = _told(first, second)
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (12, 2, 0.75)
    assert (complete.outcome, complete.num_turns, complete.duration_ms) == ("completed", 2, 15)


def test_a_turn_that_failed_in_between_is_told() -> None:
    failed = answered(PROMPT, is_error=True, result="API Error: it broke", api_error_status=529)
    bodies = _told(init(), failed, assistant("m2", {"type": "text", "text": "x"}), answered(FIRST))
    (notice,) = [body for body in bodies if isinstance(body, Notice)]
    assert (notice.level, notice.code) == ("error", "provider_overloaded")
    assert "it broke" in notice.text
    assert bodies[-1].outcome == "completed"


def test_a_message_that_the_cli_did_not_take_is_told() -> None:
    notice, complete = _told(answered(PROMPT), life(FIRST, "refused"))
    assert isinstance(notice, Notice)
    assert notice.code == "steer_lost"
    assert isinstance(complete, Complete)
    assert complete.outcome == "completed"
    early, _ = _told(life(FIRST, "refused"), answered(PROMPT))
    assert early.code == "steer_lost"


def test_a_run_that_ends_with_a_lost_message_ends_as_its_last_turn_did() -> None:
    spent = answered(PROMPT, model_usage_since_last_result=_spent(5, 0.25))
    _notice, usage, complete = _told(spent, life(FIRST, "refused"))
    assert (usage.input_tokens, complete.num_turns) == (5, 1)
    failed = answered(PROMPT, is_error=True, result="API Error: it broke")
    *_, error, complete = _told(failed, life(FIRST, "cancelled"))
    assert (error.type, complete.outcome) == ("error", "failed")


def test_the_failure_of_one_turn_is_not_told_as_that_of_the_next() -> None:
    text = {"type": "text", "text": "it broke"}
    reported = assistant("m1", text, error="rate_limit", is_api_error_message=True)
    failed = answered(PROMPT, is_error=True)
    bodies = _told(reported, failed, answered(FIRST, is_error=True))
    assert [body.code for body in bodies if body.type != "complete"] == [
        "provider_rate_limited",
        "provider_error",
    ]


def test_stop_in_a_later_turn_cancels_the_run() -> None:
    aborted = answered(FIRST, is_error=True, terminal_reason="aborted_streaming")
    bodies = _told(answered(PROMPT), aborted)
    assert [body.type for body in bodies] == ["complete"]
    assert bodies[0].outcome == "cancelled"
