"""How Codex is started, and what a thread and a turn of it are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import NotInstalled, ProviderError
from jupyter_agentchat.protocol.resources import Attachment, Model, RunRequest
from jupyter_agentchat.providers.codex.flavour import CODEX, MINIMAX
from jupyter_agentchat.providers.codex.launch import (
    Setup,
    arguments,
    check,
    environment,
    permission_params,
    servers_of,
    thread_params,
    turn_params,
)
from jupyter_agentchat.providers.codex.models import configured, models_of
from jupyter_agentchat.providers.codex.program import find_program
from jupyter_agentchat.providers.codex.prompts import command_of, turn_input
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.goldens import read_recording, recordings


def request(**more: Any) -> RunRequest:
    given = {"chat_id": "c", "run_id": "r", "prompt": "Do it", "cwd": "/work/project", **more}
    return RunRequest.model_validate(given)


def test_no_secret_and_no_prompt_stands_on_the_command_line() -> None:
    known = {"MINIMAX_API_KEY": "sk-secret", "MINIMAX_BASE_URL": 'http://127.0.0.1:1/"v1'}
    argv = arguments(MINIMAX, known, None)
    assert "sk-secret" not in " ".join(argv)
    assert argv[0] == "app-server"
    assert 'model_provider="minimax"' in argv
    assert any('base_url="http://127.0.0.1:1/\\"v1"' in value for value in argv)
    assert "features.unbounded_connection_retries=false" in arguments(CODEX, {}, None)
    assert not any("model_provider" in value for value in arguments(CODEX, {}, None))


def test_only_what_codex_documents_reaches_it() -> None:
    source = {
        "HOME": "/home/x",
        "PATH": "/usr/bin",
        "CODEX_HOME": "/home/x/c",
        "OPENAI_API_KEY": "k",
        "JUPYTERHUB_API_TOKEN": "t",
        "ANTHROPIC_API_KEY": "a",
        "MINIMAX_API_KEY": "m",
        "CUSTOM": "1",
    }
    given = environment(source, ProviderSettings(pass_env=("CUSTOM",)), CODEX)
    names = {"HOME", "PATH", "CODEX_HOME", "OPENAI_API_KEY", "CUSTOM", "RUST_LOG", "NO_COLOR"}
    assert set(given) == names


def test_minimax_gets_its_key_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("sk-from-file\n")
    source = {"MINIMAX_API_KEY_FILE": str(file), "OPENAI_API_KEY": "other"}
    given = environment(source, ProviderSettings(), MINIMAX)
    assert given["MINIMAX_API_KEY"] == "sk-from-file"
    assert "OPENAI_API_KEY" not in given
    assert "MINIMAX_API_KEY" not in environment({}, ProviderSettings(), MINIMAX)


@pytest.mark.parametrize(
    ("permission", "approval", "sandbox"),
    [
        ("read_only", "on-request", "readOnly"),
        ("ask", "untrusted", "workspaceWrite"),
        ("accept_edits", "on-request", "workspaceWrite"),
        ("full", "never", "dangerFullAccess"),
    ],
)
def test_each_permission_is_a_policy_and_a_sandbox(
    permission: Any, approval: str, sandbox: str
) -> None:
    params = permission_params(permission)
    assert params["approvalPolicy"] == approval
    assert params["approvalsReviewer"] == "user"
    assert isinstance(params["sandboxPolicy"], dict)
    assert params["sandboxPolicy"]["type"] == sandbox
    assert not params["sandboxPolicy"].get("networkAccess")


def test_a_turn_says_everything_so_that_nothing_sticks() -> None:
    params = turn_params(request(mode="plan", permission="read_only"), "m-1")
    assert params["collaborationMode"] == {
        "mode": "plan",
        "settings": {"model": "m-1", "reasoning_effort": None, "developer_instructions": None},
    }
    assert params["serviceTier"] is None
    params = turn_params(request(effort="high", service_tier="priority"), "m-1")
    assert params["collaborationMode"]["mode"] == "default"  # type: ignore[index,call-overload]
    assert params["serviceTier"] == "priority"


def test_an_untrusted_directory_is_named_so_with_all_above_it() -> None:
    setup = Setup("/work/project/sub", False, "/work/project", hidden_skills=("/s/SKILL.md",))
    config: Any = thread_params(setup, {}, None)["config"]
    assert config["projects"] == {
        place: {"trust_level": "untrusted"}
        for place in ("/work/project/sub", "/work/project", "/work", "/")
    }
    assert config["skills"] == {"config": [{"path": "/s/SKILL.md", "enabled": False}]}


def test_trust_reaches_no_higher_than_the_repository() -> None:
    setup = Setup("/work/project/sub", True, "/work/project")
    params: Any = thread_params(setup, {}, "m-1")
    assert set(params["config"]["projects"]) == {"/work/project/sub", "/work/project"}
    assert params["model"] == "m-1"
    # named wider, Codex would write its trust into the person's own config.toml
    assert params["sandbox"] == "read-only"


def test_mcp_servers_are_handed_over_in_codex_words() -> None:
    servers = servers_of(
        request(
            mcp_servers={
                "files": {"command": "/bin/files", "args": ["-v"], "env": {"A": "1"}},
                "web": {"type": "http", "url": "http://127.0.0.1:1", "headers": {"X": "1"}},
                "bad name": {"command": "x"},
                "empty": {},
            }
        )
    )
    assert servers == {
        "files": {"command": "/bin/files", "args": ["-v"], "env": {"A": "1"}},
        "web": {"url": "http://127.0.0.1:1", "http_headers": {"X": "1"}},
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"model": "-c evil=1"},
        {"model": "a b"},
        {"effort": "High!"},
        {"service_tier": "../x"},
        {"provider_session_id": "--last"},
    ],
)
def test_what_cannot_be_a_name_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(ProviderError):
        check(request(**wrong))


def test_the_input_holds_transcript_prompt_pictures_and_skills() -> None:
    picture = Attachment(id="a", name="a.png", path="/files/a.png", kind="image")
    table = Attachment(id="b", name="b.csv", path="/files/b.csv", kind="file")
    asked = request(transcript="Before.", attachments=[picture, table])
    assert turn_input(asked, [{"name": "greet", "path": "/s/SKILL.md"}]) == [
        {"type": "text", "text": "Before."},
        {"type": "text", "text": "Do it"},
        {"type": "localImage", "path": "/files/a.png"},
        {"type": "skill", "name": "greet", "path": "/s/SKILL.md"},
    ]


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("/compact", ("thread/compact/start", {})),
        ("/compact now", None),
        ("/review", ("review/start", {"target": {"type": "uncommittedChanges"}})),
        (
            "/review the parser",
            ("review/start", {"target": {"type": "custom", "instructions": "the parser"}}),
        ),
        ("please /review", None),
        ("/reviewer", None),
    ],
)
def test_codex_own_commands_are_known(prompt: str, expected: Any) -> None:
    assert command_of(request(prompt=prompt)) == expected


def _program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o700)
    return path


def test_the_native_program_is_taken_behind_npms_script(tmp_path: Path) -> None:
    modules = tmp_path / "lib" / "node_modules" / "@openai"
    script = _program(modules / "codex" / "bin" / "codex.js")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "codex").symlink_to(script)
    path = {"PATH": str(tmp_path / "bin"), "HOME": str(tmp_path)}
    assert find_program(ProviderSettings(), path) == (str(tmp_path / "bin" / "codex"),)
    for arch in ("x64", "arm64"):
        _program(modules / f"codex-linux-{arch}" / "vendor" / "musl" / "bin" / "codex")
        _program(modules / f"codex-darwin-{arch}" / "vendor" / "apple" / "bin" / "codex")
    (found,) = find_program(ProviderSettings(), path)
    assert "/vendor/" in found


def test_the_program_is_looked_for_in_order(tmp_path: Path) -> None:
    named, on_path = _program(tmp_path / "a" / "mine"), _program(tmp_path / "b" / "codex")
    admins = _program(tmp_path / "c" / "theirs")
    known = {"PATH": str(on_path.parent), "HOME": str(tmp_path), "CODEX_CLI": str(named)}
    settings = ProviderSettings(command=(str(admins), "--flag"))
    assert find_program(settings, known) == (str(admins), "--flag")
    assert find_program(ProviderSettings(), known) == (str(named),)
    del known["CODEX_CLI"]
    assert find_program(ProviderSettings(), known) == (str(on_path),)


def test_a_program_of_the_project_is_not_taken(tmp_path: Path) -> None:
    _program(tmp_path / "project" / "codex")
    known = {"PATH": str(tmp_path / "project"), "HOME": str(tmp_path / "home")}
    with pytest.raises(NotInstalled) as caught:
        find_program(ProviderSettings(), known, not_below=tmp_path / "project")
    assert "npm install -g @openai/codex@" in (caught.value.hint or "")


def test_the_catalogue_gives_models_efforts_and_tiers() -> None:
    import json

    path = next(path for path in recordings("codex") if path.stem == "catalog")
    answers = [json.loads(item.line) for item in read_recording(path) if item.dir == "out"]
    (answer,) = [
        answer["result"]
        for answer in answers
        if any(
            "supportedReasoningEfforts" in model
            for model in answer.get("result", {}).get("data", [])
            if isinstance(model, dict)
        )
    ][:1]
    models = models_of(answer)
    assert [model.default for model in models].count(True) == 1
    default = next(model for model in models if model.default)
    assert {"low", "medium", "high"} <= set(default.efforts)
    assert any("priority" in model.tiers for model in models)


def test_an_admins_choice_of_models_counts() -> None:
    known = [Model(id="a", name="A", default=True), Model(id="b", name="B")]
    assert configured(known, (), None) == known
    chosen = configured(known, ("b", "new"), "new")
    assert [(model.id, model.name, model.default) for model in chosen] == [
        ("b", "B", False),
        ("new", "new", True),
    ]
    assert [model.id for model in configured(known, (), "mine")] == ["mine", "a", "b"]
