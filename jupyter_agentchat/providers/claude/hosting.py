"""Turns that the CLI begins by itself, when a background command has ended: their way to a run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, Protocol

from ...errors import ProviderError, Unsupported
from ...protocol.resources import RunRequest
from ..base import Begin, ChildMark, RunContext
from .inbox import Inbox
from .processes import Processes, Wanted
from .prompts import prompt_uuid
from .run import ClaudeRun
from .session import ClaudeSession

PAUSES_S: Final = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0)
"""Before each time that the hub is asked."""

_log = logging.getLogger(__name__)


class RunOf(Protocol):
    """Makes the run over a session whose lines go to an inbox."""

    def __call__(
        self,
        request: RunRequest,
        context: RunContext,
        wanted: Wanted,
        session: ClaudeSession,
        inbox: Inbox,
    ) -> ClaudeRun: ...


class Host:
    """Lets the hub (`begin_unasked`) make runs of such turns."""

    def __init__(
        self,
        begin_unasked: Callable[[str, Begin], Awaitable[bool]],
        processes: Processes,
        run_of: RunOf,
    ) -> None:
        self._begin_unasked = begin_unasked
        self._processes = processes
        self._run_of = run_of

    async def find_run(self, chat_id: str, session: ClaudeSession) -> None:
        """Let the hub make a run of the turn that the CLI has begun by itself.

        The hub may refuse, as while another run is active: it is asked again for about a minute.
        Then the turn is stopped by an interrupt, and what the agent asks is denied. Nothing is
        lost: what it has said until then waits, and stands at the beginning of the chat's next run
        with this agent, for which the process is kept.
        """
        for pause in PAUSES_S:
            await asyncio.sleep(pause)
            if not session.unhosted.waits or session.handle.exit is not None:
                return  # a run has taken it, or nothing is left of it
            if await self._begin_unasked(chat_id, partial(self._take_part, chat_id, session)):
                return
        _log.info("chat=%s: nobody follows what Claude Code began; stopping it", chat_id)
        await session.give_up_unasked()

    async def _take_part(
        self, chat_id: str, session: ClaudeSession, request: RunRequest, context: RunContext
    ) -> ClaudeRun:
        """A run over the turn that goes on already: no prompt is sent. Raises ChildGone.

        A person may have taken rights from the chat since the process was started. What the
        process cannot be told to respect stops the turn; what it did until then is shown.
        """
        wanted = self._processes.wanted(request, context)
        async with self._processes.lock(chat_id):
            self._processes.resume(chat_id, session)
            if not await _respects(session, wanted):
                _log.info("chat=%s: its rights are others now; stopping the turn", chat_id)
                await session.give_up_unasked()
            inbox = Inbox(prompt_uuid(request.run_id), unasked=True)
            first = session.attach(inbox)
            try:
                await context.on_child(ChildMark(session.handle.child_id, first))
            except BaseException:
                session.detach(inbox)
                await self._processes.discard(chat_id, session)
                raise
            session.handle.settle(first)
        return self._run_of(request, context, wanted, session, inbox)


async def _respects(session: ClaudeSession, wanted: Wanted) -> bool:
    """Take from a process what its chat may not do any more; whether that can be done.

    What the chat may do beside, its next prompt brings.
    """
    has, needs = session.fixed, wanted.fixed
    if (has.trusted and not needs.trusted) or (needs.read_only and not has.read_only):
        return False
    if has.bypass != needs.bypass:
        return needs.bypass
    try:
        await session.set_mode(wanted.live.mode)
    except (ProviderError, Unsupported) as error:
        _log.info("child=%s: %s", session.handle.child_id, error)
        return False
    return True


def is_unasked(request: RunRequest) -> bool:
    """Whether a run's turn was begun by the CLI itself: a person's prompt is never empty."""
    return not (request.prompt or request.attachments)
