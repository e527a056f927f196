"""The adapter for Kimi Code: one server of its own program for all chats."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Final

from ...errors import NotInstalled, ProviderError
from ...process.tasks import TaskOwner
from ...protocol.resources import Model, ProjectLoad, Provider, RunRequest
from ..base import AdapterContext, ChildMark, Forker, RunContext, Scope
from ..shared_child import Attaching
from .api import IN_USE, KimiRefused
from .feed import Feed
from .launch import SessionConfig, session_config
from .link import KimiLink
from .loads import project_loads
from .models import chosen_model, models_in, read_settings
from .plan_usage import plan_usage
from .probe import missing_provider, probe_program
from .prompts import prompt_body
from .rewinding import KimiRewinder
from .run import KimiRun
from .servers import Servers
from .sessions import find_session, open_session
from .stopping import Place, take_back
from .translate import POSITION_SHIFT, Translator, prompt_id
from .unasked import stop_kept, take_kept
from .wire import NAME, PROVIDER, text_of

_USAGE_S: Final = 10.0
_log = logging.getLogger(__name__)


class ModelUnknown(ProviderError):
    """Kimi Code's settings do not know the model."""

    event_code = "model_not_found"


class KimiAdapter:
    """Implements `base.Adapter`. Chats are sessions of one server; none has its own process."""

    id = PROVIDER
    name = NAME
    scope = Scope.SERVER

    def __init__(self, context: AdapterContext) -> None:
        self._context = context
        self._tasks = TaskOwner(PROVIDER)
        self._servers = Servers(context, self._tasks, self._on_unasked)
        self._chats: dict[str, str] = {}
        self._rules: dict[str, set[str]] = {}
        self.rewinder = KimiRewinder(self._servers)
        self.forker = Forker()

    async def probe(self) -> Provider:
        """See `base.Adapter.probe`: nothing but its version is asked of the program."""
        try:
            command = await self._servers.command()
        except NotInstalled as error:
            return missing_provider(error)
        found = await probe_program(command, self._servers, self._context.for_probes)
        reattach = isinstance(self._context.launcher, Attaching)
        features = found.features.model_copy(update={"reattach": reattach})
        return found.model_copy(update={"features": features})

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        """See `base.Adapter.loads`."""
        return project_loads(directory, top)

    async def start(self, request: RunRequest, context: RunContext) -> KimiRun:
        """See `base.Adapter.start`."""
        link = await self._servers.hold(request.run_id)
        feed: Feed | None = None
        try:
            config = await self._config(link, request, context)
            session_id = await self._open(link, request, config, context)
            feed = await link.follow(session_id)
            feed.begin(request.run_id)
            place = Place(link, feed, feed.seq << POSITION_SHIFT)
            await context.on_child(ChildMark(link.handle.child_id, place.first))
            await self._send(place, request, config)
        except BaseException:
            self._let_go(request, feed)
            raise
        if link.signed_in:
            self._tasks.spawn(self._tell_usage(place), name=f"usage {request.run_id}")
        return self._run(request, place, attached=False)

    async def attach(self, request: RunRequest, context: RunContext, mark: ChildMark) -> KimiRun:
        """See `base.Adapter.attach`.

        The server replays a session's events from any place; text comes from its transcript. A
        prompt that is not among the events never arrived: it is sent again, under the same id,
        which the server takes once.
        """
        link = await self._servers.attach(request.run_id, mark)
        feed: Feed | None = None
        try:
            session_id = await find_session(link.api, request)
            feed = await link.follow_from(
                session_id, request.run_id, mark.first >> POSITION_SHIFT, mark.stored
            )
            place = Place(link, feed, mark.first)
            if request.prompt and not feed.lost and not feed.has_prompt(prompt_id(request.run_id)):
                _log.info("run=%s: its prompt never arrived; sending it again", request.run_id)
                await self._send(place, request, await self._config(link, request, context))
            missed: list[int] = []
            if feed.lost:
                named = prompt_id(request.run_id) if request.prompt else ""
                missed = await link.turns_of(session_id, named)
        except BaseException:
            self._let_go(request, feed)
            raise
        return self._run(request, place, attached=True, missed=missed)

    async def close_chat(self, chat_id: str) -> None:
        """See `base.Adapter.close_chat`: its session is not listened to any more."""
        self._rules.pop(chat_id, None)
        for session_id in [one for one, chat in self._chats.items() if chat == chat_id]:
            del self._chats[session_id]
            if (link := self._servers.link) is not None:
                await link.forget(session_id)

    async def close(self) -> None:
        """See `base.Adapter.close`."""
        await self._servers.close()
        await self._tasks.close()

    async def _config(
        self, link: KimiLink, request: RunRequest, context: RunContext
    ) -> SessionConfig:
        models = link.models or await asyncio.to_thread(self._models_on_disk)
        default = self._context.settings.default_model
        return session_config(
            request,
            chosen_model(request.model, default, models),
            trusted=context.trusted,
            rules_allow=link.rules_allow,
        )

    def _models_on_disk(self) -> list[Model]:
        return models_in(read_settings(self._servers.home))

    async def _open(
        self, link: KimiLink, request: RunRequest, config: SessionConfig, context: RunContext
    ) -> str:
        try:
            return await open_session(link, request, config, trusted=context.trusted)
        except KimiRefused as refused:
            if config.model in refused.message:
                raise ModelUnknown(
                    refused.message, hint="Choose another model for this chat."
                ) from refused
            raise

    async def _send(self, place: Place, request: RunRequest, config: SessionConfig) -> None:
        tools = config.disabled_tools
        body = (
            await asyncio.to_thread(prompt_body, request, tools)
            if request.attachments
            else prompt_body(request, tools)
        )
        try:
            await place.link.api.on_session(place.session_id, "POST", "/prompts", body)
        except KimiRefused as refused:
            if refused.kimi_code != IN_USE:
                raise
        except BaseException:
            # it may have arrived all the same
            back = take_back(place, request.run_id)
            self._tasks.spawn(back, name=f"take back {request.run_id}")
            raise

    def _run(
        self, request: RunRequest, place: Place, *, attached: bool, missed: list[int] | None = None
    ) -> KimiRun:
        self._chats[place.session_id] = request.chat_id
        model = request.model or self._context.settings.default_model
        window = next(
            (
                m.context_window
                for m in place.link.models
                if m.id == model or (not model and m.default)
            ),
            None,
        )
        translator = Translator(
            request.run_id,
            request.cwd,
            unasked=not request.prompt,
            context_window=window,
        )

        for turn in missed or []:
            translator.turns.adopt(turn)

        async def on_stuck() -> bool:
            return await self._servers.end_unless_shared(request.run_id)

        return KimiRun(
            request,
            place,
            translator,
            self._tasks,
            rules=self._rules.setdefault(request.chat_id, set()),
            attached=attached,
            on_end=lambda: self._let_go(request, place.feed),
            on_stuck=on_stuck,
        )

    def _let_go(self, request: RunRequest, feed: Feed | None) -> None:
        if feed is not None:
            feed.end(request.run_id)
        self._servers.release(request.run_id)

    def _on_unasked(self, link: KimiLink, feed: Feed, turn: int) -> None:
        self._tasks.spawn(self._host(link, feed, turn), name=f"unasked {feed.session_id}")

    async def _host(self, link: KimiLink, feed: Feed, turn: int) -> None:
        async def begin(request: RunRequest, context: RunContext) -> KimiRun:
            place = await take_kept(self._servers, link, feed, request, context)
            return self._run(request, place, attached=False)

        chat_id = self._chats.get(feed.session_id)
        hosted = chat_id is not None and await self._context.begin_unasked(chat_id, begin)
        if not hosted and feed.owner is None:
            await stop_kept(link, feed, turn)

    async def _tell_usage(self, place: Place) -> None:
        try:
            answer = await place.link.api.call("GET", "/oauth/usage", timeout_s=_USAGE_S)
        except ProviderError as error:
            _log.info("plan usage: %s", error)
            return
        if (usage := plan_usage(answer)) is not None:
            place.feed.add((usage,))
        else:
            _log.info("plan usage: %s", text_of(answer, "message")[:200])
