"""The secret of a child that listens on a port: known to this store's servers, kept nowhere.

A child's secret follows from one key file of the data directory (mode 0600) and the child's id, so
that the next server can talk to it again, and nothing has to be written for each child.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
from pathlib import Path

KEY_FILE = "child-key"
_KEY_BYTES = 32


class ChildSecrets:
    """`ChildSecrets(data_dir).of(child_id)`. The file is made at the first call."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / KEY_FILE
        self._key: bytes | None = None

    def of(self, child_id: str) -> str:
        """64 hexadecimal digits, the same for the same child in every server of this store.

        Where the key cannot be kept (read-only disk) it lasts as long as this server: its children
        are then lost to the next one.
        """
        if self._key is None:
            self._key = self._read() or self._make()
        return hmac.new(self._key, child_id.encode(), hashlib.sha256).hexdigest()

    def _read(self) -> bytes | None:
        try:
            key = self._path.read_bytes()
        except OSError:
            return None
        return key if len(key) == _KEY_BYTES else None

    def _make(self) -> bytes:
        key = secrets.token_bytes(_KEY_BYTES)
        staged = self._path.with_name(f"{KEY_FILE}.{secrets.token_hex(4)}")
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            with os.fdopen(os.open(staged, flags, 0o600), "wb") as file:
                file.write(key)
            try:
                os.link(staged, self._path)  # of two servers that make one, the first counts
            except FileExistsError:
                if (others := self._read()) is not None:
                    return others
                staged.replace(self._path)  # a damaged one
                return key
            finally:
                staged.unlink(missing_ok=True)
        except OSError:
            return key
        return key
