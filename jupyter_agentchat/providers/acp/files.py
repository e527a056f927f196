"""The agent's `fs/` methods, below the project and nowhere else.

We announce that we have none: agents and we see the same files, and their own tools know their own
rules. Some write through us all the same, after an approval; to refuse that would lose the edit.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ...errors import BadRequest, Forbidden
from ...process.jsonrpc import INTERNAL_ERROR, INVALID_PARAMS, Incoming, RpcError
from ...workspace.paths import folder_inside, relative_to_root
from .wire import Json, int_of, text_of

_NOT_FOUND: Final = -32002
_READ_LIMIT_BYTES: Final = 16 * 1024 * 1024


class Files:
    """Reads and writes text below `root`. `writable` is asked before each write."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.writable = True
        """False in a chat that may only read."""
        self.replaying = False
        """While lines of before a take-over are read again: who was answered is not known."""

    async def read(self, incoming: Incoming) -> Json:
        """`fs/read_text_file`. Raises RpcError."""
        params = incoming.params if isinstance(incoming.params, dict) else {}
        text = await asyncio.to_thread(self._read, text_of(params, "path"))
        line, limit = int_of(params, "line"), int_of(params, "limit")
        if line is not None or limit is not None:
            first = max((line or 1) - 1, 0)
            lines = text.splitlines(keepends=True)[first:]
            text = "".join(lines if limit is None else lines[: max(limit, 0)])
        return {"content": text}

    async def write(self, incoming: Incoming) -> Json:
        """`fs/write_text_file`: whole or not at all. Raises RpcError."""
        params = incoming.params if isinstance(incoming.params, dict) else {}
        if self.replaying:
            # written by the server before, perhaps, and changed by a person since
            raise RpcError(INTERNAL_ERROR, "The host was replaced. Look at the file, write again.")
        if not self.writable:
            raise RpcError(INVALID_PARAMS, "This chat is read-only: no file was changed.")
        await asyncio.to_thread(self._write, text_of(params, "path"), text_of(params, "content"))
        return {}

    def _read(self, path: str) -> str:
        with self._refusals(path):
            relative = relative_to_root(self._root, path)
            with folder_inside(self._root, relative) as folder:
                flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
                handle = os.open(Path(relative).name, flags, dir_fd=folder)
                with open(handle, "rb") as file:  # noqa: PTH123 - a descriptor, not a path
                    data = file.read(_READ_LIMIT_BYTES + 1)
        if len(data) > _READ_LIMIT_BYTES:
            raise RpcError(INVALID_PARAMS, "This file is too large to be read as one text.")
        return data.decode("utf-8", "replace")

    def _write(self, path: str, content: str) -> None:
        with self._refusals(path):
            relative = relative_to_root(self._root, path)
            name = Path(relative).name
            with folder_inside(self._root, relative, make=True) as folder:
                # a new file in its place, so that a crash leaves the old text or the new
                beside = f".{name[:100]}.{secrets.token_hex(6)}"
                mode = _mode(name, folder)
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
                handle = os.open(beside, flags, 0o666 if mode is None else mode, dir_fd=folder)
                try:
                    with open(handle, "wb") as file:  # noqa: PTH123 - a descriptor, not a path
                        file.write(content.encode("utf-8", "replace"))
                        if mode is not None:
                            os.fchmod(file.fileno(), mode)
                    os.replace(beside, name, src_dir_fd=folder, dst_dir_fd=folder)
                except BaseException:
                    with contextlib.suppress(OSError):
                        os.unlink(beside, dir_fd=folder)
                    raise

    @contextlib.contextmanager
    def _refusals(self, path: str) -> Iterator[None]:
        if not Path(path).is_absolute():
            raise RpcError(INVALID_PARAMS, "The path must be absolute.")
        try:
            yield
        except (BadRequest, Forbidden) as error:
            raise RpcError(INVALID_PARAMS, error.message) from error
        except FileNotFoundError as error:
            raise RpcError(_NOT_FOUND, "Resource not found", {"uri": path}) from error
        except OSError as error:
            raise RpcError(
                INTERNAL_ERROR, f"The file could not be used: {error.strerror}"
            ) from error


def _mode(name: str, folder: int) -> int | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode & 0o777
    except FileNotFoundError:
        return None
