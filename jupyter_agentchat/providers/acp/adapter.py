"""The adapter for any ACP agent: one process per chat, kept warm between its runs."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

from ...errors import ProviderError
from ...process.tasks import TaskOwner
from ...protocol.resources import Model, ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, Forker, RunContext, Scope
from .agents import AcpAgent
from .facts import PROBE_TIMEOUT_S, Facts, provider, refused
from .inbox import Inbox
from .launch import prompt_blocks, prompt_id, ready_id, ready_prefix
from .opening import Opener, Opening
from .processes import Attaching, Processes, Wanted
from .run import AcpRun
from .session import AcpSession
from .translate import Turn
from .trust import project_loads, refuse_untrusted

BARRIER_TIMEOUT_S = 60.0
"""How long an agent that was taken over may need to answer; longer while its output is read up."""

_log = logging.getLogger(__name__)


class AcpAdapter:
    """Implements `base.Adapter` for one `AcpAgent`."""

    scope = Scope.CHAT
    rewinder = None

    def __init__(self, context: AdapterContext, agent: AcpAgent) -> None:
        self.id = agent.id
        self.name = agent.name
        self._agent = agent
        self._context = context
        self._facts: Facts | None = None
        self._forks = True
        self._probing: asyncio.Task[Provider] | None = None
        self._tasks = TaskOwner(f"acp {agent.id}")
        self._processes = Processes(context, agent, self._tasks, self._opened)

    @property
    def forker(self) -> Forker | None:
        """See `base.Adapter.forker`: where the agent announced it and has not refused it since."""
        announced = self._facts is not None and self._facts.abilities.fork
        return Forker() if announced and self._forks else None

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`.

        An agent that needs longer goes on to start in the background, and the next probe has it.
        """
        if self._probing is None or self._probing.done():
            self._probing = self._tasks.spawn(self._look(), name="probe")
        await asyncio.wait({self._probing}, timeout=PROBE_TIMEOUT_S)
        return self._probing.result() if self._probing.done() else self._describe()

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(self._agent, directory, top)

    async def start(self, request: RunRequest, context: RunContext) -> AcpRun:
        """See `base.Adapter.start`."""
        if not context.trusted:
            await asyncio.to_thread(refuse_untrusted, self._agent, Path(request.cwd))
        wanted = self._processes.wanted(request, context)
        async with self._processes.lock(request.chat_id):
            session = await self._ready(request, wanted)
            inbox = await self._prompt(request, context, session)
        return self._run(request, session, inbox)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> AcpRun:
        """See `base.Adapter.attach`.

        A question stands before each prompt: without its answer, the prompt was never written, and
        is written now. No agent is known to take a prompt twice as one.
        """
        wanted = self._processes.wanted(request, context)
        async with self._processes.lock(request.chat_id):
            session = await self._processes.take_over(request.chat_id, wanted, mark)
            session.adopt("" if request.fork else request.provider_session_id or "", wanted.live)
            session.files.replaying = True
            session.files.writable = request.permission != "read_only"
            inbox = Inbox(prompt_id(request.run_id))
            session.attach(inbox)
            session.join()
        run = self._run(request, session, inbox, replaying=True)
        self._tasks.spawn(
            self._catch_up(request, wanted, session, inbox, run),
            name=f"catch up {session.handle.child_id}",
        )
        return run

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`."""
        await self._processes.close_chat(chat_id)

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        await self._processes.close()

    async def _ready(self, request: RunRequest, wanted: Wanted) -> AcpSession:
        try:
            return await self._processes.ready(request.chat_id, wanted)
        except ProviderError:
            if wanted.opening.kind == "fork":
                self._forks = False  # announced and refused: the next fork begins by transcript
            raise

    async def _prompt(self, request: RunRequest, context: RunContext, session: AcpSession) -> Inbox:
        """Hand the prompt over, once the hub has noted where it goes."""
        blocks = await asyncio.to_thread(prompt_blocks, request, images=self._images(session))
        # what it says unasked (a background task ended) is not of this run
        await session.settle_down()
        inbox = Inbox(prompt_id(request.run_id))
        # the inbox gets exactly the lines behind the position that is noted
        session.attach(inbox)
        first = session.handle.position
        try:
            await context.on_child(ChildMark(session.handle.child_id, first))
            session.handle.settle(first)
            ready = ready_id(request.run_id, session.session_id)
            await session.prompt(ready, prompt_id(request.run_id), blocks)
        except BaseException:
            session.detach(inbox)
            await self._processes.discard(request.chat_id, session)
            raise
        return inbox

    async def _catch_up(
        self,
        request: RunRequest,
        wanted: Wanted,
        session: AcpSession,
        inbox: Inbox,
        run: AcpRun,
    ) -> None:
        """Find out what is old in the output: the answer to a question of ours stands behind it."""
        with suppress(ProviderError):  # its end: what it left is read up, then the inbox closes
            answered = await session.connection.barrier(timeout_s=BARRIER_TIMEOUT_S)
            prefix = ready_prefix(request.run_id)
            arrived = any(one.startswith(prefix) for one in inbox.answered)
            if answered and not arrived and not inbox.over.is_set():
                _log.info("run=%s: its prompt was never written; writing it", request.run_id)
                await self._write_again(request, wanted, session)
        run.caught_up()

    async def _write_again(self, request: RunRequest, wanted: Wanted, session: AcpSession) -> None:
        if not session.session_id:
            # its conversation was opened, empty, and nobody has noted its name
            opener = Opener(self._agent, session.connection, lambda: 0)
            abilities = self._facts.abilities if self._facts else session.abilities
            cwd = wanted.fixed.cwd
            opened = await opener.open(Opening("new"), abilities, cwd, wanted.mcp)
            session.session_id = opened.session_id
        blocks = await asyncio.to_thread(prompt_blocks, request, images=self._images(session))
        ready = ready_id(request.run_id, session.session_id)
        await session.prompt(ready, prompt_id(request.run_id), blocks)

    def _images(self, session: AcpSession) -> bool:
        if session.known or self._facts is None:
            return session.abilities.images
        return self._facts.abilities.images

    def _run(
        self, request: RunRequest, session: AcpSession, inbox: Inbox, *, replaying: bool = False
    ) -> AcpRun:
        turn = Turn(
            provider=self.id,
            run_id=request.run_id,
            cwd=request.cwd,
            prompt_id=prompt_id(request.run_id),
            ready_prefix=ready_prefix(request.run_id),
            name=self.name,
            sign_in_hint=self._agent.sign_in_hint,
        )
        return AcpRun(
            session,
            inbox,
            turn,
            permission=request.permission,
            on_end=lambda ended: self._processes.rest(request.chat_id, ended),
            replaying=replaying,
        )

    def _opened(self, session: AcpSession) -> None:
        self._facts = Facts(session.abilities, session.offers)

    async def _look(self) -> Provider:
        try:
            session = await self._processes.probe(self._context.scratch)
        except ProviderError as error:
            return refused(self._agent, error)
        self._opened(session)
        await session.stop()
        return self._describe()

    def _describe(self) -> Provider:
        models = [
            Model(id=name, name=name, default=name == self._context.settings.default_model)
            for name in self._context.settings.models
        ]
        reattach = isinstance(self._context.launcher, Attaching)
        return provider(self._agent, self._facts, models, reattach=reattach)
