"""One run of a native agent: frames in, steps out, answers and cancel on their way back."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable

from ...errors import ProviderError, SessionRejected
from ...process.tasks import TaskOwner
from ...protocol.events import Complete
from ...protocol.native import OpAnswer, OpCancel, OpSteer
from ...protocol.resources import AskAnswer, Attachment, RunRequest
from ...protocol.words import Permission
from ..base import Step
from .child import NativeChild
from .launch import NativeAgent
from .translate import Translator

_log = logging.getLogger(__name__)


class NativeRun:
    """Implements `base.AgentRun`. Made by the adapter once the prompt is on its way.

    `on_end` is called once, when the run has ended by the agent's own word and the process may
    take another one.
    """

    def __init__(
        self,
        agent: NativeAgent,
        child: NativeChild,
        request: RunRequest,
        tasks: TaskOwner,
        on_end: Callable[[], None],
    ) -> None:
        self._agent = agent
        self._child = child
        self._request = request
        self._tasks = tasks
        self._on_end = on_end
        self._translator = Translator(agent.id, agent.name)
        self._cancelling = False
        self._over = asyncio.Event()
        self._ending: asyncio.Task[None] | None = None

    async def steps(self) -> AsyncIterator[Step]:
        """See `AgentRun.steps`."""
        translator = self._translator
        try:
            async with contextlib.aclosing(self._child.frames()) as frames:
                async for frame in frames:
                    bodies = translator.feed(frame)
                    if translator.complete:
                        self._reject_unless_resumed()
                        self._over.set()
                        self._on_end()
                    yield Step(bodies, frame.end)
                    if translator.complete:
                        return
            yield await self._end_of_output()
        finally:
            self._over.set()

    async def answer(self, ask_id: str, answer: AskAnswer) -> None:
        """See `AgentRun.answer`."""
        await self._child.send(OpAnswer(ask_id=ask_id, **answer.model_dump()))

    async def cancel(self, *, force: bool = False) -> None:
        """See `AgentRun.cancel`. Asks nicely first; the ladder begins `cancel_s` later."""
        if self._over.is_set():
            return
        self._cancelling = True
        self._translator.cancelling()
        if force:
            self._ending = self._tasks.spawn(self._child.stop(), name="stop by force")
        elif self._ending is None:
            self._ending = self._tasks.spawn(self._cancel(), name="cancel")

    @property
    def can_steer(self) -> bool:
        """See `AgentRun.can_steer`."""
        over = self._over.is_set() or self._cancelling
        return self._child.hello.features.steer and not over

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """See `AgentRun.steer`."""
        if not self.can_steer:
            return False
        await self._child.send(OpSteer(text=text, attachments=attachments))
        return True

    async def set_permission(self, permission: Permission) -> bool:
        """See `AgentRun.set_permission`: the native protocol has no word for it."""
        return False

    async def _cancel(self) -> None:
        try:
            await self._child.send(OpCancel(), timeout_s=self._agent.cancel_s)
            async with asyncio.timeout(self._agent.cancel_s):
                await self._over.wait()
        except ProviderError as error:
            _log.debug("run=%s: cancel was not taken: %s", self._request.run_id, error)
        except TimeoutError:
            _log.info("run=%s did not heed cancel: ending it", self._request.run_id)
        if not self._over.is_set():
            await self._child.stop()

    def _reject_unless_resumed(self) -> None:
        """Raise SessionRejected when the run ended with nothing but a refused resume."""
        refused = self._translator.refused
        if refused is None or self._cancelling:
            return
        self._on_end()
        raise SessionRejected(
            f"{self._agent.name} does not know this conversation any more.",
            provider_session_id=refused.provider_session_id,
            reason=refused.reason,
        )

    async def _end_of_output(self) -> Step:
        """The last step of a process that ended in a run. Raises ProcessExited when unasked."""
        failure = await self._child.handle.failure()
        # it may live on without an output: the run is not over before it is gone
        await self._child.stop()
        if self._cancelling:
            return Step((Complete(outcome="cancelled"),))
        translator = self._translator
        if translator.end(failure.exit_code, failure.signal, failure.stderr_tail):
            assert translator.held is not None  # noqa: S101 - `end` has said so
            return Step((translator.held, Complete(outcome="failed")))
        raise failure
