"""Saved file contents, each kept once under its SHA-256, private to the user.

An object is written beside its place and renamed into it, so a reader never sees half of one. It
is synced to the disk only on request: what a walk keeps still lies in the project, and a content
torn by a power loss is found by its digest when it is read. What a restore is about to overwrite
exists nowhere else and is synced first.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

GRACE_S: Final = 3600.0
"""Younger objects are never removed: the record that will name them may not be written yet (also
by another server on the same store)."""

FULL: Final = "the checkpoint store is full"


class ObjectsFull(Exception):
    """The store's total limit is reached; nothing was kept."""


def digest_of(data: bytes) -> str:
    """The name of a content: lower-case hex, 64 characters."""
    return hashlib.sha256(data).hexdigest()


def write_private(path: Path, data: bytes, *, durable: bool) -> None:
    """Replace `path` by `data` in one step, mode 0600, making its folder 0700. Raises OSError."""
    _make_private(path.parent)
    beside = path.with_name(f".{path.name[:80]}.{secrets.token_hex(6)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    if durable:
        sync_folder(path.parent)


def _make_private(folder: Path) -> None:
    if not folder.is_dir():
        _make_private(folder.parent)  # `mkdir(parents=True)` would make the parents public
        folder.mkdir(mode=0o700, exist_ok=True)


def sync_folder(folder: Path) -> None:
    """Make a rename in `folder` survive a power loss, where the file system can."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some network file systems refuse it
    finally:
        os.close(handle)


class Objects:
    """The objects below one folder. Thread safe; several processes may share the folder."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        self._folder = folder
        self._limit = limit_bytes
        self._total: int | None = None
        self.added = 0
        """Bytes that came since the last `remove_except`."""
        self._lock = threading.Lock()

    def put(self, data: bytes, *, durable: bool = False) -> str:
        """Keep `data`; its digest. The same content is kept once.

        Raises ObjectsFull above the total limit, OSError.
        """
        digest = digest_of(data)
        path = self._path(digest)
        try:
            found = path.stat()
        except FileNotFoundError:
            found = None
        if found is not None and found.st_size == len(data):
            if time.time() - found.st_mtime > GRACE_S / 2:
                os.utime(path)  # named again: not to be removed meanwhile
            if durable:
                self._sync(path)
            return digest
        with self._lock:
            if self.total + len(data) > self._limit:
                raise ObjectsFull
            self._total = self.total + len(data)
            self.added += len(data)
        write_private(path, data, durable=durable)
        return digest

    def get(self, digest: str) -> bytes | None:
        """The content, or None when it was removed or is damaged."""
        try:
            data = self._path(digest).read_bytes()
        except OSError:
            return None
        return data if digest_of(data) == digest else None

    def has(self, digest: str) -> bool:
        """Whether the object is there; its content is checked by `get` only."""
        return self._path(digest).is_file()

    @property
    def total(self) -> int:
        """Bytes of all objects, counted once and kept up to date afterwards."""
        if self._total is None:
            self._total = sum(size for _, _, size, _ in self._all())
        return self._total

    def remove_except(self, wanted: set[str], *, now: float | None = None) -> int:
        """Remove what is not `wanted` and past its grace; how many that were."""
        moment = time.time() if now is None else now
        removed = kept = 0
        for path, digest, size, modified in self._all():
            if digest in wanted or moment - modified < GRACE_S:
                kept += size
                continue
            path.unlink(missing_ok=True)
            removed += 1
        with self._lock:
            self._total = kept
            self.added = 0
        return removed

    def size(self, digest: str) -> int:
        """Bytes of one object, 0 when it is gone."""
        try:
            return self._path(digest).stat().st_size
        except OSError:
            return 0

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest[2:]

    def _all(self) -> Iterator[tuple[Path, str, int, float]]:
        if not self._folder.is_dir():
            return
        for shard in self._folder.iterdir():
            for path in shard.iterdir() if shard.is_dir() else ():
                try:
                    found = path.stat()
                except OSError:
                    continue
                yield path, shard.name + path.name, found.st_size, found.st_mtime

    @staticmethod
    def _sync(path: Path) -> None:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        sync_folder(path.parent)
