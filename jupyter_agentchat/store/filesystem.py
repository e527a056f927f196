"""The data directory: private whatever the umask, and which journal its file system can carry."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final, Literal

JournalMode = Literal["wal", "delete"]

MOUNTS: Final = Path("/proc/self/mountinfo")
LOCAL_TYPES: Final = frozenset(
    {
        "apfs", "bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "hfs", "jfs", "nilfs2",
        "overlay", "ramfs", "reiserfs", "tmpfs", "xfs", "zfs",
    }
)  # fmt: skip
"""File systems with shared memory between processes, which WAL needs. Anything else is taken to be
a network file system: slower, but never a broken lock (reliability: unknown = network)."""


def prepare_directory(directory: Path) -> None:
    """Make `directory` if it is missing, with mode 0700, and check that we may write there.

    Raises OSError (PermissionError: not ours, or read-only).
    """
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if stat.S_IMODE(directory.stat().st_mode) != 0o700:
        directory.chmod(0o700)
    effective = os.access in os.supports_effective_ids
    if not os.access(directory, os.W_OK | os.X_OK, effective_ids=effective):
        raise PermissionError(13, "Permission denied", str(directory))


def prepare_file(path: Path) -> None:
    """Make `path` if it is missing, with mode 0600. SQLite gives -wal, -shm and -journal the same.

    Raises OSError; anything but a regular file in its place is refused. A file that is there is
    never opened: closing it again would drop the locks that SQLite holds on it in this process.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    except FileExistsError:
        found = path.lstat()
        if not stat.S_ISREG(found.st_mode):
            raise OSError(22, "Not a regular file", str(path)) from None
        if stat.S_IMODE(found.st_mode) != 0o600:
            path.chmod(0o600)
        return
    try:
        os.fchmod(handle, 0o600)  # whatever the umask
    finally:
        os.close(handle)


def beside(path: Path, suffix: str) -> Path:
    """The file that SQLite keeps next to `path`: `-wal`, `-shm` or `-journal`."""
    return path.with_name(path.name + suffix)


def choose_journal_mode(
    setting: Literal["auto", "wal", "delete"], directory: Path, mounts: Path = MOUNTS
) -> JournalMode:
    """`setting`, or with `auto` the mode that the directory's file system can carry."""
    if setting != "auto":
        return setting
    return "wal" if filesystem_type(directory, mounts) in LOCAL_TYPES else "delete"


def filesystem_type(directory: Path, mounts: Path = MOUNTS) -> str | None:
    """Type of the file system that holds `directory` (or its nearest parent), None if unknown."""
    try:
        lines = mounts.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    place = directory.resolve()
    best: tuple[int, str | None] = (-1, None)
    for line in lines:
        fields, _, rest = line.partition(" - ")
        parts = fields.split(" ")
        if len(parts) < 5 or not rest:
            continue
        point = Path(_unescape(parts[4]))
        # of two mounts on one point the later covers the earlier
        if place.is_relative_to(point) and len(point.parts) >= best[0]:
            best = (len(point.parts), rest.split(" ", 1)[0])
    return best[1]


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text


def lies_in_view(directory: Path, served_root: Path) -> bool:
    """Whether `directory` is below `served_root` with no hidden folder on the way."""
    real, root = directory.resolve(), served_root.resolve()
    if not real.is_relative_to(root):
        return False
    return not any(part.startswith(".") for part in real.relative_to(root).parts)
