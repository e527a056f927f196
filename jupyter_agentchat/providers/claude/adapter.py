"""The adapter for Claude Code: one process per chat, kept warm between its runs."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from ...errors import NotInstalled, ProviderError, ProviderTimeout, Unsupported
from ...process.tasks import TaskOwner
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, Forker, RunContext, Scope
from .control import ControlRefused
from .inbox import Inbox
from .launch import SessionStart
from .loads import project_loads
from .models import ALIASES, models_of
from .probe import NAME, missing_provider, probe_program
from .processes import Attaching, Processes, Wanted
from .program import find_program
from .prompts import prompt_uuid, user_line
from .rewinding import ClaudeRewinder
from .run import ClaudeRun, Reopen
from .session import ClaudeSession
from .translate import PROVIDER, Turn
from .wire import Json

BARRIER_TIMEOUT_S = 60.0
"""How long a CLI that was taken over may need to answer; longer while its output is read up."""

_log = logging.getLogger(__name__)


class ClaudeAdapter:
    """Implements `base.Adapter`. The chat's process keeps its conversation from run to run.

    It is started anew, resuming the conversation, when the run needs what a process cannot change
    (trust, tools that are taken away), after an idle time, or when it has died.
    """

    id = PROVIDER
    name = NAME
    scope = Scope.CHAT

    def __init__(self, context: AdapterContext) -> None:
        self._context = context
        self._models = list(ALIASES)
        self._tasks = TaskOwner(PROVIDER)
        self._processes = Processes(context, self._tasks, self._initialized)
        self.rewinder = ClaudeRewinder(self._processes)
        self.forker = Forker()

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`."""
        settings = self._context.settings
        try:
            command = await asyncio.to_thread(find_program, settings, self._context.environment)
        except NotInstalled as error:
            return missing_provider(error)
        found = await probe_program(
            command,
            self._context.for_probes,
            self._processes.environment,
            self._context.scratch,
            self._models,
            is_root=self._processes.is_root and not self._processes.may_bypass,
        )
        reattach = isinstance(self._context.launcher, Attaching)
        features = found.features.model_copy(update={"reattach": reattach})
        return found.model_copy(update={"features": features})

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(directory, top)

    async def start(self, request: RunRequest, context: RunContext) -> ClaudeRun:
        """See `base.Adapter.start`."""
        wanted = self._processes.wanted(request, context)
        async with self._processes.lock(request.chat_id):
            session = await self._processes.ready(request.chat_id, wanted)
            inbox = await self._prompt(request, context, session)
        return self._run(request, context, wanted, session, inbox)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> ClaudeRun:
        """See `base.Adapter.attach`.

        A prompt of which the CLI says nothing was never read: it is sent again. The CLI takes a
        uuid once, so that one which was only late is not done twice.
        """
        wanted = self._processes.wanted(request, context)
        async with self._processes.lock(request.chat_id):
            session = await self._processes.take_over(request.chat_id, wanted, mark)
            inbox = Inbox(prompt_uuid(request.run_id), replaying=True)
            session.attach(inbox)
            session.join()
        self._tasks.spawn(
            self._catch_up(request, session, inbox), name=f"catch up {session.handle.child_id}"
        )
        return self._run(request, context, wanted, session, inbox)

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`."""
        await self._processes.close_chat(chat_id)

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        await self._processes.close()

    def _run(
        self,
        request: RunRequest,
        context: RunContext,
        wanted: Wanted,
        session: ClaudeSession,
        inbox: Inbox,
    ) -> ClaudeRun:
        again = context.never_completed and wanted.opening.kind == "resume"
        return ClaudeRun(
            session,
            inbox,
            Turn(prompt_uuid(request.run_id), request.cwd),
            mode=request.mode,
            permission=request.permission,
            on_end=lambda ended: self._processes.rest(request.chat_id, ended),
            reopen=self._reopen(request, context, wanted) if again else None,
        )

    def _reopen(self, request: RunRequest, context: RunContext, wanted: Wanted) -> Reopen:
        async def reopen() -> tuple[ClaudeSession, Inbox]:
            anew = SessionStart("new", wanted.opening.session_id)
            async with self._processes.lock(request.chat_id):
                session = await self._processes.open(request.chat_id, wanted, anew)
                return session, await self._prompt(request, context, session)

        return reopen

    async def _prompt(
        self, request: RunRequest, context: RunContext, session: ClaudeSession
    ) -> Inbox:
        """Hand the prompt over, once the hub has noted where it goes."""
        inbox = Inbox(prompt_uuid(request.run_id))
        # the inbox gets exactly the lines behind the position that is noted
        session.attach(inbox)
        first = session.handle.position
        try:
            await context.on_child(ChildMark(session.handle.child_id, first))
            session.handle.settle(first)
            await session.send(user_line(request))
        except BaseException:
            session.detach(inbox)
            await self._processes.discard(request.chat_id, session)
            raise
        return inbox

    async def _catch_up(self, request: RunRequest, session: ClaudeSession, inbox: Inbox) -> None:
        """Find out what is old in the output: the answer to a request of ours stands behind it."""
        with suppress(ProviderError):  # its end: what it left is read up, then the inbox closes
            try:
                await session.control.request("get_session_cost", timeout_s=BARRIER_TIMEOUT_S)
            except (ControlRefused, Unsupported):
                pass  # an answer as good as another
            except ProviderTimeout as error:
                _log.warning("run=%s: %s", request.run_id, error)
            if not inbox.commands.prompt_seen and not inbox.over.is_set():
                _log.info("run=%s: its prompt never arrived; sending it again", request.run_id)
                await session.send(user_line(request))
            inbox.caught_up()

    def _initialized(self, answer: Json) -> None:
        self._models = models_of(answer) or self._models
