"""What only a person may say: trust in a project, and yes to an ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Request, expect

from tests.browser.conftest import Lab, MakeLab, MakeScreen

pytestmark = pytest.mark.timeout(240)


def plant(project: Path, mark: Path) -> None:
    """A hook as a cloned repository could bring it."""
    hook = {"type": "command", "command": f"touch {mark}"}
    settings = {"hooks": {"SessionStart": [{"hooks": [hook]}]}}
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text(json.dumps(settings))


def test_a_project_with_a_hook_is_asked_about_before_any_process_starts(
    make_lab: MakeLab, make_screen: MakeScreen, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    program = tmp_path / "claude"
    program.write_text(
        '#!/bin/sh\n[ "$1" = --version ] && { echo "2.1.332 (Claude Code)"; exit 0; }\n'
        '[ "$1" = auth ] && { echo \'{"loggedIn": true}\'; exit 0; }\n'
        f'echo "$PWD $@" >> {started}\nexit 1\n'
    )
    program.chmod(0o755)

    def ran() -> str:
        return started.read_text() if started.exists() else ""

    lab = make_lab(provider_settings={"claude": {"command": [str(program)]}})
    plant(lab.root, tmp_path / "hooked")
    screen = make_screen(lab, width=1100, height=700)
    screen.open()
    screen.command("agentchat:new-chat", provider="claude", main=True)
    screen.send("hello")
    card = screen.page.get_by_role("alertdialog")
    expect(card).to_contain_text("Do you trust")
    expect(card.get_by_role("list", name="Would be loaded")).to_contain_text(
        ".claude/settings.json"
    )
    assert str(lab.root) not in ran()
    screen.check_accessibility(".jp-AgentChat")
    screen.picture("trust.png")
    card.get_by_role("button", name="Not now").click()
    expect(screen.composer()).to_have_value("hello")
    assert str(lab.root) not in ran()
    screen.composer().press("Enter")
    card.get_by_role("button", name="Don't trust").click()
    screen.wait_idle()
    expect(screen.thread.get_by_role("group", name="Usage").last).to_be_visible()
    (line,) = [line for line in ran().splitlines() if str(lab.root) in line]
    assert "--setting-sources=user" in line
    assert not (tmp_path / "hooked").exists()


def headers(request: Request) -> set[str]:
    return set(request.all_headers())


def test_answers_go_by_the_cookie_of_a_person_and_without_the_token(
    lab: Lab, make_screen: MakeScreen
) -> None:
    chat = lab.new_chat()
    lab.play(chat, {"ask": {"title": "May I?"}, "allow": [{"say": "I may."}]}, wait="waiting")
    screen = make_screen(lab)
    requests: list[Request] = []
    screen.page.on("request", lambda request: requests.append(request))
    screen.open_chat(chat)
    screen.allow()
    expect(screen.thread).to_contain_text("I may.")
    ours = [request for request in requests if "/agentchat/api/" in request.url]
    answers = [request for request in ours if "/asks/" in request.url]
    others = [request for request in ours if "/asks/" not in request.url]
    assert len(answers) == 1
    assert "authorization" not in headers(answers[0])
    assert {"cookie", "x-xsrftoken"} <= headers(answers[0])
    assert others
    assert all("authorization" in headers(request) for request in others)
