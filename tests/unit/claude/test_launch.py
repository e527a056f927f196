"""How the CLI is started: permissions, trust, sessions, environment."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.errors import NotInstalled, ProviderError
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.protocol.words import Mode, Permission
from jupyter_agentchat.providers.claude.launch import (
    arguments,
    cli_mode,
    environment,
    fixed_settings,
    live_settings,
    may_bypass_permissions,
    session_start,
)
from jupyter_agentchat.providers.claude.program import find_program
from jupyter_agentchat.providers.claude.prompts import prompt_uuid, user_line
from jupyter_agentchat.providers.settings import ProviderSettings

FIRST = "00000000-0000-4000-8000-000000000001"
OLD = "00000000-0000-4000-8000-000000000002"


def make_request(**more: Any) -> RunRequest:
    given = {"chat_id": "c", "run_id": "r", "prompt": "Do it", "cwd": "/project", **more}
    return RunRequest.model_validate(given)


def argv_of(
    *, trusted: bool = True, may_bypass: bool = True, model: str | None = None, **more: Any
) -> list[str]:
    request = make_request(model=model, **more)
    return arguments(
        fixed_settings(request, trusted=trusted, may_bypass=may_bypass),
        live_settings(request, ProviderSettings(), may_bypass=may_bypass),
        session_start(request, FIRST),
    )


def _forbidden(argv: list[str]) -> set[str]:
    (flag,) = [arg for arg in argv if arg.startswith("--disallowedTools=")]
    return set(flag.partition("=")[2].split(","))


@pytest.mark.parametrize(
    ("mode", "permission", "may_bypass", "expected"),
    [
        ("plan", "read_only", True, "plan"),
        ("code", "read_only", True, "default"),
        ("code", "ask", True, "default"),
        ("code", "accept_edits", True, "acceptEdits"),
        ("full_auto", "full", True, "bypassPermissions"),
        ("full_auto", "full", False, "default"),
    ],
)
def test_a_permission_becomes_the_clis_own_mode(
    mode: Mode, permission: Permission, may_bypass: bool, expected: str
) -> None:
    assert cli_mode(mode, permission, may_bypass=may_bypass) == expected
    argv = argv_of(mode=mode, permission=permission, may_bypass=may_bypass)
    assert f"--permission-mode={expected}" in argv


def test_read_only_takes_away_what_could_change_something() -> None:
    changing = {"Bash", "Write", "Edit", "NotebookEdit"}
    argv = argv_of(permission="read_only")
    assert changing <= _forbidden(argv)
    assert "--strict-mcp-config" in argv
    for harmless in (argv_of(), argv_of(mode="plan", permission="read_only")):
        assert not changing & _forbidden(harmless)
    assert "--strict-mcp-config" not in argv_of()
    assert "--strict-mcp-config" in argv_of(mode="plan", permission="read_only")


def test_nothing_waits_for_a_time_at_which_its_process_may_be_gone() -> None:
    assert {"CronCreate", "ScheduleWakeup", "Monitor"} <= _forbidden(argv_of())
    assert "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS" not in environment({}, ProviderSettings())


def test_an_untrusted_project_is_started_with_the_persons_settings_only() -> None:
    assert "--setting-sources=user" in argv_of(trusted=False)
    assert not any(arg.startswith("--setting-sources") for arg in argv_of(trusted=True))


def test_a_conversation_is_new_resumed_or_forked() -> None:
    assert f"--session-id={FIRST}" in argv_of()
    resumed = argv_of(provider_session_id=OLD)
    assert f"--resume={OLD}" in resumed
    assert not any(arg.startswith("--session-id") for arg in resumed)
    forked = argv_of(provider_session_id=OLD, fork=True)
    assert {f"--resume={OLD}", "--fork-session", f"--session-id={FIRST}"} <= set(forked)


def test_model_and_effort_are_passed_in_one_token() -> None:
    argv = argv_of(model="sonnet[1m]", effort="high")
    assert {"--model=sonnet[1m]", "--effort=high"} <= set(argv)
    assert not any(arg.startswith("--model") for arg in argv_of(model="default"))


@pytest.mark.parametrize(
    "bad",
    [
        {"model": "--dangerously-skip-permissions"},
        {"model": "a b"},
        {"model": "x\n--y"},
        {"effort": "-x"},
        {"effort": "HIGH "},
        {"provider_session_id": "--continue"},
        {"provider_session_id": "../../etc"},
    ],
)
def test_a_value_that_could_be_a_flag_is_refused(bad: dict[str, str]) -> None:
    with pytest.raises(ProviderError):
        argv_of(**bad)


def test_the_prompt_never_stands_in_the_arguments() -> None:
    assert not any("Do it" in arg for arg in argv_of())
    line = user_line(make_request())
    assert line["message"] == {"role": "user", "content": "Do it"}
    assert line["uuid"] == prompt_uuid("r") == prompt_uuid("r") != prompt_uuid("r2")


def test_a_transcript_is_given_as_it_is() -> None:
    message = user_line(make_request(transcript="Earlier: x\n"))["message"]
    assert message == {
        "role": "user",
        "content": [
            {"type": "text", "text": "Earlier: x\n"},
            {"type": "text", "text": "Do it"},
        ],
    }


def test_only_what_the_agent_needs_is_passed_on() -> None:
    source = {
        "HOME": "/home/ada",
        "ANTHROPIC_API_KEY": "k",
        "CLAUDE_CONFIG_DIR": "/c",
        "CLAUDE_CODE_USE_BEDROCK": "1",
        "CLAUDECODE": "1",
        "CLAUDE_CODE_SESSION_ID": "s",
        "JUPYTERHUB_API_TOKEN": "canary",
        "OPENAI_API_KEY": "canary",
        "AWS_PROFILE": "work",
        "SECRET": "canary",
    }
    settings = ProviderSettings(
        env={"EXTRA": "1", "ENABLE_TOOL_SEARCH": "true"}, pass_env=("AWS_*",)
    )
    built = environment(source, settings)
    assert "canary" not in built.values()
    assert not {"CLAUDECODE", "CLAUDE_CODE_SESSION_ID"} & set(built)
    assert {"ANTHROPIC_API_KEY", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK"} <= set(built)
    assert {"AWS_PROFILE", "EXTRA"} <= set(built)
    assert built["DISABLE_AUTOUPDATER"] == "1"
    assert built["ENABLE_TOOL_SEARCH"] == "true"


def test_as_root_the_bypass_needs_a_sandbox() -> None:
    assert may_bypass_permissions({}, is_root=False)
    assert not may_bypass_permissions({}, is_root=True)
    assert may_bypass_permissions({"IS_SANDBOX": "1"}, is_root=True)


def test_the_program_is_found_where_people_install_it(tmp_path: Any) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    local, planted = home / ".local/bin/claude", project / "claude"
    for path in (local, planted):
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o700)
    around = {"HOME": str(home), "PATH": f"{project}:."}
    settings = ProviderSettings()
    assert find_program(settings, around, not_below=project) == (str(local),)
    named = {**around, "CLAUDE_CLI": str(planted)}
    assert find_program(settings, named, not_below=project) == (str(local),)
    own = ProviderSettings(command=(str(planted), "--extra"))
    assert find_program(own, around, not_below=project) == (str(planted), "--extra")
    local.unlink()
    with pytest.raises(NotInstalled) as missing:
        find_program(settings, around, not_below=project)
    assert missing.value.hint is not None
    assert "npm install" in missing.value.hint


def test_an_id_of_our_own_is_looked_at_only_where_it_is_used() -> None:
    resumed = make_request(provider_session_id=OLD)
    assert session_start(resumed, "no uuid").session_id == OLD
    for given in ({}, {"provider_session_id": OLD, "fork": True}, {"provider_session_id": "-x"}):
        with pytest.raises(ProviderError):
            session_start(make_request(**given), "no uuid")
