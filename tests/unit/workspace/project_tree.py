"""A project in a temporary folder: what is in it, byte for byte, and somebody who changes it."""

from __future__ import annotations

import os
import random
import shutil
from pathlib import Path

Photo = dict[str, tuple[str, int, bytes]]

NAMES = ("a.py", "b.txt", "analysis.ipynb", "run.sh", "ünï.md", "link", "data", "src")


def photo(root: Path) -> Photo:
    """Every name below `root`: kind, permission bits, content. Nothing else counts."""
    found: Photo = {}
    for folder, folders, files in os.walk(root):
        for name in [*folders, *files]:
            path = Path(folder, name)
            key = path.relative_to(root).as_posix()
            mode = path.lstat().st_mode & 0o777
            if path.is_symlink():
                found[key] = ("link", 0, os.fsencode(path.readlink()))
            elif path.is_dir():
                found[key] = ("folder", mode, b"")
            else:
                found[key] = ("file", mode, path.read_bytes())
    return found


class Editor:
    """Changes a tree at random; the same seed, the same changes."""

    def __init__(self, root: Path, chance: random.Random) -> None:
        self.root = root
        self._chance = chance

    def edit(self, times: int) -> None:
        for _ in range(times):
            self._chance.choice([self.write, self.write, self.remove, self.chmod, self.move])()

    def any_path(self) -> Path:
        folders = [self.root, *(p for p in sorted(self.root.rglob("*")) if _is_folder(p))]
        return self._chance.choice(folders) / self._chance.choice(NAMES)

    def write(self) -> None:
        path = self.any_path()
        if _is_folder(path):
            return
        path.unlink(missing_ok=True)
        kind = self._chance.randrange(6)
        if kind == 0:
            path.symlink_to(self._chance.choice(["a.py", "../outside", "/etc", "src"]))
        elif kind == 1:
            path.mkdir(mode=0o755)
        else:
            path.write_bytes(self._chance.randbytes(self._chance.randrange(2000)))

    def remove(self) -> None:
        path = self.any_path()
        if _is_folder(path):
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def chmod(self) -> None:
        path = self.any_path()
        if path.is_file() and not path.is_symlink():
            path.chmod(self._chance.choice([0o644, 0o755, 0o600]))

    def move(self) -> None:
        path, to = self.any_path(), self.any_path()
        if os.path.lexists(path) and not os.path.lexists(to) and not to.is_relative_to(path):
            path.rename(to)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
