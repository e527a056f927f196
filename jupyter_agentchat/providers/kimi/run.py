"""One run: a prompt until nothing of it is left to do, with answers and Stop in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

from ...errors import AlreadyResolved, ProviderError
from ...process.tasks import TaskOwner
from ...protocol.events import Complete, EventBody, Notice, Session
from ...protocol.resources import AskAnswer, Attachment, RunRequest
from ...protocol.words import Permission
from ..base import Step
from .api import KimiRefused
from .fill import pieces
from .gate import Gate
from .launch import kimi_mode
from .prompts import message_parts
from .replies import READ_ONLY, allow, approval, deny, question
from .stopping import Place, Stop
from .translate import Translator
from .wire import PROVIDER, Json, object_of, text_of

STEER_WAIT_S: Final = 2.0
_AFTER_TAKE_OVER: Final = 8
_log = logging.getLogger(__name__)


class KimiRun:
    """Implements `base.AgentRun`. Made by the adapter once the prompt is on its way.

    `rules` is what "Allow for this chat" has remembered; `on_end` is called once; `on_stuck` ends
    the server when nobody else works in it, and says whether it did.
    """

    def __init__(
        self,
        request: RunRequest,
        place: Place,
        translator: Translator,
        tasks: TaskOwner,
        *,
        rules: set[str],
        attached: bool,
        on_end: Callable[[], None],
        on_stuck: Callable[[], Awaitable[bool]],
    ) -> None:
        self._request = request
        self._place = place
        self._translator = translator
        self._tasks = tasks
        self._attached = attached
        self._on_end = on_end
        self._gate = Gate(request.permission, rules, translator.places)
        self._cancelling = False
        self._stopping = False
        self._over = asyncio.Event()
        self._stop = Stop(request, place, self._over, on_stuck)

    async def steps(self) -> AsyncIterator[Step]:
        """See `base.AgentRun.steps`."""
        place = self._place
        try:
            session = Session(
                provider=PROVIDER,
                provider_session_id=place.session_id,
                model=self._request.model,
            )
            yield Step((session,), place.first + 1)
            if self._request.mcp_servers and not self._attached:
                yield Step((_not_handed_over(),))
            lost = False
            while not self._translator.finished:
                if place.feed.lost and not lost:
                    lost = True
                    yield Step((_lost(),))
                item = await self._next()
                if item is None:
                    yield self._cut_off()
                    return
                bodies = item if isinstance(item, tuple) else await self._read(item)
                if isinstance(item, tuple) and self._translator.turns.over:
                    bodies = tuple(self._translator.end())  # the last message was not taken
                if bodies:
                    yield Step(
                        bodies, None if isinstance(item, tuple) else self._translator.position
                    )
        finally:
            if self._translator.planned:
                place.link.settled.pop(place.session_id, None)
            self._over.set()
            self._on_end()

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `base.AgentRun.answer`. Raises AlreadyResolved for an ask that is not open."""
        opened = self._translator.asks.pop(ask_id, None)
        if opened is None:
            raise AlreadyResolved("This question is not open any more.", ask_id=ask_id)
        api, session_id = self._place.link.api, self._place.session_id
        chosen = next((o for o in opened.ask.options if o.id == answer.option_id), None)
        if answer.decision == "allow" and chosen is not None:
            self._gate.allowed(opened, chosen)
        try:
            if opened.kind == "question":
                body = question(opened, answer)
                counted = await api.answer_question(session_id, opened.request_id, body)
            else:
                body = approval(opened, answer)
                counted = await api.answer_approval(session_id, opened.request_id, body)
        except ProviderError:
            self._translator.asks.setdefault(ask_id, opened)
            raise
        if not counted:
            raise AlreadyResolved("Kimi Code has an answer to this already.", ask_id=ask_id)

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`. Others work in the same process: it is ended only when it
        does not heed an abort and nobody else needs it."""
        if self._over.is_set():
            return
        self._cancelling = self._translator.stopping = True
        if force:
            self._tasks.spawn(self._stop.give_up(), name=f"give up {self._request.run_id}")
        elif not self._stopping:
            self._stopping = True
            self._tasks.spawn(self._stop.abort(), name=f"stop {self._request.run_id}")

    @property
    def can_steer(self) -> bool:
        """See `base.AgentRun.can_steer`: while a turn of the run goes on."""
        over = self._cancelling or self._over.is_set() or self._translator.finished
        return self._translator.turns.active and not over

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `base.AgentRun.steer`.

        The message is queued, then moved into the running turn, which takes it up between two calls
        of the model; where the turn ends just before, it is answered in a turn of its own that
        belongs to this run.
        """
        if not self.can_steer:
            return False
        turns, api = self._translator.turns, self._place.link.api
        named = turns.expect(skip=_AFTER_TAKE_OVER if self._attached else 0)
        self._attached = False
        content = await asyncio.to_thread(message_parts, text, attachments)
        body: Json = {"content": content, "prompt_id": named}
        try:
            await api.on_session(self._place.session_id, "POST", "/prompts", body)
        except ProviderError:
            turns.unexpected(named)
            self._place.feed.add(())  # the run may be over by now
            raise
        if self._over.is_set():
            await self._stop.abort_prompt(named)
            return False
        with suppress(KimiRefused):  # it has begun already
            ids: Json = {"prompt_ids": [named]}
            await api.on_session(self._place.session_id, "POST", "/prompts:steer", ids)
        return True

    async def set_permission(self, permission: Permission) -> bool:
        """See `base.AgentRun.set_permission`.

        False for `read_only` and back: that takes tools away, which only a prompt can.
        """
        if "read_only" in (permission, self._gate.permission):
            return False
        config: Json = {"agent_config": {"permission_mode": kimi_mode(permission)}}
        try:
            await self._place.link.api.on_session(
                self._place.session_id, "POST", "/profile", config
            )
        except ProviderError as error:
            _log.info("the permission holds from the next run: %s", error)
            return False
        self._gate.permission = permission
        self._place.link.settled.pop(self._place.session_id, None)
        return True

    async def _next(self) -> Json | tuple[EventBody, ...] | None:
        """The next item; while only steered messages are left, no longer than they may take."""
        feed, turns = self._place.feed, self._translator.turns
        while turns.waiting:
            try:
                async with asyncio.timeout(STEER_WAIT_S):
                    return await feed.get()
            except TimeoutError:
                if not await self._stop.is_queued():
                    turns.give_up_waiting()
                    return ()
        return await feed.get()

    async def _read(self, frame: Json) -> tuple[EventBody, ...]:
        translator = self._translator
        payload = object_of(frame, "payload")
        if text_of(frame, "type") == "event.approval.requested":
            if (decision := self._gate.asked(payload)) != "ask":
                bodies = translator.automatic(frame)
                self._tasks.spawn(self._answer_itself(payload, decision), name="answer")
                return bodies
        elif text_of(frame, "type") == "event.approval.resolved":
            self._gate.resolved(payload)
        bodies = translator.read(frame)
        if translator.gap:
            bodies += await self._close_gap(frame)
        if self._cancelling and translator.turns.active and translator.turns.begun_by_steer:
            # what was steered in and not taken up begins a turn when the first one is stopped
            await self._stop.abort_begun(translator.turns.begun_by_steer)
        return bodies

    async def _close_gap(self, frame: Json) -> tuple[EventBody, ...]:
        """The text that is missing before a piece, the piece included."""
        said = await self._place.link.text_now(self._place.session_id)
        if said is None:
            return ()
        bodies: tuple[EventBody, ...] = ()
        turn, text = said
        seq = frame.get("seq")
        for piece in pieces(turn, seq if isinstance(seq, int) else 0, text):
            bodies += self._translator.read(piece)
        return bodies

    async def _answer_itself(self, payload: Json, decision: str) -> None:
        body = allow() if decision == "allow" else deny(READ_ONLY)
        with suppress(ProviderError):  # its end comes through the feed
            await self._place.link.api.answer_approval(
                self._place.session_id, text_of(payload, "approval_id"), body
            )

    def _cut_off(self) -> Step:
        """The last step of a run whose events ended before it. Raises why, when unasked."""
        if self._cancelling:
            return Step((Complete(outcome="cancelled"),))
        raise self._place.feed.failure or ProviderError("Kimi Code's events ended.")


def _lost() -> Notice:
    text = "Some of what Kimi Code said while nobody listened to it cannot be shown."
    return Notice(level="warning", code="events_lost", text=text)


def _not_handed_over() -> Notice:
    text = "Kimi Code takes MCP servers from its own settings only: none was handed over."
    return Notice(level="info", code="mcp_not_handed_over", text=text)
