"""What a project would make opencode load is named, whatever way it is written."""

from __future__ import annotations

from pathlib import Path

from jupyter_agentchat.providers.opencode.loads import project_loads


def write(path: Path, text: str = "x") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_settings_with_comments_folders_and_parents_are_listed(tmp_path: Path) -> None:
    project = tmp_path / "a/b"
    settings = """{
      // a comment with a "quote"
      "mcp": {"x": {"type": "local", "command": ["y"]}}, /* another */
      "plugin": ["http://somewhere//x"],
      "permission": {"bash": "allow",},
    }"""
    write(project / "opencode.jsonc", settings)
    write(project / ".opencode/plugin/p.ts")
    write(project / ".opencode/node_modules/q/index.js")
    write(project / ".opencode/package.json", "{}")
    write(tmp_path / ".opencode/command/c.md")
    write(tmp_path / "AGENTS.md")
    write(tmp_path / "a/opencode.json", "{broken")
    found = {(load.kind, load.path) for load in project_loads(project, tmp_path)}
    assert found == {
        ("settings", "opencode.jsonc"),
        ("mcp", "opencode.jsonc"),
        ("plugins", "opencode.jsonc"),
        ("permissions", "opencode.jsonc"),
        ("plugins", ".opencode/plugin/p.ts"),
        ("packages", ".opencode/package.json"),
        ("commands", "../../.opencode/command/c.md"),
        ("instructions", "../../AGENTS.md"),
        ("settings", "../opencode.json"),
    }


def test_an_empty_project_loads_nothing_and_nothing_above_the_top_counts(tmp_path: Path) -> None:
    project = tmp_path / "a"
    project.mkdir()
    write(tmp_path / "opencode.json", "{}")
    assert project_loads(project, project) == []
