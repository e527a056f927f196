"""The agent's part of a run: started or taken over, and its steps pumped into the log.

A refused resume is tried again once, as a new conversation that begins with the transcript, and
said in the thread. A run that was taken over brings its steps from the beginning again: those whose
events are stored are dropped here, by their offset.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace

from ..errors import AgentChatError, ProcessExited, ProviderError, SessionRejected
from ..process.tasks import TaskOwner
from ..protocol.events import ResumeRefused
from ..protocol.resources import RunRequest
from ..providers.base import Adapter, AgentRun, ChildMark, RunContext, Scope, Step
from .answers import Answers
from .coalesce import Batch
from .outcome import Untraceable
from .pump import pump
from .run_log import RunLog
from .stopping import Stopper

log = logging.getLogger(__name__)

ATTACH_DEADLINE_S = 1.5
"""A chat is not stuck for more than 2 s after its server has come up (reliability R2)."""


class Attempt:
    """Gets one run done by its agent, once."""

    def __init__(
        self,
        run_log: RunLog,
        answers: Answers,
        agent: Stopper,
        adapter_for: Callable[[str], Awaitable[Adapter]],
        owner: TaskOwner,
    ) -> None:
        self._log = run_log
        self._answers = answers
        self._agent = agent
        self._adapter_for = adapter_for
        self._owner = owner
        self._batch = Batch()
        self.leaving = False
        """The server goes and the agent stays: it must not be ended."""
        self.attached = False

    async def start(self, stopped: Callable[[], bool]) -> None:
        """Run to the agent's end. `stopped`: a person has said Stop. Raises what ended it."""
        plan = self._log.plan
        request, context = plan.request, plan.context
        adapter = self._agent.adapter = await self._adapter_for(plan.started.provider)
        try:
            await self._begin(adapter, request, context, stopped)
        except SessionRejected as refused:
            hopeless = stopped() or self._log.tracker.has_content
            if hopeless or request.provider_session_id is None or plan.begin is not None:
                raise
            self._log.tracker.begin_anew()
            told = ResumeRefused(
                provider=plan.started.provider,
                provider_session_id=refused.provider_session_id,
                reason=refused.reason,
            )
            self._log.commit([told], None)
            changes = {
                "provider_session_id": None,
                "fork": False,
                "transcript": plan.transcript(),
            }
            anew = request.model_copy(update=changes)
            session_id = str(uuid.uuid4())
            context = replace(context, first_session_id=session_id, never_completed=False)
            await self._begin(adapter, anew, context, stopped)

    async def attach(self, mark: ChildMark, stopped: Callable[[], bool]) -> None:
        """Take the run over from an earlier server, and run it to the agent's end.

        Raises Untraceable when that cannot be done, or when how it ended nobody can tell.
        """
        plan = self._log.plan
        context = replace(plan.context, on_child=self._on_child(plan.request, plan.context))
        try:
            async with asyncio.timeout(ATTACH_DEADLINE_S):
                adapter = await self._adapter_for(plan.started.provider)
                self._agent.adapter = adapter
                run = await adapter.attach(plan.request, context, mark)
        except (AgentChatError, TimeoutError) as error:
            log.info("run=%s cannot be taken over: %s", self._log.run_id, error or "time-out")
            raise Untraceable("The run cannot be taken over.") from error
        self.attached = True
        log.info("run=%s taken over at %d", self._log.run_id, mark.stored)
        try:
            await self._pump(run, self._fresh(run.steps(), mark.stored), stopped)
        except ProcessExited as error:
            if error.exit_code is None and error.signal is None:
                raise Untraceable("How the agent ended is not known.") from error
            raise
        except SessionRejected as error:
            # it can be continued: that is a run of its own, begun by a person
            raise Untraceable("The agent does not know its conversation.") from error

    async def _begin(
        self,
        adapter: Adapter,
        request: RunRequest,
        context: RunContext,
        stopped: Callable[[], bool],
    ) -> None:
        context = replace(context, on_child=self._on_child(request, context))
        begin = self._log.plan.begin or adapter.start
        run = self._agent.run = await begin(request, context)
        await self._pump(run, run.steps(), stopped)

    async def _pump(
        self, run: AgentRun, steps: AsyncIterator[Step], stopped: Callable[[], bool]
    ) -> None:
        self._agent.run = run
        self._log.show_state()  # whether it can be steered is known now
        try:
            await pump(steps, self._log.commit, self._owner, self._log.run_id, self._batch)
        except ProviderError:
            raise  # by the contract the agent's part is over
        except BaseException:
            if not stopped() and not self.leaving:
                await self._agent.end_agent()
            raise
        finally:
            self._agent.run = None

    def _on_child(
        self, request: RunRequest, context: RunContext
    ) -> Callable[[ChildMark], Awaitable[None]]:
        async def on_child(mark: ChildMark) -> None:
            # what came from an earlier child is stored first: its offsets mean nothing in this one
            if self._batch.bodies or self._batch.offset is not None:
                self._log.commit(*self._batch.take())
            adapter = self._agent.adapter
            self._log.move_to(mark, request, context, adapter.scope if adapter else Scope.CHAT)
            await context.on_child(mark)

        return on_child

    async def _fresh(self, steps: AsyncIterator[Step], stored: int) -> AsyncGenerator[Step, None]:
        """The steps behind `stored`. A step without an offset stands for no line: it is new."""
        try:
            async for step in steps:
                if step.offset is None or step.offset > stored:
                    self._answers.caught_up()
                    yield step
                else:
                    self._log.recall(step.bodies)
                    self._answers.replayed(step.bodies)
        finally:
            if isinstance(steps, AsyncGenerator):
                async with aclosing(steps):
                    pass
