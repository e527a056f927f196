"""Starts a server for this command alone, and ends it again however the command ends."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

from ..process.sweep import MARKER
from .exits import CommandError, Exit
from .find_server import Server

START_S = 60.0
STOP_S = 15.0
"""A clean stop ends agents by their ladder, which takes up to 10 s."""
KILL_S = 5.0
ATTEMPTS = 3
"""The port is free when it is chosen; another program may take it before it is bound."""
TAIL_BYTES = 2_000


@asynccontextmanager
async def own_server(root: Path) -> AsyncIterator[Server]:
    """A server of our own with `root` as its root directory, reachable while the block runs.

    It listens on 127.0.0.1 with a random token and lets that token approve: nobody else has it.
    Started by an agent, it does not: an agent must not approve what it asked for itself.
    Raises CommandError(UNAVAILABLE) with the end of the server's log when it does not start. On
    leaving, also by an error or a cancel, runs end as interrupted and the process is gone.
    """
    approvals = MARKER not in os.environ
    token = secrets.token_urlsafe(32)
    with tempfile.TemporaryFile() as log:
        for attempt in range(ATTEMPTS):
            process = await _spawn(log)
            try:
                url = await _greet(process, root, token, approvals=approvals)
                if url is None and attempt + 1 < ATTEMPTS and _port_was_taken(log):
                    continue
                if url is None:
                    raise CommandError(
                        Exit.UNAVAILABLE,
                        "A Jupyter server for this command did not start.",
                        _tail(log).replace(token, "<token>"),
                    )
                yield Server(url.rstrip("/") + "/", root, token, own=True)
                return
            finally:
                await _stop(process)


async def _spawn(log: IO[bytes]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",  # nothing is imported from the directory that we are called in
        "-m",
        "jupyter_agentchat.command.serve",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=log,
        start_new_session=True,  # Ctrl-C is ours to handle, not the server's
    )


async def _greet(
    process: asyncio.subprocess.Process, root: Path, token: str, *, approvals: bool
) -> str | None:
    """Hand over the settings; the URL, or None when the server is gone before it listens."""
    assert process.stdin is not None and process.stdout is not None  # noqa: S101 - PIPEs
    settings = {"root_dir": str(root), "token": token, "approvals": approvals}
    try:
        async with asyncio.timeout(START_S):
            process.stdin.write(json.dumps(settings).encode() + b"\n")
            await process.stdin.drain()
            while line := await process.stdout.readline():
                url = _parse_url(line)
                if url is not None:
                    return url
    except (TimeoutError, OSError, ValueError):
        pass
    return None


def _parse_url(line: bytes) -> str | None:
    """The URL on a line; None for anything else that an extension may print."""
    try:
        data = json.loads(line)
    except ValueError:
        return None
    url = data.get("url") if isinstance(data, dict) else None
    return url if isinstance(url, str) else None


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End of input is the sign to stop; what does not heed it is killed, also on a cancel."""
    assert process.stdin is not None  # noqa: S101 - a PIPE
    process.stdin.close()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        pass
    finally:
        if process.returncode is None:
            process.kill()
            # bounded: `wait` also waits for whoever else holds its output
            await asyncio.wait_for(process.wait(), KILL_S)


def _port_was_taken(log: IO[bytes]) -> bool:
    return b"no available port" in _read(log)


def _tail(log: IO[bytes]) -> str:
    return _read(log)[-TAIL_BYTES:].decode("utf-8", "replace").strip()


def _read(log: IO[bytes]) -> bytes:
    log.seek(0)
    return log.read()
