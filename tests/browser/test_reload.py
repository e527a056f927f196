"""What a person sees survives a reload in mid-run and a killed server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, MakeLab, MakeScreen, start_chat
from tests.server.conftest import script

pytestmark = pytest.mark.timeout(240)


def test_a_reload_in_mid_run_shows_everything_and_goes_on(
    lab: Lab, make_screen: MakeScreen
) -> None:
    screen = make_screen(lab)
    start_chat(screen)
    chat = str(screen.chat.get_attribute("data-chat-id"))
    words = " ".join(f"word{n}" for n in range(120))
    screen.send(script({"say": words, "chunks": 120, "rate": 30}, {"say": "The end."}))
    expect(screen.thread.get_by_role("article").last).to_contain_text("word5 ")
    lab.wait_layout(chat)
    screen.reload()
    expect(screen.thread).to_contain_text("The end.")
    screen.wait_idle()
    text = screen.thread.inner_text()
    # once in the prompt, once in the answer
    assert [text.count(f"word{n} ") for n in range(119)] == [2] * 119


def test_a_message_sent_while_the_server_is_gone_is_kept_and_says_so(
    make_lab: MakeLab, make_screen: MakeScreen
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    start_chat(screen)
    expect(screen.page.get_by_text("This chat works in the folder demand-model.")).to_be_visible()
    lab.kill()
    screen.send("hello out there")
    alert = screen.page.get_by_role("alert")
    expect(alert).to_contain_text("The Jupyter server does not answer. Your message is kept here")
    expect(screen.composer()).to_have_value("hello out there")
    lab.start()
    screen.close_labs_dialog()
    expect(screen.page.get_by_text("reconnecting")).to_have_count(0, timeout=60_000)
    screen.composer().press("Enter")
    expect(screen.thread).to_contain_text("You said: hello out there")
    expect(alert).to_have_count(0)


def test_stop_keeps_what_was_said_and_the_draft(lab: Lab, make_screen: MakeScreen) -> None:
    screen = make_screen(lab)
    start_chat(screen)
    chat = str(screen.chat.get_attribute("data-chat-id"))
    screen.send(script({"say": "kept words", "chunks": 2, "rate": 20}, {"sleep": 600}))
    expect(screen.thread.get_by_role("article").last).to_contain_text("kept words")
    screen.composer().fill("half a thought")
    expect(screen.page.get_by_role("button", name="Queue prompt")).to_be_visible()
    screen.page.get_by_role("button", name=re.compile("^Stop")).click()
    screen.wait_idle()
    expect(screen.thread.get_by_role("article").last).to_contain_text("kept words")
    expect(screen.composer()).to_have_value("half a thought")
    lab.wait_layout(chat)
    screen.reload()
    expect(screen.composer()).to_have_value("half a thought")
