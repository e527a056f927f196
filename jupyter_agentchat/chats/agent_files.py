"""Files that only the agent itself can put back: it keeps its own copies of what it edited.

Our checkpoints know nearly all files of a project, and a person's changes to them. The agent knows
no person's changes, so its way is taken only for what ours does not know, with a person's leave,
and only when it touches nothing else that is to be kept.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final

from ..errors import AgentChatError
from ..protocol.resources import RunRequest
from ..providers.base import Rewinder, RunContext
from ..workspace.restore import Kept, Plan

log = logging.getLogger(__name__)

DEADLINE_S: Final = 15.0
ONLY_AGENT: Final = (
    "Only the agent has its earlier content; whether you changed it since is not known."
)
OUTSIDE: Final = "It lies outside the project: putting it back could not be undone."


async def preview(
    rewinder: Rewinder, request: RunRequest, context: RunContext, first_run: str
) -> list[str]:
    """What the agent would put back; nothing where it cannot say. Raises nothing."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            return await rewinder.preview_files(request, context, first_run)
    except (AgentChatError, TimeoutError) as error:
        log.info("chat=%s: the agent's own files: %s", request.chat_id, error or "time-out")
    except Exception:
        log.exception("chat=%s: the agent's own files", request.chat_id)
    return []


async def put_back(
    rewinder: Rewinder, request: RunRequest, context: RunContext, first_run: str
) -> None:
    """Let the agent put its files back, as far as it can. Raises nothing."""
    try:
        async with asyncio.timeout(DEADLINE_S):
            await rewinder.restore_files(request, context, first_run)
    except (AgentChatError, TimeoutError) as error:
        log.info("chat=%s: the agent's own files: %s", request.chat_id, error or "time-out")
    except Exception:
        log.exception("chat=%s: the agent's own files", request.chat_id)


def sort_out(
    names: Sequence[str], plan: Plan, overwrite: Sequence[str]
) -> tuple[list[str], list[Kept]]:
    """(files to be put back by the agent, files kept) of what the agent would touch."""
    missing = [name for name in names if name not in plan.known]
    if not missing:
        return [], []
    outside = [name for name in missing if PurePosixPath(name).is_absolute() or ".." in name]
    if outside:
        return [], [Kept(name, OUTSIDE) for name in missing]
    held = {kept.path for kept in plan.kept}
    if held.isdisjoint(names) and set(missing) <= set(overwrite):
        return missing, []
    return [], [Kept(name, ONLY_AGENT, overwritable=True) for name in missing]
