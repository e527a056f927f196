"""Where Kimi Code's server listens, from what it prints; and its token, from its own file.

The printed line holds the token: it is never logged, never shown, and read only to find the port. A
port that is taken silently becomes another one, so that only the line tells.
"""

from __future__ import annotations

import asyncio
import os
import re
import stat
from contextlib import aclosing
from pathlib import Path
from typing import Final

from ...errors import ChildGone, ProtocolError, ProviderTimeout
from ...process.framing import Line
from ...process.launcher import Handle

TOKEN_FILE: Final = "server.token"  # noqa: S105 - a name, no secret
START_S: Final = 30.0

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d{1,5})\b")
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,200}")
_LINES_LIMIT = 200


def address_in(line: str) -> str | None:
    """The address in a printed line, without the token behind it."""
    found = _ADDRESS.search(line)
    return found[0] if found and 0 < int(found[1]) < 65536 else None


async def wait_for_address(handle: Handle, *, timeout_s: float = START_S) -> str:
    """Read what the child printed until it names its address.

    Raises ProviderTimeout, and ProcessExited when it ends before.
    """
    try:
        async with asyncio.timeout(timeout_s), aclosing(handle.lines()) as frames:
            read = 0
            async for frame in frames:
                read += 1
                if isinstance(frame, Line) and (address := address_in(frame.text)):
                    return address
                if read > _LINES_LIMIT:
                    raise ProtocolError("Kimi Code's server does not say where it listens.")
    except TimeoutError:
        raise ProviderTimeout(f"Kimi Code's server did not start in {timeout_s:g} s.") from None
    raise await handle.failure()


def read_token(home: Path) -> str:
    """The token that every request needs. Raises ChildGone when it cannot be read or trusted."""
    path = home / TOKEN_FILE
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor) as file:
            status = os.fstat(descriptor)
            text = file.read(4096).strip()
    except (OSError, ValueError) as error:
        raise ChildGone("The token of Kimi Code's server cannot be read.") from error
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        raise ChildGone("The token of Kimi Code's server can be read by others.")
    if not _TOKEN.fullmatch(text):
        raise ChildGone("The token of Kimi Code's server is not one.")
    return text
