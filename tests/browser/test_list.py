"""The list: find what was said and go there, delete and bring back, pin, archive, drafts."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import DARK, Lab, MakeLab, MakeScreen, Screen

pytestmark = pytest.mark.timeout(240)
READ = {"tool": {"kind": "read", "input": {"path": "a.py"}, "output": "x = 1"}}
FILLER = "More words for a longer turn. " * 30


@pytest.fixture
def own_lab(make_lab: MakeLab) -> Lab:
    """A Lab of its own: these tests look at the list as a whole."""
    return make_lab()


def open_list(screen: Screen) -> Locator:
    """The list of chats in the side panel."""
    screen.open()
    # Lab's launcher takes the focus once, at its own time
    expect(screen.page.locator(".jp-Launcher")).to_be_focused()
    screen.command("agentchat:open-panel")
    chats = screen.page.get_by_role("list", name="Chats", exact=True)
    expect(chats).to_be_visible()
    return chats


def row(screen: Screen, title: str) -> Locator:
    return screen.page.get_by_role("listitem", name=re.compile(f"^{title}(,|$)"))


def choose(screen: Screen, title: str, entry: str) -> None:
    """An entry of a row's menu."""
    row(screen, title).click(button="right")
    menu = screen.page.locator(".lm-Menu")
    menu.get_by_role("menuitem", name=entry).click()
    expect(menu).to_have_count(0)


def until_draft(lab: Lab, chat: str, text: str) -> None:
    """Until the server has this draft."""
    for _ in range(400):
        if lab.call(f"chats/{chat}/draft")["text"] == text:
            return
        time.sleep(0.05)
    raise AssertionError(lab.call(f"chats/{chat}/draft"))


def test_a_hit_far_back_in_a_long_chat_opens_there(own_lab: Lab, make_screen: MakeScreen) -> None:
    runs = [[*[READ] * 10, {"say": f"Answer {n}. {FILLER}"}] for n in range(40)]
    runs[3] = [{"say": f"{FILLER}\n\nThe okapi is shy.\n\n{FILLER}"}]
    chat = own_lab.new_chat(*runs, title="Long walk")
    screen = make_screen(own_lab)
    open_list(screen)
    page = screen.page
    screen.command("agentchat:search")
    box = page.get_by_role("searchbox", name="Search chats")
    expect(box).to_be_focused()
    page.keyboard.type("okapi")
    hits = page.get_by_role("list", name="In conversations")
    # what was asked for, and what was answered
    hit = hits.get_by_role("button").filter(has_text="The okapi is shy").first
    expect(hit.locator("mark")).to_have_text("okapi")
    screen.check_accessibility(".ac-panel")
    page.keyboard.press("ArrowDown")
    expect(hits.get_by_role("button").first).to_be_focused()
    screen.picture("search.png")
    hit.click()
    found = screen.thread.locator("[data-ac-found]")
    expect(found).to_be_in_viewport()
    expect(found).to_have_text("The okapi is shy.")
    expect(screen.chat).to_have_attribute("data-chat-id", chat)
    screen.picture("search-found.png")
    expect(screen.thread.get_by_text("Answer 39.").last).not_to_be_in_viewport()

    # and once more in the chat that is open now, from its end
    page.get_by_role("button", name="Jump to latest").click()
    expect(screen.thread.get_by_text("Answer 39.").last).to_be_in_viewport()
    seq = own_lab.events(chat, "user")[1]["seq"]
    screen.command("agentchat:open-chat", id=chat, seq=seq)
    expect(screen.thread.locator("[data-ac-found]")).to_contain_text("Answer 1.")
    expect(screen.thread.locator("[data-ac-found]")).to_be_in_viewport()


