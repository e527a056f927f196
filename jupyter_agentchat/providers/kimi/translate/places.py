"""How paths are shown: relative to the project where they lie in it, else as they are. Pure."""

from __future__ import annotations

from pathlib import PurePosixPath


class Places:
    """Knows the project's directory, and the folder that its files are in."""

    def __init__(self, cwd: str) -> None:
        self._root = PurePosixPath(cwd) if cwd else None

    def contains(self, path: str) -> bool:
        """Whether `path`, as it is written, lies in the project."""
        short = self.short(path)
        return bool(short) and not PurePosixPath(short).is_absolute() and ".." not in short

    def short(self, path: str) -> str:
        """`path` for people. No file system is asked: `..` is never resolved away."""
        pure = PurePosixPath(path)
        if self._root is None or ".." in pure.parts or not pure.is_relative_to(self._root):
            return path
        return str(pure.relative_to(self._root))
