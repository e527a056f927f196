"""What a project would make an agent load, and how an agent is kept from it. Reads files only.

An agent that can be told is told (arguments, variables, settings files of ours); one that cannot is
not started in an untrusted folder that holds anything for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...errors import ProviderError
from ...protocol.resources import ProjectLoad
from .agents import AcpAgent

_FILES_PER_FOLDER: Final = 200


class NotTrustedHere(ProviderError):
    """The agent would load the project's configuration, and nobody has said yes to it."""

    event_code = "not_trusted"


def project_loads(agent: AcpAgent, directory: Path, top: Path) -> list[ProjectLoad]:
    """One entry for each file, `directory` first, then its parents up to `top`.

    Paths are relative to `directory`. A folder that the agent looks into counts with each file in
    it: the agents' own folders hold settings, hooks, servers, commands and skills side by side.
    """
    found: list[ProjectLoad] = []
    for place in _places(directory, top):
        for name, kind in agent.loads.items():
            for path in _files(place / name):
                shown = os.path.relpath(path, directory)
                found.append(ProjectLoad(agent=agent.id, kind=kind, path=shown))
    return found


def refuse_untrusted(agent: AcpAgent, cwd: Path) -> None:
    """Raises NotTrustedHere for an agent that cannot be told to leave the project's own alone."""
    if agent.untrusted is not None:
        return
    loads = project_loads(agent, cwd, git_top(cwd))
    if loads:
        raise NotTrustedHere(
            f"{agent.name} would load {loads[0].path}, and cannot be started without it.",
            hint="Trust this folder, or choose another agent.",
            loads=[load.path for load in loads[:20]],
        )


def git_top(directory: Path) -> Path:
    """The root of the git work tree around `directory`, else `directory`."""
    for place in (directory, *directory.parents):
        if (place / ".git").exists():
            return place
    return directory


def place_files(agent: AcpAgent, folder: Path) -> dict[str, str]:
    """The settings files of ours that an untrusted start needs, written anew below `folder` (ours
    alone); variable -> path. An agent may rewrite them: it never gets the originals."""
    if agent.untrusted is None or not agent.untrusted.files:
        return {}
    below = folder / "untrusted"
    below.mkdir(mode=0o700, parents=True, exist_ok=True)
    paths: dict[str, str] = {}
    for variable, text in agent.untrusted.files.items():
        path = below / f"{variable.lower()}.json"
        beside = path.with_suffix(".new")
        beside.write_text(text, "utf-8")
        beside.replace(path)
        paths[variable] = str(path)
    return paths


def _places(directory: Path, top: Path) -> Iterator[Path]:
    yield directory
    if directory.is_relative_to(top):
        for parent in directory.parents:
            if not parent.is_relative_to(top):
                return
            yield parent


def _files(path: Path) -> list[Path]:
    """`path` itself, or the files below it, sorted; at most `_FILES_PER_FOLDER`, then `path`."""
    if not path.is_dir():
        return [path] if path.exists() else []
    found: list[Path] = []
    for parent, folders, files in os.walk(path):
        folders.sort()
        for name in sorted(files):
            if len(found) == _FILES_PER_FOLDER:
                return [*found, path]
            found.append(Path(parent, name))
    return found
