"""The adapter for opencode: one process for all chats of a server, two where trust differs."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import Callable
from pathlib import Path

from pydantic import JsonValue

from ...errors import ChildGone, NotInstalled, ProviderError
from ...process.ladder import Ladder
from ...process.launcher import Handle, Spawn
from ...process.loopback import HttpRefused
from ...process.tasks import TaskOwner
from ...protocol.events import Notice
from ...protocol.resources import ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, Forker, RunContext, Scope
from ..shared_child import Attaching, SharedChildren
from .commands import LONGEST_S, Command, command_for, compacts
from .inbox import Inbox
from .launch import TRUSTED, UNTRUSTED, build_spawn, environment
from .link import OpencodeLink
from .loads import project_loads
from .models import Catalog, catalog_of
from .permissions import agent_for
from .probe import NAME, missing_provider, probe_program
from .program import find_program
from .prompts import choice, image_parts, parts_of, session_of
from .rewinding import OpencodeRewinder
from .run import OpencodeRun
from .sessions import abandon, open_session, servers_of
from .translate import Turn
from .wire import PROVIDER, Json, message_id, suffix_of

LADDER = Ladder(eof_s=4.0, term_s=3.0, kill_s=2.0)
"""The end of its input is passed on as TERM; opencode then takes two seconds with its servers."""
CATALOG_S = 8.0
FOUND_CATALOG_S = 0.5

_log = logging.getLogger(__name__)


class OpencodeAdapter:
    """Implements `base.Adapter`. A run holds the shared process from its start to its end."""

    id = PROVIDER
    name = NAME
    scope = Scope.SERVER

    def __init__(self, context: AdapterContext) -> None:
        self._context = context
        self._tasks = TaskOwner(PROVIDER)
        self._catalog = Catalog()
        self.children: SharedChildren[OpencodeLink] = SharedChildren(
            context.launcher,
            self._tasks,
            build=self._build,
            connect=self._connect,
            idle_timeout_s=context.idle_timeout_s,
            ladder=LADDER,
        )
        self.rewinder = OpencodeRewinder(self.children)
        self.forker = Forker()

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`."""
        settings, source = self._context.settings, self._context.environment
        try:
            command = await asyncio.to_thread(find_program, settings, source)
        except NotInstalled as error:
            return missing_provider(error)
        found = await probe_program(
            command,
            self._context.for_probes,
            environment(source, settings, trusted=False),
            self._context.scratch,
            self._catalog,
        )
        reattach = isinstance(self._context.launcher, Attaching)
        features = found.features.model_copy(update={"reattach": reattach})
        return found.model_copy(update={"features": features})

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(directory, top)

    async def start(self, request: RunRequest, context: RunContext) -> OpencodeRun:
        """See `base.Adapter.start`."""
        known = session_of(request)
        link = await self.children.hold(_key(context), request.run_id)
        inbox: Inbox | None = None
        try:
            handle = link.handle
            inbox = Inbox(handle.position)
            link.join(inbox)
            await context.on_child(ChildMark(handle.child_id, handle.position))
            return await self._begin(request, link, inbox, known)
        except BaseException:
            if inbox is not None:
                link.leave(inbox)
            self.children.release(request.run_id)
            raise

    async def attach(
        self, request: RunRequest, context: RunContext, mark: ChildMark
    ) -> OpencodeRun:
        """See `base.Adapter.attach`.

        Whether the prompt has arrived, opencode's feed says: it is written down by a process that
        outlives the server. One that is not in it was never taken, and is sent again.
        """
        known = session_of(request)
        link = await self.children.attach(_key(context), request.run_id, mark)
        inbox = Inbox(mark.first)
        try:
            link.join(inbox)
            servers = await servers_of(link, request.cwd)
            run = self._run(request, link, inbox, known if not request.fork else None, servers, ())
            if not run.look_ahead():
                link.must_live(request.prompt)
                link.leave(inbox)
                inbox = Inbox(mark.first)
                link.join(inbox)
                return await self._begin(request, link, inbox, known)
        except BaseException as error:
            link.leave(inbox)
            self.children.release(request.run_id)
            if isinstance(error, ProviderError) and not isinstance(error, ChildGone):
                raise ChildGone(f"opencode cannot go on with it: {error.message}") from error
            raise
        return run

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`: nothing is kept for a chat; others use the process."""

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        await self.children.close()
        await self._tasks.close()

    # ---- a run --------------------------------------------------------------------------------

    async def _begin(
        self, request: RunRequest, link: OpencodeLink, inbox: Inbox, known: str | None
    ) -> OpencodeRun:
        """Open the conversation and hand the prompt over."""
        model = request.model or self._context.settings.default_model
        chosen, told = choice(request, self._context.settings.default_model, self._catalog)
        opened = await open_session(link, request, known)
        run = self._run(
            request, link, inbox, opened.session_id, opened.servers, (*told, *opened.notices)
        )
        seeing = (model or self._catalog.default or "") in self._catalog.seeing
        images = await asyncio.to_thread(image_parts, request.attachments, seeing=seeing)
        path = f"/session/{opened.session_id}"
        message = message_id(suffix_of(request.run_id))
        command = await command_for(link, request, opened.session_id, message, chosen)
        if command is not None:
            self._tasks.spawn(
                self._command(link, request, run, path, command), name=f"command {request.run_id}"
            )
            return run
        body: Json = {
            "messageID": message,
            "agent": agent_for(request.permission),
            "parts": parts_of(request, images),
            **chosen,
        }
        try:
            await link.call("POST", f"{path}/prompt_async", directory=request.cwd, body=body)
        except BaseException:
            # it may have arrived all the same
            ending = abandon(link, request.cwd, opened.session_id)
            self._tasks.spawn(ending, name=f"abandon {request.run_id}")
            raise
        return run

    def _run(
        self,
        request: RunRequest,
        link: OpencodeLink,
        inbox: Inbox,
        session: str | None,
        servers: tuple[str, ...],
        notices: tuple[Notice, ...],
    ) -> OpencodeRun:
        model = request.model or self._context.settings.default_model
        return OpencodeRun(
            link,
            inbox,
            request,
            Turn(
                run_id=request.run_id,
                cwd=request.cwd,
                session=session,
                windows=self._catalog.windows,
                servers=servers,
                notices=notices,
                any_prompt=compacts(request),
            ),
            self._tasks,
            on_end=self._releases(request.run_id),
            seeing=(model or self._catalog.default or "") in self._catalog.seeing,
        )

    def _releases(self, run_id: str) -> Callable[[], None]:
        return lambda: self.children.release(run_id)

    async def _command(
        self,
        link: OpencodeLink,
        request: RunRequest,
        run: OpencodeRun,
        path: str,
        command: Command,
    ) -> None:
        """A slash command is answered when its turn has ended: only a refusal counts here."""
        try:
            await link.call(
                "POST",
                f"{path}{command.end}",
                directory=request.cwd,
                body=command.body,
                timeout_s=LONGEST_S,
            )
        except HttpRefused as error:
            run.refuse(command.refusal(error))
        except ProviderError as error:
            _log.info("run=%s: %s", request.run_id, error)  # its end comes through the feed

    # ---- the process --------------------------------------------------------------------------

    async def _build(self, key: str) -> Spawn:
        settings, source = self._context.settings, self._context.environment
        command = await asyncio.to_thread(find_program, settings, source)
        child_id = uuid.uuid4().hex
        return build_spawn(
            command,
            source,
            settings,
            child_id=child_id,
            secret=self._context.secret_of(child_id),
            trusted=key == TRUSTED,
        )

    async def _connect(self, handle: Handle, key: str, attached: bool) -> OpencodeLink:
        secret = self._context.secret_of(handle.child_id)
        link = OpencodeLink(handle, secret, self._tasks)
        try:
            await (link.find() if attached else link.open())
        except BaseException:
            await link.close()
            raise
        # at a take-over a chat must not be stuck for that: the next start knows them
        await self._learn(link, FOUND_CATALOG_S if attached else CATALOG_S)
        return link

    async def _learn(self, link: OpencodeLink, timeout_s: float) -> None:
        """The models, of the person's own configuration: no project's is loaded for that."""
        directory = str(self._context.scratch)
        try:
            answer: JsonValue = await link.call(
                "GET", "/config/providers", directory=directory, timeout_s=timeout_s
            )
        except ProviderError as error:
            _log.info("no list of models: %s", error)
        else:
            self._catalog = catalog_of(answer)


def _key(context: RunContext) -> str:
    return TRUSTED if context.trusted else UNTRUSTED
