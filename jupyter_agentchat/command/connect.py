"""Which server to use: the running one that the project belongs to, else one of our own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from .exits import CommandError, Exit
from .find_server import Server, find_servers
from .own_server import own_server
from .rest import Json, Refused, Rest, Unreachable

PROTOCOL = 1


def real_directory(project: str | None) -> Path:
    """The real path of a project; the current folder by default. Raises CommandError(USAGE)."""
    directory = Path(project or ".").resolve()
    if not directory.is_dir():
        raise CommandError(Exit.USAGE, f"There is no such folder: {project}")
    return directory


@asynccontextmanager
async def connected(directory: Path, say: Callable[[str], None]) -> AsyncIterator[Rest]:
    """The API of a server that serves `directory`. Raises CommandError(UNAVAILABLE).

    `say` is told in one line why a running server cannot be used, and that one is started.
    """
    for server in find_servers(directory):
        rest = Rest(server)
        try:
            status = await _status(rest, say)
            if status is not None:
                yield rest
                return
        finally:
            rest.close()
    async with own_server(directory) as server:
        rest = Rest(server)
        try:
            if await _status(rest, say) is None:
                raise CommandError(
                    Exit.UNAVAILABLE,
                    "The server of this command does not work as it should.",
                    "Is jupyter_agentchat installed in this environment, and enabled?",
                )
            yield rest
        finally:
            rest.close()


async def _status(rest: Rest, say: Callable[[str], None]) -> Json | None:
    """The status of a server with our extension; None, having said why, where it is of no use."""
    url = rest.server.url
    try:
        status = await rest.get("status")
    except Unreachable:
        say(f"The Jupyter server at {url} does not answer for chats; it is passed over.")
        return None
    except Refused as refused:
        why = "does not take its token" if refused.status == 403 else "has no chats"
        say(f"The Jupyter server at {url} {why}; it is passed over.")
        return None
    if status.get("protocol") != PROTOCOL:
        say(f"The Jupyter server at {url} speaks another version of the protocol.")
        return None
    return status


def look_again(server: Server, directory: Path) -> Server | None:
    """The same server after a restart, with its new port and token; None while there is none."""
    if server.own:
        return server
    return next((s for s in find_servers(directory) if s.root == server.root), None)


def project_path(server: Server, directory: Path) -> str:
    """`directory` as the API names it: relative to the server's root, "" for the root itself."""
    path = directory.relative_to(server.root).as_posix()
    return "" if path == "." else path
