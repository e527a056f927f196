"""Drives one run from its first event to its one `complete`.

Whatever happens on the way (refused resume, dead process, full disk, Stop, server stop), a run
ends in `_finish`: open items, tools and asks closed, `error` exactly when it failed, `complete`,
and only then is the chat free.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from ..errors import AgentChatError, AlreadyResolved, NotFound, SessionRejected, StorageError
from ..process.tasks import TaskOwner
from ..protocol.events import (
    Ask,
    AskResolved,
    Complete,
    EventBody,
    Notice,
    ResumeRefused,
    Session,
)
from ..protocol.resources import AskAnswer, Author
from ..protocol.words import Outcome, Permission, Phase
from ..providers.base import Adapter, AgentRun
from ..store.base import Draft, Lease, Store
from .asks import check_answer, resolution, within
from .outcome import error_event, settle
from .outputs import shrink
from .plan import RunPlan
from .pump import pump
from .room import Room
from .tracker import RunTracker

log = logging.getLogger(__name__)

CANCEL_DEADLINE_S = 25.0
"""An adapter's own interrupt and ladder (Claude Code: 10 + 5 + 5 s) must fit in."""
FORCE_DEADLINE_S = 6.0
ANSWER_DEADLINE_S = 15.0


@dataclass(frozen=True, slots=True)
class DriverHooks:
    """What the hub wants to know; none of them may raise."""

    session: Callable[[str, Session], None]
    progress: Callable[[], None]
    finished: Callable[[str, Complete], None]


