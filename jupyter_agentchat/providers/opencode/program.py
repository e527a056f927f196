"""Finds the opencode program where people install it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ...errors import NotInstalled
from ...process.environment import clean_search_path
from ...process.executable import find_executable
from ..settings import ProviderSettings
from .wire import TESTED_VERSION

INSTALL_HINT: Final = f"npm install -g opencode-ai@{TESTED_VERSION}"
UPGRADE_HINT: Final = "opencode upgrade"
SIGN_IN_HINT: Final = "opencode auth login"

_USUAL_PLACE: Final = ".opencode/bin/opencode"


def find_program(
    settings: ProviderSettings, environment: Mapping[str, str], *, not_below: Path | None = None
) -> tuple[str, ...]:
    """The command: an admin's, `OPENCODE_CLI`, PATH, ~/.opencode/bin.

    Nothing below the project `not_below` is taken, except what an admin named. Raises
    NotInstalled. Touches the file system, starts nothing.
    """
    path = clean_search_path(environment.get("PATH", ""))
    home = Path(environment["HOME"]) if environment.get("HOME") else None
    if settings.command:
        return (str(find_executable(settings.command[0], path)), *settings.command[1:])
    projects = [not_below] if not_below else []
    for name in _names(environment, home):
        try:
            return (str(find_executable(name, path, not_below=projects, home=home)),)
        except NotInstalled:
            continue
    raise NotInstalled("opencode is not installed.", hint=INSTALL_HINT)


def _names(environment: Mapping[str, str], home: Path | None) -> Iterator[str]:
    if named := environment.get("OPENCODE_CLI"):
        yield named
    yield "opencode"
    if home is not None:
        yield str(home / _USUAL_PLACE)
