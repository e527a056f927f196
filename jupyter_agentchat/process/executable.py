"""Finds programs by name without ever taking one from the project or the current directory."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from ..errors import NotInstalled


def find_executable(
    name: str, path: str, *, not_below: Iterable[Path] = (), home: Path | None = None
) -> Path:
    """The absolute path of program `name`: a bare name to look up in `path`, or an absolute path.

    `path` has the form of PATH; its relative and empty entries are ignored. What lies below a
    directory of `not_below` (projects: their content is not trusted), or is a link to something
    there, is passed over. A project that is `home` or contains it does not count: whatever the
    user installed lies there. Symlinks are not resolved in the answer, as multi-call programs go
    by their name. Raises NotInstalled, also for a relative `name` with a slash in it.
    """
    projects = [
        real
        for real in map(_real, not_below)
        if home is None or not _real(home).is_relative_to(real)
    ]
    for candidate in _candidates(name, path):
        if _is_program(candidate) and not any(
            place.is_relative_to(project)
            for place in (_real(candidate.parent), _real(candidate))
            for project in projects
        ):
            return candidate
    raise NotInstalled(
        f"The program {name} was not found.",
        hint=f"Install {name}, or put the directory it lies in on the PATH of the server.",
        program=name,
    )


def _candidates(name: str, path: str) -> Iterable[Path]:
    if os.sep in name:
        return [Path(name)] if Path(name).is_absolute() else []
    if not name or "\0" in name:
        return []
    return [Path(entry, name) for entry in path.split(os.pathsep) if Path(entry).is_absolute()]


def _real(path: Path) -> Path:
    return path.resolve(strict=False)


def _is_program(path: Path) -> bool:
    try:
        return path.is_file() and os.access(path, os.X_OK)
    except (OSError, ValueError):
        return False
