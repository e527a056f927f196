"""Finds the Codex program where people install it: the native one, without Node."""

from __future__ import annotations

import importlib.util
import platform
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from ...errors import NotInstalled
from ...process.environment import clean_search_path
from ...process.executable import find_executable
from ..settings import ProviderSettings
from .wire import TESTED_VERSION

INSTALL_HINT: Final = f"npm install -g @openai/codex@{TESTED_VERSION}"

_USUAL_PLACES: Final = ("~/.local/bin/codex", "/usr/local/bin/codex", "~/.npm-global/bin/codex")
_PACKAGE: Final = "@openai"


def find_program(
    settings: ProviderSettings, environment: Mapping[str, str], *, not_below: Path | None = None
) -> tuple[str, ...]:
    """The command: an admin's, `CODEX_CLI`, PATH, the usual places, the PyPI package's own copy.

    npm's `codex` is a script for Node that starts the native program beside it: that one is taken
    instead. Nothing below the project `not_below` is taken, except what an admin named. Raises
    NotInstalled. Touches the file system, starts nothing.
    """
    path = clean_search_path(environment.get("PATH", ""))
    home = Path(environment["HOME"]) if environment.get("HOME") else None
    if settings.command:
        program = find_executable(settings.command[0], path)
        return (str(native_of(program)), *settings.command[1:])
    projects = [not_below] if not_below else []
    for name in _names(environment, home):
        try:
            found = find_executable(name, path, not_below=projects, home=home)
        except NotInstalled:
            continue
        return (str(native_of(found)),)
    raise NotInstalled("Codex is not installed.", hint=INSTALL_HINT)


def native_of(program: Path) -> Path:
    """The native program behind npm's script; `program` itself when it is none."""
    try:
        real = program.resolve()
        if real.suffix != ".js":
            return program
    except (OSError, RuntimeError):
        return program
    package = real.parent.parent  # .../@openai/codex/bin/codex.js
    for parent in (package.parent, package / "node_modules" / _PACKAGE):
        for native in sorted(parent.glob(f"codex-{_system()}/vendor/*/bin/codex")):
            if native.is_file():
                return native
    return program


def _system() -> str:
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}
    system = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), "*")
    return f"{system}-{machine.get(platform.machine().lower(), '*')}"


def _names(environment: Mapping[str, str], home: Path | None) -> Iterator[str]:
    if named := environment.get("CODEX_CLI"):
        yield named
    yield "codex"
    for place in _USUAL_PLACES:
        if not place.startswith("~"):
            yield place
        elif home is not None:
            yield str(home / place[2:])
    bundled = importlib.util.find_spec("codex_cli_bin")
    for folder in bundled.submodule_search_locations or [] if bundled else []:
        yield str(Path(folder, "bin", "codex"))
