"""What the translator makes of lines that no recording holds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Complete,
    Error,
    Notice,
    Session,
    System,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from jupyter_agentchat.protocol.tools import (
    FetchInput,
    ImageBlock,
    JsonBlock,
    McpInput,
    NotebookInput,
    OtherInput,
    ReadInput,
    SearchInput,
    ShellInput,
    TextBlock,
    WriteInput,
)
from jupyter_agentchat.providers.claude.translate import Translator, Turn
from jupyter_agentchat.providers.claude.translate.places import Places
from jupyter_agentchat.providers.claude.translate.tools import describe

from .scripted import assistant, can_use_tool, event, init, result, tool_result

UUID = "u-1"


def feed(*messages: Any) -> list[Any]:
    translator = Translator(Turn(UUID, "/project"))
    return [body for message in messages for body in translator.feed(json.dumps(message))]


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def test_text_of_a_message_that_broke_off_is_taken_away() -> None:
    bodies = feed(
        event("message_start", message={"id": "m1"}),
        event("content_block_start", index=0, content_block={"type": "text"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "This beg"}),
        event("content_block_stop", index=0),
        event("message_stop"),
        event("message_start", message={"id": "m2"}),
        event("content_block_start", index=0, content_block={"type": "text"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "This begins"}),
        assistant("m2", _text("This begins")),
    )
    assert [(b.item_id, b.delta, b.text, b.final) for b in bodies] == [
        ("m1:0", "This beg", None, False),
        ("m1:0", None, "", True),
        ("m2:0", "This begins", None, False),
        ("m2:0", None, "This begins", True),
    ]


def test_text_that_comes_anew_without_a_stream_replaces_the_broken_one() -> None:
    bodies = feed(
        event("message_start", message={"id": "m1"}),
        event("content_block_start", index=0, content_block={"type": "text"}),
        event("content_block_delta", index=0, delta={"type": "text_delta", "text": "This beg"}),
        assistant("m2", _text("This begins")),
    )
    assert [(b.item_id, b.text) for b in bodies if b.final] == [
        ("m1:0", ""),
        ("m2:0", "This begins"),
    ]


def _streamed_write(content: str) -> list[Any]:
    block = {"type": "tool_use", "id": "t1", "name": "Write"}
    arguments = json.dumps({"file_path": "/project/a.txt", "content": content})
    pieces = [arguments[at : at + 500] for at in range(0, len(arguments), 500)]
    return [
        event("message_start", message={"id": "m1"}),
        event("content_block_start", index=1, content_block=block),
        *(event("content_block_delta", index=1, delta={"partial_json": piece}) for piece in pieces),
    ]


def test_a_call_with_long_arguments_is_announced_while_they_stream() -> None:
    content = "line\n" * 1000
    whole = {"type": "tool_use", "id": "t1", "name": "Write"}
    whole["input"] = {"file_path": "/project/a.txt", "content": content}
    early, late = feed(*_streamed_write(content), assistant("m1", whole))
    assert (early.tool_id, early.title, early.input) == (
        "t1",
        "Write a.txt",
        WriteInput(path="a.txt"),
    )
    assert early.raw_input is None
    assert (late.tool_id, late.input) == ("t1", WriteInput(path="a.txt", size=5000))
    assert feed(*_streamed_write("short")) == []


def test_a_call_that_was_announced_and_never_made_is_closed() -> None:
    bodies = feed(*_streamed_write("x" * 5000), event("message_start", message={"id": "m2"}))
    start, end = bodies
    assert (start.tool_id, end.tool_id, end.status) == ("t1", "t1", "cancelled")


def test_blocks_without_stream_events_are_numbered_in_order() -> None:
    bodies = feed(assistant("m1", _text("one")), assistant("m1", _text("two")))
    assert [body.item_id for body in bodies] == ["m1:0", "m1:1"]


def test_the_same_line_again_is_not_shown_again() -> None:
    line = assistant("m1", _text("once"), uuid="l-1")
    assert len(feed(line, line)) == 1
    kept = {"preserved_messages": {"uuids": ["l-1"]}}
    boundary = {"type": "system", "subtype": "compact_boundary", "compact_metadata": kept}
    assert feed(boundary, line) == [System(subtype="compaction"), Usage()]


def test_words_of_the_cli_to_the_model_and_of_helpers_are_not_shown() -> None:
    assert (
        feed(
            {"type": "user", "isSynthetic": True, "message": {"content": [_text("skill body")]}},
            {"type": "user", "isReplay": True, "message": {"content": "<local-command-stdout>"}},
            {"type": "user", "message": {"content": [_text("[Request interrupted by user]")]}},
            assistant("m1", _text("a helper thinks"), parent_tool_use_id="t0"),
            {**event("content_block_start", index=0), "parent_tool_use_id": "t0"},
        )
        == []
    )


def test_a_helpers_calls_hang_below_it() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": "/project/a"}}
    (start,) = feed(assistant("m1", call, parent_tool_use_id="t0"))
    assert start.parent_tool_id == "t0"
    assert start.input == ReadInput(path="a")


def test_content_of_an_unknown_kind_is_said() -> None:
    (notice,) = feed(assistant("m1", {"type": "hologram"}))
    assert (notice.code, "hologram" in notice.text) == ("unknown_content", True)
    call = {"type": "server_tool_use", "id": "t1", "name": "web_search", "input": {"query": "x"}}
    answer = {"type": "web_search_tool_result", "tool_use_id": "t1", "content": [{"url": "u"}]}
    start, end = feed(assistant("m1", call), assistant("m1", answer))
    assert isinstance(start, ToolUseStart)
    assert end.output == [JsonBlock(value={"url": "u"})]


def test_nul_and_half_characters_do_not_break_an_event() -> None:
    translator = Translator(Turn(UUID, "/project"))
    block = r'{"type":"text","text":"a\u0000b\ud83d"}'
    line = f'{{"type":"assistant","message":{{"id":"m1","content":[{block}]}}}}'
    (body,) = translator.feed(line)
    assert body.text == "a\ufffdb\ufffd"
    whole = translator.feed(line.replace("m1", "m2").replace(r"a\u0000b\ud83d", r"\ud83d\ude00"))
    assert whole[0].text == "\U0001f600"


def test_an_id_that_is_too_long_stays_one_id() -> None:
    call = {"type": "tool_use", "id": "t" * 500, "name": "Bash", "input": {"command": "ls"}}
    start, end = feed(assistant("m1", call), tool_result("t" * 500, "done"))
    assert start.tool_id == end.tool_id
    assert len(start.tool_id) <= 200


def test_the_turn_of_somebody_else_does_not_end_the_run() -> None:
    other = result(origin={"kind": "task-notification"})
    named = result(user_message_uuids=["u-0"])
    mine = result(user_message_uuids=["u-0", UUID])
    bodies = feed(other, named, mine, assistant("m9", _text("after the end")))
    assert [body.type for body in bodies] == ["complete"]


@pytest.mark.parametrize("state", ["cancelled", "discarded", "refused"])
def test_a_prompt_that_never_started_ends_without_a_result(state: str) -> None:
    line = {"type": "command_lifecycle", "command_uuid": UUID, "state": state}
    assert feed({**line, "command_uuid": "u-0"}, line) == [Complete(outcome="cancelled")]


def test_an_aborted_turn_is_never_an_error_whatever_it_is_called() -> None:
    for more in ({"subtype": "error_during_execution", "is_error": True}, {}):
        aborted = result(terminal_reason="aborted_streaming", errors=["[ede_diagnostic] x"], **more)
        (complete,) = feed(aborted)
        assert complete.outcome == "cancelled"


def test_success_is_what_is_no_error_not_what_is_called_success() -> None:
    line = result(is_error=True, result="API Error: gone", api_error="connection_failed")
    error, complete = feed(line)
    assert isinstance(error, Error)
    assert (error.code, error.message) == ("network", "API Error: gone")
    assert complete.outcome == "failed"
    error, _ = feed(result(is_error=True, errors=["[x_diagnostic] y"]))
    assert error.message == "The agent stopped without an answer."


def test_cost_and_tokens_are_those_of_the_turn() -> None:
    model = {"inputTokens": 10, "outputTokens": 2, "costUSD": 0.25}
    line = result(
        total_cost_usd=9.0,
        modelUsage={"m": {"inputTokens": 999}},
        model_usage_since_last_result={"m": model, "n": model},
    )
    usage, complete = feed(line)
    assert (usage.input_tokens, usage.output_tokens, usage.cost_usd) == (20, 4, 0.5)
    assert usage.cache_read_tokens is None
    assert (complete.usage, complete.cost_usd) == (usage, 0.5)
    (unknown,) = feed(result())
    assert (unknown.usage, unknown.cost_usd) == (None, None)


def test_a_new_session_id_is_told_and_a_cleared_conversation_is_said() -> None:
    reset = {"type": "conversation_reset", "new_conversation_id": "s-2"}
    bodies = feed(init("s-1"), reset, init("s-2"), result(session_id="s-3"))
    sessions = [b.provider_session_id for b in bodies if isinstance(b, Session)]
    assert sessions == ["s-1", "s-2", "s-3"]
    assert [b.code for b in bodies if isinstance(b, Notice)] == ["conversation_reset"]


def test_a_changed_permission_mode_is_told_once() -> None:
    status = {"type": "system", "subtype": "status", "permissionMode": "plan"}
    bodies = feed(init(), status, status)
    assert [b.data for b in bodies if isinstance(b, System)] == [{"mode": "plan"}]


def test_notices_of_the_cli_are_passed_on() -> None:
    line = {
        "type": "system",
        "subtype": "informational",
        "content": "Heads up.",
        "level": "warning",
    }
    assert feed(line) == [Notice(level="warning", code="informational", text="Heads up.")]


def test_results_keep_pictures_and_what_is_no_text() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    (end,) = feed(tool_result("t1", [{"type": "image", "source": source}, {"type": "odd"}, 3]))
    assert end.output == [
        ImageBlock(mime="image/png", data="AAAA"),
        JsonBlock(value={"type": "odd"}),
        JsonBlock(value=3),
    ]


def test_a_withdrawn_ask_is_closed_once() -> None:
    ask = can_use_tool("r1", "Bash", {"command": "ls"})
    cancel = {"type": "control_cancel_request", "request_id": "r1"}
    opened, closed = feed(ask, cancel, cancel)
    assert isinstance(opened, Ask)
    assert (closed.ask_id, closed.decision) == ("r1", "withdrawn")


def test_a_large_write_shows_its_lines_in_the_ask() -> None:
    arguments = {"file_path": "/project/a/b.txt", "content": "1\n2\n3\n"}
    (ask,) = feed(can_use_tool("r1", "Write", arguments))
    (diff,) = ask.diffs
    assert (diff.path, diff.change, diff.added) == ("a/b.txt", "add", 3)
    huge = {"file_path": "/project/a", "old_string": "a\n" * 5000, "new_string": "b\n" * 5000}
    (ask,) = feed(can_use_tool("r1", "Edit", huge))
    (diff,) = ask.diffs
    assert (diff.patch, diff.added, diff.removed) == (None, 5000, 5000)


def test_output_of_a_silent_command_is_empty() -> None:
    silent = {"stdout": "", "stderr": "", "interrupted": False}
    (end,) = feed(tool_result("t1", "(no output)", tool_use_result=silent))
    assert isinstance(end, ToolUseEnd)
    assert end.output == []


@pytest.mark.parametrize(
    ("name", "arguments", "title", "expected"),
    [
        (
            "Read",
            {"file_path": "/project/a.py", "offset": 5, "limit": 10},
            "Read a.py",
            ReadInput(path="a.py", start_line=5, end_line=14),
        ),
        ("Read", {"file_path": "/etc/hosts"}, "Read /etc/hosts", ReadInput(path="/etc/hosts")),
        (
            "Read",
            {"file_path": "/project/../secret"},
            "Read /project/../secret",
            ReadInput(path="/project/../secret"),
        ),
        (
            "Grep",
            {"pattern": "def ", "path": "/project/src", "glob": "*.py"},
            "Search for def",
            SearchInput(query="def ", path="src", glob="*.py"),
        ),
        ("Glob", {"pattern": "*.py"}, "Search for *.py", SearchInput(query="*.py")),
        ("Bash", {"command": "ls\nrm x"}, "ls", ShellInput(command="ls\nrm x")),
        ("WebFetch", {"url": "http://x"}, "Fetch http://x", FetchInput(url="http://x")),
        (
            "NotebookEdit",
            {"notebook_path": "/project/a.ipynb", "cell_id": "c", "edit_mode": "insert"},
            "Insert a cell of a.ipynb",
            NotebookInput(path="a.ipynb", cells=["c"], op="insert"),
        ),
        (
            "mcp__my_server__do__it",
            {"a": 1},
            "my_server: do__it",
            McpInput(server="my_server", tool="do__it", arguments={"a": 1}),
        ),
        ("Bash", {"command": 7}, "Bash", OtherInput()),
        ("Newest", {"x": 1}, "Newest", OtherInput()),
    ],
)
def test_a_call_is_shown_by_what_it_does(
    name: str, arguments: dict[str, Any], title: str, expected: Any
) -> None:
    _, shown, typed = describe(name, arguments, Places("/project"))
    assert (shown, typed) == (title, expected)


def test_a_file_that_was_read_shows_its_text_without_line_numbers() -> None:
    structured = {"type": "text", "file": {"content": "x = 1\n"}}
    (end,) = feed(tool_result("t1", "1\tx = 1", tool_use_result=structured))
    assert end.output == [TextBlock(text="x = 1\n")]
    streamed = [body for body in feed(assistant("m", _text(""))) if isinstance(body, AssistantText)]
    assert streamed == []
