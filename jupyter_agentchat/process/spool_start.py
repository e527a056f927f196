"""One start of a kept child: its directory, its keeper, and the wait until the agent is there."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import subprocess
from dataclasses import dataclass

from .identity import ProcessIdentity
from .keeper import leads_session, start_keeper
from .launcher import Spawn
from .rundir import RunDirectory
from .spool_news import SpoolNews
from .tail import EVERYTHING

KEEPER_START_S = 10.0
"""A keeper that has not started its agent by then has failed."""

_LOOK_S = 0.25
_LOOK_WITHOUT_NEWS_S = 0.002
_SESSION_LOOK_S = 0.001
# the agent is there, or the keeper or its agent said why not
_TELLING = ("pid", "err", "exit", EVERYTHING)


@dataclass(frozen=True, slots=True)
class Keeping:
    """How a launcher's children are kept. `reserve_bytes` the disk must have free for a start;
    the holder ends an agent after `ticks` ticks of `tick_s` seconds without a server."""

    owner: ProcessIdentity | None
    reserve_bytes: int
    ticks: int
    tick_s: float


def execute(spawn: Spawn, directory: RunDirectory, keeping: Keeping) -> subprocess.Popen[bytes]:
    """Make the directory and start a keeper in it. Raises OSError; the directory may stay then."""
    out, err = directory.make(keeping.owner)
    try:
        free = directory.free_bytes()
        if free is not None and free < keeping.reserve_bytes:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return start_keeper(
            spawn, directory.path, out, err, ticks=keeping.ticks, tick_s=keeping.tick_s
        )
    finally:
        os.close(out)
        os.close(err)


async def agent_started(
    directory: RunDirectory, process: subprocess.Popen[bytes], news: SpoolNews
) -> ProcessIdentity:
    """The agent that the keeper `process` has started, once it leads its session.

    Raises OSError when there is none within `KEEPER_START_S`. From now on `news` knows the child,
    also after a failure or a cancel.
    """
    changed = asyncio.Event()

    def on_change(name: str) -> None:
        if name in _TELLING:
            changed.set()

    told = news.listen(directory.path.name, directory.path, on_change)
    pause_s = _LOOK_S if told else _LOOK_WITHOUT_NEWS_S
    try:
        async with asyncio.timeout(KEEPER_START_S):
            while (identity := directory.identity("pid")) is None:
                if process.poll() is not None:
                    raise OSError(errno.ECHILD, directory.err.read_text(errors="replace")[:200])
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), pause_s)
                changed.clear()
            while not leads_session(identity.pid):  # noqa: ASYNC110 - nothing tells of it
                await asyncio.sleep(_SESSION_LOOK_S)
    except TimeoutError:
        raise OSError(errno.ETIMEDOUT, "its keeper did not start it") from None
    return identity
