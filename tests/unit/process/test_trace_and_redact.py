"""Diagnostics show what happened and no credential."""

from __future__ import annotations

import json

import pytest

from jupyter_agentchat.process.redact import MASK, redact
from jupyter_agentchat.process.trace import TraceLine, WireTrace

CANARY = "c4nary-S3cret_0123456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "authorization: token {}",
        '"Authorization": "Bearer {}"',
        "curl -H 'Authorization: {}'",
        "sent bearer {} to the host",
        "GET /lab?token={} HTTP/1.1",
        "ws://127.0.0.1:8888/ws?a=b&access_token={}&c=d",
        "callback?code={}#x",
        "ANTHROPIC_API_KEY={}",
        "export OPENAI_API_KEY='{}'",
        'GEMINI_KEY="{}"',
        "JUPYTERHUB_API_TOKEN={}",
        '{{"apiKey": "{}"}}',
        '{{\\"api_key\\": \\"{}\\"}}',
        "x-api-key: {}",
        "password: {}",
        "AWS_SECRET_ACCESS_KEY={}",
        "https://user:{}@proxy.example:3128/",
        "Cookie: username-localhost={}; other=1",
        "key sk-ant-{}",
        "ghp_{}",
        "eyJ{}.eyJ{}.sig",
    ],
)
def test_a_secret_is_masked_wherever_it_stands(text: str) -> None:
    shown = redact(text.format(*[CANARY] * text.count("{}")))
    assert CANARY not in shown
    assert MASK in shown


def test_the_name_of_what_was_masked_stays_readable() -> None:
    assert redact("ANTHROPIC_API_KEY=abcdefgh is not valid") == (
        f"ANTHROPIC_API_KEY={MASK} is not valid"
    )
    assert redact("/lab?token=abcdefgh&reset") == f"/lab?token={MASK}&reset"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Error: Session ID 5c1d is already in use.",
        '{"input_tokens": 1234, "output_tokens": 99}',
        "the token was refused",
        "basic usage",
        "PWD=/home/jo/project",
        "task-force risk-analysis",
        "def author(x): return x",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redact(text) == text


def test_hostile_text_does_not_make_the_search_slow() -> None:
    # quadratic time would take a minute here; the deadline of the suite is the assertion
    for unit in ("a", "1_", "token", "api_key ", "://", "://a:", "Bearer ", "eyJ", "cookie", "-"):
        redact(unit * (100_000 // len(unit)))


def test_the_ring_forgets_the_oldest_and_counts_them() -> None:
    trace = WireTrace(limit_chars=30)
    for number in range(10):
        trace.record("out", f"line {number:05}")
    assert [item.line for item in trace.lines()] == ["line 00007", "line 00008", "line 00009"]
    assert trace.lost == 7


def test_a_long_line_is_cut_and_says_so() -> None:
    trace = WireTrace(line_limit_chars=5)
    trace.record("in", "abcdefgh")
    assert [item.line for item in trace.lines()] == ["abcde… (3 more characters)"]


def test_stderr_is_put_together_to_lines() -> None:
    trace = WireTrace(clock=iter(range(100)).__next__)
    trace.record("err", "one\ntw")
    trace.record("err", "o\n")
    trace.record("out", "between")
    trace.record("err", "no newline")
    assert list(trace.lines()) == [
        TraceLine("err", 1000, "one"),
        TraceLine("err", 1000, "two"),
        TraceLine("out", 3000, "between"),
        TraceLine("err", 4000, "no newline"),
    ]


def test_a_dump_is_a_transcript_without_secrets() -> None:
    trace = WireTrace(clock=lambda: 5.0)
    trace.record("in", '{"a": "naïve\\n"}')
    trace.record("err", f"token={CANARY}\n")
    assert [json.loads(line) for line in trace.dump().splitlines()] == [
        {"dir": "in", "ms": 0, "line": '{"a": "naïve\\n"}'},
        {"dir": "err", "ms": 0, "line": f"token={MASK}"},
    ]