class Driver:
    """One run. Made by the hub, which owns the task of `drive`."""

    def __init__(
        self,
        plan: RunPlan,
        room: Room,
        store: Store,
        adapter_for: Callable[[str], Awaitable[Adapter]],
        owner: TaskOwner,
        hooks: DriverHooks,
        lease: Lease | None = None,
    ) -> None:
        self.plan = plan
        self.run_id = plan.request.run_id
        self.chat_id = plan.request.chat_id
        self.tracker = RunTracker()
        self.cancelling = False
        self.finished = asyncio.Event()
        self._room = room
        self._store = store
        self._adapter_for = adapter_for
        self._owner = owner
        self._hooks = hooks
        self._lease = lease
        self._adapter: Adapter | None = None
        self._run: AgentRun | None = None
        self._work: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._end_as: Outcome = "cancelled"
        self._began = time.monotonic()

    @property
    def phase(self) -> Phase:
        return "cancelling" if self.cancelling else self.tracker.phase

    # ---- the run ----------------------------------------------------------------------------

    async def drive(self, may_start: Callable[[Driver], Awaitable[None]]) -> None:
        """Run to the end. `may_start` waits for a free place; it may be cancelled by Stop."""
        self._work = self._owner.spawn(self._attempts(may_start), name=f"run {self.run_id}")
        try:
            if self.cancelling:
                self._work.cancel()
            await asyncio.wait({self._work})
            outcome, error = settle(self._work, self.tracker, self.cancelling, self._end_as)
            if self._stopping is not None:
                # cancelling holds the lock until the adapter has returned
                await asyncio.wait({self._stopping}, timeout=CANCEL_DEADLINE_S)
        finally:
            if not self._work.done():
                self._work.cancel()
        self._finish(outcome, error)

    async def _attempts(self, may_start: Callable[[Driver], Awaitable[None]]) -> None:
        await may_start(self)
        request, context = self.plan.request, self.plan.context
        adapter = self._adapter = await self._adapter_for(self.plan.started.provider)
        try:
            await self._attempt(adapter, self.plan)
        except SessionRejected as refused:
            if self.tracker.has_content or request.provider_session_id is None:
                raise
            # once, and said in the thread: a new conversation that begins with the transcript
            self.commit(
                [
                    ResumeRefused(
                        provider=self.plan.started.provider,
                        provider_session_id=refused.provider_session_id,
                        reason=refused.reason,
                    )
                ],
                None,
            )
            anew = request.model_copy(
                update={
                    "provider_session_id": None,
                    "fork": False,
                    "transcript": self.plan.transcript(),
                }
            )
            session_id = str(uuid.uuid4())
            context = replace(context, first_session_id=session_id)
            await self._attempt(adapter, replace(self.plan, request=anew, context=context))

    async def _attempt(self, adapter: Adapter, plan: RunPlan) -> None:
        self._run = await adapter.start(plan.request, plan.context)
        try:
            await pump(self._run.steps(), self.commit, self._owner, self.run_id)
        finally:
            self._run = None

    def commit(self, bodies: list[EventBody], offset: int | None) -> None:
        """Store and publish a batch. Raises StorageError."""
        small = [shrink(self._allowed(body), self._store, self.chat_id) for body in bodies]
        drafts = self.tracker.drafts(small, self._store.last_seq(self.chat_id) + 1)
        if drafts or offset is not None:
            self._room.record(
                drafts,
                run_id=self.run_id,
                offset=offset,
                lease=self._lease,
                # a person was promised these
                durable=any(isinstance(draft.body, Ask) for draft in drafts),
            )
        for body in bodies:
            if isinstance(body, Session):
                self._hooks.session(self.chat_id, body)
        self._hooks.progress()
        self._room.show_state()

    def _allowed(self, body: EventBody) -> EventBody:
        return within(body, self.plan.max_permission) if isinstance(body, Ask) else body

    def _finish(self, outcome: Outcome, error: AgentChatError | None) -> None:
        bodies = self.tracker.closing(outcome)
        if outcome == "failed" and self.tracker.error is None:
            bodies.append(error_event(error))
        said = self.tracker.complete
        complete = Complete(
            outcome=outcome,
            usage=(said.usage if said else None) or self.tracker.usage,
            cost_usd=said.cost_usd if said else None,
            duration_ms=round((time.monotonic() - self._began) * 1000),
            num_turns=said.num_turns if said else None,
        )
        drafts = self.tracker.drafts(bodies, self._store.last_seq(self.chat_id) + 1)
        try:
            self._room.record(
                [*drafts, Draft(complete)],
                run_id=self.run_id,
                lease=self._lease,
                durable=True,
                outcome=outcome,
            )
        except StorageError as full:
            # the next prompt, or the next start, closes it (hub.close_leftover)
            text = "chat=%s run=%s: its end could not be stored: %s"
            log.error(text, self.chat_id, self.run_id, full)  # noqa: TRY400 - expected, no traceback
        self._hooks.finished(self.chat_id, complete)
        self.finished.set()

    # ---- commands ---------------------------------------------------------------------------

    def cancel(self, *, end_as: Outcome = "cancelled") -> None:
        """Stop the run; again forces. Returns at once: `finished` says when the chat is free."""
        if self._run is None and self._stopping is None:
            self._begin_cancelling(end_as)
            if self._work is not None:
                self._work.cancel()
        elif self._stopping is None:
            self._begin_cancelling(end_as)
            self._stopping = self._owner.spawn(self._stop(force=False), name=f"stop {self.run_id}")
        elif not self._stopping.done():
            self._owner.spawn(self._force(), name=f"force {self.run_id}")

    def _begin_cancelling(self, end_as: Outcome) -> None:
        self.cancelling = True
        self._end_as = end_as
        self._room.show_state()

    async def _stop(self, *, force: bool) -> None:
        run, work, adapter = self._run, self._work, self._adapter
        if work is None or adapter is None:
            return
        if run is not None:
            with suppress(AgentChatError, TimeoutError):
                await asyncio.wait_for(run.cancel(force=force), CANCEL_DEADLINE_S)
        await asyncio.wait({work}, timeout=2)
        if not work.done():
            log.warning("chat=%s run=%s: killed after Stop", self.chat_id, self.run_id)
            with suppress(AgentChatError, TimeoutError):
                await asyncio.wait_for(adapter.close_chat(self.chat_id), FORCE_DEADLINE_S)
            await asyncio.wait({work}, timeout=2)
            work.cancel()

    async def _force(self) -> None:
        if self._run is not None:
            with suppress(AgentChatError, TimeoutError):
                await asyncio.wait_for(self._run.cancel(force=True), FORCE_DEADLINE_S)

    async def answer(self, ask_id: str, answer: AskAnswer, author: Author) -> AskResolved:
        """A person's answer: stored first, then written to the agent; the first one wins.

        Raises AlreadyResolved, NotFound, BadRequest. Once stored, a failure to write is the run's
        (a notice, and the run's own end), never the person's.
        """
        ask = self.tracker.asks.get(ask_id)
        if ask is None:
            won = self.tracker.resolved.get(ask_id)
            if won is not None:
                raise AlreadyResolved(
                    "This was answered before.", answer=won.model_dump(mode="json")
                )
            raise NotFound("There is no such question in this run.", ask_id=ask_id)
        checked = check_answer(ask, answer)
        resolved = resolution(ask, checked, author)
        seq = self._store.last_seq(self.chat_id) + 1
        self._room.record(
            self.tracker.drafts([resolved], seq),
            run_id=self.run_id,
            lease=self._lease,
            durable=True,
        )
        self._room.show_state()
        run = self._run
        try:
            if run is not None:
                await asyncio.wait_for(run.answer(ask_id, checked), ANSWER_DEADLINE_S)
        except (AgentChatError, TimeoutError) as error:
            log.warning(
                "chat=%s run=%s: answer not delivered: %s", self.chat_id, self.run_id, error
            )
            text = (
                "The answer is kept, but the agent could not be told. Stop the run and try again."
            )
            self.commit([Notice(level="warning", code="answer_not_delivered", text=text)], None)
        return resolved

    async def lower_permission(self, permission: Permission) -> bool:
        """Pass a lower permission to the running agent; False where it holds from the next run."""
        run = self._run
        if run is None:
            return False
        with suppress(AgentChatError, TimeoutError):
            return await asyncio.wait_for(run.set_permission(permission), ANSWER_DEADLINE_S)
        return False
