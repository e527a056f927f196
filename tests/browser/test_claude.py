"""A real Claude Code turn in JupyterLab: a permission, an edit with its diff, the files changed."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import MakeLab, Screen
from tests.fakes.fake_anthropic import FakeAnthropic

pytestmark = pytest.mark.timeout(240)


def claude_lab(
    make_lab: MakeLab, agent_program: Callable[[str], Path], fake: FakeAnthropic
) -> object:
    """A Lab whose Claude Code is the pinned program, talking to the fake model server."""
    return make_lab(
        provider_settings={
            "claude": {
                "command": [str(agent_program("claude"))],
                "env": {
                    "ANTHROPIC_BASE_URL": fake.url,
                    "ANTHROPIC_API_KEY": "sk-fake",
                    "DISABLE_TELEMETRY": "1",
                    "DISABLE_ERROR_REPORTING": "1",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                },
            }
        }
    )


def test_a_real_claude_turn_asks_edits_and_shows_the_diff(
    make_lab: MakeLab,
    make_screen: Callable[..., Screen],
    agent_program: Callable[[str], Path],
    fake_anthropic: FakeAnthropic,
) -> None:
    lab = claude_lab(make_lab, agent_program, fake_anthropic)
    screen = make_screen(lab, width=1440, height=900)
    screen.open()
    screen.command("agentchat:new-chat", provider="claude", main=True)
    page = screen.page
    thread = page.get_by_role("log", name="Conversation")

    screen.send("write file hello.txt")
    ask = page.get_by_role("alertdialog")
    expect(ask).to_be_visible(timeout=60_000)
    expect(ask).to_contain_text("hello.txt")
    ask.get_by_role("button", name=re.compile("Allow once")).click()
    screen.wait_idle()
    assert (lab.root / "hello.txt").exists()

    screen.send("edit file hello.txt")
    expect(ask).to_be_visible(timeout=60_000)
    screen.picture("claude-ask.png")
    ask.get_by_role("button", name=re.compile("Allow once")).click()
    screen.wait_idle()
    expect(thread.get_by_role("group", name=re.compile("^Edit: "))).to_be_visible()
    screen.picture("claude.png")
    (chat,) = lab.call("chats")["chats"]
    events = lab.call(f"chats/{chat['id']}/events?limit=2000")["events"]
    assert [e["outcome"] for e in events if e["type"] == "complete"] == ["completed"] * 2
    assert [e["decision"] for e in events if e["type"] == "ask_resolved"] == ["allow"] * 2
