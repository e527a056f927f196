"""Finds the Kimi Code program where people install it, and the Node.js that it needs.

Its own installer brings one file that runs by itself; the npm package is a script, and needs a Node
of at least `MIN_NODE` that is not always the one that PATH names first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...errors import NotInstalled
from ...process.environment import clean_search_path
from ...process.executable import find_executable
from ..settings import ProviderSettings
from .wire import MIN_NODE, TESTED_VERSION

INSTALL_HINT: Final = f"npm install -g @moonshot-ai/kimi-code@{TESTED_VERSION}"
NODE_HINT: Final = "npm install -g node@24"

_USUAL_PLACES: Final = (
    "~/.kimi-code/bin/kimi",
    "~/.local/bin/kimi",
    "/usr/local/bin/kimi",
    "~/.npm-global/bin/kimi",
)


@dataclass(frozen=True, slots=True)
class Found:
    """What was found: the command of an admin, or the program with the Nodes that could run it.

    `nodes` is empty for a program that needs none.
    """

    command: tuple[str, ...]
    nodes: tuple[str, ...] = ()


def find_program(
    settings: ProviderSettings, environment: Mapping[str, str], *, not_below: Path | None = None
) -> Found:
    """The command: an admin's, `KIMI_CLI`, PATH, the usual places.

    Nothing below the project `not_below` is taken, except what an admin named. Raises
    NotInstalled, also where there is no Node at all. Touches the file system, starts nothing.
    """
    path = clean_search_path(environment.get("PATH", ""))
    home = Path(environment["HOME"]) if environment.get("HOME") else None
    projects = [not_below] if not_below else []
    if settings.command:
        program = find_executable(settings.command[0], path)
        if len(settings.command) > 1:
            return Found((str(program), *settings.command[1:]))
    else:
        program = _first(_names(environment, home), path, projects, home)
    if not _is_node_script(program):
        return Found((str(program),))
    nodes = tuple(_nodes(program, path, projects, home))
    if not nodes:
        raise NotInstalled(
            f"Kimi Code needs Node.js {MIN_NODE[0]}.{MIN_NODE[1]} or newer, and there is none.",
            hint=NODE_HINT,
        )
    return Found((str(program),), nodes)


def _first(names: Iterator[str], path: str, projects: list[Path], home: Path | None) -> Path:
    for name in names:
        try:
            return find_executable(name, path, not_below=projects, home=home)
        except NotInstalled:
            continue
    raise NotInstalled("Kimi Code is not installed.", hint=INSTALL_HINT)


def _names(environment: Mapping[str, str], home: Path | None) -> Iterator[str]:
    if named := environment.get("KIMI_CLI"):
        yield named
    yield "kimi"
    for place in _USUAL_PLACES:
        if not place.startswith("~"):
            yield place
        elif home is not None:
            yield str(home / place[2:])


def _nodes(program: Path, path: str, projects: list[Path], home: Path | None) -> Iterator[str]:
    """Nodes that may do: the one beside the program first, then those of PATH; each once."""
    seen: set[Path] = set()
    folders = [str(program.parent), *path.split(":")]
    for folder in folders:
        try:
            node = find_executable("node", folder, not_below=projects, home=home)
        except NotInstalled:
            continue
        if node.resolve() not in seen:
            seen.add(node.resolve())
            yield str(node)


def _is_node_script(program: Path) -> bool:
    try:
        with program.open("rb") as file:
            first = file.readline(200)
    except OSError:
        return False
    return first.startswith(b"#!") and b"node" in first
