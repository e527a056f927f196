"""How agents are started, in trusted and other folders, and what is handed to them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_agentchat.errors import NotInstalled
from jupyter_agentchat.protocol.resources import Attachment, RunRequest
from jupyter_agentchat.providers.acp.agents import AcpAgent, configured_agent
from jupyter_agentchat.providers.acp.launch import build_spawn, mcp_servers, prompt_blocks
from jupyter_agentchat.providers.acp.presets import GEMINI, GOOSE, QWEN, found_presets, presets
from jupyter_agentchat.providers.acp.trust import (
    NotTrustedHere,
    place_files,
    project_loads,
    refuse_untrusted,
)
from jupyter_agentchat.providers.settings import ProviderSettings, parse_settings

from .scripted import ScriptedAgent
from .stage import AGENT, Stage, acted

SERVER = {
    "HOME": "/home/me",
    "LANG": "C",
    "GEMINI_API_KEY": "g",
    "OPENAI_API_KEY": "o",
    "ANTHROPIC_API_KEY": "a",
    "JUPYTERHUB_API_TOKEN": "t",
    "MY_SECRET": "s",
}


def _program(folder: Path, name: str) -> Path:
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text("#!/bin/sh\n")
    program.chmod(0o700)
    return program


def _spawned(agent: AcpAgent, tmp_path: Path, *, trusted: bool) -> tuple[list[str], dict[str, str]]:
    _program(tmp_path / "bin", agent.argv[0])
    spawn = build_spawn(
        agent,
        ProviderSettings(),
        {**SERVER, "PATH": str(tmp_path / "bin")},
        cwd=tmp_path / "project",
        child_id="x",
        trusted=trusted,
        files={} if trusted else place_files(agent, tmp_path / "scratch"),
    )
    return list(spawn.argv), dict(spawn.env)


def test_each_agent_gets_its_own_variables_and_no_others(tmp_path: Path) -> None:
    for agent, kept in ((GEMINI, "GEMINI_API_KEY"), (QWEN, "OPENAI_API_KEY")):
        _, env = _spawned(agent, tmp_path, trusted=True)
        keys = {name for name in env if name in SERVER}
        assert keys == {"HOME", "LANG", kept}


def test_qwen_code_is_started_untrusted_with_all_three_of_its_locks(tmp_path: Path) -> None:
    argv, env = _spawned(QWEN, tmp_path, trusted=False)
    assert argv[1:] == ["--acp", "--safe-mode"]
    folders = json.loads(Path(env["QWEN_CODE_TRUSTED_FOLDERS_PATH"]).read_text())
    settings = json.loads(Path(env["QWEN_CODE_SYSTEM_SETTINGS_PATH"]).read_text())
    assert folders == {"/": "DO_NOT_TRUST"}
    assert settings == {"security": {"folderTrust": {"enabled": True}}}
    argv, env = _spawned(QWEN, tmp_path, trusted=True)
    assert argv[1:] == ["--acp"]
    assert not any(name.startswith("QWEN_CODE_S") or "FOLDERS" in name for name in env)


def test_a_settings_file_of_ours_is_written_anew_for_each_start(tmp_path: Path) -> None:
    (path,) = {place_files(QWEN, tmp_path)["QWEN_CODE_TRUSTED_FOLDERS_PATH"]}
    Path(path).write_text('{"/": "TRUST_FOLDER"}')
    place_files(QWEN, tmp_path)
    assert "DO_NOT_TRUST" in Path(path).read_text()


def test_gemini_cli_is_told_of_trust_in_both_ways(tmp_path: Path) -> None:
    for trusted, word in ((True, "true"), (False, "false")):
        _, env = _spawned(GEMINI, tmp_path, trusted=trusted)
        assert env["GEMINI_CLI_TRUST_WORKSPACE"] == word


def test_an_agent_that_cannot_be_told_is_not_started_where_it_would_load_something(
    tmp_path: Path,
) -> None:
    refuse_untrusted(GOOSE, tmp_path)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".goosehints").write_text("Do.")
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    with pytest.raises(NotTrustedHere) as caught:
        refuse_untrusted(GOOSE, below)
    assert caught.value.details["loads"] == ["../../.goosehints"]
    assert caught.value.event_code == "not_trusted"
    refuse_untrusted(QWEN, below)


def test_what_a_project_would_make_an_agent_load_is_listed(tmp_path: Path) -> None:
    for name in (".gemini/settings.json", ".gemini/skills/x/SKILL.md", "GEMINI.md", ".env", "a.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    found = {(load.kind, load.path) for load in project_loads(GEMINI, tmp_path, tmp_path)}
    assert found == {
        ("settings", ".gemini/settings.json"),
        ("settings", ".gemini/skills/x/SKILL.md"),
        ("instructions", "GEMINI.md"),
        ("environment", ".env"),
    }


def test_a_program_in_the_project_is_never_taken(tmp_path: Path) -> None:
    _program(tmp_path, "gemini")
    with pytest.raises(NotInstalled):
        build_spawn(
            GEMINI,
            ProviderSettings(),
            {"PATH": str(tmp_path), "HOME": "/nowhere"},
            cwd=tmp_path,
            child_id="x",
            trusted=True,
            files={},
        )


def test_presets_are_found_on_the_path(tmp_path: Path) -> None:
    assert set(presets()) >= {"gemini", "qwen", "goose", "opencode-acp", "kimi-acp"}
    _program(tmp_path / "bin", "goose")
    found = found_presets({"PATH": str(tmp_path / "bin")})
    assert [agent.id for agent in found] == ["goose"]


def test_an_admin_describes_an_agent_of_their_own() -> None:
    settings = parse_settings(
        {"kind": "acp", "command": ["/opt/a", "--acp"], "name": "Ours", "sign_in": "a login"}
    )
    agent = configured_agent("ours", settings)
    assert (agent.id, agent.name, agent.argv) == ("ours", "Ours", ("/opt/a", "--acp"))
    assert agent.sign_in_hint == "a login"
    preset = parse_settings({"kind": "acp", "preset": "qwen", "command": ["/opt/qwen", "--acp"]})
    assert configured_agent("mine", preset).untrusted == QWEN.untrusted
    assert configured_agent("qwen", parse_settings({"kind": "acp"})).argv == QWEN.argv
    with pytest.raises(ValueError, match='no "command"'):
        configured_agent("ours", parse_settings({"kind": "acp"}))
    with pytest.raises(ValueError, match="presets are"):
        configured_agent("ours", parse_settings({"kind": "acp", "preset": "nope"}))


def test_mcp_servers_are_handed_over_in_the_protocols_words() -> None:
    wanted = {
        "a": {"command": "/bin/a", "args": ["x"], "env": {"K": "v"}},
        "b": {"type": "http", "url": "http://127.0.0.1/mcp", "headers": {"Authorization": "B"}},
    }
    both = mcp_servers(wanted, http=True)
    assert both.servers == [
        {"name": "a", "command": "/bin/a", "args": ["x"], "env": [{"name": "K", "value": "v"}]},
        {
            "type": "http",
            "name": "b",
            "url": "http://127.0.0.1/mcp",
            "headers": [{"name": "Authorization", "value": "B"}],
        },
    ]
    assert mcp_servers(wanted, http=False).left_out == ["b"]


def test_a_server_that_the_agent_cannot_take_is_said(tmp_path: Path) -> None:
    def without_http(agent: ScriptedAgent) -> None:
        agent.answers["initialize"] = {"protocolVersion": 1, "agentCapabilities": {}}

    async def act(stage: Stage) -> None:
        stage.launcher.prepare = without_http
        servers = {"far": {"type": "http", "url": "http://127.0.0.1/mcp"}}
        bodies = await stage.say(mcp_servers=servers)
        assert getattr(bodies[0], "code", "") == "mcp_left_out"
        assert stage.agent.sent("session/new")[0]["mcpServers"] == []

    acted(tmp_path, act, lambda agent, _message: agent.end())


def test_an_image_goes_in_itself_where_the_agent_takes_it(tmp_path: Path) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(b"png")
    request = RunRequest(
        chat_id="c",
        run_id="r",
        prompt="Look",
        cwd="/",
        transcript="Before.",
        attachments=[
            Attachment(id="1", name="a", path=str(picture), mime="image/png", kind="image"),
            Attachment(id="2", name="b", path="/gone.png", mime="image/png", kind="image"),
        ],
    )
    assert prompt_blocks(request, images=True) == [
        {"type": "text", "text": "Before."},
        {"type": "text", "text": "Look"},
        {"type": "image", "mimeType": "image/png", "data": "cG5n"},
        {"type": "text", "text": "Attached image: /gone.png"},
    ]
    kinds = [block["type"] for block in prompt_blocks(request, images=False)]  # type: ignore[index,call-overload]
    assert kinds == ["text"] * 4


def test_no_prompt_and_no_secret_stands_in_the_arguments(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await stage.say("a secret prompt")
        assert stage.agent.argv[1:] == ["--acp"]

    acted(tmp_path, act, lambda agent, _message: agent.end(), AGENT)
