"""One run: a prompt until its answer, with the person's answers and Stop in between."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Final

from ...errors import AgentChatError, AlreadyResolved, ProcessExited, ProviderError
from ...process.ladder import Ladder
from ...protocol.events import Ask, AskResolved, Complete, EventBody, Notice, Session
from ...protocol.resources import AskAnswer, Attachment
from ...protocol.tools import EditInput, WriteInput
from ...protocol.words import Permission
from ...workspace.paths import resolve_inside
from ..base import Step
from .inbox import Inbox, Lost, Received
from .permissions import CANCELLED, answer_ask, decide, selected
from .session import AcpSession
from .translate import OpenAsk, Translator, Turn

FORCED: Final = Ladder(eof_s=0.5, term_s=2.0, kill_s=2.0)
_log = logging.getLogger(__name__)


class AcpRun:
    """Implements `base.AgentRun` over a session whose prompt was written, by us or before us.

    `on_end` is called once, when the consumer is done with the session.
    """

    def __init__(
        self,
        session: AcpSession,
        inbox: Inbox,
        turn: Turn,
        *,
        permission: Permission,
        on_end: Callable[[AcpSession], None],
        replaying: bool = False,
    ) -> None:
        self._session = session
        self._inbox = inbox
        self._cwd = turn.cwd
        self._translator = Translator(turn)
        self._translator.replaying = replaying
        self._permission = permission
        self._on_end = on_end
        self._cancelled = False
        self._said_automatic = False

    def caught_up(self) -> None:
        """What comes from now on was not written for an earlier server."""
        self._translator.replaying = False
        self._session.files.replaying = False

    async def steps(self) -> AsyncIterator[Step]:
        """See `base.AgentRun.steps`."""
        silent = False
        try:
            if self._session.left_out:
                yield Step((_left_out(self._session),))
            while not self._translator.finished:
                try:
                    item = await self._inbox.get(self._session.agent.silence_s)
                except TimeoutError:
                    # a turn that waits for a person is not silent; a tool that never asks is
                    if not (silent or self._translator.asks):
                        yield Step((self._silence(),))
                    silent = True
                    continue
                silent = False
                if item is None:
                    yield await self._ended()
                    return
                if isinstance(item, Lost):
                    yield Step((_lost(item),), item.offset)
                elif bodies := self._read(item):
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
            # the agent leaves its planning mode by itself; what it wrote down of ours is old
            self._session.files.writable = True
            self._session.applied = None
        if answer.decision == "deny" and opened.ask.kind == "permission":
            self._translator.denied(opened)
        self._session.answer(opened.request_id, answer_ask(opened, answer))

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`: the agent's own cancel, then the ladder."""
        self._cancelled = self._translator.stopped = True
        for opened in self._translator.asks.values():
            self._session.answer(opened.request_id, CANCELLED)
        if not force and await self._interrupt():
            return
        if not self._inbox.over.is_set():
            await self._session.stop(FORCED if force else None)

    @property
    def can_steer(self) -> bool:
        """See `base.AgentRun.can_steer`: a second prompt cancels the first with some agents, and
        is refused or waits with others."""
        return False

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `base.AgentRun.steer`: never."""
        return False

    async def set_permission(self, permission: Permission) -> bool:
        """See `base.AgentRun.set_permission`."""
        try:
            held = await self._session.set_mode(permission)
        except ProviderError as error:
            _log.info("the permission holds from the next run: %s", error)
            return False
        if held:
            self._permission = permission
            if self._session.applied is not None:
                applied = replace(self._session.applied, permission=permission)
                self._session.applied = applied
        return held

    async def _interrupt(self) -> bool:
        """Ask the agent to stop; whether the turn has ended."""
        try:
            async with asyncio.timeout(self._session.agent.cancel_s):
                if not self._inbox.over.is_set():
                    await self._session.cancel()
                await self._inbox.over.wait()
        except (ProviderError, TimeoutError) as error:
            _log.info("cancel: %s", error)
        return self._inbox.over.is_set()

    def _read(self, item: Received) -> tuple[EventBody, ...]:
        bodies: list[EventBody] = []
        for body in self._translator.read(item.message):
            if isinstance(body, Ask):
                bodies += self._asked(body)
                continue
            if isinstance(body, AskResolved):
                self._session.answer(_request_of(item), CANCELLED)
            if isinstance(body, Session) and not self._session.session_id:
                self._session.session_id = body.provider_session_id
            bodies.append(body)
        return tuple(bodies)

    def _asked(self, ask: Ask) -> list[EventBody]:
        opened = self._translator.asks[ask.ask_id]
        if self._cancelled:
            self._session.answer(opened.request_id, CANCELLED)
            return []
        inside = self._is_inside(opened)
        own_mode = self._session.own_mode
        decision = decide(opened, self._permission, own_mode=own_mode, inside=inside)
        if decision == "ask":
            return [ask]
        del self._translator.asks[ask.ask_id]
        if decision == "deny":
            self._translator.denied(opened)
        option = opened.allow if decision == "allow" else opened.decline
        self._session.answer(opened.request_id, selected(option))
        if decision == "deny" or self._said_automatic:
            return []
        self._said_automatic = True
        name = self._session.agent.name
        text = f"{name} asks for each of these calls: agentchat allows them itself."
        return [Notice(level="info", code="allowed_automatically", text=text)]

    def _is_inside(self, opened: OpenAsk) -> bool:
        typed = opened.call.input
        if not isinstance(typed, EditInput | WriteInput):
            return False
        if PurePosixPath(typed.path).is_absolute() or ".." in PurePosixPath(typed.path).parts:
            return False
        try:
            resolve_inside(Path(self._cwd), typed.path)
        except AgentChatError:
            return False
        return True

    async def _ended(self) -> Step:
        """The process ended before the turn did. Raises why, unless a person has stopped it."""
        # it may live on without an output: the run is not over before it is gone
        await self._session.stop(FORCED)
        if self._cancelled:
            return Step((Complete(outcome="cancelled"),))
        failure = self._session.failure or await self._session.handle.failure()
        if isinstance(failure, ProcessExited) and not self._inbox.told:
            raise _explained(failure, self._session.agent.name)
        raise failure

    def _silence(self) -> Notice:
        agent = self._session.agent
        text = (
            f"{agent.name} has said nothing for {agent.silence_s:.0f} s. It may be at work, or "
            "wait for an answer that it never asked for: stop the run if nothing happens."
        )
        return Notice(level="warning", code="agent_silent", text=text)


def _request_of(item: Received) -> str:
    params = item.message.get("params")
    value = params.get("requestId") if isinstance(params, dict) else None
    return str(value) if isinstance(value, int | str) else ""


def _explained(failure: ProcessExited, name: str) -> ProcessExited:
    tail = failure.stderr_tail.strip()
    if not tail:
        return failure
    return ProcessExited(
        f"{name} ended before it answered: {tail.splitlines()[-1][:300]}",
        exit_code=failure.exit_code,
        signal=failure.signal,
        stderr_tail=failure.stderr_tail,
        hint="Start it once in a terminal in this folder to see what is wrong.",
    )


def _left_out(session: AcpSession) -> Notice:
    names = ", ".join(session.left_out)
    text = f"{session.agent.name} cannot use these MCP servers: {names}."
    return Notice(level="warning", code="mcp_left_out", text=text)


def _lost(item: Lost) -> Notice:
    text = f"A message of {item.size} bytes was too long and was left out."
    return Notice(level="warning", code="line_too_long", text=text)
