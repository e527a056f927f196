"""The tour from the first click to the end, as somebody new to the product takes it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import MakeLab, Screen

pytestmark = pytest.mark.timeout(240)

FEATURES = '''"""Calendar features of the demand model."""

import pandas as pd


def add_calendar(df: pd.DataFrame) -> pd.DataFrame:
    t = df["time"].dt
    df["hour"] = t.hour
    df["is_weekend"] = t.dayofweek > 5
    return df
'''


def fill_project(root: Path) -> None:
    (root / "README.md").write_text("# Demand model\n\nHourly bike demand, two years.\n")
    (root / "features.py").write_text(FEATURES)
    (root / "data").mkdir()
    (root / "data" / "hourly.csv").write_text("time,count\n2024-01-01 00:00,16\n")


def test_the_tour_from_the_first_click_to_the_end(
    make_lab: MakeLab, make_screen: Callable[..., Screen]
) -> None:
    lab = make_lab(provider_settings={"tour": {"env": {"AGENTCHAT_TOUR_PACE": "0"}}})
    fill_project(lab.root)
    screen = make_screen(lab, width=1440, height=900)
    screen.open()
    screen.command("agentchat:open-panel")
    page = screen.page
    expect(page.get_by_text("No chats in this workspace yet")).to_be_visible()
    expect(page.get_by_role("button", name="Take the tour").first).to_be_visible()
    expect(page.get_by_text("Looking for")).to_have_count(0)
    screen.picture("first-minute.png")
    page.get_by_role("button", name="Take the tour").first.click()

    form = page.get_by_role("form", name="Question")
    expect(form).to_be_visible(timeout=30_000)
    while True:
        form.locator("input[type=radio], input[type=checkbox]").first.check()
        submit = form.get_by_role("button", name="Submit answer")
        if submit.is_visible():
            submit.click()
            break
        form.get_by_role("button", name="Next").click()

    ask = page.get_by_role("alertdialog")
    expect(ask).to_be_visible(timeout=30_000)
    expect(ask).to_contain_text("agentchat-tour.md")
    screen.picture("tour-ask.png")
    ask.get_by_role("button", name=re.compile("Allow once")).click()
    expect(ask).to_contain_text(re.compile("wants to (edit|change)"))
    ask.get_by_role("button", name=re.compile("Allow for this chat")).click()
    screen.wait_idle()
    thread = page.get_by_role("log", name="Conversation")
    expect(thread).to_contain_text("Pickers")
    expect(page.get_by_role("group", name="Usage")).to_be_visible()
    screen.picture("tour.png")

    (chat,) = lab.call("chats")["chats"]
    events = lab.call(f"chats/{chat['id']}/events?limit=2000")["events"]
    assert [e["outcome"] for e in events if e["type"] == "complete"] == ["completed"]
    note = (lab.root / "agentchat-tour.md").read_text()
    assert note


def test_the_whole_tour_by_keyboard_alone(
    make_lab: MakeLab, make_screen: Callable[..., Screen]
) -> None:
    lab = make_lab(provider_settings={"tour": {"env": {"AGENTCHAT_TOUR_PACE": "0"}}})
    screen = make_screen(lab)
    screen.open()
    screen.command("agentchat:take-tour")
    page = screen.page
    form = page.get_by_role("form", name="Question")
    expect(form).to_be_visible(timeout=30_000)
    for _ in range(6):
        if not form.is_visible():
            break
        form.locator("input").first.focus()
        page.keyboard.press("1")
        button = form.get_by_role("button", name=re.compile("^(Next|Submit answer)$"))
        button.focus()
        page.keyboard.press("Enter")
    ask = page.get_by_role("alertdialog")
    expect(ask).to_be_visible(timeout=30_000)
    deny = ask.get_by_role("button", name=re.compile("^Deny( N)?$"))
    deny.focus()
    page.keyboard.press("n")
    screen.wait_idle()
    assert not list(lab.root.glob("agentchat-tour*"))
    expect(page.get_by_role("log", name="Conversation")).to_contain_text("nothing was written")
