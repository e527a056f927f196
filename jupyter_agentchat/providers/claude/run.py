"""One run: a prompt until its result, with the person's answers and Stop in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Final

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
from .inbox import Inbox, Lost, Received
from .launch import cli_mode
from .prompts import message_line
from .replies import READ_ONLY, allow, answer_ask, decide, deny, response
from .session import FORCED, LADDER, ClaudeSession
from .translate import Translator, Turn, kind_of
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
    consumer is done with the session.
    """

    def __init__(
        self,
        session: ClaudeSession,
        inbox: Inbox,
        turn: Turn,
        *,
        mode: Mode,
        permission: Permission,
        on_end: Callable[[ClaudeSession], None],
        reopen: Reopen | None = None,
    ) -> None:
        self._session = session
        self._inbox = inbox
        self._translator = Translator(turn)
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
            while not self._translator.finished:
                item = await self._inbox.get()
                if item is None:
                    if self._cancelled:
                        yield Step((Complete(outcome="cancelled"),))
                        return
                    await self._ended()
                    continue
                if isinstance(item, Lost):
                    yield Step((_lost(item),), item.offset)
                    continue
                if text_of(item.message, "type") == "result":
                    await self._look_ahead()
                if bodies := await self._read(item):
                    yield Step(bodies, item.offset)
        finally:
            self._session.detach(self._inbox)
            self._on_end(self._session)

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `base.AgentRun.answer`. Raises AlreadyResolved for an ask that is not open."""
        opened = self._translator.asks.pop(ask_id, None)
        if opened is None:
            raise AlreadyResolved("This question is not open any more.", ask_id=ask_id)
        chosen = next((o for o in opened.ask.options if o.id == answer.option_id), None)
        if answer.decision == "allow" and chosen is not None and chosen.leads_to is not None:
            self._permission = chosen.leads_to
        await self._session.send(response(opened.request_id, answer_ask(opened, answer)))

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`: interrupt 10 s, end of input 5 s, TERM 5 s, KILL."""
        self._cancelled = True
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
        is sent; `attachments` are named in it.
        """
        if not self.can_steer:
            return False
        steered = self._inbox.commands.next_steer(skip=self._inherited)
        self._inherited = False
        self._translator.commands.expect(steered)
        # once it is on its way, only the CLI's word on it can end the run
        await self._session.send(message_line(steered, text))
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
            decision = decide(request, self._permission)
            if decision != "ask":
                return await self._answer_itself(text_of(message, "request_id"), request, decision)
        elif self._plan_asked and text_of(message, "subtype") == "status":
            # an approved plan; an earlier server may have passed the approval on
            mode = text_of(message, "permissionMode")
            self._permission = _APPROVED.get(mode, self._permission)
        return self._translator.read(message)

    async def _answer_itself(
        self, request_id: str, request: Json, decision: str
    ) -> tuple[EventBody, ...]:
        payload = allow(request) if decision == "allow" else deny(READ_ONLY)
        with suppress(ProviderError):  # its end comes through the inbox
            await self._session.send(response(request_id, payload))
        if decision != "allow" or self._said_automatic or self._session.bypasses:
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
            and not self._translator.began
            and not texts_of(message, "user_message_uuids")
        )

    async def _ended(self) -> None:
        """The process ended before the turn: open the conversation anew, or raise why."""
        failure = self._session.failure or await self._session.handle.failure()
        tail = failure.stderr_tail if isinstance(failure, ProcessExited) else ""
        said = self._refusal or (tail if _REFUSAL in tail and not self._translator.began else "")
        if not said or self._session.start.kind == "new":
            raise _explained(failure, began=self._translator.began)
        if self._reopen is None:
            raise SessionRejected(
                "Claude Code does not know this conversation any more.",
                provider_session_id=self._session.start.origin or self._session.start.session_id,
                reason=said.strip().splitlines()[0],
            )
        reopen, self._reopen, self._refusal = self._reopen, None, ""
        self._session, self._inbox = await reopen()


def _explained(failure: ProviderError, *, began: bool) -> ProviderError:
    if not isinstance(failure, ProcessExited) or began or not failure.stderr_tail.strip():
        return failure
    return ProcessExited(
        f"Claude Code did not start: {failure.stderr_tail.strip().splitlines()[-1]}",
        exit_code=failure.exit_code,
        signal=failure.signal,
        stderr_tail=failure.stderr_tail,
        hint="Run `claude` once in a terminal in this folder to see what is wrong.",
    )


def _lost(item: Lost) -> Notice:
    text = f"A message of {item.size} bytes was too long and was left out."
    return Notice(level="warning", code="line_too_long", text=text)
