"""What a run tells of tokens, of the context's fill and of the person's plan."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from jupyter_agentchat.protocol.events import Complete, PlanUsage, System, Usage
from jupyter_agentchat.protocol.tools import PlanWindow
from jupyter_agentchat.providers.claude.translate import Translator, Turn
from jupyter_agentchat.providers.claude.translate.meters import plan_of_answer, plan_of_event
from tests.waiting import until

from .scripted import Json, ScriptedHandle, event, init, result
from .stage import Play, Stage

MODEL = "m-1"
COMPACTED = {"type": "system", "subtype": "compact_boundary", "compact_metadata": {}}


def reply(number: int, *, given: int, cached: int = 0, said: int = 5) -> list[Json]:
    """The stream of one reply of the model, without its blocks."""
    usage = {"input_tokens": given, "cache_read_input_tokens": cached, "output_tokens": 1}
    message = {"id": f"m{number}", "model": MODEL, "usage": usage}
    return [
        event("message_start", message=message),
        event("message_delta", usage={"output_tokens": said}),
    ]


def feed(*messages: Json, windows: dict[str, int] | None = None) -> list[Any]:
    translator = Translator(Turn("u", "/project", windows=windows or {}))
    return [body for message in messages for body in translator.feed(json.dumps(message))]


def usages(bodies: list[Any]) -> list[tuple[int | None, ...]]:
    """(input, output, context used, context window) of each."""
    return [
        (body.input_tokens, body.output_tokens, body.context_used, body.context_window)
        for body in bodies
        if isinstance(body, Usage)
    ]


def test_tokens_add_up_while_the_context_is_what_the_last_reply_had() -> None:
    bodies = feed(init(), *reply(1, given=100), *reply(2, given=20, cached=100, said=30))
    assert usages(bodies) == [(100, 5, 105, None), (120, 35, 150, None)]


def test_the_size_of_the_context_is_known_with_the_result_or_from_before() -> None:
    end = result(
        modelUsage={MODEL: {"contextWindow": 1000}},
        model_usage_since_last_result={MODEL: {"inputTokens": 150, "outputTokens": 5}},
    )
    bodies = feed(init(), *reply(1, given=100), end)
    assert usages(bodies) == [(100, 5, 105, None), (150, 5, 105, 1000)]
    (complete,) = [body for body in bodies if isinstance(body, Complete)]
    assert complete.usage == [body for body in bodies if isinstance(body, Usage)][-1]
    assert usages(feed(*reply(1, given=100), windows={MODEL: 1000})) == [(100, 5, 105, 1000)]


def test_after_a_compaction_the_fill_is_unknown_until_the_next_reply() -> None:
    bodies = feed(init(), *reply(1, given=100), COMPACTED, *reply(2, given=10))
    assert usages(bodies) == [(100, 5, 105, None), (100, 5, None, None), (110, 10, 15, None)]
    assert [body.subtype for body in bodies if isinstance(body, System)] == ["compaction"]


def test_a_helpers_replies_are_no_part_of_the_context() -> None:
    lines = [{**line, "parent_tool_use_id": "t1"} for line in reply(1, given=100)]
    assert feed(*lines) == []


def test_a_compaction_that_failed_is_told() -> None:
    line = {"type": "system", "subtype": "status", "compact_result": "failed"}
    (notice,) = feed({**line, "compact_error": "the service had a fault"})
    assert (notice.code, notice.level) == ("compaction_failed", "warning")
    assert "the service had a fault" in notice.text


def limits_event(used: float) -> Json:
    windows = {
        "five_hour": {"utilization": used, "resetsAt": 1_800_000_000},
        "seven_day": {"utilization": 0.4},
        "seven_day_opus": {"utilization": None},
        "odd": 3,
    }
    return {"type": "rate_limit_event", "rate_limit_info": {"unifiedWindows": windows}}


def test_the_plans_windows_are_told_when_they_change() -> None:
    bodies = feed(limits_event(0.91), limits_event(0.91), limits_event(0.92))
    resets = "2027-01-15T08:00:00.000Z"
    first = PlanWindow(name="5 hours", used_percent=91.0, resets_at=resets)
    assert bodies[0] == PlanUsage(windows=[first, PlanWindow(name="7 days", used_percent=40.0)])
    assert [body.windows[0].used_percent for body in bodies] == [91.0, 92.0]


def test_the_answer_to_our_question_counts_in_per_cent() -> None:
    limits = {
        "five_hour": {"utilization": 12.5, "resets_at": "2026-12-01T02:00:00Z"},
        "seven_day_oauth_apps": None,
        "next_thing": {"utilization": 140},
    }
    assert plan_of_answer({"rate_limits": limits}) == PlanUsage(
        windows=[
            PlanWindow(name="5 hours", used_percent=12.5, resets_at="2026-12-01T02:00:00Z"),
            PlanWindow(name="next thing", used_percent=100.0),
        ]
    )


@pytest.mark.parametrize("answer", [{}, {"rate_limits": None}, {"rate_limits": {"five_hour": {}}}])
def test_an_account_without_a_plan_has_no_windows(answer: Json) -> None:
    assert plan_of_answer(answer) is None


def test_an_older_event_names_one_window_only() -> None:
    info = {"rateLimitType": "seven_day", "utilization": 0.5, "resetsAt": 1e300}
    usage = plan_of_event({"rate_limit_info": info})
    assert usage == PlanUsage(windows=[PlanWindow(name="7 days", used_percent=50.0)])
    assert plan_of_event({"rate_limit_info": {"status": "allowed"}}) is None


@pytest.mark.parametrize("subscribed", [True, False])
def test_who_has_a_plan_sees_what_is_used_up_from_the_first_run_on(
    play: Play, subscribed: bool
) -> None:
    async def act(stage: Stage) -> None:
        account = {"subscriptionType": "max"} if subscribed else {"apiKeySource": "KEY"}
        limits = {"five_hour": {"utilization": 12.5, "resets_at": None}}

        def tell(cli: ScriptedHandle, message: Json) -> None:
            cli.payloads = {
                "initialize": [{"response": {"account": account}}],
                "get_usage": [{"response": {"rate_limits": limits}}],
            }

        stage.launcher.act = tell
        run = await stage.start()
        following = asyncio.create_task(stage.follow(run))
        stage.cli.say(init())
        if subscribed:
            await until(lambda: any(isinstance(body, PlanUsage) for body in stage.bodies))
        stage.cli.say(limits_event(0.125), result())
        await following
        told = [body for body in stage.bodies if isinstance(body, PlanUsage)]
        assert [one.windows[0].used_percent for one in told] == [12.5] * (1 + subscribed)
        assert bool(stage.cli.requests("get_usage")) is subscribed

    play(act)
