"""What a project would make Claude Code load and run by itself. Reads files, starts nothing.

The CLI starts headless without its trust dialog: hooks of the project's settings run and its MCP
servers start as soon as a chat opens. Source: security.md §8.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...protocol.resources import ProjectLoad
from .translate import PROVIDER
from .wire import Json, object_of

_INSTRUCTIONS: Final = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    ".claude/CLAUDE.md",
    ".claude/AGENTS.md",
)
_FOLDERS: Final = {
    ".claude/rules": "instructions",
    ".claude/skills": "skills",
    ".claude/agents": "agents",
    ".claude/commands": "commands",
    ".claude/output-styles": "output styles",
    ".claude/workflows": "workflows",
    ".claude/plugins": "plugins",
    ".claude/hooks": "hooks",
}
_SETTINGS: Final = (".claude/settings.json", ".claude/settings.local.json")
_RUNNING_KEYS: Final = {
    "hooks": "hooks",
    "env": "environment",
    "apiKeyHelper": "commands",
    "awsAuthRefresh": "commands",
    "awsCredentialExport": "commands",
    "gcpAuthRefresh": "commands",
    "otelHeadersHelper": "commands",
    "statusLine": "commands",
    "permissions": "permissions",
    "enableAllProjectMcpServers": "mcp",
    "enabledMcpjsonServers": "mcp",
    "enabledPlugins": "plugins",
    "extraKnownMarketplaces": "plugins",
}
_READ_LIMIT_BYTES: Final = 1024 * 1024
_FILES_PER_FOLDER: Final = 200


def project_loads(directory: Path, top: Path) -> list[ProjectLoad]:
    """One entry for each kind in each file, `directory` first, then its parents up to `top`.

    Paths are relative to `directory`. A file that cannot be read or parsed is listed all the
    same: the CLI may read it differently.
    """
    found: list[ProjectLoad] = []
    for place in _places(directory, top):
        for kind, path in _loads_of(place):
            shown = os.path.relpath(path, directory)
            found.append(ProjectLoad(agent=PROVIDER, kind=kind, path=shown))
    return found


def _places(directory: Path, top: Path) -> Iterator[Path]:
    yield directory
    if directory.is_relative_to(top):
        for parent in directory.parents:
            if not parent.is_relative_to(top):
                return
            yield parent


def _loads_of(place: Path) -> Iterator[tuple[str, Path]]:
    for name in _SETTINGS:
        if (place / name).exists():
            yield from ((kind, place / name) for kind in _settings_kinds(place / name))
    if (place / ".mcp.json").exists():
        yield "mcp", place / ".mcp.json"
    for name in _INSTRUCTIONS:
        if (place / name).exists():
            yield "instructions", place / name
    for name, kind in _FOLDERS.items():
        for path in _files_in(place / name):
            yield kind, path


def _settings_kinds(path: Path) -> list[str]:
    kinds = {"settings"}
    settings = _read_object(path)
    kinds.update(kind for key, kind in _RUNNING_KEYS.items() if settings.get(key))
    if any(name.endswith("BASE_URL") for name in object_of(settings, "env")):
        kinds.add("base url")
    return sorted(kinds)


def _read_object(path: Path) -> Json:
    try:
        with path.open("rb") as file:
            value = json.loads(file.read(_READ_LIMIT_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


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
