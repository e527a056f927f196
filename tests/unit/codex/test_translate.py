"""Single messages of Codex in our words."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.protocol.events import ToolUseEnd, ToolUseStart
from jupyter_agentchat.protocol.tools import ImageBlock, JsonBlock, TextBlock
from jupyter_agentchat.providers.codex.translate.calls import ToolCalls
from jupyter_agentchat.providers.codex.translate.diffs import diffs_of
from jupyter_agentchat.providers.codex.translate.endings import explain
from jupyter_agentchat.providers.codex.translate.places import Places
from jupyter_agentchat.providers.codex.translate.text import TextStream
from jupyter_agentchat.providers.codex.translate.tools import describe, unwrap
from jupyter_agentchat.providers.codex.translate.usage import PlanLimits, TokenCount

PLACES = Places("/project")
SIGN_IN = "Run `codex login`."


def counts(total: int, last: int) -> dict[str, Any]:
    def of(number: int) -> dict[str, int]:
        return {"inputTokens": number, "cachedInputTokens": number // 2, "outputTokens": number}

    return {"total": of(total), "last": {**of(last), "totalTokens": last}, "modelContextWindow": 9}


def test_a_run_counts_what_it_used_itself() -> None:
    run = TokenCount(None)
    assert run.take(counts(130, 30))[0].output_tokens == 30
    (usage,) = run.take(counts(150, 20))
    # the cached part stands beside the rest of the input
    assert (usage.input_tokens, usage.cache_read_tokens, usage.output_tokens) == (25, 25, 50)
    assert (usage.context_used, usage.context_window) == (20, 9)


def test_what_is_said_again_of_before_is_not_counted() -> None:
    run = TokenCount(counts(100, 0)["total"])
    assert run.take(counts(100, 40)) == []
    assert run.take(counts(130, 30))[0].output_tokens == 30
    resumed = TokenCount(None)
    resumed.begin_behind(counts(100, 40))
    assert resumed.take(counts(100, 40)) == []
    assert resumed.take(counts(110, 10))[0].output_tokens == 10


def test_the_windows_of_the_plan_are_merged() -> None:
    limits = PlanLimits()
    week = {"usedPercent": 40, "windowDurationMins": 10080, "resetsAt": 1900000000}
    first = {"primary": {"usedPercent": 12, "windowDurationMins": 300}, "secondary": week}
    (told,) = limits.take(first)
    assert [(one.name, one.used_percent) for one in told.windows] == [
        ("5 hours", 12),
        ("7 days", 40),
    ]
    assert limits.take({"primary": None}) == []
    (told,) = limits.take({"primary": {"usedPercent": 130}})
    assert [one.used_percent for one in told.windows] == [100, 40]
    assert PlanLimits().take({"primary": None, "secondary": {"resetsAt": 10**30}}) == []


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        ({"message": '{"error":{"message":"Bad."}}'}, "provider_error", "Bad."),
        ({"message": '{"detail":"No."}'}, "provider_error", "No."),
        ({"message": "{broken"}, "provider_error", "{broken"),
        ({}, "provider_error", "The turn failed, and Codex does not say why."),
        (
            {"message": "401, url: https://h/v1?key=s", "codexErrorInfo": "unauthorized"},
            "provider_signed_out",
            "401, url: https://h/v1",
        ),
        (
            {"message": "Missing environment variable: `KEY`.", "codexErrorInfo": "other"},
            "provider_signed_out",
            "Missing environment variable: `KEY`.",
        ),
        (
            {"message": "x", "codexErrorInfo": {"responseStreamDisconnected": {}}},
            "network",
            "x",
        ),
        (
            {
                "message": "x",
                "codexErrorInfo": {"responseTooManyFailedAttempts": {"httpStatusCode": 429}},
            },
            "provider_rate_limited",
            "x",
        ),
        ({"message": "x", "codexErrorInfo": "cyberPolicy"}, "policy", "x"),
        ({"message": "x", "codexErrorInfo": "fromTheFuture"}, "provider_error", "x"),
    ],
)
def test_an_error_is_told_with_its_code_and_without_secrets(
    error: dict[str, Any], code: str, message: str
) -> None:
    told = explain(error, SIGN_IN)
    assert (told.code, told.message) == (code, message)
    assert told.hint


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("/bin/bash -lc 'make all'", "make all"),
        ('bash -c "echo \\"a\\""', 'echo "a"'),
        ("/bin/bash -lc ls", "ls"),
        ("make -c x", "make -c x"),
        ("python -c 'print()'", "python -c 'print()'"),
        ("bash -lc 'unclosed", "bash -lc 'unclosed"),
        ("", ""),
    ],
)
def test_the_command_is_shown_without_the_shell_around_it(command: str, inner: str) -> None:
    assert unwrap(command) == inner


@pytest.mark.parametrize(
    ("action", "title"),
    [
        ({"type": "read", "path": "/project/a.py"}, "Read a.py"),
        ({"type": "search", "query": "x y"}, "Search for x y"),
        ({"type": "listFiles", "path": None}, "List files"),
        ({"type": "listFiles", "path": "/etc"}, "List the files of /etc"),
        ({"type": "unknown"}, "sed -n 1p a.py"),
    ],
)
def test_a_title_says_what_a_command_is_for_and_the_input_what_it_is(
    action: dict[str, Any], title: str
) -> None:
    item = {
        "type": "commandExecution",
        "command": "sed -n 1p a.py",
        "cwd": "/project",
        "commandActions": [action],
    }
    described = describe(item, PLACES)
    assert described is not None
    assert (described.kind, described.title) == ("shell", title)
    assert described.input.model_dump()["command"] == "sed -n 1p a.py"
    assert described.input.model_dump()["cwd"] is None


def test_each_kind_of_change_is_a_diff_with_header_lines() -> None:
    changes = [
        {"path": "/project/new", "kind": {"type": "add"}, "diff": "a\nb\n"},
        {"path": "/project/old", "kind": {"type": "delete"}, "diff": "gone\n"},
        {"path": "/project/empty", "kind": {"type": "add"}, "diff": ""},
        {
            "path": "/project/x",
            "kind": {"type": "update", "move_path": "/project/y"},
            "diff": "@@ -1 +1 @@\n-p\n+q\n\n\nMoved to: /project/y",
        },
        {"path": "/project/z", "kind": "strange", "diff": "@@ -1 +1 @@\n-p\n+q\n"},
    ]
    diffs = diffs_of({"changes": changes}, PLACES)
    assert [(diff.path, diff.change, diff.added, diff.removed) for diff in diffs] == [
        ("new", "add", 2, 0),
        ("old", "delete", 0, 1),
        ("empty", "add", 0, 0),
        ("y", "move", 1, 1),
        ("z", "update", 1, 1),
    ]
    assert diffs[0].patch == "--- /dev/null\n+++ b/new\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    assert diffs[1].patch == "--- a/old\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-gone\n"
    assert diffs[3].patch == "--- a/x\n+++ b/y\n@@ -1 +1 @@\n-p\n+q\n"


def test_a_tools_answer_keeps_its_blocks_and_its_failure() -> None:
    calls = ToolCalls(PLACES)
    item: dict[str, Any] = {
        "type": "mcpToolCall",
        "server": "s",
        "tool": "t",
        "arguments": {"a": 1},
        "status": "completed",
        "result": {
            "content": [
                {"type": "text", "text": "hi"},
                {"type": "image", "mimeType": "image/png", "data": "AA=="},
                {"type": "audio", "data": "BB=="},
            ]
        },
    }
    start, end = calls.end("k1", item)
    assert isinstance(start, ToolUseStart)
    assert isinstance(end, ToolUseEnd)
    assert [type(block) for block in end.output] == [TextBlock, ImageBlock, JsonBlock]
    assert calls.end("k1", item) == []
    failed = {**item, "result": None, "error": {"message": "no such tool"}}
    _, end = calls.end("k2", failed)
    assert isinstance(end, ToolUseEnd)
    assert (end.status, end.is_error) == ("failed", True)


def test_reasoning_without_a_summary_is_shown_as_it_is() -> None:
    stream = TextStream()
    (delta,) = stream.raw_delta("k", {"delta": "Let me see"})
    (final,) = stream.reasoning("k", {"summary": [], "content": ["Let me see."]})
    assert final.model_dump()["item_id"] == delta.model_dump()["item_id"]
    assert final.model_dump()["text"] == "Let me see."
    assert stream.reasoning("k", {"content": ["Let me see."]}) == []
    (only,) = TextStream().reasoning("k", {"summary": ["A", "B"], "content": ["raw"]})
    assert only.model_dump()["text"] == "A\n\nB"


def test_an_item_that_goes_on_behind_its_end_says_nothing_more() -> None:
    stream = TextStream()
    assert stream.answer("k", "") == []
    assert len(stream.answer("k", "All.")) == 1
    assert stream.answer("k", "All.") == stream.answer_delta("k", "more") == []
