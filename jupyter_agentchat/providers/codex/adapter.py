"""The adapter for Codex, and for MiniMax by the same program: one process for all chats."""

from __future__ import annotations

import asyncio
import logging
import uuid
from functools import partial
from pathlib import Path
from typing import Final

from ..._version import __version__
from ...errors import ProviderError, TooOld
from ...process.ladder import Ladder
from ...process.launcher import Handle, Spawn
from ...process.tasks import TaskOwner
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, Forker, RunContext, Scope
from ..shared_child import Attaching, SharedChildren
from .attaching import catch_up
from .flavour import CODEX, MINIMAX, Flavour
from .inbox import Inbox
from .launch import arguments, check, environment
from .link import CodexLink
from .loads import project_loads
from .probe import Prober
from .program import INSTALL_HINT, find_program
from .prompts import command_of, is_planning
from .rewinding import CodexRewinder
from .run import CodexRun
from .threads import SETTLE_S, Threads
from .translate import Translator, Turn
from .unasked import UnaskedTurns
from .wire import MIN_VERSION, Json, numbers

LADDER: Final = Ladder(eof_s=3.0, term_s=2.0, kill_s=2.0)
_KEY: Final = "app-server"
_CLOSE_TIMEOUT_S: Final = 5.0
_log = logging.getLogger(__name__)


