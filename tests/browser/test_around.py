"""What stands around a conversation: rows that say what waits, the status bar, the trash."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import DARK, Lab, MakeLab, MakeScreen, Screen
from tests.server.conftest import script

pytestmark = pytest.mark.timeout(240)
ASK = {
    "ask": {
        "title": "Scenario wants to run a command",
        "input": {"kind": "shell", "command": "rm -r build && python -m pytest -q tests/unit"},
    },
    "allow": [{"say": "Done."}],
    "deny": [],
}
WAITS = re.compile("Wants to run rm -r build")


@pytest.fixture
def own_lab(make_lab: MakeLab) -> Lab:
    """A Lab of its own: these tests look at all chats."""
    return make_lab()


def open_list(screen: Screen) -> Locator:
    screen.open()
    expect(screen.page.locator(".jp-Launcher")).to_be_focused()
    screen.command("agentchat:open-panel")
    chats = screen.page.get_by_role("list", name="Chats", exact=True)
    expect(chats).to_be_visible()
    return chats


def row(page: Page, title: str) -> Locator:
    return page.get_by_role("listitem", name=re.compile(f"^{title}(,|$)"))


def enqueue(lab: Lab, chat: str, *steps: Any) -> None:
    body = {"client_id": uuid.uuid4().hex, "text": script(*steps), "delivery": "queue"}
    lab.call(f"chats/{chat}/prompts", body)


def test_a_row_says_what_the_agent_wants_and_how_many_prompts_wait(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    asking = own_lab.new_chat(title="Try LightGBM instead of XGBoost for the demand model")
    own_lab.new_chat([{"say": "Nothing more."}], title="Docstrings for features.py")
    screen = make_screen(own_lab, width=1100)
    open_list(screen)
    page = screen.page
    own_lab.play(asking, ASK, wait="waiting")
    asked = page.locator(f"[data-chat-id='{asking}'].ac-row")
    expect(asked).to_contain_text("Needs you")
    expect(asked).to_contain_text(WAITS)
    for text in ("one", "two", "three"):
        enqueue(own_lab, asking, {"say": text})
    expect(asked).to_contain_text("3 queued")
    expect(asked).to_have_attribute(
        "aria-label", re.compile("Needs you, Wants to run rm -r build.*, 3 queued$")
    )
    own_lab.call(f"chats/{asking}/queue/pause", {})
    expect(asked).to_have_attribute("aria-label", re.compile("3 queued, paused$"))
    screen.check_accessibility(".ac-panel")
    screen.page.screenshot(path=own_lab.home / "around-rows.png")
    # the second line is one line, and nothing leaves the row
    note = asked.locator(".ac-row-note")
    assert note.evaluate("e => e.getClientRects().length") == 1
    assert asked.evaluate("e => e.scrollWidth <= e.clientWidth")

    own_lab.call(f"chats/{asking}/queue/resume", {})
    (ask,) = own_lab.call(f"chats/{asking}/asks")["asks"]
    own_lab.call(f"chats/{asking}/asks/{ask['ask_id']}", {"decision": "deny"})
    expect(asked).not_to_contain_text("queued", timeout=60_000)
    expect(asked).not_to_contain_text("Wants to run")


def test_the_status_bar_counts_and_leads_to_the_chat_that_needs_me(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    asking = own_lab.new_chat(title="Asking")
    working = own_lab.new_chat(title="Working")
    screen = make_screen(own_lab)
    open_list(screen)
    page = screen.page
    status = page.get_by_role("button", name=re.compile("^Agent chats: "))
    expect(status).to_have_count(0)
    own_lab.play(working, "hang", wait="running")
    expect(status).to_have_accessible_name("Agent chats: 1 running")
    own_lab.play(asking, ASK, wait="waiting")
    expect(status).to_have_accessible_name("Agent chats: 1 running, 1 needs you")
    icon = page.locator(".jp-SideBar [data-ac-needs='1']")
    expect(icon).to_have_count(1)
    assert icon.evaluate("e => getComputedStyle(e, '::before').content") == '"1"'
    expect(icon).to_have_attribute("title", re.compile("^Agent chats, 1 needs you"))
    screen.check_accessibility(".ac-status-item")
    screen.page.screenshot(path=own_lab.home / "around-status.png")
    screen.theme(DARK)
    screen.check_accessibility(".ac-status-item", ".ac-panel")
    screen.page.screenshot(path=own_lab.home / "around-status-dark.png")

    # the panel is closed, the page loaded again: whoever left agents at work hears of them
    status.click()
    expect(screen.chat).to_have_attribute("data-chat-id", asking)
    screen.allow()
    expect(status).to_have_accessible_name("Agent chats: 1 running")
    status.focus()
    page.keyboard.press("Enter")
    expect(screen.chat).to_have_attribute("data-chat-id", working)
    screen.command("application:toggle-left-area")
    own_lab.wait_layout("agentchat-panel")
    screen.reload()
    expect(status).to_have_accessible_name("Agent chats: 1 running")
    own_lab.call(f"chats/{working}/cancel", {})
    expect(status).to_have_count(0)


def test_a_deleted_chat_is_found_in_recently_deleted_and_comes_back(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    own_lab.new_chat([{"say": "Words."}], title="Kept")
    screen = make_screen(own_lab)
    for title in ("Weekend error in the demand model, by hour of the day", "Loader"):
        own_lab.new_chat([{"say": "Words."}], title=title)
    open_list(screen)
    page = screen.page
    for title in ("Weekend error", "Loader"):
        page.get_by_role("button", name=re.compile(f"^{title}")).focus()
        page.keyboard.press("Delete")
        expect(page.get_by_role("list", name="Deleted chats")).to_contain_text(title)
    # nobody pressed Undo in time
    dismiss = page.get_by_role("button", name="Dismiss")
    while dismiss.count():
        dismiss.first.click()
    page.get_by_role("button", name="Recently deleted").click()
    trash = page.get_by_role("list", name="Recently deleted")
    expect(trash.get_by_role("listitem")).to_have_count(2)
    expect(trash).to_contain_text(re.compile("Kept until "))
    expect(page.get_by_role("button", name="Back to chats")).to_be_focused()
    screen.check_accessibility(".ac-panel")
    screen.page.screenshot(path=own_lab.home / "around-trash.png")
    trash.get_by_role("button", name="Restore “Loader”").press("Enter")
    expect(trash.get_by_role("listitem")).to_have_count(1)
    expect(trash.get_by_role("button")).to_be_focused()
    page.keyboard.press("Escape")
    expect(row(page, "Loader")).to_be_visible()
    expect(row(page, "Kept")).to_be_visible()


def test_a_queued_prompt_takes_one_line_in_a_narrow_panel_and_its_buttons_come_with_the_focus(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    chat = own_lab.new_chat(title="Narrow")
    own_lab.play(chat, "hang", wait="running")
    long = "Now do the same for the station model, and keep the old figures as they are."
    for text in (long, "Update the report"):
        own_lab.call(
            f"chats/{chat}/prompts",
            {"client_id": uuid.uuid4().hex, "text": text, "delivery": "queue"},
        )
    screen = make_screen(own_lab, width=1000)
    screen.open_chat(chat, main=False)
    page = screen.page
    rows = page.get_by_role("list", name="Queued prompts").get_by_role("listitem")
    expect(rows).to_have_count(2)
    heights = [rows.nth(n).evaluate("e => e.offsetHeight") for n in (0, 1)]
    assert heights[0] == heights[1] <= 32
    screen.page.screenshot(path=own_lab.home / "around-queue.png")
    edit = rows.nth(0).get_by_role("button", name="Edit")
    edit.focus()
    assert edit.evaluate(
        """e => { const box = e.getBoundingClientRect();
          return e.contains(document.elementFromPoint(box.x + 4, box.y + 8)); }"""
    )
    assert rows.nth(0).evaluate("e => e.offsetHeight") == heights[0]
    screen.check_accessibility(".jp-AgentChat")
    page.screenshot(path=own_lab.home / "around-queue-focus.png")
    own_lab.call(f"chats/{chat}/cancel", {})


def test_an_unfinished_plan_stays_in_its_turn_when_the_next_run_has_none(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    plan = [
        {"text": "Find why weekends are off", "status": "completed"},
        {"text": "Compare by hour", "status": "pending"},
    ]
    (own_lab.root / "a.py").write_text("a\nb\n")
    edit = {"write_file": {"path": "a.py", "text": "a\nc\nd\n"}}
    chat = own_lab.new_chat([{"plan": plan}, edit, {"say": "Half of it."}], title="Plan")
    screen = make_screen(own_lab, width=1100)
    screen.open_chat(chat)
    plans = screen.page.get_by_role("group", name="Plan", exact=True)
    expect(plans).to_have_count(1)
    expect(screen.thread.get_by_role("group", name="Plan", exact=True)).to_have_count(0)
    own_lab.play(chat, {"say": "Something else."})
    expect(screen.thread).to_contain_text("Something else.")
    in_thread = screen.thread.get_by_role("group", name="Plan", exact=True)
    expect(in_thread).to_have_count(1)
    expect(plans).to_have_count(1)
    in_thread.get_by_role("button").click()
    expect(in_thread).to_contain_text("Compare by hour")
    screen.check_accessibility(".jp-AgentChat")
    page = screen.page
    page.screenshot(path=own_lab.home / "around-plan.png")
    rewind = screen.thread.get_by_role("button", name="Rewind").first
    rewind.focus()
    rewind.press("Enter")
    dialog = page.get_by_role("dialog", name="Rewind to this prompt?")
    expect(dialog).to_contain_text("will be removed: 2 prompts and 2 answers.")
    expect(dialog.get_by_text("Looking at the files")).to_have_count(0)
    expect(dialog.get_by_role("listitem").filter(has_text="a.py")).to_contain_text(
        "+1 \N{MINUS SIGN}2"
    )
    screen.check_accessibility("dialog")
    page.screenshot(path=own_lab.home / "around-rewind.png")
    page.keyboard.press("Escape")
