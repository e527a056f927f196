"""One run: a prompt until its turn is completed, with the person's answers and Stop in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

from ...errors import AlreadyResolved, ProviderError
from ...process.jsonrpc import RpcError
from ...protocol.events import Complete, EventBody
from ...protocol.resources import AskAnswer, Attachment
from ...protocol.words import PERMISSIONS, Permission
from ..base import Step
from .inbox import Inbox
from .link import CodexLink, step_id
from .prompts import images
from .received import Received
from .replies import accepted, answer_ask, decide, refusal
from .translate import ASKING, PLAN, OpenAsk, Translator
from .wire import Json, objects_of, text_of

INTERRUPT_TIMEOUT_S: Final = 10.0
FORCED_TIMEOUT_S: Final = 2.0
AGAIN_S: Final = 0.1
MISSING_END_S: Final = 2.0
"""So long after the thread became idle the end of its turn is looked up."""

_log = logging.getLogger(__name__)


class CodexRun:
    """Implements `base.AgentRun` over an inbox whose prompt was sent, by us or before us.

    `go_ahead` begins the second turn, once a plan was approved that leads to this permission.
    `on_end` is called once, when the consumer is done. `kill` ends the process, and with it every
    chat's run in it: only for one that does not heed an interrupt.
    """

    def __init__(
        self,
        link: CodexLink,
        inbox: Inbox,
        translator: Translator,
        permission: Permission,
        *,
        can_steer: bool,
        go_ahead: Callable[[Permission], Awaitable[None]],
        on_end: Callable[[], None],
        kill: Callable[[], Awaitable[None]],
    ) -> None:
        self._link = link
        self._inbox = inbox
        self._translator = translator
        self._began_with = permission
        self._permission = permission
        self._steerable = can_steer
        self._go_ahead = go_ahead
        self._on_end = on_end
        self._kill = kill
        self._cancelled = False
        self._steered = 0

    async def steps(self) -> AsyncIterator[Step]:
        """See `base.AgentRun.steps`."""
        try:
            while not self._translator.finished:
                item = await self._next()
                if item is None:
                    yield await self._ended()
                    return
                if bodies := self._read(item):
                    yield Step(bodies, item.end)
        finally:
            self._on_end()

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `base.AgentRun.answer`. Raises AlreadyResolved for an ask that is not open."""
        opened = self._translator.asks.pop(ask_id, None)
        if opened is None:
            raise AlreadyResolved("This question is not open any more.", ask_id=ask_id)
        if opened.method == PLAN:
            await self._decide(opened, answer)
            return
        self._inbox.give(opened.request_id, answer_ask(opened, answer))

    async def _decide(self, opened: OpenAsk, answer: AskAnswer) -> None:
        """What becomes of a plan: a second turn that does it, or the end of the run."""
        chosen = next((o for o in opened.ask.options if o.id == answer.option_id), None)
        if answer.decision != "allow":
            kept = Received("own", "plan/kept", {}, self._link.handle.position)
            self._inbox.put(kept)
            return
        permission: Permission = (chosen.leads_to if chosen else None) or "ask"
        self._permission = self._began_with = permission
        try:
            await self._go_ahead(permission)
        except ProviderError as error:
            self._inbox.fail(error)

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`: interrupt, and after 10 s (2 by force) the process ends."""
        self._cancelled = True
        timeout_s = FORCED_TIMEOUT_S if force else INTERRUPT_TIMEOUT_S
        if not await self._interrupt(timeout_s):
            _log.warning("run=%s does not heed Stop: ending Codex", self._inbox.run_id)
            await self._kill()
            self._inbox.close()

    @property
    def can_steer(self) -> bool:
        """See `base.AgentRun.can_steer`."""
        facts = self._inbox.facts
        over = self._cancelled or self._inbox.over.is_set() or facts.undecided
        return self._steerable and facts.sent and not over

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `base.AgentRun.steer`. Codex drops the message that it is writing and asks again."""
        if not self.can_steer:
            return False
        facts = self._inbox.facts
        self._steered += 1
        step = f"steer-{self._steered}"
        params: Json = {
            "threadId": facts.thread_id,
            # without it a message that comes too late would begin a turn of its own
            "expectedTurnId": facts.turn_id,
            "input": [{"type": "text", "text": text}, *images(attachments)],
            "clientUserMessageId": step_id(self._inbox.run_id, step),
        }
        try:
            await self._link.request("turn/steer", params)
        except RpcError as error:
            _log.info("run=%s was not steered: %s", self._inbox.run_id, error)
            return False
        return True

    async def set_permission(self, permission: Permission) -> bool:
        """See `base.AgentRun.set_permission`.

        A turn keeps its sandbox and its policy. What it asks for can be answered otherwise: that is
        enough to raise any, and to lower one that asks before every change.
        """
        raised = PERMISSIONS.index(permission) >= PERMISSIONS.index(self._began_with)
        if self._began_with != "ask" and not raised:
            return False
        self._permission = permission
        return True

    async def _next(self) -> Received | None:
        """The next message; when the end of the turn is missing, one that says it."""
        while True:
            facts = self._translator.facts
            timeout_s = MISSING_END_S if facts.idle and not facts.undecided else None
            try:
                async with asyncio.timeout(timeout_s):
                    return await self._inbox.get()
            except TimeoutError:
                if (found := await self._look_up_end()) is not None:
                    return found

    async def _look_up_end(self) -> Received | None:
        facts = self._translator.facts
        params: Json = {"threadId": facts.thread_id, "limit": 5, "sortDirection": "desc"}
        try:
            answer = await self._link.request("thread/turns/list", params)
        except ProviderError as error:
            _log.info("run=%s: %s", self._inbox.run_id, error)
            return None
        for turn in objects_of(answer, "data"):
            if text_of(turn, "id") == facts.turn_id and text_of(turn, "status") != "inProgress":
                _log.info("run=%s: Codex did not tell its end", self._inbox.run_id)
                said: Json = {"threadId": facts.thread_id, "turn": turn}
                return Received("notification", "turn/completed", said, self._link.handle.position)
        return None

    def _read(self, item: Received) -> tuple[EventBody, ...]:
        request_id = item.request_id
        if item.kind == "request" and item.method in ASKING and request_id is not None:
            inside = self._translator.contains(item.params)
            match decide(item.method, item.params, self._permission, inside=inside):
                case "allow":
                    self._inbox.give(request_id, accepted(item.method, item.params))
                    return ()
                case "deny":
                    self._inbox.give(request_id, refusal(item.method, item.params))
                    return ()
        return self._translator.read(item)

    async def _interrupt(self, timeout_s: float) -> bool:
        """Ask Codex to stop; whether the turn has ended."""
        inbox = self._inbox
        try:
            async with asyncio.timeout(timeout_s):
                await inbox.taken.wait()
                while not inbox.over.is_set():
                    if not await self._asked_to_stop():
                        # just begun, it is not known to Codex yet; ended, its end may be missing
                        if await self._look_up_end() is not None:
                            inbox.close()
                        with suppress(TimeoutError):
                            await asyncio.wait_for(inbox.over.wait(), AGAIN_S)
                        continue
                    await inbox.over.wait()
        except (ProviderError, TimeoutError) as error:
            _log.info("run=%s: interrupt: %s", inbox.run_id, error or "time-out")
        return inbox.over.is_set()

    async def _asked_to_stop(self) -> bool:
        """Whether Codex has a turn that it will stop. Raises ProviderError but for a refusal."""
        facts = self._inbox.facts
        params: Json = {"threadId": facts.thread_id, "turnId": facts.turn_id}
        try:
            await self._link.request("turn/interrupt", params)
        except RpcError as error:
            _log.info("run=%s: interrupt: %s", self._inbox.run_id, error)
            return False
        return True

    async def _ended(self) -> Step:
        """The last step of a run whose turn did not come to its end. Raises when unasked."""
        if self._cancelled:
            return Step((Complete(outcome="cancelled"),))
        if self._inbox.failure is not None:
            raise self._inbox.failure
        raise await self._link.handle.failure()
