"""What a project would make Codex load, as a person is asked about it."""

from __future__ import annotations

from pathlib import Path

from jupyter_agentchat.providers.codex.loads import project_loads


def _write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_each_kind_is_listed_with_its_file_up_to_the_top(tmp_path: Path) -> None:
    project = tmp_path / "repo" / "sub"
    config = '[mcp_servers.x]\ncommand = "x"\n[model_providers.y]\nbase_url = "z"\n'
    _write(project / ".codex" / "config.toml", config)
    _write(project / ".codex" / "hooks.json", "{}")
    _write(project / "AGENTS.md")
    _write(tmp_path / "repo" / ".agents" / "skills" / "greet" / "SKILL.md")
    _write(tmp_path / "repo" / ".codex" / "rules" / "default.rules")
    _write(tmp_path / "AGENTS.md")
    found = project_loads(project, tmp_path / "repo", "codex")
    assert [(load.kind, load.path) for load in found] == [
        ("base url", ".codex/config.toml"),
        ("mcp", ".codex/config.toml"),
        ("settings", ".codex/config.toml"),
        ("hooks", ".codex/hooks.json"),
        ("instructions", "AGENTS.md"),
        ("skills", "../.agents/skills/greet/SKILL.md"),
        ("permissions", "../.codex/rules/default.rules"),
    ]
    assert {load.agent for load in found} == {"codex"}


def test_a_broken_file_is_listed_all_the_same(tmp_path: Path) -> None:
    _write(tmp_path / ".codex" / "config.toml", "not [ toml")
    (load,) = project_loads(tmp_path, tmp_path, "codex")
    assert (load.kind, load.path) == ("settings", ".codex/config.toml")


def test_an_empty_project_loads_nothing(tmp_path: Path) -> None:
    assert project_loads(tmp_path, tmp_path, "codex") == []


def test_a_folder_of_thousands_is_cut(tmp_path: Path) -> None:
    for number in range(250):
        _write(tmp_path / ".agents" / "skills" / f"s{number}" / "SKILL.md")
    found = project_loads(tmp_path, tmp_path, "codex")
    assert len(found) == 201
    assert found[-1].path == ".agents/skills"
