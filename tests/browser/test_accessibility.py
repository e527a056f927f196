"""All views with all kinds of tools: axe finds nothing in ours, in any theme, wide and narrow."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CONTRAST, DARK, Lab, MakeScreen, Screen

pytestmark = pytest.mark.timeout(240)

OLD = """def add_calendar(df):
    t = df["time"].dt
    df["hour"] = t.hour
    df["is_weekend"] = t.dayofweek > 5
    return df
"""
NEW = """def add_calendar(df):
    t = df["time"].dt
    df["hour"] = t.hour.astype("int8")
    df["is_weekend"] = t.dayofweek >= 5
    # Commuters ride on working days only.
    df["rush"] = df["hour"].isin([7, 8, 17, 18]) & ~df["is_weekend"]
    return df
"""
ANSWER = """Two causes. `dayofweek > 5` marks only Sunday as weekend, since Saturday is 5.

| MAE, rides per hour | before | after |
|---|---:|---:|
| Weekend | 38.4 | 22.7 |
| Working day | 24.9 | 24.6 |

```python
df.groupby("is_weekend")["error"].mean()  # by day
```

1. The error falls by **41 %**; see [the notes](features.py#L3).
2. Nothing else changed: $\\\\bar e = \\\\frac{1}{n}\\\\sum e_i$.
"""


def tool(kind: str, **given: Any) -> dict[str, Any]:
    return {"tool": {"kind": kind, "name": kind.capitalize(), **given}}


DIFF = {"path": "features.py", "change": "update", "old": OLD, "new": NEW, "added": 4, "removed": 2}
HITS = "features.py:4:    df['rush'] = 1\ntrain.py:54:peaks = df[df['rush']]\n"
TURN: list[Any] = [
    {"think": "The weekend rows carry the commuter peak, so rush must ignore the weekday."},
    tool("read", input={"path": "features.py", "start_line": 1, "end_line": 9}, output=OLD),
    tool("read", input={"path": "train.py"}, output="import pandas"),
    tool("fetch", input={"url": "https://example.org/days"}, output="ok"),
    {"say": "I look for the places where it is used."},
    tool("search", input={"query": "rush", "glob": "*.py"}, output=HITS),
    {"say": "It is used twice."},
    tool("edit", input={"path": "features.py"}, diffs=[DIFF]),
    tool("write", input={"path": "notes.md", "size": 9},
         diffs=[{"path": "notes.md", "change": "add", "new": "# Notes\n", "added": 1}]),
    tool("shell", input={"command": "python -m pytest -q"}, exit_code=1, status="failed",
         output="\x1b[32m..\x1b[0m\x1b[31mF\x1b[0m\n1 failed, 2 passed in 1.87s\n"),
    tool("mcp", input={"server": "docs", "tool": "find", "arguments": {"q": 1}}, output="[]"),
    tool("web_search", input={"query": "public holidays"}, output="none"),
    tool("subagent", input={"description": "Check that no other code relies on it"}),
    tool("notebook", input={"path": "explore.ipynb", "cells": ["c1"], "op": "edit"}),
    tool("other", name="Odd", title="Something else", input={}, output="x"),
    {"emit": {"type": "notice", "level": "warning", "code": "note", "text": "Slow network."}},
    {"say": ANSWER},
    {"usage": {"input_tokens": 48200, "output_tokens": 3100, "cost_usd": 0.21}},
]  # fmt: skip


def unfold(screen: Screen) -> None:
    folded = screen.thread.locator("[aria-expanded=false]")
    while folded.count():
        folded.first.click()


def test_a_turn_with_every_kind_of_tool_in_every_theme(lab: Lab, make_screen: MakeScreen) -> None:
    chat = lab.new_chat(TURN, title="Weekend error in the demand model")
    lab.play(chat, {"say": "That went wrong."}, {"fail": "The model is overloaded. Try again."})
    screen = make_screen(lab, width=1440, height=900)
    screen.open_chat(chat)
    screen.command("agentchat:open-panel")
    expect(screen.thread).to_contain_text("overloaded")
    screen.check_accessibility(".jp-AgentChat", "#agentchat-panel")
    unfold(screen)
    for theme in ("JupyterLab Light", DARK, CONTRAST):
        screen.theme(theme)
        screen.check_accessibility(".jp-AgentChat", "#agentchat-panel")
        if theme == DARK:
            edit = screen.thread.get_by_role("group", name="Edit: features.py")
            edit.evaluate("it => it.scrollIntoView({block: 'start'})")
            screen.picture("turn-dark.png")


def test_the_narrow_side_panel_cuts_nothing_off(lab: Lab, make_screen: MakeScreen) -> None:
    chat = lab.new_chat(TURN, title="Weekend error in the demand model")
    ask = {"title": "Scenario wants to run a command", "detail": "To see the error by hour.",
           "input": {"kind": "shell", "command": "python -m pytest tests -q"}}  # fmt: skip
    lab.play(chat, {"say": "I would like to run the tests."}, {"ask": ask}, wait="waiting")
    screen = make_screen(lab, width=900, height=900)
    screen.open_chat(chat, main=False)
    expect(screen.ask.get_by_role("button", name="Allow once")).to_be_enabled()
    width = screen.page.evaluate("() => document.querySelector('#agentchat-panel').clientWidth")
    assert width <= 300
    unfold(screen)
    wide = screen.page.evaluate(
        """() => [...document.querySelectorAll('#agentchat-panel *')].filter(it => {
          const style = getComputedStyle(it);
          const wide = it.clientWidth > 0 && it.scrollWidth > it.clientWidth + 1;
          const own = it.closest('.ac-diff, pre, .ac-table, svg') || style.display === 'inline';
          return wide && style.overflowX === 'visible' && !own;
        }).map(it => it.outerHTML.slice(0, 150))"""
    )
    screen.picture("panel-narrow.png")
    screen.check_accessibility("#agentchat-panel")
    assert wide == []


def test_ask_question_start_and_list_in_every_theme(lab: Lab, make_screen: MakeScreen) -> None:
    chat = lab.new_chat(title="A chat that asks")
    options = [{"label": "Red", "description": "Warm"}, {"label": "Blue", "description": "Cold"}]
    pages = [{"id": name, "header": name.capitalize(), "question": f"Which {name}?",
              "options": options, "allow_other": True, "multi_select": name == "formats"}
             for name in ("colour", "formats")]  # fmt: skip
    shell = {"kind": "shell", "command": "rm -rf build\u202e && make"}
    lab.play(
        chat,
        {"ask": {"title": "Scenario wants to run a command", "detail": "It is stale.",
                 "input": shell}},
        {"question": {"title": "Two questions", "questions": pages}},
        {"plan": [{"text": "Look", "status": "completed"}, {"text": "Do", "status": "pending"}]},
        {"ask": {"kind": "plan", "title": "A plan", "plan": "# Plan\n\n1. Look\n2. Do"}},
        wait="waiting",
    )  # fmt: skip
    screen = make_screen(lab, width=1280, height=800)
    screen.open_chat(chat)
    screen.command("agentchat:open-panel")
    shown = (".jp-AgentChat", "#agentchat-panel")
    themes = ("JupyterLab Light", DARK, CONTRAST)
    expect(screen.ask.get_by_role("button", name="Allow once")).to_be_enabled()
    for theme in themes:
        screen.theme(theme)
        screen.check_accessibility(*shown)
    screen.allow()
    form = screen.page.get_by_role("form", name="Question")
    form.get_by_role("radio").first.check()
    expect(form.get_by_role("button", name="Next")).to_be_enabled()
    form.get_by_role("button", name="Next").click()
    form.get_by_role("checkbox", name="Other…").check()
    for theme in themes:
        screen.theme(theme)
        screen.check_accessibility(*shown)
    form.get_by_role("textbox", name="Other").fill("Green")
    form.get_by_role("button", name="Submit answer").click()
    expect(screen.ask).to_contain_text("A plan")
    for theme in themes:
        screen.theme(theme)
        screen.check_accessibility(*shown)
    screen.command("agentchat:new-chat", provider="tour", main=True)
    expect(screen.page.get_by_role("button", name="Show me around")).to_be_visible()
    for theme in themes:
        screen.theme(theme)
        screen.check_accessibility(*shown)
