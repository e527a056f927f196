"""The tour from the first click to the end, as somebody new to the product takes it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, MakeLab, MakeScreen

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


def tour_lab(make_lab: MakeLab) -> Lab:
    lab = make_lab(provider_settings={"tour": {"env": {"AGENTCHAT_TOUR_PACE": "0"}}})
    fill_project(lab.root)
    return lab


def test_the_tour_from_the_first_click_to_the_end(
    make_lab: MakeLab, make_screen: MakeScreen
) -> None:
    lab = tour_lab(make_lab)
    screen = make_screen(lab, width=1440, height=900)
    screen.open()
    page = screen.page
    expect(page.get_by_role("button", name="Take the tour")).to_be_visible()  # the launcher's
    screen.command("agentchat:open-panel")
    panel = page.locator("#agentchat-panel")
    expect(panel.get_by_text("No chats in this workspace yet")).to_be_visible()
    expect(panel.get_by_text("A chat works in the folder demand-model.")).to_be_visible()
    expect(panel.get_by_text("Looking for")).to_have_count(0)
    expect(panel.get_by_role("list", name="Suggestions")).to_contain_text("Show me around")
    screen.picture("first-minute.png")
    panel.get_by_role("button", name="Take the tour").click()

    form = page.get_by_role("form", name="Question")
    for number in ("1 of", "2 of"):
        expect(form).to_contain_text(number)
        form.locator("input").first.check()
        submit = form.get_by_role("button", name=re.compile("^(Next|Submit answer)$"))
        expect(submit).to_be_enabled()
        submit.click()

    expect(screen.ask).to_contain_text("agentchat-tour.md")
    page.get_by_role("button", name="Open in main area").click()
    expect(screen.ask.get_by_role("button", name="Allow once")).to_be_enabled()
    screen.picture("tour-ask.png")
    screen.allow()
    expect(screen.ask).to_contain_text("wants to change")
    screen.allow("Allow for this chat")
    screen.wait_idle()
    thread = screen.thread
    expect(thread).to_contain_text("Pickers")
    expect(page.get_by_role("group", name="Usage")).to_be_visible()
    for name in ("^Write: ", "^Edit: "):
        card = thread.get_by_role("group", name=re.compile(name))
        expect(card.get_by_role("button").first).to_have_attribute("aria-expanded", "true")
    page.set_viewport_size({"width": 1240, "height": 1200})
    expect(page.get_by_role("button", name="Jump to latest")).to_have_count(0)
    screen.picture("tour.png")

    (chat,) = lab.call("chats")["chats"]
    assert [e["outcome"] for e in lab.events(chat["id"], "complete")] == ["completed"]
    assert [e["decision"] for e in lab.events(chat["id"], "ask_resolved")] == [
        "answered",
        "allow",
        "allow",
    ]
    assert "- [x] Take the tour" in (lab.root / "agentchat-tour.md").read_text()


def test_the_whole_tour_by_keyboard_alone(make_lab: MakeLab, make_screen: MakeScreen) -> None:
    lab = tour_lab(make_lab)
    screen = make_screen(lab)
    screen.open()
    page = screen.page
    # Lab activates its launcher late, and that takes the focus
    expect(page.locator(".jp-Launcher")).to_be_visible()
    page.wait_for_function("() => document.activeElement?.closest('.lm-DockPanel') !== null")
    screen.command("agentchat:open-panel")
    expect(page.get_by_text("Looking for")).to_have_count(0)
    expect(screen.composer()).to_be_focused()

    def go_to(role: str, name: str, *, back: bool = False) -> None:
        """Tab until the focus is there."""
        wanted = page.get_by_role(role, name=name).first  # type: ignore[arg-type]
        expect(wanted).to_be_visible()
        for _ in range(60):
            if wanted.evaluate("it => it === document.activeElement"):
                return
            page.keyboard.press("Shift+Tab" if back else "Tab")
        raise AssertionError(f"the keyboard does not reach {name}")

    go_to("button", "Take the tour", back=True)
    page.keyboard.press("Enter")
    form = page.get_by_role("form", name="Question")
    expect(form).to_contain_text("1 of 2")
    # the button is gone: the person is in the message field, next to the form
    expect(screen.composer()).to_be_focused()
    go_to("radio", "Other…", back=True)
    page.keyboard.press("2")
    expect(form.locator("input:checked")).to_have_count(1)
    expect(form.get_by_role("button", name="Next")).to_be_enabled()
    expect(form.get_by_role("radio", name="Other…")).to_be_focused()
    page.keyboard.press("Enter")
    expect(form).to_contain_text("2 of 2")
    expect(form.get_by_role("checkbox").first).to_be_focused()
    page.keyboard.press("Space")
    expect(form.get_by_role("button", name="Submit answer")).to_be_enabled()
    page.keyboard.press("Enter")
    expect(screen.ask).to_contain_text("agentchat-tour.md")
    expect(screen.ask.get_by_role("button", name="Allow once")).to_be_enabled()
    go_to("button", "Deny", back=True)
    page.keyboard.press("n")
    screen.wait_idle()
    assert not list(lab.root.glob("agentchat-tour*"))
    expect(screen.thread).to_contain_text("nothing was written")
    # and on: the person is back where they write
    expect(screen.composer()).to_be_focused()
    page.keyboard.type("fail")
    page.keyboard.press("Enter")
    expect(screen.thread.get_by_text("Retry")).to_be_visible()
