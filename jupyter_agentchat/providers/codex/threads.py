"""Opens a run's thread and hands the prompt over; what Codex refuses, in our words.

Each request of a run carries an id that follows from the run's own, so that the next server knows
its answer in the output they share.
"""

from __future__ import annotations

import asyncio
import json
import logging
from pathlib import Path
from typing import Final

from pydantic import JsonValue

from ...errors import ProviderError, ProviderTimeout, SessionRejected
from ...process.jsonrpc import RpcError
from ...protocol.resources import RunRequest
from ...protocol.words import Permission
from .inbox import Inbox
from .launch import Setup, servers_of, thread_params, turn_params
from .link import CodexLink, step_id
from .prompts import command_of, go_ahead_of, skill_names, turn_input
from .received import GO_AHEAD
from .refusals import ARCHIVED, ThreadUnloaded, explained
from .wire import Json, object_of, objects_of, text_of, thread_of

QUIET_S: Final = 10.0
THREAD_TIMEOUT_S: Final = 60.0
SETTLE_S: Final = 1.0
"""A prompt that an earlier server wrote just before its death may be on its way into a turn."""
KEPT_LOADED: Final = 8
"""Threads that stay loaded without a run; each may have MCP servers of its own."""

_log = logging.getLogger(__name__)


class Threads:
    """The threads of one provider's runs. `default_model` is used where a chat names none."""

    def __init__(self, name: str, default_model: str | None) -> None:
        self._name = name
        self._default_model = default_model

    async def send(
        self, link: CodexLink, request: RunRequest, inbox: Inbox, *, trusted: bool
    ) -> None:
        """Open the run's thread and hand its prompt over.

        Raises SessionRejected when Codex has no such conversation, ProviderError.
        """
        await self.open(link, request, inbox, trusted=trusted)
        try:
            await self.prompt(link, request, inbox)
        except ThreadUnloaded:
            link.loaded.pop(inbox.facts.thread_id or "", None)
            await self.open(link, request, inbox, trusted=trusted)
            await self.prompt(link, request, inbox)

    async def open(
        self, link: CodexLink, request: RunRequest, inbox: Inbox, *, trusted: bool
    ) -> None:
        """Start, resume or fork the thread of a run; raises like `send`."""
        setup = await self._setup(link, request, inbox, trusted=trusted)
        thread_id = inbox.facts.thread_id
        if thread_id and inbox.facts.opened:
            # by an earlier server: without a turn there is nothing to resume yet
            link.loaded[thread_id] = setup
            link.models[thread_id] = inbox.facts.model
            return
        if thread_id is None:
            answer = await self._begin(link, request, setup)
        elif link.loaded.get(thread_id) == setup:
            await self.still(link, thread_id)
            link.loaded[thread_id] = link.loaded.pop(thread_id)  # the last one used
            return
        else:
            answer = await self._resume(link, request, setup, thread_id)
        opened = thread_of(answer)
        if not opened:
            raise ProviderError(f"{self._name} opened a conversation without an id.")
        link.loaded[opened] = setup
        inbox.facts.thread_id = inbox.facts.thread_id or opened
        model = link.models[opened] = text_of(answer, "model")
        if thread_id is None and not (request.fork or request.model or self._default_model):
            link.default_model = model

    async def go_ahead(
        self, link: CodexLink, request: RunRequest, inbox: Inbox, permission: Permission
    ) -> None:
        """Begin the second turn of a run whose plan was approved, unless it has begun: an earlier
        server may have seen to that. Raises ProviderError."""
        await link.caught_up()
        if link.attached:
            await asyncio.sleep(SETTLE_S)
        if inbox.facts.undecided:
            await self.prompt(link, go_ahead_of(request, permission), inbox, step=GO_AHEAD)

    async def prompt(
        self, link: CodexLink, request: RunRequest, inbox: Inbox, *, step: str = "turn"
    ) -> None:
        """Hand the prompt over. Raises ProviderError; then Codex has not taken it."""
        thread_id = inbox.facts.thread_id or ""
        chosen = request.model or self._default_model or await self._default(link, thread_id)
        params: Json = {"threadId": thread_id}
        if (command := command_of(request)) is not None:
            method, more = command
            params |= more
        else:
            method = "turn/start"
            skills = await self._skills(link, request)
            params |= turn_params(request, chosen)
            params["input"] = turn_input(request, skills)
            # by it the next server finds the turn again
            mark = request.run_id if step == "turn" else step_id(request.run_id, step)
            params["clientUserMessageId"] = mark
        try:
            await link.request(method, params, request_id=step_id(request.run_id, step))
        except RpcError as error:
            raise explained(error, thread_id, self._name) from error

    async def unload(self, link: CodexLink, thread_id: str) -> None:
        """Have a thread put down, with its MCP servers; it is resumed when it is needed."""
        link.loaded.pop(thread_id, None)
        try:
            await link.request("thread/unsubscribe", {"threadId": thread_id})
        except (RpcError, ProviderTimeout) as error:
            _log.info("thread=%s was not unloaded: %s", thread_id, error)

    async def rest(self, link: CodexLink) -> None:
        """Unload the threads that were used longest ago, beyond those that stay."""
        idle = [thread for thread in link.loaded if link.router.owner(thread) is None]
        for thread_id in idle[: max(0, len(idle) - KEPT_LOADED)]:
            await self.unload(link, thread_id)

    async def _begin(self, link: CodexLink, request: RunRequest, setup: Setup) -> Json:
        params = thread_params(setup, servers_of(request), request.model or self._default_model)
        method = "thread/start"
        if request.fork and request.provider_session_id:
            method = "thread/fork"
            params |= {"threadId": request.provider_session_id, "excludeTurns": True}
        return await self._open(link, method, params, request)

    async def _resume(
        self, link: CodexLink, request: RunRequest, setup: Setup, thread_id: str
    ) -> Json:
        if thread_id in link.loaded or link.attached:
            # a loaded thread keeps its setup: what the resume names is not looked at (seen)
            await self.still(link, thread_id)
            await self.unload(link, thread_id)
        params = thread_params(setup, servers_of(request), request.model or self._default_model)
        params |= {"threadId": thread_id, "excludeTurns": True}
        try:
            answer = await self._open(link, "thread/resume", params, request)
        except ProviderError as error:
            if isinstance(error, SessionRejected) or ARCHIVED not in error.message:
                raise
            await link.request("thread/unarchive", {"threadId": thread_id})
            answer = await self._open(link, "thread/resume", params, request)
        if text_of(object_of(object_of(answer, "thread"), "status"), "type") == "active":
            await self.still(link, thread_id, look=True)
        return answer

    async def _open(self, link: CodexLink, method: str, params: Json, request: RunRequest) -> Json:
        try:
            return await link.request(
                method,
                params,
                request_id=step_id(request.run_id, "thread"),
                timeout_s=THREAD_TIMEOUT_S,
            )
        except RpcError as error:
            raise explained(error, request.provider_session_id, self._name) from error

    async def still(self, link: CodexLink, thread_id: str, *, look: bool = False) -> None:
        """End a turn that nobody follows: a prompt would be put into it without a word.

        `look`: also one whose beginning we have not seen.
        """
        turn_id = link.router.active.get(thread_id)
        if turn_id is None and look:
            turns = await link.request("thread/turns/list", {"threadId": thread_id, "limit": 1})
            for turn in objects_of(turns, "data"):
                if text_of(turn, "status") == "inProgress":
                    turn_id = link.router.active[thread_id] = text_of(turn, "id")
        if turn_id is None:
            return
        _log.info("thread=%s: stopping turn %s, which no run follows", thread_id, turn_id)
        try:
            await link.request("turn/interrupt", {"threadId": thread_id, "turnId": turn_id})
        except RpcError as error:
            _log.info("thread=%s: %s", thread_id, error)
            link.router.active.pop(thread_id, None)  # there is none
        if not await link.router.quiet(thread_id, QUIET_S):
            raise ProviderError(
                f"{self._name} is still at work in this conversation.",
                hint="Wait a moment, then send the prompt again.",
            )

    async def _setup(
        self, link: CodexLink, request: RunRequest, inbox: Inbox, *, trusted: bool
    ) -> Setup:
        cwd = Path(request.cwd)
        top = next((str(place) for place in (cwd, *cwd.parents) if (place / ".git").exists()), "")
        hidden: tuple[str, ...] = ()
        if not trusted:
            known = (inbox.facts.thread_id or "") in link.loaded
            listed = await self._listed(link, request.cwd, anew=not known)
            hidden = tuple(
                sorted(text_of(one, "path") for one in listed if text_of(one, "scope") == "repo")
            )
        servers = servers_of(request)
        return Setup(request.cwd, trusted, top or request.cwd, _stable(servers), hidden)

    async def _skills(self, link: CodexLink, request: RunRequest) -> list[Json]:
        names = skill_names(request)
        if not names:
            return []
        listed = await self._listed(link, request.cwd)
        return [one for name in names for one in listed if text_of(one, "name") == name]

    async def _listed(self, link: CodexLink, cwd: str, *, anew: bool = True) -> list[Json]:
        try:
            answer = await link.request("skills/list", {"cwds": [cwd], "forceReload": anew})
        except RpcError as error:
            _log.info("no list of skills: %s", error)
            return []
        return [one for place in objects_of(answer, "data") for one in objects_of(place, "skills")]

    async def _default(self, link: CodexLink, thread_id: str) -> str:
        """The model of a chat that names none: the one before would stick to the thread."""
        if not link.default_model:
            try:
                answer = await link.request("config/read", {})
            except RpcError as error:
                _log.info("no configuration: %s", error)
                answer = {}
            link.default_model = text_of(object_of(answer, "config"), "model")
        if not link.default_model and not link.models.get(thread_id):
            # an earlier server has loaded the thread: resumed as it is, it says its model
            params: Json = {"threadId": thread_id, "excludeTurns": True}
            link.models[thread_id] = text_of(await link.request("thread/resume", params), "model")
        return link.default_model or link.models[thread_id]


def _stable(servers: dict[str, JsonValue]) -> str:
    return json.dumps(servers, sort_keys=True)
