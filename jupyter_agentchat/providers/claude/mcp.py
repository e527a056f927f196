"""MCP servers that are handed over with a run: in a file of ours, never in the arguments.

The CLI reads the file while it starts and goes on without it (tried), so it is there for a moment
only. Its entries may hold secrets: mode 0600 in a directory 0700.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ...errors import ProviderError
from ...protocol.words import Permission
from .wire import Json, canonical

OWN_SERVER: Final = "agentchat"
"""The server that is ours: it asks by itself, in every permission."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_FOLDER: Final = "claude-mcp"
_STALE_S: Final = 300.0


def handed_over(servers: Mapping[str, JsonValue], permission: Permission) -> str:
    """The servers that a run with `permission` gets, as the text of the file; "" for none.

    Other people's servers are refused in `read_only`: nobody asks them to keep still. Raises
    ProviderError for a server that is no object, or whose name could be mistaken.
    """
    chosen: Json = {}
    for name, server in servers.items():
        if not isinstance(server, dict) or not _NAME.fullmatch(name):
            raise ProviderError(
                f"This MCP server cannot be given to Claude Code: {name[:80]!r}.",
                hint="Look at its settings, or take it out.",
            )
        if permission != "read_only" or name == OWN_SERVER:
            # one that names no type is started as a command
            chosen[name] = server
    return canonical({"mcpServers": chosen}) if chosen else ""


def is_own(tool_name: str) -> bool:
    """Whether a tool belongs to our own server."""
    return tool_name.startswith(f"mcp__{OWN_SERVER}__")


class ConfigFiles:
    """The files, one for each process that is just starting."""

    def __init__(self, scratch: Path) -> None:
        self._folder = scratch / _FOLDER

    def write(self, child_id: str, text: str) -> Path:
        """Write a process's file. Blocking. Raises ProviderError."""
        path = self.path_of(child_id)
        try:
            self._folder.mkdir(mode=0o700, exist_ok=True)
            self._sweep()
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with os.fdopen(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
        except OSError as error:
            raise ProviderError(f"The list of MCP servers could not be written: {error}") from error
        return path

    def path_of(self, child_id: str) -> Path:
        """Where a process's file stands."""
        return self._folder / f"{child_id}.json"

    def remove(self, child_id: str) -> None:
        """The process has read it, or is gone. Blocking for a moment; nothing there is fine."""
        with suppress(OSError):  # the next start sweeps it
            self.path_of(child_id).unlink(missing_ok=True)

    def _sweep(self) -> None:
        """Remove what servers left that died in the moment of a start."""
        for path in self._folder.glob("*.json"):
            if path.stat(follow_symlinks=False).st_mtime < time.time() - _STALE_S:
                path.unlink(missing_ok=True)


def read_servers(text: str) -> list[str]:
    """The names of the servers in a file's text."""
    return list(json.loads(text)["mcpServers"]) if text else []
