"""Long chats: where they open, what moves, and what does not."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.conftest import Lab, MakeScreen

pytestmark = pytest.mark.timeout(240)
READ = {"tool": {"kind": "read", "input": {"path": "a.py"}, "output": "x = 1"}}
LOAD_AT_TOP = """
  async () => {
    const thread = document.querySelector('.ac-thread');
    const frame = () => new Promise(done => requestAnimationFrame(done));
    const count = thread.querySelectorAll('[data-ac-turn]').length;
    const first = thread.querySelector('[data-ac-turn]');
    const place = () => first.getBoundingClientRect().top;
    thread.scrollTop = 300;
    const before = place();
    const end = performance.now() + 20000;
    while (
      thread.querySelectorAll('[data-ac-turn]').length === count &&
      thread.querySelector('.ac-older') !== null && performance.now() < end
    ) await frame();
    for (let n = 0; n < 10; n++) await frame();
    return {before, after: place(), count};
  }
"""


def at_end(thread: Locator) -> bool:
    gap = thread.evaluate("it => it.scrollHeight - it.scrollTop - it.clientHeight")
    return bool(gap <= 8)


def test_two_thousand_events_open_at_the_end_and_older_turns_move_nothing(
    lab: Lab, make_screen: MakeScreen
) -> None:
    runs = [
        [
            *[READ] * 24,
            {"say": f"Answer {n}. " + "More words for a longer turn. " * 30, "chunks": 1},
        ]
        for n in range(40)
    ]
    chat = lab.new_chat(*runs)
    assert lab.call(f"chats/{chat}")["last_seq"] >= 2000
    screen = make_screen(lab)
    screen.open_chat(chat)
    page, thread = screen.page, screen.thread
    expect(thread.get_by_text("Answer 39.").last).to_be_in_viewport()
    assert at_end(thread)
    expect(thread).not_to_contain_text("Answer 20.")

    # to the top again and again: each time older turns come in front of what is in sight
    came = 0
    while thread.get_by_role("button", name="Load older messages").count():
        before = page.evaluate(LOAD_AT_TOP)
        assert abs(before["after"] - before["before"]) <= 1, before
        came += 1
    assert came >= 1
    thread.evaluate("it => { it.scrollTop = 0; }")
    expect(thread.locator("p", has_text="Answer 0.")).to_be_visible()


def test_scrolling_up_one_tick_stops_following_and_jump_to_latest_returns(
    lab: Lab, make_screen: MakeScreen
) -> None:
    screen = make_screen(lab)
    chat = lab.new_chat([{"say": "Before. " * 400}])
    screen.open_chat(chat)
    words = " ".join(f"word{n}" for n in range(2000))
    lab.play(chat, {"say": words, "chunks": 400, "rate": 40}, "hang", wait="")
    page, thread = screen.page, screen.thread
    expect(thread).to_contain_text("word50 ")
    assert at_end(thread)
    thread.hover()
    page.mouse.wheel(0, -60)
    jump = page.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_visible()
    top = thread.evaluate("it => it.scrollTop")
    height = thread.evaluate("it => it.scrollHeight")
    page.wait_for_function(
        "height => document.querySelector('.ac-thread').scrollHeight > height + 60", arg=height
    )
    assert thread.evaluate("it => it.scrollTop") == top
    jump.click()
    expect(jump).to_have_count(0)
    page.wait_for_function(
        "height => document.querySelector('.ac-thread').scrollHeight > height + 200", arg=height
    )
    assert at_end(thread)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop").click()
    screen.wait_idle()
