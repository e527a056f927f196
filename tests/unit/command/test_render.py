"""A run reads well in a terminal: the answer on stdout, one line for everything else on stderr."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_agentchat.command.render import (
    JsonPrinter,
    TextPrinter,
    describe_end,
    describe_failure,
    describe_tool,
)


def said(pipe: Any, *events: dict[str, Any]) -> tuple[str, str]:
    printer = TextPrinter(pipe.screen)
    for event in events:
        printer.event(event)
    return pipe.out, pipe.err


def delta(text: str, item: str = "i") -> dict[str, Any]:
    return {"type": "assistant_text", "item_id": item, "delta": text, "final": False}


def final(text: str, item: str = "i") -> dict[str, Any]:
    return {"type": "assistant_text", "item_id": item, "text": text, "final": True}


def test_the_final_text_is_not_said_twice(pipe: Any) -> None:
    assert said(pipe, delta("Hel"), delta("lo"), final("Hello"))[0] == "Hello"


def test_after_a_lost_connection_only_the_missing_part_is_said(pipe: Any) -> None:
    assert said(pipe, delta("Hel"), final("Hello, world"))[0] == "Hello, world"


def test_a_final_that_says_something_else_is_said_whole(pipe: Any) -> None:
    assert said(pipe, delta("Draft"), final("Another text"))[0] == "Draft\nAnother text"


def test_a_final_that_was_only_trimmed_is_not_said_again(pipe: Any) -> None:
    assert said(pipe, delta("Hello \n"), final("Hello"))[0] == "Hello \n"


def test_items_are_paragraphs_and_the_last_line_is_ended(pipe: Any) -> None:
    end = {"type": "complete", "outcome": "completed"}
    assert said(pipe, final("one", "a"), final("two\n", "b"), end)[0] == "one\n\ntwo\n"


def test_reasoning_is_one_line_beside_the_answer(pipe: Any) -> None:
    event = {"type": "thinking", "item_id": "t", "text": "\nFirst.\nSecond.", "final": True}
    assert said(pipe, {**event, "final": False}, event) == ("", "reasoning  First.\n")


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"kind": "read", "input": {"path": "a.py", "start_line": 3, "end_line": 9}}, "a.py:3-9"),
        ({"kind": "edit", "input": {"path": "a.py"}}, "edit  a.py"),
        ({"kind": "shell", "input": {"command": "ls -l"}}, "shell  ls -l"),
        ({"kind": "search", "input": {"query": "word"}}, "search  word"),
        ({"kind": "fetch", "input": {"url": "https://x.org"}}, "fetch  https://x.org"),
        ({"kind": "mcp", "input": {"server": "s", "tool": "t"}}, "mcp  s t"),
        ({"kind": "other", "name": "Hologram", "title": "a cube", "input": {}}, "Hologram  a cube"),
        ({"kind": "read", "parent_tool_id": "p", "input": {"path": "x"}}, "  read  x"),
        ({}, "tool"),
    ],
)
def test_a_tool_call_is_a_line_with_its_subject(event: dict[str, Any], line: str) -> None:
    assert describe_tool(event).endswith(line)


def test_a_call_whose_arguments_are_streamed_is_told_once_it_has_a_subject(pipe: Any) -> None:
    start = {"type": "tool_use_start", "tool_id": "1", "kind": "shell", "input": {"command": ""}}
    full = {**start, "input": {"command": "ls"}}
    assert said(pipe, start, full, full)[1] == "shell\nshell  ls\n"


def test_a_failed_call_says_why(pipe: Any) -> None:
    end = {"type": "tool_use_end", "tool_id": "1", "status": "failed", "exit_code": 2}
    output = [{"type": "text", "text": "\nno such file\nmore"}]
    assert describe_failure({**end, "output": output}) == "failed: exit 2: no such file"
    assert said(pipe, {**end, "output": output})[1] == "  failed: exit 2: no such file\n"


def test_changed_files_are_named_with_their_counts(pipe: Any) -> None:
    diff = {"path": "a.md", "added": 3, "removed": 1}
    end = {"type": "tool_use_end", "tool_id": "1", "status": "completed", "diffs": [diff]}
    assert said(pipe, end)[1] == "  a.md  +3 -1\n"


def test_an_error_says_what_to_do_next(pipe: Any) -> None:
    event = {"type": "error", "message": "Not signed in.", "hint": "Run `claude login`."}
    assert said(pipe, event)[1] == "error  Not signed in.\n  Run `claude login`.\n"


def test_what_is_unknown_about_the_end_is_left_out_and_never_zero() -> None:
    usage = {"input_tokens": 1200, "output_tokens": None}
    event = {"outcome": "completed", "duration_ms": 1234, "usage": usage, "cost_usd": None}
    assert describe_end(event) == "completed, 1.2 s, 1,200 tokens in"
    assert describe_end({"outcome": "cancelled"}) == "cancelled"


def test_the_checklist_is_told_by_its_present_step(pipe: Any) -> None:
    def plan(*states: str) -> dict[str, Any]:
        entries = [{"text": f"step {n}", "status": s} for n, s in enumerate(states, 1)]
        return {"type": "plan", "entries": entries}

    events = (plan("completed", "in_progress"), plan("completed", "pending"), plan("completed"))
    assert said(pipe, *events)[1] == "plan  1 of 2 done, now: step 2\nplan  1 of 1 done\n"


def test_events_from_a_newer_server_are_no_error(pipe: Any) -> None:
    assert said(pipe, {"type": "hologram"}, {}, {"type": "system", "subtype": "x"}) == ("", "")


def test_json_lines_are_the_events_untouched(pipe: Any) -> None:
    event = {"chat_id": "c", "seq": 1, "type": "hologram", "text": "ü\n\x1b"}
    JsonPrinter(pipe.screen).event(event)
    assert json.loads(pipe.out) == event
    assert pipe.out.count("\n") == 1
    assert pipe.err == ""