def test_a_deleted_chat_is_gone_in_all_pages_and_undo_brings_it_back(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    own_lab.new_chat([{"say": "Kept."}], title="Kept")
    own_lab.new_chat([{"say": "Word for word."}], title="Mistake")
    screen, other = make_screen(own_lab), make_screen(own_lab)
    open_list(screen)
    open_list(other)
    row(screen, "Mistake").get_by_role("button").focus()
    screen.page.keyboard.press("Delete")
    expect(row(screen, "Mistake")).to_have_count(0)
    expect(row(other, "Mistake")).to_have_count(0)
    line = screen.page.get_by_role("list", name="Deleted chats")
    expect(line).to_contain_text("Deleted “Mistake”.")
    expect(row(screen, "Kept").get_by_role("button")).to_be_focused()
    screen.check_accessibility(".ac-panel")
    screen.theme(DARK)
    screen.check_accessibility(".ac-panel")
    line.get_by_role("button", name="Undo").press("Enter")
    expect(row(screen, "Mistake")).to_be_visible()
    expect(row(other, "Mistake")).to_be_visible()
    expect(line).to_have_count(0)
    row(screen, "Mistake").get_by_role("button").click()
    expect(screen.thread).to_contain_text("Word for word.")


def test_a_chat_at_work_is_deleted_only_after_a_question(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    chat = own_lab.new_chat(title="Busy")
    own_lab.play(chat, {"say": "On my way."}, "hang", wait="running")
    screen = make_screen(own_lab)
    open_list(screen)
    choose(screen, "Busy", "Delete")
    dialog = screen.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Its run will be stopped.")
    dialog.get_by_role("button", name="Stop and delete").click()
    expect(row(screen, "Busy")).to_have_count(0)
    expect(screen.page.get_by_text("Deleted “Busy”.")).to_be_visible()


def test_pin_archive_unread_and_export_from_the_menu(own_lab: Lab, make_screen: MakeScreen) -> None:
    own_lab.new_chat([{"say": "One."}], title="First")
    own_lab.new_chat([{"say": "Two."}], title="Second")
    screen = make_screen(own_lab)
    chats = open_list(screen)
    page = screen.page
    choose(screen, "First", "Pin")
    pinned = chats.get_by_role("list", name="Pinned")
    expect(pinned.get_by_role("listitem")).to_have_count(1)
    expect(chats.get_by_role("list").first).to_have_accessible_name("Pinned")
    choose(screen, "First", "Unpin")
    expect(pinned).to_have_count(0)

    choose(screen, "Second", "Mark as read")
    expect(row(screen, "Second")).to_have_accessible_name("Second")
    choose(screen, "Second", "Mark as unread")
    expect(row(screen, "Second")).to_have_accessible_name("Second, Unread")

    choose(screen, "Second", "Archive")
    expect(row(screen, "Second")).to_have_count(0)
    page.get_by_role("button", name="Archived chats").click()
    expect(row(screen, "Second")).to_be_visible()
    choose(screen, "Second", "Take out of the archive")
    page.get_by_role("button", name="Archived chats").click()
    expect(row(screen, "Second")).to_be_visible()

    for entry, ending in (("Export as Markdown", ".md"), ("Export as JSON Lines", ".jsonl")):
        with page.expect_download() as download:
            choose(screen, "Second", entry)
        assert download.value.suggested_filename.endswith(ending)
        assert "Two." in download.value.path().read_text()


def test_a_link_opens_the_chat_and_leaves_the_address(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    chat = own_lab.new_chat([{"say": "Linked."}], title="Linked")
    screen = make_screen(own_lab)
    screen.open()
    screen.page.goto(f"{own_lab.url}/lab?agentchat={chat}")
    expect(screen.chat).to_have_attribute("data-chat-id", chat, timeout=60_000)
    expect(screen.thread).to_contain_text("Linked.")
    screen.page.wait_for_function("() => !location.search.includes('agentchat')")


def test_a_draft_is_on_every_device_and_two_never_overwrite_each_other(
    own_lab: Lab, make_screen: MakeScreen
) -> None:
    chat = own_lab.new_chat([{"say": "Hello."}], title="Two devices")
    laptop, phone = make_screen(own_lab), make_screen(own_lab, width=700)
    laptop.open_chat(chat)
    laptop.composer().fill("half a sentence")
    until_draft(own_lab, chat, "half a sentence")
    phone.open_chat(chat)
    expect(phone.composer()).to_have_value("half a sentence")

    phone.composer().fill("from the phone")
    until_draft(own_lab, chat, "from the phone")
    laptop.composer().fill("from the laptop")
    offer = laptop.page.get_by_role("group", name="Draft from another device")
    expect(offer).to_contain_text("from the phone")
    laptop.check_accessibility(".jp-AgentChat")
    offer.get_by_role("button", name="Use it").click()
    expect(laptop.composer()).to_have_value("from the phone")
    earlier = laptop.page.get_by_role("group", name="Earlier draft")
    expect(earlier).to_contain_text("from the laptop")
    expect(offer).to_have_count(0)

    laptop.composer().press("Enter")
    laptop.wait_idle()
    until_draft(own_lab, chat, "")
