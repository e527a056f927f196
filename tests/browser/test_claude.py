"""A real Claude Code turn in JupyterLab: a permission, an edit with its diff, the files changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, MakeLab, MakeScreen
from tests.fakes import anthropic_scenarios
from tests.fakes.anthropic_requests import Context
from tests.fakes.anthropic_scenarios import Reply, Text, Thinking, Tool, bash, say
from tests.fakes.fake_anthropic import FakeAnthropic

pytestmark = pytest.mark.timeout(240)

SOURCE = '''"""Calendar features of the demand model."""

import pandas as pd

RUSH_HOURS = [7, 8, 17, 18]


def add_calendar(df: pd.DataFrame) -> pd.DataFrame:
    t = df["time"].dt
    df["hour"] = t.hour
    df["is_weekend"] = t.dayofweek > 5
    df["rush"] = df["hour"].isin(RUSH_HOURS)
    return df
'''
OLD = """    df["is_weekend"] = t.dayofweek > 5
    df["rush"] = df["hour"].isin(RUSH_HOURS)
"""
NEW = """    df["is_weekend"] = t.dayofweek >= 5
    # Commuters ride on working days only.
    df["rush"] = df["hour"].isin(RUSH_HOURS) & ~df["is_weekend"]
"""
CHECK = "python3 -m compileall -q features.py && echo compiled"
FOUND = """Two causes: `dayofweek > 5` counts only Sunday as weekend, and `rush` is set on
all days, so the model learns a commuter peak for Saturdays. I change both."""
DONE = """Both are fixed in `features.py`:

| feature | before | after |
|---|---|---|
| `is_weekend` | Sunday | Saturday and Sunday |
| `rush` | every day | working days |

Train the model again to see the effect."""


def weekend(context: Context) -> Reply:
    """Look, change, check, report."""
    path = f"{context.cwd}/features.py"
    change = {"file_path": path, "old_string": OLD, "new_string": NEW}
    return [
        Reply(
            [
                Thinking("The rush hours may count on weekends too. I look at the features first."),
                Tool("Read", {"file_path": path}),
                Tool("Read", {"file_path": f"{context.cwd}/train.py"}),
            ]
        ),
        Reply([Text(FOUND), Tool("Edit", change)]),
        Reply([bash(CHECK, "Check that it compiles")]),
        say(DONE),
    ][min(context.step, 3)]


def claude_lab(make_lab: MakeLab, agent_program: Callable[[str], Path], fake: FakeAnthropic) -> Lab:
    """A Lab whose Claude Code is the pinned program, talking to the fake model server."""
    return make_lab(
        provider_settings={
            "claude": {
                "command": [str(agent_program("claude"))],
                "env": {
                    "ANTHROPIC_BASE_URL": fake.url,
                    "ANTHROPIC_API_KEY": "sk-fake",
                    "DISABLE_TELEMETRY": "1",
                    "DISABLE_ERROR_REPORTING": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                },
            }
        }
    )


def test_a_real_claude_turn_asks_edits_and_shows_the_diff(
    make_lab: MakeLab,
    make_screen: MakeScreen,
    agent_program: Callable[[str], Path],
    fake_anthropic: FakeAnthropic,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lab = claude_lab(make_lab, agent_program, fake_anthropic)
    screen = make_screen(lab, width=1440, height=1000)
    screen.open()
    screen.command("agentchat:new-chat", provider="claude", main=True)
    thread = screen.thread

    (lab.root / "features.py").write_text(SOURCE)
    (lab.root / "train.py").write_text("import features\n")
    scenarios = [("weekend", weekend), *anthropic_scenarios.SCENARIOS]
    monkeypatch.setattr(anthropic_scenarios, "SCENARIOS", scenarios)
    screen.command("agentchat:open-panel")
    screen.send("Weekend predictions are far too high. Find out why and fix it in features.py.")
    expect(screen.ask).to_contain_text("features.py", timeout=60_000)
    expect(screen.ask.get_by_role("button", name="Allow once")).to_be_enabled()
    assert (lab.root / "features.py").read_text() == SOURCE
    screen.picture("claude-ask.png")
    screen.allow()
    expect(screen.ask).to_contain_text("compileall", timeout=60_000)
    screen.allow()
    screen.wait_idle()
    expect(thread.get_by_role("group", name=re.compile("^Edit: "))).to_be_visible()
    expect(thread.get_by_role("button", name=re.compile("^Reasoning"))).to_be_visible()
    expect(thread).to_contain_text("Train the model again")
    screen.picture("claude.png")
    assert NEW in (lab.root / "features.py").read_text()
    (chat,) = lab.call("chats")["chats"]
    outcomes = [event["outcome"] for event in lab.events(chat["id"], "complete")]
    assert outcomes == ["completed"]
    decisions = [event["decision"] for event in lab.events(chat["id"], "ask_resolved")]
    assert decisions == ["allow"] * 2


def test_a_question_of_claude_is_answered_in_the_form(
    make_lab: MakeLab,
    make_screen: MakeScreen,
    agent_program: Callable[[str], Path],
    fake_anthropic: FakeAnthropic,
) -> None:
    lab = claude_lab(make_lab, agent_program, fake_anthropic)
    screen = make_screen(lab, width=1280, height=800)
    screen.open()
    screen.command("agentchat:new-chat", provider="claude", main=True)
    screen.send("ask me")
    form = screen.page.get_by_role("form", name="Question")
    expect(form).to_contain_text("Which colour", timeout=60_000)
    form.get_by_role("radio", name="Blue").check()
    expect(form.get_by_role("button", name="Next")).to_be_enabled()
    form.get_by_role("button", name="Next").click()
    form.get_by_role("checkbox", name="PNG").check()
    form.get_by_role("checkbox", name="PDF").check()
    screen.picture("claude-question.png")
    form.get_by_role("button", name="Submit answer").click()
    screen.wait_idle()
    expect(screen.thread).to_contain_text("answered by you")
    answer = screen.thread.get_by_role("article").last
    expect(answer).to_contain_text("You answered:")
    for word in ("Blue", "PNG", "PDF"):
        expect(answer).to_contain_text(word)


def test_stop_in_mid_stream_keeps_the_words_and_the_conversation(
    make_lab: MakeLab,
    make_screen: MakeScreen,
    agent_program: Callable[[str], Path],
    fake_anthropic: FakeAnthropic,
) -> None:
    lab = claude_lab(make_lab, agent_program, fake_anthropic)
    screen = make_screen(lab)
    screen.open()
    screen.command("agentchat:new-chat", provider="claude", main=True)
    screen.send("slow")
    expect(screen.thread).to_contain_text("word5 ", timeout=60_000)
    screen.page.get_by_role("button", name="Stop").click()
    screen.wait_idle()
    expect(screen.thread).to_contain_text("word5 ")
    expect(screen.thread).not_to_contain_text("word60")
    expect(screen.thread).to_contain_text("Stopped")
    screen.send("say hello")
    expect(screen.thread).to_contain_text("Hello from the fake model.", timeout=60_000)
    screen.wait_idle()
    (chat,) = lab.call("chats")["chats"]
    outcomes = [event["outcome"] for event in lab.events(chat["id"], "complete")]
    assert outcomes == ["cancelled", "completed"]
