"""What a person sees survives a reload in mid-run and a killed server."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import MakeLab, Screen
from tests.server.conftest import script

pytestmark = pytest.mark.timeout(240)


def start_chat(screen: Screen) -> None:
    """A chat with the scenario agent, open in the main area."""
    screen.open()
    screen.command("agentchat:new-chat", provider="scenario", main=True)
    expect(screen.composer()).to_be_visible()


def test_a_reload_in_mid_run_shows_everything_and_goes_on(
    make_lab: MakeLab, make_screen: Callable[..., Screen]
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    start_chat(screen)
    words = " ".join(f"word{n}" for n in range(120))
    screen.send(script({"say": words, "chunks": 120, "rate": 30}, {"say": "The end."}))
    thread = screen.page.get_by_role("log", name="Conversation")
    expect(thread.get_by_role("article").last).to_contain_text("word5 ")
    screen.lab.wait_layout("agentchat")
    screen.page.reload()
    screen.page.wait_for_function("() => window.jupyterapp !== undefined", timeout=60_000)
    thread = screen.page.get_by_role("log", name="Conversation")
    expect(thread).to_contain_text("word5", timeout=30_000)
    expect(thread).to_contain_text("The end.", timeout=30_000)
    screen.wait_idle()
    text = thread.inner_text()
    # once in the prompt, once in the answer
    assert [text.count(f"word{n} ") for n in range(119)] == [2] * 119


def test_a_killed_server_loses_nothing_on_the_screen_and_the_chat_goes_on(
    make_lab: MakeLab, make_screen: Callable[..., Screen]
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    start_chat(screen)
    words = " ".join(f"word{n}" for n in range(400))
    screen.send(script({"say": words, "chunks": 400, "rate": 30}))
    thread = screen.page.get_by_role("log", name="Conversation")
    expect(thread.get_by_role("article").last).to_contain_text("word20 ")
    lab.kill()
    expect(screen.page.get_by_text("reconnecting").first).to_be_visible(timeout=30_000)
    seen = thread.inner_text()
    lab.start()
    screen.close_labs_dialog()
    expect(thread).to_contain_text("interrupted", timeout=60_000)
    shown = [n for n in range(400) if f"word{n} " in seen]
    after = thread.inner_text()
    assert all(f"word{n} " in after or f"word{n}" in after for n in shown)
    screen.wait_idle()
    screen.send("and now?")
    expect(thread).to_contain_text("You said: and now?", timeout=30_000)
    screen.wait_idle()
    (chat,) = lab.call("chats")["chats"]
    events = lab.call(f"chats/{chat['id']}/events?limit=2000")["events"]
    assert [e["outcome"] for e in events if e["type"] == "complete"] == [
        "interrupted",
        "completed",
    ]


def test_stop_keeps_what_was_said_and_the_draft(
    make_lab: MakeLab, make_screen: Callable[..., Screen]
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    start_chat(screen)
    screen.send(script({"say": "kept words", "chunks": 2, "rate": 20}, "hang"))
    thread = screen.page.get_by_role("log", name="Conversation")
    expect(thread).to_contain_text("kept words")
    screen.composer().fill("half a thought")
    expect(screen.page.get_by_role("button", name="Queue prompt")).to_have_count(0)
    screen.page.get_by_role("button", name="Stop", exact=False).first.click()
    screen.wait_idle()
    expect(thread).to_contain_text("kept words")
    expect(screen.composer()).to_have_value("half a thought")
    screen.lab.wait_layout("agentchat")
    screen.page.reload()
    screen.page.wait_for_function("() => window.jupyterapp !== undefined", timeout=60_000)
    expect(screen.composer()).to_have_value("half a thought", timeout=30_000)
