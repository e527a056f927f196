"""Finds the Claude Code program where people install it."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ...errors import NotInstalled
from ...process.environment import clean_search_path
from ...process.executable import find_executable
from ..settings import ProviderSettings
from .wire import TESTED_VERSION

# pinned: an old Node makes npm fall back to an old release without a word
INSTALL_HINT: Final = f"npm install -g @anthropic-ai/claude-code@{TESTED_VERSION}"

_USUAL_PLACES: Final = (
    "~/.local/bin/claude",
    "/usr/local/bin/claude",
    "~/.claude/local/claude",
    "~/.npm-global/bin/claude",
)


def find_program(
    settings: ProviderSettings, environment: Mapping[str, str], *, not_below: Path | None = None
) -> tuple[str, ...]:
    """The command: an admin's, `CLAUDE_CLI`, PATH, the usual places, the Python SDK's own copy.

    Nothing below the project `not_below` is taken, except what an admin named. Raises
    NotInstalled. Touches the file system, starts nothing.
    """
    path = clean_search_path(environment.get("PATH", ""))
    home = Path(environment["HOME"]) if environment.get("HOME") else None
    if settings.command:
        program = find_executable(settings.command[0], path)
        return (str(program), *settings.command[1:])
    projects = [not_below] if not_below else []
    for name in _names(environment, home):
        try:
            return (str(find_executable(name, path, not_below=projects, home=home)),)
        except NotInstalled:
            continue
    raise NotInstalled("Claude Code is not installed.", hint=INSTALL_HINT)


def _names(environment: Mapping[str, str], home: Path | None) -> Iterator[str]:
    if named := environment.get("CLAUDE_CLI"):
        yield named
    yield "claude"
    for place in _USUAL_PLACES:
        if not place.startswith("~"):
            yield place
        elif home is not None:
            yield str(home / place[2:])
    sdk = importlib.util.find_spec("claude_agent_sdk")
    for folder in sdk.submodule_search_locations or [] if sdk else []:
        yield str(Path(folder, "_bundled", "claude"))
