"""How the program is found and started, and what a session is set to."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_agentchat.errors import ChildGone, NotInstalled
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.protocol.words import Mode, Permission
from jupyter_agentchat.providers.kimi.address import address_in, read_token
from jupyter_agentchat.providers.kimi.launch import (
    disabled_tools,
    environment,
    home_of,
    kimi_mode,
    server_command,
    session_config,
)
from jupyter_agentchat.providers.kimi.loads import has_gated, project_loads
from jupyter_agentchat.providers.kimi.program import find_program
from jupyter_agentchat.providers.settings import ProviderSettings

TOKEN = "s3cret-token-of-the-server-0123456789"


def program(path: Path, text: str = "#!/usr/bin/env node\n") -> Path:
    """A program file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(0o755)
    return path


def test_the_address_is_read_from_any_port_without_the_token() -> None:
    line = f"  Local:    http://127.0.0.1:58629/#token={TOKEN}"
    assert address_in(line) == "http://127.0.0.1:58629"
    assert address_in(f"Kimi server: http://127.0.0.1:1/#token={TOKEN}") == "http://127.0.0.1:1"
    for other in ("Network:  off", "http://192.168.0.1:58627/", "http://127.0.0.1:99999/", ""):
        assert address_in(other) is None


def test_a_token_that_is_missing_open_or_linked_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChildGone):
        read_token(tmp_path)
    path = tmp_path / "server.token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    assert read_token(tmp_path) == TOKEN
    path.chmod(0o640)
    with pytest.raises(ChildGone, match="can be read by others"):
        read_token(tmp_path)
    path.chmod(0o600)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ChildGone, match="cannot be read"):
        read_token(tmp_path)


def test_the_admins_command_then_kimi_cli_then_path_then_the_usual_places(tmp_path: Path) -> None:
    home = tmp_path / "home"
    named = program(tmp_path / "named/kimi", "binary")
    on_path = program(tmp_path / "bin/kimi", "binary")
    usual = program(home / ".kimi-code/bin/kimi", "binary")
    env = {"HOME": str(home), "PATH": str(tmp_path / "bin"), "KIMI_CLI": str(named)}
    admin = ProviderSettings(command=("/bin/sh", "-c", "x"))
    assert find_program(admin, env).command == ("/bin/sh", "-c", "x")
    none = ProviderSettings()
    for expected, gone in ((named, "KIMI_CLI"), (on_path, "PATH"), (usual, "")):
        found = find_program(none, env)
        assert (found.command, found.nodes) == ((str(expected),), ())
        env.pop(gone, None)
    usual.unlink()
    with pytest.raises(NotInstalled) as caught:
        find_program(none, {"HOME": str(home)})
    assert (caught.value.hint or "").startswith("npm install -g @moonshot-ai/kimi-code@")


def test_a_script_needs_a_node_and_takes_the_one_beside_it_first(tmp_path: Path) -> None:
    kimi = program(tmp_path / "npm/bin/kimi")
    env = {"HOME": str(tmp_path), "PATH": f"{kimi.parent}:{tmp_path / 'other'}"}
    with pytest.raises(NotInstalled, match="Node") as caught:
        find_program(ProviderSettings(), env)
    assert caught.value.hint == "npm install -g node@24"
    other = program(tmp_path / "other/node", "old")
    assert find_program(ProviderSettings(), env).nodes == (str(other),)
    beside = program(kimi.parent / "node", "new")
    assert find_program(ProviderSettings(), env).nodes == (str(beside), str(other))


def test_nothing_of_a_project_is_taken_for_the_program(tmp_path: Path) -> None:
    project = tmp_path / "project"
    program(project / "bin/kimi", "binary")
    env = {"HOME": str(tmp_path / "home"), "PATH": str(project / "bin")}
    with pytest.raises(NotInstalled):
        find_program(ProviderSettings(), env, not_below=project)


def test_the_command_is_of_loopback_and_any_port_and_the_environment_is_clean() -> None:
    command = server_command(("node", "kimi"))
    assert command == ("node", "kimi", "web", "--no-open", "--port", "0")
    source = {"PATH": "/bin", "JUPYTER_TOKEN": "x", "OPENAI_API_KEY": "y", "KIMI_MODEL_NAME": "m"}
    built = environment(source, ProviderSettings(env={"KIMI_DISABLE_CRON": "0"}))
    assert "JUPYTER_TOKEN" not in built
    assert "OPENAI_API_KEY" not in built
    assert (built["KIMI_MODEL_NAME"], built["KIMI_DISABLE_CRON"]) == ("m", "0")
    assert built["KIMI_CODE_NO_AUTO_UPDATE"] == "1"
    assert home_of({"HOME": "/h"}) == Path("/h/.kimi-code")
    assert home_of({"HOME": "/h", "KIMI_CODE_HOME": "/k"}) == Path("/k")


@pytest.mark.parametrize(
    ("permission", "mode"),
    [("read_only", "manual"), ("ask", "manual"), ("accept_edits", "manual"), ("full", "auto")],
)
def test_permissions_become_kimi_codes_own_modes(permission: Permission, mode: str) -> None:
    assert kimi_mode(permission) == mode
    request = RunRequest(
        chat_id="c", run_id="r", prompt="p", cwd="/w", permission=permission, effort="high"
    )
    config = session_config(request, "m", trusted=True, rules_allow=False)
    assert config.profile("r") == {
        "agent_config": {
            "model": "m",
            "permission_mode": mode,
            "plan_mode": permission == "read_only",
            "thinking": "high",
        },
        "metadata": {"agentchat_run": "r"},
    }


@pytest.mark.parametrize("mode", ["chat", "plan", "code", "review", "debug", "full_auto"])
def test_read_only_takes_away_what_plan_mode_does_not_hold_back(mode: Mode) -> None:
    gone = disabled_tools(mode, "read_only", trusted=True, rules_allow=False)
    assert {"Agent", "AgentSwarm", "mcp__*"} <= set(gone)
    assert ("Bash" in gone) == ("Write" in gone) == (mode != "plan")
    strict = disabled_tools("plan", "read_only", trusted=True, rules_allow=True)
    assert "Bash" in strict
    for permission in ("ask", "accept_edits", "full"):
        assert disabled_tools(mode, permission, trusted=True, rules_allow=True) == ()
        assert disabled_tools(mode, permission, trusted=False, rules_allow=False) == ("Skill",)


def test_what_a_project_would_load_is_listed_up_to_its_top(tmp_path: Path) -> None:
    top, below = tmp_path / "top", tmp_path / "top/below"
    below.mkdir(parents=True)
    assert project_loads(below, top) == []
    assert not has_gated(below)
    files = {
        top / ".mcp.json": "mcp",
        top / "AGENTS.md": "instructions",
        below / ".kimi-code/mcp.json": "mcp",
        below / ".kimi-code/local.toml": "settings",
        below / ".agents/skills/a/SKILL.md": "skills",
        below / ".kimi-code/agents/b.md": "agents",
    }
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}", "utf-8")
    (tmp_path / "AGENTS.md").write_text("above", "utf-8")
    loads = {(below / load.path).resolve(): load.kind for load in project_loads(below, top)}
    assert loads == files
    assert has_gated(below)
