"""A run outlives the page, the network and the server; the same tab shows it streaming on."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Lab, MakeLab, MakeScreen, Screen, start_chat
from tests.server.conftest import script

pytestmark = pytest.mark.timeout(240)


def streaming(words: int, rate: int) -> str:
    """A prompt whose answer takes `words / rate` seconds."""
    return script(
        {"say": " ".join(f"word{n}" for n in range(words)), "chunks": words, "rate": rate}
    )


def check_every_word_once(screen: Screen, words: int) -> None:
    """In the prompt and in the answer, each once."""
    text = screen.thread.inner_text()
    assert [text.count(f"word{n} ") for n in range(words - 1)] == [2] * (words - 1)


def test_a_killed_server_comes_back_and_the_same_tab_shows_the_run_streaming_on(
    make_lab: MakeLab, make_screen: MakeScreen
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    chat = start_chat(screen)
    page, thread = screen.page, screen.thread
    page.evaluate("() => { window.sameTab = true; }")
    screen.send(streaming(500, 20))
    # the prompt holds the same words
    answer = thread.get_by_role("article", name=re.compile("^scenario$", re.IGNORECASE))
    expect(answer).to_contain_text("word20 ")
    lab.kill()
    expect(page.get_by_text("reconnecting").first).to_be_visible()
    # nothing is claimed that nobody knows now
    expect(screen.chat.get_by_text("Last seen:")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    seen = thread.inner_text()
    lab.start()
    screen.close_labs_dialog()
    expect(page.get_by_role("button", name=re.compile("^Stop"))).to_be_visible(timeout=60_000)
    assert lab.call(f"chats/{chat}")["state"] == "running"
    now = thread.inner_text()
    assert [n for n in range(500) if f"word{n} " in seen and f"word{n} " not in now] == []
    expect(answer).to_contain_text("word499", timeout=60_000)
    screen.wait_idle()
    check_every_word_once(screen, 500)
    assert page.evaluate("() => window.sameTab") is True
    outcomes = [event["outcome"] for event in lab.events(chat, "complete")]
    assert outcomes == ["completed"]


def test_an_ask_that_was_open_when_the_server_died_can_be_answered_afterwards(
    make_lab: MakeLab, make_screen: MakeScreen
) -> None:
    lab = make_lab()
    screen = make_screen(lab)
    chat = start_chat(screen)
    screen.send(script({"ask": {"title": "May I?"}, "allow": [{"say": "thank you"}], "deny": []}))
    expect(screen.ask).to_contain_text("May I?")
    lab.kill()
    expect(screen.page.get_by_text("reconnecting").first).to_be_visible()
    lab.start()
    screen.close_labs_dialog()
    screen.allow()
    expect(screen.thread).to_contain_text("thank you", timeout=60_000)
    screen.wait_idle()
    assert [event["outcome"] for event in lab.events(chat, "complete")] == ["completed"]


def test_three_queued_prompts_are_done_when_every_tab_was_closed(
    lab: Lab, make_screen: MakeScreen
) -> None:
    screen = make_screen(lab)
    chat = start_chat(screen)
    screen.send(script({"sleep": 2.0}, {"say": "the first is done"}))
    expect(screen.page.get_by_role("button", name="Queue prompt").last).to_be_visible()
    for n in (1, 2, 3):
        screen.composer().fill(script({"say": f"queued {n} is done"}))
        screen.composer().press("Enter")
        expect(screen.composer()).to_have_value("")
    queue = screen.page.get_by_role("list", name="Queued prompts")
    expect(queue.get_by_role("listitem")).to_have_count(3)
    screen.page.context.close()

    for _ in range(600):
        if len(lab.events(chat, "complete")) == 4:
            break
        time.sleep(0.05)
    again = make_screen(lab)
    again.open_chat(chat)
    expect(again.thread).to_contain_text("queued 3 is done")
    text = again.thread.inner_text()
    places = [text.rindex(f"queued {n} is done") for n in (1, 2, 3)]
    assert places == sorted(places)
    assert [event["outcome"] for event in lab.events(chat, "complete")] == ["completed"] * 4
    origins = [event["origin"] for event in lab.events(chat, "user")]
    assert origins == ["typed", "queued", "queued", "queued"]
    expect(again.page.get_by_role("list", name="Queued prompts")).to_have_count(0)


def test_stop_pauses_the_queue_and_says_so(lab: Lab, make_screen: MakeScreen) -> None:
    screen = make_screen(lab)
    chat = start_chat(screen)
    screen.send(script({"sleep": 600}))
    expect(screen.page.get_by_role("button", name="Queue prompt").last).to_be_visible()
    screen.composer().fill(script({"say": "after the pause"}))
    screen.composer().press("Enter")
    queue = screen.page.get_by_role("list", name="Queued prompts")
    expect(queue.get_by_role("listitem")).to_have_count(1)
    screen.page.get_by_role("button", name=re.compile("^Stop")).click()
    screen.wait_idle()
    expect(screen.chat.get_by_text("Paused: you stopped the agent")).to_be_visible()
    assert len(lab.events(chat, "complete")) == 1
    screen.page.get_by_role("button", name="Resume").click()
    expect(screen.thread).to_contain_text("after the pause")
    screen.wait_idle()
    expect(queue).to_have_count(0)


def contents(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".ipynb_checkpoints" not in path.parts
    }


def test_a_rewind_puts_the_files_back_and_its_undo_brings_everything_again(
    make_lab: MakeLab, make_screen: MakeScreen
) -> None:
    lab = make_lab()
    notebook = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (lab.root / "model.ipynb").write_text(json.dumps(notebook, indent=1))
    (lab.root / "kept.py").write_bytes(b"print('h\xc3\xa4')\r\n")
    (lab.root / "gone.csv").write_text("a,b\n1,2\n")
    before = contents(lab.root)
    screen = make_screen(lab)
    chat = start_chat(screen)
    screen.send(script({"say": "nothing is changed"}))
    expect(screen.thread).to_contain_text("nothing is changed")
    screen.wait_idle()
    changed = json.dumps({**notebook, "metadata": {"changed": True}})
    steps = [
        {"write_file": {"path": "model.ipynb", "text": changed}},
        {"write_file": {"path": "new.txt", "text": "made by the agent"}},
        {"delete_file": "gone.csv"},
        {"say": "three files are changed"},
    ]
    screen.send(script(*steps))
    expect(screen.thread).to_contain_text("three files are changed")
    screen.wait_idle()
    after = contents(lab.root)
    assert after.keys() == {"model.ipynb", "kept.py", "new.txt"}
    log = screen.thread.inner_text()

    message = screen.thread.get_by_role("article", name="You", exact=True).nth(1)
    message.hover()
    message.get_by_role("button", name="Rewind").click()
    dialog = screen.page.get_by_role("dialog", name="Rewind to this prompt?")
    for name in ("model.ipynb", "new.txt", "gone.csv"):
        expect(dialog).to_contain_text(name)
    assert contents(lab.root) == after  # looking changes nothing
    dialog.get_by_role("button", name="Rewind").click()
    expect(dialog).to_have_count(0)
    expect(screen.thread).not_to_contain_text("three files are changed")
    assert contents(lab.root) == before
    expect(screen.composer()).to_have_value(script(*steps))

    screen.page.get_by_role("button", name="Undo rewind").last.click()
    expect(screen.thread).to_contain_text("three files are changed")
    expect(screen.page.get_by_role("button", name="Undo rewind")).to_have_count(0)
    assert contents(lab.root) == after
    assert screen.thread.inner_text().startswith(log)  # below it stands what was done
    assert len(lab.events(chat, "user")) == 2
