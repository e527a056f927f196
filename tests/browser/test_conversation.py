"""What a person does to a conversation: edit its queue, go back and forth again, fork it."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import CONTRAST, DARK, Lab, MakeScreen, Screen, start_chat
from tests.server.conftest import script

pytestmark = pytest.mark.timeout(240)


def message(screen: Screen, number: int) -> Locator:
    return screen.thread.get_by_role("article", name="You", exact=True).nth(number)


def two_turns(lab: Lab, make_screen: MakeScreen) -> Screen:
    screen = make_screen(lab)
    start_chat(screen)
    for word in ("first", "second"):
        screen.send(script({"say": f"the {word} answer"}))
        expect(screen.thread).to_contain_text(f"the {word} answer")
        screen.wait_idle()
    return screen


def test_a_rewind_gives_the_prompt_back_and_can_be_undone_in_another_tab_too(
    lab: Lab, make_screen: MakeScreen
) -> None:
    screen = two_turns(lab, make_screen)
    chat = str(screen.chat.get_attribute("data-chat-id"))
    other = make_screen(lab)
    other.open_chat(chat)
    expect(other.thread).to_contain_text("the second answer")

    screen.composer().fill("half a thought")
    rewind = message(screen, 1).get_by_role("button", name="Rewind")
    rewind.focus()
    rewind.press("Enter")
    dialog = screen.page.get_by_role("dialog", name="Rewind to this prompt?")
    expect(dialog).to_contain_text("will be removed: 1 prompt and 1 answer.")
    expect(dialog.get_by_text("Looking at the files")).to_have_count(0)
    for theme in (DARK, CONTRAST):
        screen.theme(theme)
        screen.check_accessibility("dialog")
    screen.page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    expect(rewind).to_be_focused()

    rewind.press("Enter")
    expect(dialog.get_by_text("Looking at the files")).to_have_count(0)
    screen.page.keyboard.press("Enter")
    expect(dialog).to_have_count(0)
    expect(screen.composer()).to_have_value(script({"say": "the second answer"}))
    expect(screen.composer()).to_be_focused()
    for tab in (screen, other):
        expect(tab.thread.get_by_role("article", name="You", exact=True)).to_have_count(1)
    expect(screen.chat.get_by_text("Your earlier draft: half a thought")).to_be_visible()
    screen.check_accessibility(".jp-AgentChat")

    other.page.get_by_role("button", name="Undo rewind").last.click()
    for tab in (screen, other):
        expect(tab.thread).to_contain_text("the second answer")
        expect(tab.page.get_by_role("button", name="Undo rewind")).to_have_count(0)


def test_a_fork_opens_and_says_where_it_came_from(lab: Lab, make_screen: MakeScreen) -> None:
    screen = two_turns(lab, make_screen)
    chat = screen.chat.get_attribute("data-chat-id")
    message(screen, 0).hover()
    message(screen, 0).get_by_role("button", name="Fork from here").click()
    expect(screen.thread).to_contain_text("Forked from")
    expect(screen.thread).to_contain_text("the first answer")
    expect(screen.thread).not_to_contain_text("the second answer")
    assert screen.chat.get_attribute("data-chat-id") != chat
    screen.thread.locator(".ac-rule").get_by_role("button").click()
    expect(screen.thread).to_contain_text("the second answer")


def test_the_queue_is_edited_and_ordered_by_keyboard(lab: Lab, make_screen: MakeScreen) -> None:
    screen = make_screen(lab)
    start_chat(screen)
    screen.send(script({"sleep": 600}))
    composer = screen.composer()
    expect(composer).to_have_attribute(
        "placeholder", "Queue next prompt while the agent is working"
    )
    for word in ("one", "two"):
        composer.fill(word)
        composer.press("Enter")
    rows = screen.page.get_by_role("list", name="Queued prompts").get_by_role("listitem")
    expect(rows).to_have_text(["1one", "2two"])
    down = rows.nth(0).get_by_role("button", name="Move down")
    down.focus()
    down.press("Enter")
    expect(rows).to_have_text(["1two", "2one"])
    expect(rows.nth(1).get_by_role("button", name="Move down")).to_be_focused()
    edit = rows.nth(1).get_by_role("button", name="Edit")
    edit.press("Enter")
    editor = screen.page.get_by_role("textbox", name="Queued prompt")
    editor.fill("one, better")
    editor.press("Enter")
    expect(rows).to_have_text(["1two", "2one, better"])
    expect(edit).to_be_focused()
    screen.check_accessibility(".jp-AgentChat")
    screen.page.keyboard.press("Escape")
    screen.wait_idle()
    expect(screen.chat.get_by_text("Paused: you stopped the agent.")).to_be_visible()
