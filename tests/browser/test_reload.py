"""What a person sees survives a reload in mid-run and a killed server."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, MakeLab, MakeScreen, Screen
from tests.server.conftest import script

pytestmark = pytest.mark.timeout(240)


def start_chat(screen: Screen) -> None:
    """A chat with the scenario agent, open in the main area."""
    screen.open()
    screen.command("agentchat:new-chat", provider="scenario", main=True)
    expect(screen.composer()).to_be_visible()


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


def test_a_killed_server_loses_nothing_on_the_screen_and_the_chat_goes_on(
    make_lab: MakeLab, make_screen: MakeScreen
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    start_chat(screen)
    page, thread = screen.page, screen.thread
    words = " ".join(f"word{n}" for n in range(400))
    screen.send(script({"say": words, "chunks": 400, "rate": 30}))
    expect(thread.get_by_role("article").last).to_contain_text("word20 ")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    lab.kill()
    expect(page.get_by_text("reconnecting").first).to_be_visible()
    # nothing is claimed that nobody knows now
    expect(screen.chat.get_by_text("Last seen:")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    seen = thread.inner_text()
    lab.start()
    screen.close_labs_dialog()
    expect(thread).to_contain_text("interrupted", timeout=60_000)
    after = thread.inner_text()
    assert [n for n in range(399) if f"word{n} " in seen and f"word{n} " not in after] == []
    screen.wait_idle()
    screen.send("and now?")
    expect(thread).to_contain_text("You said: and now?")
    screen.wait_idle()
    (chat,) = lab.call("chats")["chats"]
    outcomes = [event["outcome"] for event in lab.events(chat["id"], "complete")]
    assert outcomes == ["interrupted", "completed"]


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
    expect(screen.page.get_by_role("button", name="Queue prompt")).to_have_count(0)
    screen.page.get_by_role("button", name=re.compile("^Stop")).click()
    screen.wait_idle()
    expect(screen.thread.get_by_role("article").last).to_contain_text("kept words")
    expect(screen.composer()).to_have_value("half a thought")
    lab.wait_layout(chat)
    screen.reload()
    expect(screen.composer()).to_have_value("half a thought")
