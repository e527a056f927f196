"""One turn: a process from the prompt to its result."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from typing import Final

from ...errors import AlreadyResolved, ProcessExited, ProviderTimeout, SessionRejected
from ...process.framing import Frame, Line, Oversize
from ...process.ladder import Ladder
from ...process.launcher import Handle
from ...protocol.events import Complete, Notice
from ...protocol.resources import AskAnswer, Attachment, RunRequest
from ...protocol.words import Permission
from ..base import Step
from .launch import NAME
from .translate import Translator

INTERRUPT_S: Final = 5.0
LADDER: Final = Ladder(eof_s=0.5, term_s=3.0, kill_s=2.0)
FORCED: Final = Ladder(eof_s=0.0, term_s=1.0, kill_s=2.0)
_REFUSALS: Final = ("conversation not found", "unknown conversation", "no such conversation")
_log = logging.getLogger(__name__)


class AntigravityRun:
    """Implements `base.AgentRun`. The process is of this run alone and ends with it.

    `silence_s`: a turn in which nothing is written for so long has hung, and is ended.
    """

    def __init__(
        self,
        handle: Handle,
        request: RunRequest,
        *,
        silence_s: float,
        on_end: Callable[[Handle], None],
    ) -> None:
        self._handle = handle
        self._silence_s = silence_s
        self._session_id = request.provider_session_id
        self._translator = Translator(request.run_id, request.cwd, request.provider_session_id)
        self._on_end = on_end
        self._over = asyncio.Event()
        self._cancelled = False

    async def steps(self) -> AsyncIterator[Step]:
        """See `base.AgentRun.steps`."""
        translator = self._translator
        gone = False
        try:
            async with aclosing(self._handle.lines()) as frames:
                while (frame := await self._next(frames)) is not None:
                    if isinstance(frame, Oversize):
                        yield Step((_lost(frame),), frame.end)
                        continue
                    bodies = translator.feed(frame.text) if isinstance(frame, Line) else ()
                    await self._reject_other()
                    if translator.finished:
                        # the answer is whole; what the program still tidies up is its own
                        self._over.set()
                    if bodies:
                        yield Step(bodies, frame.end)
                    if translator.finished:
                        gone = True
                        await self._handle.stop(LADDER)
                        return
            gone = True
            yield await self._ended()
        finally:
            self._over.set()
            if gone or self._handle.exit is not None:
                self._on_end(self._handle)

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `base.AgentRun.answer`: it never asks."""
        raise AlreadyResolved("This question is not open any more.", ask_id=ask_id)

    async def cancel(self, *, force: bool = False) -> None:
        """See `base.AgentRun.cancel`: interrupt 5 s, then the ladder."""
        self._cancelled = self._translator.stopped = True
        if not force and not self._over.is_set():
            self._handle.signal(signal.SIGINT)
            try:
                async with asyncio.timeout(INTERRUPT_S):
                    await self._over.wait()
            except TimeoutError:
                _log.info("child=%s does not heed an interrupt", self._handle.child_id)
        if not self._over.is_set():
            await self._handle.stop(FORCED if force else LADDER)

    @property
    def can_steer(self) -> bool:
        """See `base.AgentRun.can_steer`: its input is at an end once the prompt is in."""
        return False

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `base.AgentRun.steer`: never."""
        return False

    async def set_permission(self, permission: Permission) -> bool:
        """See `base.AgentRun.set_permission`: what it may do is fixed at its start."""
        return False

    async def _next(self, frames: AsyncGenerator[Frame, None]) -> Frame | None:
        try:
            async with asyncio.timeout(self._silence_s):
                return await anext(frames, None)
        except TimeoutError:
            await self._handle.stop(LADDER)
            raise ProviderTimeout(
                f"{NAME} has said nothing for {self._silence_s:.0f} s; it was ended.",
                hint="Send the prompt again.",
                timeout_s=self._silence_s,
            ) from None

    async def _reject_other(self) -> None:
        """Raises SessionRejected once it is clear that it has not opened the old conversation."""
        reason = self._translator.refusal
        if self._translator.other_conversation:
            reason = "It opened another conversation in its place."
        if reason and self._session_id is not None:
            await self._handle.stop(FORCED)
            raise SessionRejected(
                f"{NAME} does not know this conversation any more.",
                provider_session_id=self._session_id,
                reason=reason[:500],
            )

    async def _ended(self) -> Step:
        """Its output ended before a result. Raises why, unless a person has stopped it."""
        failure = await self._handle.failure()
        await self._handle.stop(FORCED)
        if self._cancelled:
            return Step((Complete(outcome="cancelled"),))
        said = failure.stderr_tail.lower()
        if self._session_id is not None and not self._translator.began:
            for words in _REFUSALS:
                if words in said:
                    raise SessionRejected(
                        f"{NAME} does not know this conversation any more.",
                        provider_session_id=self._session_id,
                        reason=failure.stderr_tail.strip().splitlines()[-1][:500],
                    )
        tail = failure.stderr_tail.strip()
        if tail and not self._translator.began:
            raise ProcessExited(
                f"{NAME} did not start: {tail.splitlines()[-1][:300]}",
                exit_code=failure.exit_code,
                signal=failure.signal,
                stderr_tail=failure.stderr_tail,
                hint="Run `agy` once in a terminal in this folder to see what is wrong.",
            )
        raise failure


def _lost(frame: Oversize) -> Notice:
    text = f"A message of {frame.dropped} bytes was too long and was left out."
    return Notice(level="warning", code="line_too_long", text=text)
