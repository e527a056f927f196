"""Ends a run at a person's word: an abort, and what is done when it is not heeded."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ...errors import ProviderError, ProviderTimeout
from ...protocol.resources import RunRequest
from .api import COMPLETED, NO_PROMPT, KimiRefused
from .feed import Feed
from .link import KimiLink
from .translate import prompt_id
from .wire import object_of, objects_of, text_of

CANCEL_S: Final = 10.0
_LAST_CALL_S: Final = 2.0
_log = logging.getLogger(__name__)


@dataclass
class Place:
    """Where a run goes on: the server, the session, and the position before its first event."""

    link: KimiLink
    feed: Feed
    first: int

    @property
    def session_id(self) -> str:
        """The conversation."""
        return self.feed.session_id


class Stop:
    """The ways to end one run. `over` is set when its consumer has seen the end."""

    def __init__(
        self,
        request: RunRequest,
        place: Place,
        over: asyncio.Event,
        on_stuck: Callable[[], Awaitable[bool]],
    ) -> None:
        self._request = request
        self._place = place
        self._over = over
        self._on_stuck = on_stuck
        self._given_up = False
        self._aborted: set[str] = set()

    async def abort(self) -> None:
        """Ask the agent to stop, then give it up."""
        try:
            async with asyncio.timeout(CANCEL_S):
                await self.abort_prompt(prompt_id(self._request.run_id))
                await self._over.wait()
        except (ProviderError, TimeoutError) as error:
            _log.info("run=%s: it did not stop: %s", self._request.run_id, error or "time-out")
            if not self._over.is_set():
                await self.give_up()

    async def abort_prompt(self, named: str) -> None:
        """Abort a prompt; where Kimi Code says that it is over and a turn of the run goes on all
        the same, the turn. Never a turn that is not this run's."""
        if not self._request.prompt:
            await self._abort_turn()  # nobody asked for this turn: it has no prompt
            return
        path = f"/prompts/{named}:abort"
        try:
            await self._place.link.api.on_session(self._place.session_id, "POST", path, {})
        except KimiRefused as refused:
            if refused.kimi_code not in (NO_PROMPT, COMPLETED):
                raise
            if await self.is_queued():
                await self._abort_turn()

    async def abort_begun(self, named: str) -> None:
        """Abort the turn that a steered message has begun, once. Returns when that was asked for:
        the next run of the session must not be hit by it."""
        if named in self._aborted:
            return
        self._aborted.add(named)
        with suppress(ProviderError):
            await self._abort_turn()

    async def _abort_turn(self) -> None:
        """Abort the turn that goes on in the session: the run's, as long as it is not over."""
        if not self._over.is_set():
            await self._place.link.api.on_session(self._place.session_id, "POST", ":abort", {})

    async def give_up(self) -> None:
        """End the server when nobody else works in it, else stop listening to the run. Once: a
        second call must not cut the first one short."""
        if self._given_up:
            return
        self._given_up = True
        with suppress(ProviderError, TimeoutError):
            async with asyncio.timeout(_LAST_CALL_S):
                await self.abort_prompt(prompt_id(self._request.run_id))
        if not await self._on_stuck():
            self._place.feed.fail(ProviderTimeout("Kimi Code did not stop this run."))

    async def is_queued(self) -> bool:
        """Whether a message of the run still waits in Kimi Code."""
        with suppress(ProviderError):
            data = await self._place.link.api.on_session(self._place.session_id, "GET", "/prompts")
            known = [object_of(data, "active"), *objects_of(data, "queued")]
            own = prompt_id(self._request.run_id)
            return any(text_of(item, "prompt_id").startswith(own) for item in known)
        return False


async def take_back(place: Place, run_id: str) -> None:
    """Abort a run's prompt, of which it is not known whether it arrived."""
    path = f"/prompts/{prompt_id(run_id)}:abort"
    with suppress(ProviderError):
        await place.link.api.on_session(place.session_id, "POST", path, {})
