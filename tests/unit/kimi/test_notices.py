"""What Kimi Code says about itself, and how failures are named."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.protocol.events import Complete, Error, Notice, System
from jupyter_agentchat.providers.kimi.translate import Translator
from jupyter_agentchat.providers.kimi.translate.endings import failure
from jupyter_agentchat.providers.kimi.translate.notices import notice_bodies


def test_retries_compaction_warnings_and_failed_helpers_are_told() -> None:
    retry = {"statusCode": 429, "nextAttempt": 2, "maxAttempts": 10}
    (notice,) = notice_bodies("turn.step.retrying", retry) or []  # type: ignore[arg-type]
    assert isinstance(notice, Notice)
    assert notice.text == (
        "The model's service asks to slow down (HTTP 429). Trying again (2 of 10)."
    )
    done = {"result": {"tokensBefore": 900, "tokensAfter": 100, "summary": "long"}}
    (system,) = notice_bodies("compaction.completed", done) or []  # type: ignore[arg-type]
    assert isinstance(system, System)
    assert system.data == {"tokensBefore": 900, "tokensAfter": 100}
    (warned,) = notice_bodies("warning", {"message": "careful", "code": "c"}) or []
    assert isinstance(warned, Notice)
    assert (warned.level, warned.code, warned.text) == ("warning", "c", "careful")
    (failed,) = notice_bodies("subagent.failed", {"error": "no"}) or []
    assert isinstance(failed, Notice)
    assert failed.text == "A helper agent failed: no"
    assert notice_bodies("from.the.future", {}) is None


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("auth.login_required", "provider_signed_out"),
        ("provider.auth_error", "provider_signed_out"),
        ("provider.rate_limit", "provider_rate_limited"),
        ("provider.overloaded", "provider_overloaded"),
        ("provider.connection_error", "network"),
        ("context.overflow", "context_overflow"),
        ("model.not_configured", "model_not_found"),
        ("from.the_future", "provider_error"),
    ],
)
def test_a_failure_has_a_name_and_a_next_step(code: str, named: str) -> None:
    error = failure({"code": code, "message": "no", "details": {"statusCode": 418}})
    assert (error.code, error.message, error.detail["http_status"]) == (named, "no", 418)
    assert error.hint
    assert failure({}).message


def turn(*events: dict[str, Any]) -> Translator:
    """A translator that has read a run's beginning and `events`."""
    translator = Translator("r", "/w")
    begun = {"type": "turn.started", "payload": {"promptId": "agentchat-r", "turnId": 1}}
    for seq, frame in enumerate((begun, *events), 1):
        payload = {"agentId": "main", "turnId": 1, **frame.get("payload", {})}
        translator.read({**frame, "seq": seq, "payload": payload})
    return translator


def test_an_answer_without_an_end_mark_is_called_perhaps_cut() -> None:
    step = {"type": "turn.step.completed", "payload": {"finishReason": "end_turn", "usage": {}}}
    ended = {
        "type": "turn.ended",
        "seq": 9,
        "payload": {"agentId": "main", "turnId": 1, "reason": "completed"},
    }
    (notice,) = turn(step).read(ended)
    assert isinstance(notice, Notice)
    assert notice.code == "answer_cut"
    whole = {**step, "payload": {**step["payload"], "providerFinishReason": "completed"}}
    assert turn(whole).read(ended) == ()


@pytest.mark.parametrize("stopping", [False, True])
def test_a_turn_that_fails_because_it_was_stopped_is_stopped(*, stopping: bool) -> None:
    error = {"code": "context.overflow", "message": "too long"}
    translator = turn({"type": "turn.ended", "payload": {"reason": "failed", "error": error}})
    translator.stopping = stopping
    over = {"agentId": "main", "promptId": "agentchat-r"}
    bodies = translator.read({"type": "prompt.completed", "seq": 9, "payload": over})
    end = bodies[-1]
    assert isinstance(end, Complete)
    assert end.outcome == ("cancelled" if stopping else "failed")
    assert [isinstance(body, Error) for body in bodies].count(True) == (not stopping)
