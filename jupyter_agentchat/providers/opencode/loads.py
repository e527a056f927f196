"""What a project would make opencode load and run by itself. Reads files, starts nothing.

Plugins and tools are code that runs in opencode's own process, MCP servers are started as soon as a
chat opens, and an npm install runs in every `.opencode` folder that there is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...protocol.resources import ProjectLoad
from .wire import PROVIDER, Json

_SETTINGS: Final = (
    *("opencode.json", "opencode.jsonc"),
    *(".opencode/opencode.json", ".opencode/opencode.jsonc"),
)
_INSTRUCTIONS: Final = ("AGENTS.md", "CLAUDE.md", "CONTEXT.md")
_FOLDERS: Final = {
    ".opencode/plugin": "plugins",
    ".opencode/plugins": "plugins",
    ".opencode/tool": "tools",
    ".opencode/tools": "tools",
    ".opencode/agent": "agents",
    ".opencode/agents": "agents",
    ".opencode/mode": "agents",
    ".opencode/modes": "agents",
    ".opencode/command": "commands",
    ".opencode/commands": "commands",
    ".opencode/skill": "skills",
    ".opencode/skills": "skills",
    ".claude/skills": "skills",
    ".agents/skills": "skills",
}
_PACKAGES: Final = (".opencode/package.json", ".opencode/.npmrc", ".opencode/bunfig.toml")
_RUNNING_KEYS: Final = {
    "mcp": "mcp",
    "plugin": "plugins",
    "command": "commands",
    "agent": "agents",
    "mode": "agents",
    "instructions": "instructions",
    "permission": "permissions",
    "tools": "permissions",
    "formatter": "commands",
    "lsp": "commands",
    "provider": "base url",
    "skills": "skills",
}
_READ_LIMIT_BYTES: Final = 1024 * 1024
_FILES_PER_FOLDER: Final = 200
# enough to look at the keys of JSON with comments: what is in strings stays
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')


def project_loads(directory: Path, top: Path) -> list[ProjectLoad]:
    """One entry for each kind in each file, `directory` first, then its parents up to `top`.

    Paths are relative to `directory`. A file that cannot be read or parsed is listed all the
    same: opencode may read it differently.
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
    for name in _INSTRUCTIONS:
        if (place / name).exists():
            yield "instructions", place / name
    for name in _PACKAGES:
        if (place / name).exists():
            yield "packages", place / name
    for name, kind in _FOLDERS.items():
        for path in _files_in(place / name):
            yield kind, path


def _settings_kinds(path: Path) -> list[str]:
    settings = _read_object(path)
    return sorted({"settings", *(k for key, k in _RUNNING_KEYS.items() if settings.get(key))})


def _read_object(path: Path) -> Json:
    try:
        with path.open("rb") as file:
            text = file.read(_READ_LIMIT_BYTES).decode("utf-8", "replace")
        text = _COMMENT.sub(lambda found: found[1] or "", text)
        value = json.loads(_TRAILING.sub(lambda found: found[1] or "", text))
    except (OSError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _files_in(folder: Path) -> list[Path]:
    """The files below `folder`, sorted; at most `_FILES_PER_FOLDER`, then the folder itself."""
    found: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "node_modules")
        for name in sorted(files):
            if len(found) == _FILES_PER_FOLDER:
                return [*found, folder]
            found.append(Path(parent, name))
    return found
