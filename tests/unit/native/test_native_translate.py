"""What becomes of the lines of a native agent, good, odd and broken."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jupyter_agentchat.process.framing import Frame, LineFramer, Oversize
from jupyter_agentchat.protocol.events import EVENT_BODY, EventBody
from jupyter_agentchat.providers.native.translate import Translator
from jupyter_agentchat.providers.native.wire import parse_hello

TEXT = {"type": "assistant_text", "item_id": "a", "delta": "hé"}
COMPLETE = {"type": "complete", "outcome": "completed"}
CANCELLED = {"type": "complete", "outcome": "cancelled"}
START: dict[str, Any] = {"type": "tool_use_start", "tool_id": "t", "name": "Look"}


def frames_of(*lines: Any) -> list[Frame]:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    framer = LineFramer()
    framer.feed(text.encode() + b"\n")
    return list(framer.frames())


def translate(*lines: Any) -> list[EventBody]:
    translator = Translator("mine", "Mine")
    return [body for frame in frames_of(*lines) for body in translator.feed(frame)]


def summary(bodies: list[EventBody]) -> list[str]:
    return [body.type for body in bodies]


RECORDING = [
    {"type": "session", "provider": "whoever", "provider_session_id": "s"},
    {"type": "thinking", "item_id": "r", "delta": "hm ü"},
    TEXT,
    {"type": "hologram"},
    {**START, "kind": "browse", "input": {"depth": 3}},
    {"type": "tool_use_end", "tool_id": "t", "status": "well", "output": "plain"},
    "no JSON at all",
    {"type": "error", "code": "network", "message": "gone"},
    {"type": "complete", "outcome": "failed"},
    TEXT,
]


def test_the_same_lines_give_the_same_bodies_however_they_are_cut() -> None:
    data = b"".join(
        (line if isinstance(line, str) else json.dumps(line, ensure_ascii=False)).encode() + b"\n"
        for line in RECORDING
    )

    def run(*chunks: bytes) -> list[tuple[int, tuple[EventBody, ...]]]:
        framer, translator = LineFramer(), Translator("mine", "Mine")
        found = []
        for chunk in chunks:
            framer.feed(chunk)
            found += [(frame.end, translator.feed(frame)) for frame in framer.frames()]
        return found

    whole = run(data)
    assert run(data) == whole
    for cut in range(len(data)):
        assert run(data[:cut], data[cut:]) == whole


def test_good_bodies_pass_as_they_are() -> None:
    bodies = translate(TEXT, COMPLETE)
    assert bodies == [EVENT_BODY.validate_python(TEXT), EVENT_BODY.validate_python(COMPLETE)]


def test_nothing_comes_after_complete() -> None:
    assert summary(translate(TEXT, COMPLETE, TEXT, COMPLETE)) == ["assistant_text", "complete"]


def test_the_provider_is_named_by_us() -> None:
    (session,) = translate({"type": "session", "provider": "other", "provider_session_id": "s"})
    assert session.provider == "mine"


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[1]",
        "{}",
        '{"type": 3}',
        '{"type": "hologram"}',
        '{"type": "user", "text": "x"}',
        '{"type": "run_started"}',
        '{"type": "rewound", "from_seq": 1, "to_seq": 2}',
        '{"type": "assistant_text", "item_id": ""}',
        '{"type": "assistant_text", "item_id": "a", "final": true}',
        '{"type": "assistant_text", "item_id": "a"}',
        '{"type": "plan", "entries": 3}',
        '{"type": "usage", "input_tokens": NaN}',
        '{"type": "ask_resolved", "ask_id": "q", "decision": "allow"}',
        '{"type": "system", "subtype": "deep", "data": {"x": ' + "[" * 99_999 + "]" * 99_999 + "}}",
        '{"type": "system", "subtype": "deep", "data": {"x": ' + "[" * 300 + "]" * 300 + "}}",
    ],
    ids=lambda line: line[:50],
)
def test_what_cannot_be_used_is_named_once_and_the_run_goes_on(line: str) -> None:
    bodies = translate(line, line, TEXT, COMPLETE)
    assert summary(bodies) == ["notice", "assistant_text", "complete"]
    assert (bodies[0].code, bodies[0].level) == ("protocol_error", "warning")
    assert bodies[0].text.startswith("Mine ")


def test_a_flood_of_different_flaws_ends_in_silence() -> None:
    bodies = translate(*({"type": f"kind{n}"} for n in range(1000)), TEXT)
    assert 2 < len(bodies) < 30
    assert "not reported" in bodies[-2].text
    assert bodies[-1].type == "assistant_text"


def test_an_unknown_field_is_left_out_and_the_rest_is_kept() -> None:
    mood = {**TEXT, "mood": "good"}
    bodies = translate(mood, mood)
    assert summary(bodies) == ["notice", "assistant_text", "assistant_text"]
    assert bodies[1].delta == "hé"


def test_an_unknown_field_deep_inside_is_left_out_too() -> None:
    end = {"type": "tool_use_end", "tool_id": "t", "diffs": [{"path": "a", "author": "x"}]}
    block = {"type": "text", "text": "out", "colour": "red"}
    read = {**START, "kind": "read", "input": {"path": "a", "encoding": "latin"}}
    _, start, _, ended = translate(read, {**end, "output": [block]})
    assert start.input.path == "a"
    assert (ended.output[0].text, ended.diffs[0].path) == ("out", "a")


def test_an_unknown_kind_of_tool_is_shown_in_a_generic_way() -> None:
    told, start = translate({**START, "kind": "browse", "title": "A page", "input": {"url": "u"}})
    assert told.type == "notice"
    assert (start.kind, start.name, start.title) == ("other", "Look", "A page")
    assert start.raw_input == {"url": "u"}


def test_the_end_of_a_tool_is_never_lost() -> None:
    odd = {"type": "tool_use_end", "tool_id": "t", "status": "exploded", "is_error": True}
    _, end = translate({**odd, "output": "text"})
    assert (end.status, end.is_error) == ("failed", True)
    assert end.output[0].value["output"] == "text"


def test_text_that_no_store_can_hold_is_repaired() -> None:
    lone = '{"type": "assistant_text", "item_id": "a", "delta": "half \\ud83d \\u0000 nul"}'
    told, body = translate(lone)
    assert told.type == "notice"
    assert "half" in body.delta
    assert "\0" not in body.delta
    body.delta.encode("utf-8")


def test_bytes_that_are_not_utf8_are_replaced_and_named() -> None:
    framer, translator = LineFramer(), Translator("mine", "Mine")
    framer.feed(json.dumps(TEXT, ensure_ascii=False).encode("latin-1") + b"\n")
    told, body = [body for frame in framer.frames() for body in translator.feed(frame)]
    assert told.type == "notice"
    assert body.delta == "h\ufffd"


def test_a_line_that_is_too_long_is_named_each_time() -> None:
    translator = Translator("mine", "Mine")
    for end in (20_000_000, 40_000_000):
        (notice,) = translator.feed(Oversize(end, 19_999_999))
        assert "19.1 MiB" in notice.text


def test_half_a_line_is_no_message() -> None:
    data = json.dumps(TEXT, ensure_ascii=False).encode()
    for cut in range(1, len(data)):
        framer, translator = LineFramer(), Translator("mine", "Mine")
        framer.feed(data[:cut])
        assert list(framer.frames()) == []
        torn = framer.finish()
        assert torn is not None
        assert summary(list(translator.feed(torn))) == ["notice"]


def test_an_ask_without_options_can_still_be_answered() -> None:
    (ask,) = translate({"type": "ask", "ask_id": "q", "kind": "permission", "title": "May I?"})
    assert [option.decision for option in ask.options] == ["allow", "deny"]


@pytest.mark.parametrize(
    ("lines", "types", "outcome"),
    [
        ([{"type": "complete", "outcome": "failed"}], ["error", "complete"], "failed"),
        ([{"type": "complete", "outcome": "great"}], ["notice", "error", "complete"], "failed"),
        ([{"type": "complete", "outcome": "interrupted"}], ["error", "complete"], "failed"),
        ([{"type": "complete"}], ["notice", "error", "complete"], "failed"),
        ([{**COMPLETE, "usage": "lots"}], ["notice", "complete"], "completed"),
        (["error", COMPLETE], ["error", "complete"], "failed"),
        (["error", "error", COMPLETE], ["notice", "error", "complete"], "failed"),
        (["error", CANCELLED], ["notice", "complete"], "cancelled"),
    ],
)
def test_an_error_stands_before_complete_exactly_when_the_run_failed(
    lines: list[Any], types: list[str], outcome: str
) -> None:
    error = {"type": "error", "code": "network", "message": "gone"}
    bodies = translate(*(error if line == "error" else line for line in lines))
    assert summary(bodies) == types
    assert bodies[-1].outcome == outcome


def test_a_failure_on_the_way_to_a_stop_is_a_stop() -> None:
    translator = Translator("mine", "Mine")
    translator.cancelling()
    error = {"type": "error", "code": "network", "message": "aborted"}
    frames = frames_of(error, {"type": "complete", "outcome": "failed"})
    bodies = [body for frame in frames for body in translator.feed(frame)]
    assert summary(bodies) == ["notice", "complete"]
    assert bodies[-1].outcome == "cancelled"


def test_a_refused_resume_waits_until_the_agent_goes_on() -> None:
    refused = {"type": "resume_refused", "provider_session_id": "s", "reason": "gone"}
    translator = Translator("mine", "Mine")
    assert [translator.feed(frame) for frame in frames_of(refused)] == [()]
    assert translator.refused is not None
    bodies = [body for frame in frames_of(TEXT) for body in translator.feed(frame)]
    assert summary(bodies) == ["resume_refused", "assistant_text"]
    assert translator.refused is None


def test_a_hello_may_be_newer_than_we_are() -> None:
    hello = parse_hello('{"type": "hello", "name": "N", "mood": 1, "features": {"steer": true}}')
    assert hello is not None
    assert hello.features.steer
    newer = parse_hello('{"type": "hello", "name": "N", "features": {"steer": true, "fly": true}}')
    assert newer is not None
    assert newer.features.steer
    assert parse_hello('{"type": "hullo", "name": "N"}') is None
    assert parse_hello("Welcome!") is None
