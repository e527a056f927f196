"""Finds the running Jupyter server that a directory belongs to, from the files servers leave.

Reads what `jupyter_server.serverapp.list_running_servers` reads; importing that takes longer than
everything else this command does.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Server:
    """A server to talk to. `url` ends with a slash; `own`: this command has started it."""

    url: str
    root: Path
    token: str = field(repr=False)
    own: bool = False

    @property
    def lab_url(self) -> str:
        """Where a person opens JupyterLab; holds no token."""
        return self.url + "lab"


def running_servers(runtime_dir: Path) -> Iterator[dict[str, Any]]:
    """The info of every server whose process lives. Unreadable files are passed over."""
    for path in sorted(runtime_dir.glob("jpserver-*.json")):
        try:
            info = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(info, dict) and isinstance(info.get("pid"), int) and _alive(info["pid"]):
            yield info


def servers_for(directory: Path, infos: Iterator[dict[str, Any]]) -> list[Server]:
    """Servers whose root holds `directory` (a real path), the deepest root first.

    Those on a Unix socket are left out: a browser could not open them either.
    """
    found: list[Server] = []
    for info in infos:
        url, root = info.get("url"), info.get("root_dir")
        if not isinstance(url, str) or not isinstance(root, str) or info.get("sock"):
            continue
        if not url.startswith(("http://", "https://")):
            continue
        real = Path(root).resolve()
        if directory.is_relative_to(real):
            found.append(Server(url.rstrip("/") + "/", real, str(info.get("token") or "")))
    return sorted(found, key=lambda server: len(server.root.parts), reverse=True)


def find_servers(directory: Path) -> list[Server]:
    """The running servers for `directory`, best first; whether they hold chats shows a call."""
    from jupyter_core.paths import jupyter_runtime_dir

    return servers_for(directory, running_servers(Path(jupyter_runtime_dir())))


def _alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True  # it lives, and is another user's
    return True
