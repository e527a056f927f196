"""Where chats are shown: side panel and main area, after a reload, and in two windows at once."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, MakeScreen

pytestmark = pytest.mark.timeout(240)
TALE = "\n\n".join(f"Paragraph {n} of a long answer." for n in range(80))


def test_a_move_between_side_panel_and_main_area_keeps_the_draft_and_the_place(
    lab: Lab, make_screen: MakeScreen
) -> None:
    chat = lab.new_chat([{"say": TALE}])
    screen = make_screen(lab)
    screen.open_chat(chat)
    expect(screen.thread).to_contain_text("Paragraph 79")
    screen.composer().fill("half a thought")
    line = screen.thread.locator("p", has_text="Paragraph 30 ")
    line.scroll_into_view_if_needed()
    expect(screen.page.get_by_role("button", name="Jump to latest")).to_be_visible()
    for target in ("Open in side panel", "Open in main area"):
        screen.page.get_by_role("button", name=target).click()
        expect(screen.page.locator(f".jp-AgentChat[data-chat-id='{chat}']")).to_have_count(1)
        expect(screen.composer()).to_have_value("half a thought")
        expect(line).to_be_in_viewport()


def test_tab_and_side_panel_come_back_after_a_reload(lab: Lab, make_screen: MakeScreen) -> None:
    tab = lab.new_chat([{"say": "in the tab"}], title="Chat in a tab")
    side = lab.new_chat([{"say": "at the side"}], title="Chat at the side")
    screen = make_screen(lab)
    screen.open_chat(tab)
    screen.command("agentchat:open-chat", id=side, main=False)
    expect(screen.page.get_by_text("at the side", exact=True)).to_be_visible()
    lab.wait_layout(tab)
    lab.wait_layout(side)
    screen.reload()
    expect(screen.page.get_by_role("tab", name="Chat in a tab")).to_be_visible()
    expect(screen.page.get_by_text("in the tab", exact=True)).to_be_visible()
    expect(screen.page.get_by_text("at the side", exact=True)).to_be_visible()


def test_an_answer_in_one_window_closes_the_ask_in_the_other(
    lab: Lab, make_screen: MakeScreen
) -> None:
    chat = lab.new_chat()
    ask = {"title": "May I tidy up?", "detail": "Old files go."}
    lab.play(chat, {"ask": ask, "allow": [{"say": "Tidy."}]}, wait="waiting")
    here, there = make_screen(lab), make_screen(lab)
    here.open_chat(chat)
    there.open_chat(chat)
    expect(there.ask).to_contain_text("May I tidy up?")
    here.allow()
    for screen in (here, there):
        expect(screen.ask).to_have_count(0)
        expect(screen.thread).to_contain_text("Tidy.")
    expect(here.thread).to_contain_text("allowed by you")
    expect(there.thread).to_contain_text("allowed by you")


def test_a_chat_behind_another_tab_stays_unread_and_one_in_front_does_not(
    lab: Lab, make_screen: MakeScreen
) -> None:
    front, behind = lab.new_chat(title="In front"), lab.new_chat(title="Behind")
    screen = make_screen(lab)
    screen.open_chat(behind)
    screen.command("agentchat:open-chat", id=front, main=True)
    screen.command("agentchat:open-panel")
    lab.play(behind, {"say": "News behind"})
    lab.play(front, {"say": "News in front"})
    expect(screen.thread).to_contain_text("News in front")
    row = screen.page.locator(f".ac-row[data-chat-id='{behind}']")
    expect(row).to_have_accessible_name("Behind, Unread")
    row = screen.page.locator(f".ac-row[data-chat-id='{front}']")
    expect(row).to_have_accessible_name("In front")
