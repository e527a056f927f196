"""What a project would make Kimi Code load. Reads files, starts nothing.

Measured with 2.1.0: MCP servers of the project start, and `local.toml` adds folders, only where
Kimi Code itself was told to trust the folder (`sessions` passes the decision of the person on).
Instruction files, skills and helper agents are text that it always reads. Hooks stand in the own
settings of the person only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...protocol.resources import ProjectLoad
from .wire import PROVIDER

GATED: Final = {
    ".mcp.json": "mcp",
    ".kimi-code/mcp.json": "mcp",
    ".kimi-code/local.toml": "settings",
}
"""What is loaded only with trust."""
_INSTRUCTIONS: Final = ("AGENTS.md", "agents.md", ".kimi-code/AGENTS.md")
_FOLDERS: Final = {
    ".kimi-code/skills": "skills",
    ".agents/skills": "skills",
    ".kimi-code/agents": "agents",
    ".agents/agents": "agents",
}
_FILES_PER_FOLDER: Final = 200


def project_loads(directory: Path, top: Path) -> list[ProjectLoad]:
    """See `base.Adapter.loads`."""
    found: list[ProjectLoad] = []
    for place in _places(directory, top):
        for kind, path in _loads_of(place):
            shown = os.path.relpath(path, directory)
            found.append(ProjectLoad(agent=PROVIDER, kind=kind, path=shown))
    return found


def has_gated(directory: Path) -> bool:
    """Whether the directory, or one above it, has something that trust would let in."""
    return any(
        (place / name).exists() for place in (directory, *directory.parents) for name in GATED
    )


def _places(directory: Path, top: Path) -> Iterator[Path]:
    yield directory
    if directory.is_relative_to(top):
        for parent in directory.parents:
            if not parent.is_relative_to(top):
                return
            yield parent


def _loads_of(place: Path) -> Iterator[tuple[str, Path]]:
    for name, kind in GATED.items():
        if (place / name).exists():
            yield kind, place / name
    for name in _INSTRUCTIONS:
        if (place / name).exists():
            yield "instructions", place / name
    for name, kind in _FOLDERS.items():
        for path in _files_in(place / name):
            yield kind, path


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