class CodexAdapter:
    """Implements `base.Adapter`. All chats share one app server, started with the first run."""

    scope = Scope.SERVER
    flavour: Flavour = CODEX

    def __init__(self, context: AdapterContext) -> None:
        flavour = self.flavour
        self.id = flavour.id
        self.name = flavour.name
        self._context = context
        self._tasks = TaskOwner(flavour.id)
        self._threads = Threads(flavour.name, context.settings.default_model)
        self._chats: dict[str, str] = {}
        self._children: SharedChildren[CodexLink] = SharedChildren(
            context.launcher,
            self._tasks,
            build=self._build,
            connect=self._connect,
            idle_timeout_s=context.idle_timeout_s,
            ladder=LADDER,
        )
        self._unasked = UnaskedTurns(
            context,
            self._tasks,
            key=_KEY,
            children=lambda: self._children,
            chat_of=self._chat_of,
            make=self._run,
        )
        self._prober = Prober(flavour, context, self._tasks, self._spawn)
        self.rewinder = CodexRewinder(self._threads, self._borrowed)
        self.forker = Forker()

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`. A running app server is asked itself."""
        found = await self._prober.probe(next(iter(self._children.alive), None))
        reattach = isinstance(self._context.launcher, Attaching)
        features = found.features.model_copy(update={"reattach": reattach})
        return found.model_copy(update={"features": features})

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(directory, top, self.id)

    async def start(self, request: RunRequest, context: RunContext) -> CodexRun:
        """See `base.Adapter.start`."""
        check(request)
        link = await self._children.hold(_KEY, request.run_id)
        thread_id = None if request.fork else request.provider_session_id
        planning = is_planning(request)
        inbox = link.router.open(request.run_id, link.handle.position, thread_id, planning=planning)
        before = link.router.tokens.get(thread_id or "")
        try:
            await context.on_child(ChildMark(link.handle.child_id, inbox.first))
            await self._threads.send(link, request, inbox, trusted=context.trusted)
        except BaseException:
            self._release(link, request)
            self._tasks.spawn(self._abandon(link, inbox), name=f"abandon {request.run_id}")
            raise
        return self._run(link, request, inbox, before)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> CodexRun:
        """See `base.Adapter.attach`.

        A prompt of which Codex says nothing, neither in its output nor in the thread's turns, was
        never read: it is sent again.
        """
        link = await self._children.attach(_KEY, request.run_id, mark)
        thread_id = None if request.fork else request.provider_session_id
        try:
            planning = is_planning(request)
            inbox = link.router.open(request.run_id, mark.first, thread_id, planning=planning)
        except ProviderError:
            self._children.release(request.run_id)
            raise
        sending = partial(self._threads.send, link, request, inbox, trusted=context.trusted)
        self._tasks.spawn(
            catch_up(link, inbox, request, sending), name=f"catch up {request.run_id}"
        )
        return self._run(link, request, inbox)

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`: its thread is unloaded, the process stays."""
        thread_id = self._chats.pop(chat_id, None)
        for link in self._children.alive:
            if thread_id in link.loaded and link.router.owner(thread_id or "") is None:
                try:
                    await self._threads.unload(link, thread_id or "")
                except ProviderError as error:
                    _log.info("chat=%s: %s", chat_id, error)

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        await self._children.close()
        await self._tasks.close(_CLOSE_TIMEOUT_S)

    async def _abandon(self, link: CodexLink, inbox: Inbox) -> None:
        """Stop the turn of a prompt that may have arrived, though its start was given up."""
        thread_id = inbox.facts.thread_id
        if thread_id is None or link.handle.exit is not None:
            return
        try:
            await link.router.busy(thread_id, SETTLE_S)
            if link.router.owner(thread_id) is None:
                await self._threads.still(link, thread_id)
        except ProviderError as error:
            _log.info("run=%s: %s", inbox.run_id, error)

    def _run(
        self,
        link: CodexLink,
        request: RunRequest,
        inbox: Inbox,
        tokens_before: Json | None = None,
    ) -> CodexRun:
        flavour = self.flavour
        turn = Turn(
            run_id=request.run_id,
            provider=flavour.id,
            cwd=request.cwd,
            thread_id=None if request.fork else request.provider_session_id,
            sign_in=flavour.sign_in_help,
            knows_models=flavour.is_openai,
            tokens_before=tokens_before,
            planning=is_planning(request),
        )
        return CodexRun(
            link,
            inbox,
            Translator(turn),
            request.permission,
            can_steer=command_of(request) is None,
            go_ahead=partial(self._threads.go_ahead, link, request, inbox),
            on_end=partial(self._release, link, request),
            kill=partial(self._children.end, _KEY),
        )

    def _chat_of(self, thread_id: str) -> str | None:
        return next((chat for chat, known in self._chats.items() if known == thread_id), None)

    def _release(self, link: CodexLink, request: RunRequest) -> None:
        inbox = link.router.close(request.run_id)
        if inbox is not None and inbox.facts.thread_id:
            self._chats[request.chat_id] = inbox.facts.thread_id
        self._children.release(request.run_id)
        if link.settled and not link.router.inboxes:
            link.router.forget_waiting()
        if len(link.loaded) > 1 and link.handle.exit is None:
            self._tasks.spawn(self._rest(link), name="unload threads")

    async def _rest(self, link: CodexLink) -> None:
        try:
            await self._threads.rest(link)
        except ProviderError as error:
            _log.info("child=%s: %s", link.handle.child_id, error)

    async def _borrowed(self, user: str) -> tuple[CodexLink, partial[None]]:
        """The app server for a moment, held by `user`; the second is to be called afterwards."""
        link = await self._children.hold(_KEY, user)
        return link, partial(self._children.release, user)

    # the process

    async def _build(self, _key: str) -> Spawn:
        return await self._spawn(self._home(), f"{self.id}-{uuid.uuid4().hex}")

    async def _spawn(self, cwd: Path, child_id: str) -> Spawn:
        settings, source = self._context.settings, self._context.environment
        command = await asyncio.to_thread(find_program, settings, source)
        given = await asyncio.to_thread(environment, source, settings, self.flavour)
        argv = [
            *command,
            *arguments(self.flavour, {**source, **settings.env}, settings.default_model),
        ]
        return Spawn(argv, cwd, given, child_id)

    def _home(self) -> Path:
        """Where the process stands: nowhere in a project, since it serves all of them."""
        home = Path(self._context.environment.get("HOME") or "/")
        return home if home.is_absolute() and home.is_dir() else Path("/")

    async def _connect(self, handle: Handle, _key: str, attached: bool) -> CodexLink:
        link = CodexLink(handle, self._tasks, attached=attached, on_unasked=self._unasked.began)
        try:
            await link.begin(__version__)
            _refuse_old(link.version)
        except BaseException:
            await link.close()
            raise
        return link


class MiniMaxAdapter(CodexAdapter):
    """MiniMax' models through the same program, as a provider and a process of its own."""

    flavour = MINIMAX


def _refuse_old(version: str) -> None:
    """Raise TooOld for a version below the oldest that we drive; one that is none passes."""
    try:
        old = numbers(version.split("-")[0]) < numbers(MIN_VERSION)
    except ValueError:
        return
    if old:
        raise TooOld(f"Codex {version} is older than {MIN_VERSION}.", hint=INSTALL_HINT)
