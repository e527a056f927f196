"""One run: a prompt until its result, with the person's answers and Stop in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Final

from pydantic import JsonValue

from ...errors import (
    AlreadyResolved,
    ProcessExited,
    ProviderError,
    SessionRejected,
    Unsupported,
)
from ...protocol.events import Complete, EventBody, Notice
from ...protocol.resources import AskAnswer, Attachment
from ...protocol.words import Mode, Permission
from ..base import Step
from .inbox import Inbox, Learned, Lost, Received
from .launch import cli_mode
from .memory import ChatMemory
from .prompts import content_of, message_line
from .reading import text_before
from .replies import answer_ask, response, settle
from .session import FORCED, LADDER, ClaudeSession
from .tellings import explained, lost_line, told_before
from .translate import Translator, Turn, kind_of
from .unhosted import LeftBehind
from .wire import Json, object_of, text_of, texts_of, true_at

INTERRUPT_TIMEOUT_S: Final = 10.0

_APPROVED: Final[dict[str, Permission]] = {"default": "ask", "acceptEdits": "accept_edits"}
_REFUSAL: Final = "No conversation found"
_log = logging.getLogger(__name__)

Reopen = Callable[[], Awaitable[tuple[ClaudeSession, Inbox]]]


class ClaudeRun:
    """Implements `base.AgentRun` over a session whose prompt has been sent, by us or before us.

    `reopen` starts the conversation anew under the same id and sends the prompt again; it is there
    only when no turn of the conversation was ever completed. `on_end` is called once, when the
    consumer is done with the session: with what the run told of the models' contexts.
    """

    def __init__(
        self,
        session: ClaudeSession,
        inbox: Inbox,
        turn: Turn,
        *,
        mode: Mode,
        permission: Permission,
        memory: ChatMemory,
        on_end: Callable[[ClaudeSession, Mapping[str, int]], None],
        reopen: Reopen | None = None,
    ) -> None:
        self._session = session
        self._inbox = inbox
        self._turn = turn
        self._translator = Translator(turn)
        self._memory = memory
        self._mode = mode
        self._permission = permission
        self._on_end = on_end
        self._reopen = reopen
        self._refusal = ""
        self._cancelled = False
        self._said_automatic = False
        self._plan_asked = False
        self._inherited = inbox.replaying

    async def steps(self) -> AsyncIterator[Step]:
        """See `base.AgentRun.steps`."""
        try:
            left, self._session.left_behind = self._session.left_behind, LeftBehind()
            for bodies in told_before(left, self._translator):
                yield Step(bodies)
            while not self._translator.finished:
                item = await self._inbox.get()
                if item is None:
                    if self._cancelled:
                        yield Step((Complete(outcome="cancelled"),))
                        return
                    await self._ended()
                    continue
                if isinstance(item, Lost):
                    yield Step((lost_line(item),), item.offset)
                    continue
                if isinstance(item, Learned):
                    if told := self._translator.meters.plan(item.usage):
                        yield Step(tuple(told))
                    continue
                if text_of(item.message, "type") == "result":
                    await self._look_ahead()
                if bodies := await self._read(item):
                    yield Step(bodies, item.offset)
        finally:
            self._memory.checklist = self._translator.checklist.lines
            self._session.detach(self._inbox)
            self._on_end(self._session, self._translator.meters.windows)

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `base.AgentRun.answer`. Raises AlreadyResolved for an ask that is not open."""
        opened = self._translator.asks.pop(ask_id, None)
        if opened is None:
            raise AlreadyResolved("This question is not open any more.", ask_id=ask_id)
        chosen = next((o for o in opened.ask.options if o.id == answer.option_id), None)
        if answer.decision == "allow" and chosen is not None and chosen.leads_to is not None:
            self._permission = chosen.leads_to
        if answer.decision == "allow" and chosen is not None and chosen.scope == "chat":
            self._memory.allow(opened.rules, self._session.rules)
        await self._session.send(response(opened.request_id, answer_ask(opened, answer)))

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`: interrupt 10 s, end of input 5 s, TERM 5 s, KILL."""
        self._cancelled = self._translator.stopping = True
        if not force and await self._interrupt():
            return
        if not self._inbox.over.is_set():
            await self._session.stop(FORCED if force else LADDER)

    @property
    def can_steer(self) -> bool:
        """See `base.AgentRun.can_steer`: while the CLI says what becomes of our messages."""
        return self._inbox.commands.told and not (self._cancelled or self._inbox.over.is_set())

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `base.AgentRun.steer`.

        The CLI takes the message up between two calls of the model, else it does it right after:
        the run lasts until it is done, and Stop takes it back while it waits. The effective text
        is sent, with the images among the `attachments`.
        """
        content: JsonValue = text
        if attachments:
            content = await asyncio.to_thread(content_of, text, attachments)
        if not self.can_steer:
            return False
        steered = self._inbox.commands.next_steer(skip=self._inherited)
        self._inherited = False
        self._translator.commands.expect(steered)
        # once it is on its way, only the CLI's word on it can end the run
        await self._session.send(message_line(steered, content))
        return True

    async def set_permission(self, permission: Permission) -> bool:
        """See `base.AgentRun.set_permission`.

        False for `read_only`, which takes tools away, and for `full` and back: those need another
        process.
        """
        fixed = self._session.fixed
        if fixed.read_only or fixed.bypass or permission in ("read_only", "full"):
            return False
        mode = cli_mode(self._mode, permission, may_bypass=False)
        try:
            await self._session.set_mode(mode)
        except (ProviderError, Unsupported) as error:
            _log.info("the permission holds from the next run: %s", error)
            return False
        self._permission = permission
        return True

    async def _interrupt(self) -> bool:
        """Ask the CLI to stop; whether the turn has ended."""
        try:
            async with asyncio.timeout(INTERRUPT_TIMEOUT_S):
                if not self._inbox.over.is_set():
                    # without it, what is queued would start the next turn
                    await self._session.control.request("interrupt", cancel_queued=True)
                await self._inbox.over.wait()
        except (ProviderError, Unsupported, TimeoutError) as error:
            _log.info("interrupt: %s", error)
        return self._inbox.over.is_set()

    async def _look_ahead(self) -> None:
        """Of an earlier server's output, know what was steered in before a result is judged."""
        await self._inbox.current()
        for steered in self._inbox.commands.steered:
            self._translator.commands.expect(steered)

    async def _read(self, item: Received) -> tuple[EventBody, ...]:
        message = item.message
        if self._is_refusal(message):
            self._refusal = "; ".join(texts_of(message, "errors"))
            return ()
        if text_of(message, "type") == "control_request":
            request = object_of(message, "request")
            self._plan_asked |= kind_of(text_of(request, "tool_name")) == "plan"
            rules, told = self._translator.rules_of(request), self._session.rules
            payload = settle(request, self._permission, rules, self._memory, told)
            if payload is not None:
                return await self._answer_itself(text_of(message, "request_id"), payload)
            before = await asyncio.to_thread(text_before, request, self._turn.cwd)
            return self._translator.read(message, before)
        elif self._plan_asked and text_of(message, "subtype") == "status":
            # an approved plan; an earlier server may have passed the approval on
            mode = text_of(message, "permissionMode")
            self._permission = _APPROVED.get(mode, self._permission)
        return self._translator.read(message)

    async def _answer_itself(self, request_id: str, payload: Json) -> tuple[EventBody, ...]:
        with suppress(ProviderError):  # its end comes through the inbox
            await self._session.send(response(request_id, payload))
        if self._permission != "full" or self._said_automatic or self._session.bypasses:
            return ()
        self._said_automatic = True
        text = "Claude Code does not skip its own permission requests here: agentchat allows each."
        return (Notice(level="info", code="allowed_automatically", text=text),)

    def _is_refusal(self, message: Json) -> bool:
        """Whether the CLI would not open the conversation: a result before anything else."""
        return (
            text_of(message, "type") == "result"
            and true_at(message, "is_error")
            and self._session.start.kind != "new"
            and not (self._translator.began or self._turn.unasked)
            and not texts_of(message, "user_message_uuids")
        )

    async def _ended(self) -> None:
        """The process ended before the turn: open the conversation anew, or raise why."""
        failure = self._session.failure or await self._session.handle.failure()
        tail = failure.stderr_tail if isinstance(failure, ProcessExited) else ""
        said = self._refusal or (tail if _REFUSAL in tail and not self._translator.began else "")
        if not said or self._session.start.kind == "new":
            raise explained(failure, began=self._translator.began)
        if self._reopen is None:
            raise SessionRejected(
                "Claude Code does not know this conversation any more.",
                provider_session_id=self._session.start.origin or self._session.start.session_id,
                reason=said.strip().splitlines()[0],
            )
        reopen, self._reopen, self._refusal = self._reopen, None, ""
        self._session, self._inbox = await reopen()
