"""Reads a file for an ask or a prompt: regular files only, never more than a limit. Blocking."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from ...errors import AgentChatError
from ...workspace.paths import resolve_inside
from .wire import Json, object_of, text_of

EDITED_LIMIT_BYTES: Final = 2 * 1024 * 1024
IMAGE_LIMIT_BYTES: Final = 5 * 1024 * 1024
"""What the vendor takes for one image."""

_FILE_TOOLS: Final = frozenset({"Edit", "MultiEdit", "Write"})


def read_regular(path: Path, limit: int) -> bytes | None:
    """The content of a regular file of at most `limit` bytes, else None. Never waits for a pipe."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError):
        return None
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > limit:
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            content = file.read(limit + 1)
    except OSError:
        return None
    finally:
        os.close(handle)
    return content if len(content) <= limit else None


def text_before(request: Json, cwd: str) -> str | None:
    """The text of the file that a `can_use_tool` request would change, as it is now.

    None where the call changes no file, or one that lies outside the project, is large, or is no
    text. Newlines are as the CLI counts them.
    """
    path = text_of(object_of(request, "input"), "file_path")
    if text_of(request, "tool_name") not in _FILE_TOOLS or not path:
        return None
    try:
        content = read_regular(resolve_inside(Path(cwd), path), EDITED_LIMIT_BYTES)
        return None if content is None else content.decode().replace("\r\n", "\n")
    except (AgentChatError, UnicodeDecodeError):
        return None
