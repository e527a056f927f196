"""One chat with one agent after the other, all of them the real programs: the thread stays one."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.agents.opencode_agent import program as opencode_program
from tests.browser.conftest import MakeLab, MakeScreen, Screen
from tests.fakes.fake_anthropic import FakeAnthropic
from tests.fakes.fake_openai import FakeOpenAI
from tests.fakes.opencode_models import OpencodeModels
from tests.fakes.opencode_models import config as opencode_config

pytestmark = pytest.mark.timeout(300)

Settings = dict[str, Any]


def claude(fake: FakeAnthropic, program: Path) -> Settings:
    return {
        "command": [str(program)],
        "env": {
            "ANTHROPIC_BASE_URL": fake.url,
            "ANTHROPIC_API_KEY": "sk-fake",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    }


def choose(screen: Screen, agent: str) -> None:
    """The agent picker of the composer."""
    screen.chat.get_by_role("combobox", name="Agent", exact=True).click()
    screen.page.get_by_role("option", name=re.compile(f"^{re.escape(agent)}")).click()


def ask(screen: Screen, text: str, answer: str) -> None:
    screen.send(text)
    expect(screen.thread).to_contain_text(answer, timeout=90_000)
    screen.wait_idle()


def test_claude_and_then_codex_answer_in_one_chat(
    make_lab: MakeLab,
    make_screen: MakeScreen,
    agent_program: Callable[[str], Path],
    fake_anthropic: FakeAnthropic,
) -> None:
    with FakeOpenAI() as fake_openai:
        lab = make_lab(
            provider_settings={
                "claude": claude(fake_anthropic, agent_program("claude")),
                "codex": {"command": [str(agent_program("codex"))]},
            }
        )
        (lab.home / ".codex").mkdir()
        (lab.home / ".codex" / "config.toml").write_text(fake_openai.config())
        screen = make_screen(lab, width=1440, height=1000)
        screen.open()
        screen.command("agentchat:new-chat", provider="claude", main=True)
        ask(screen, "say hello", "Hello from the fake model")
        choose(screen, "Codex")
        ask(screen, "echo second", "second")
        choose(screen, "Claude Code")
        ask(screen, "echo third", "third")
        (chat,) = lab.call("chats")["chats"]
        started = lab.events(chat["id"], "run_started")
        assert [one["provider"] for one in started] == ["claude", "codex", "claude"]
        assert [one["continuation"] for one in started] == ["fresh", "transcript", "resume"]
        ends = [one["outcome"] for one in lab.events(chat["id"], "complete")]
        assert ends == ["completed"] * 3
        expect(screen.thread).to_contain_text("Hello from the fake model")
        screen.picture("switching.png")


def test_claude_codex_and_opencode_answer_in_one_chat(
    make_lab: MakeLab,
    make_screen: MakeScreen,
    agent_program: Callable[[str], Path],
    fake_anthropic: FakeAnthropic,
) -> None:
    program = opencode_program()
    with FakeOpenAI() as fake_openai, OpencodeModels() as fake_models:
        lab = make_lab(
            provider_settings={
                "claude": claude(fake_anthropic, agent_program("claude")),
                "codex": {"command": [str(agent_program("codex"))]},
                "opencode": {
                    "command": [str(program)],
                    "env": {"OPENCODE_DISABLE_MODELS_FETCH": "1"},
                },
            }
        )
        (lab.home / ".codex").mkdir()
        (lab.home / ".codex" / "config.toml").write_text(fake_openai.config())
        folder = lab.home / ".config" / "opencode"
        folder.mkdir(parents=True)
        (folder / "opencode.json").write_text(json.dumps(opencode_config(fake_models.url)))
        subprocess.run(["git", "init", "-q"], cwd=lab.root, check=True, timeout=20)
        screen = make_screen(lab, width=1440, height=1000)
        screen.open()
        screen.command("agentchat:new-chat", provider="claude", main=True)
        ask(screen, "say hello", "Hello from the fake model")
        choose(screen, "Codex")
        ask(screen, "echo second", "second")
        choose(screen, "opencode")
        ask(screen, "echo third", "third")
        (chat,) = lab.call("chats")["chats"]
        started = lab.events(chat["id"], "run_started")
        assert [one["provider"] for one in started] == ["claude", "codex", "opencode"]
        assert [one["outcome"] for one in lab.events(chat["id"], "complete")] == ["completed"] * 3
