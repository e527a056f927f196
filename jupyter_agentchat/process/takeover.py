"""Whether a child that another server started can be taken over, and who it is."""

from __future__ import annotations

import asyncio
import os

from ..errors import ChildGone
from .identity import ProcessIdentity, is_alive
from .rundir import RunDirectory

# a server that died just when it started a child leaves a keeper that goes on with that
_START_S = 10.0
_LOOK_S = 0.02


async def find_agent(directory: RunDirectory, offset: int) -> ProcessIdentity:
    """The agent of `directory`, living or dead, whose output is to be read from `offset` on.

    Raises ChildGone when there is no such directory, it is of another host or boot, its agent was
    never started, half a line stands in its input (the agent would take it and the next line for
    one message), or its output is not there from `offset` on.
    """
    name = directory.path.name
    owner = directory.owner()
    if not directory.exists() or owner is None:
        raise ChildGone(f"Nothing is left of the child {name}.")
    if not owner.is_of_this_boot:
        raise ChildGone(f"The child {name} was started on another host or before a reboot.")
    if directory.writing.exists():
        raise ChildGone(f"Half a line stands in the input of the child {name}.")
    if not _reaches(directory, offset):
        raise ChildGone(f"The output of the child {name} is not there from {offset} on.")
    return await _identity(directory)


async def _identity(directory: RunDirectory) -> ProcessIdentity:
    loop = asyncio.get_running_loop()
    end = loop.time() + _START_S
    while (identity := directory.identity("pid")) is None:
        keeper = directory.identity("keeper")
        if keeper is None or not is_alive(keeper) or loop.time() > end:
            raise ChildGone(f"The child {directory.path.name} was never started.")
        await asyncio.sleep(_LOOK_S)
    return identity


def _reaches(directory: RunDirectory, offset: int) -> bool:
    try:
        with directory.out.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            head = os.pread(file.fileno(), 1, offset)
    except OSError:
        return False
    # no line begins with NUL: there is a hole where space was freed
    return offset <= size and head != b"\0"
