"""The adapter for Claude Code: one process per chat, kept warm between its runs."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from ...errors import NotInstalled, ProviderError, ProviderTimeout, Unsupported
from ...process.tasks import TaskOwner
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, Forker, RunContext, Scope
from .catalogue import AgentCommand, Catalogue
from .control import ControlRefused
from .hosting import Host, is_unasked
from .inbox import Inbox
from .introduction import ask_introduction
from .launch import Fixed, SessionStart
from .loads import project_loads
from .memory import ChatMemory
from .models import ALIASES, models_of, with_windows
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

INTRODUCED_BY_S = 3.0
"""How far into a probe a CLI may be asked for its models; ending it takes its time as well."""

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
        self._windows: dict[str, int] = {}
        self._memories: dict[str, ChatMemory] = {}
        self._tasks = TaskOwner(PROVIDER)
        self._processes = Processes(context, self._tasks, self._initialized, self._unasked)
        self._host = Host(context.begin_unasked, self._processes, self._run)
        self._catalogue = Catalogue(self._introduction, self._processes.environment)
        self.rewinder = ClaudeRewinder(self._processes)
        self.forker = Forker()

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`. The models are those of the account, when there is time."""
        began = time.monotonic()
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
            is_root=self._processes.is_root and not self._processes.may_bypass,
        )
        if found.available:
            with suppress(ProviderError, TimeoutError):
                async with asyncio.timeout(began + INTRODUCED_BY_S - time.monotonic()):
                    scratch = self._context.scratch
                    told = await self._catalogue.introduction(scratch, trusted=False)
                self._models = models_of(told) or self._models
        reattach = isinstance(self._context.launcher, Attaching)
        features = found.features.model_copy(update={"reattach": reattach})
        models = with_windows(self._models, self._windows) if found.available else []
        return found.model_copy(update={"features": features, "models": models})

    async def commands(self, directory: Path, trusted: bool) -> list[AgentCommand]:
        """The slash commands and skills of a chat in `directory`; an untrusted one adds none.

        From what its processes told in the last minutes, else of one that is started to be asked
        (about half a second). Raises ProviderError. Cancelled, no process stays behind.
        """
        return await self._catalogue.commands(directory, trusted)

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
            unasked = is_unasked(request)
            inbox = Inbox(prompt_uuid(request.run_id), replaying=True, unasked=unasked)
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
        unasked = is_unasked(request)
        again = context.never_completed and wanted.opening.kind == "resume" and not unasked
        memory = self._memories.setdefault(request.chat_id, ChatMemory())

        def on_end(ended: ClaudeSession, windows: Mapping[str, int]) -> None:
            self._windows.update(windows)
            self._processes.rest(request.chat_id, ended)

        return ClaudeRun(
            session,
            inbox,
            Turn(
                prompt_uuid(request.run_id),
                request.cwd,
                unasked=unasked,
                windows=dict(self._windows),
                checklist=memory.checklist,
            ),
            mode=request.mode,
            permission=request.permission,
            memory=memory,
            on_end=on_end,
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
        line = await _line_of(request)
        # the inbox gets exactly the lines behind the position that is noted
        first = session.attach(inbox)
        try:
            await context.on_child(ChildMark(session.handle.child_id, first))
            session.handle.settle(first)
            await session.send(line)
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
            arrived = inbox.commands.prompt_seen or is_unasked(request)
            if not arrived and not inbox.over.is_set():
                _log.info("run=%s: its prompt never arrived; sending it again", request.run_id)
                await session.send(await _line_of(request))
            inbox.caught_up()

    def _unasked(self, chat_id: str, session: ClaudeSession) -> None:
        name = f"host {session.handle.child_id}"
        self._tasks.spawn(self._host.find_run(chat_id, session), name=name)

    def _initialized(self, fixed: Fixed, answer: Json) -> None:
        self._models = models_of(answer) or self._models
        self._catalogue.learn(fixed, answer)

    async def _introduction(self, directory: Path, trusted: bool) -> Json:
        return await ask_introduction(
            self._context, self._processes.environment, self._tasks, directory, trusted=trusted
        )


async def _line_of(request: RunRequest) -> Json:
    """The prompt's line; on the loop where no file is read for it."""
    if not request.attachments:
        return user_line(request)
    return await asyncio.to_thread(user_line, request)
