"""Starts a CLI just to be told what it is: its models, commands and account."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ...process.ladder import Ladder
from ...process.launcher import Spawn
from ...process.tasks import TaskOwner
from ..base import AdapterContext
from .launch import Fixed, Live, SessionStart, arguments
from .program import find_program
from .session import ClaudeSession
from .wire import Json, dump

ASKING_TIMEOUT_S: Final = 15.0

_LADDER: Final = Ladder(eof_s=0.5, term_s=0.5, kill_s=1.0)
# nobody prompts it: what a person's hooks do at the start of a session is not wanted
_QUIET: Final = dump({"disableAllHooks": True})


async def ask_introduction(
    context: AdapterContext,
    environment: Mapping[str, str],
    tasks: TaskOwner,
    directory: Path,
    *,
    trusted: bool,
    timeout_s: float = ASKING_TIMEOUT_S,
) -> Json:
    """The answer to `initialize` in `directory`, of a process that is gone afterwards.

    It starts no MCP servers and runs no hooks, and no conversation is begun. Raises ProviderError.
    """
    command = await asyncio.to_thread(
        find_program, context.settings, context.environment, not_below=directory
    )
    fixed = Fixed(cwd=str(directory), trusted=trusted, read_only=True, bypass=False)
    live = Live(model=None, effort=None, mode="default")
    start = SessionStart("new", str(uuid.uuid4()))
    argv = [*command, *arguments(fixed, live, start), f"--settings={_QUIET}"]
    child_id = f"claude-asked-{uuid.uuid4().hex}"
    handle = await context.for_probes.spawn(Spawn(argv, directory, environment, child_id))
    session = ClaudeSession(handle, fixed, live, start, tasks, lambda _: None)
    try:
        session.join()
        return await session.control.request("initialize", timeout_s=timeout_s)
    finally:
        await session.stop(_LADDER)
