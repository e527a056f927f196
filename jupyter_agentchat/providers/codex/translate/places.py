"""How paths are shown: relative to the project where they lie in it, else as they are. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath


class Places:
    """Knows the project's directory by its names: ours, and the one the CLI reports.

    They differ when the way to the project goes through a link.
    """

    def __init__(self, cwd: str) -> None:
        self._roots = [PurePosixPath(cwd)] if cwd else []

    def add(self, cwd: str) -> None:
        """Another name of the same directory."""
        path = PurePosixPath(cwd)
        if cwd and path not in self._roots:
            self._roots.append(path)

    def contains(self, path: str) -> bool:
        """Whether `path`, as it is written, lies in the project."""
        return not PurePosixPath(self.short(path)).is_absolute()

    def short(self, path: str) -> str:
        """`path` for people. No file system is asked: `..` is never resolved away."""
        pure = PurePosixPath(path)
        if ".." in pure.parts:
            return path
        for root in self._roots:
            if pure.is_relative_to(root):
                return str(pure.relative_to(root))
        return path
