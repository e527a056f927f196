"""What a project would make Codex load and run by itself. Reads files, starts nothing.

Measured with 0.171.0: in a directory that the person has not trusted, Codex leaves out the
project's `.codex/config.toml` (with its MCP servers) and, where it is told so, `AGENTS.md`; the
repository's skills it lists to the model in any case. See `launch`: untrusted, all of it is off.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from ...protocol.resources import ProjectLoad

_INSTRUCTIONS: Final = ("AGENTS.override.md", "AGENTS.md")
_FOLDERS: Final = {
    ".agents/skills": "skills",
    ".codex/skills": "skills",
    ".codex/agents": "agents",
    ".codex/rules": "permissions",
    ".codex/hooks": "hooks",
    ".codex/plugins": "plugins",
    ".agents/plugins": "plugins",
}
_CONFIG: Final = ".codex/config.toml"
_HOOKS: Final = ".codex/hooks.json"
_RUNNING_KEYS: Final = {
    "mcp_servers": "mcp",
    "hooks": "hooks",
    "notify": "commands",
    "shell_environment_policy": "environment",
    "model_providers": "base url",
    "model_provider": "base url",
    "chatgpt_base_url": "base url",
    "openai_base_url": "base url",
    "approval_policy": "permissions",
    "sandbox_mode": "permissions",
    "sandbox_workspace_write": "permissions",
    "permissions": "permissions",
    "plugins": "plugins",
    "skills": "skills",
    "agents": "agents",
}
_READ_LIMIT_BYTES: Final = 1024 * 1024
_FILES_PER_FOLDER: Final = 200


def project_loads(directory: Path, top: Path, agent: str) -> list[ProjectLoad]:
    """One entry for each kind in each file, `directory` first, then its parents up to `top`.

    Paths are relative to `directory`. A file that cannot be read or parsed is listed all the
    same: Codex may read it differently.
    """
    return [
        ProjectLoad(agent=agent, kind=kind, path=os.path.relpath(path, directory))
        for place in _places(directory, top)
        for kind, path in _loads_of(place)
    ]


def _places(directory: Path, top: Path) -> Iterator[Path]:
    yield directory
    if directory.is_relative_to(top):
        for parent in directory.parents:
            if not parent.is_relative_to(top):
                return
            yield parent


def _loads_of(place: Path) -> Iterator[tuple[str, Path]]:
    if (place / _CONFIG).exists():
        yield from ((kind, place / _CONFIG) for kind in _config_kinds(place / _CONFIG))
    if (place / _HOOKS).exists():
        yield "hooks", place / _HOOKS
    for name in _INSTRUCTIONS:
        if (place / name).exists():
            yield "instructions", place / name
    for name, kind in _FOLDERS.items():
        for path in _files_in(place / name):
            yield kind, path


def _config_kinds(path: Path) -> list[str]:
    settings = _read(path)
    return sorted({"settings", *(kind for key, kind in _RUNNING_KEYS.items() if settings.get(key))})


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            return tomllib.loads(file.read(_READ_LIMIT_BYTES).decode("utf-8", "replace"))
    except (OSError, ValueError, RecursionError):
        return {}


def _files_in(folder: Path) -> list[Path]:
    """The files below `folder`, sorted; at most `_FILES_PER_FOLDER`, then the folder itself."""
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            if len(found) == _FILES_PER_FOLDER:
                return [*found, folder]
            found.append(Path(parent, name))
    return found
