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
from dataclasses import dataclass, replace

from ..errors import (
    AgentChatError,
    AlreadyResolved,
    Busy,
    NotFound,
    ProviderError,
    SessionRejected,
)
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
from ..protocol.words import PERMISSIONS, Outcome, Permission, Phase
from ..providers.base import Adapter
from ..store.base import Draft, Lease, Store
from .asks import check_answer, resolution, within
from .outcome import error_event, settle
from .outputs import shrink
from .plan import RunPlan
from .pump import pump
from .room import Room
from .stopping import CANCEL_DEADLINE_S, Stopper
from .tracker import RunTracker

log = logging.getLogger(__name__)

ANSWER_DEADLINE_S = 15.0
LAST_BATCH_S = 1.0


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
        self._permission = plan.started.permission
        self._agent = Stopper(owner, self.chat_id, self.run_id)
        self._work: asyncio.Task[None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._forcing: asyncio.Task[None] | None = None
        self._end_as: Outcome = "cancelled"
        self._began = time.monotonic()

    @property
    def phase(self) -> Phase:
        return "cancelling" if self.cancelling else self.tracker.phase

    # ---- the run ----------------------------------------------------------------------------

    async def drive(self, may_start: Callable[[Driver], Awaitable[None]]) -> None:
        """Run to the end. `may_start` waits for a free place; it may be cancelled by Stop.

        When this task is cancelled (the server's stop was too slow) the run still gets its end.
        """
        work = self._work = self._owner.spawn(self._attempts(may_start), name=f"run {self.run_id}")
        given_up = self._owner.spawn(self._agent.given_up.wait(), name=f"watch {self.run_id}")
        outcome, error = self._end_as, None
        try:
            if self.cancelling:
                work.cancel()
            await asyncio.wait({work, given_up}, return_when=asyncio.FIRST_COMPLETED)
            outcome, error = settle(work, self.tracker, self.cancelling, self._end_as)
            if self._stopping is not None:
                # cancelling holds the chat until the adapter has returned
                await asyncio.wait({self._forcing or self._stopping}, timeout=CANCEL_DEADLINE_S)
        except asyncio.CancelledError:
            if not work.done():
                outcome, error = self._end_as if self.cancelling else "interrupted", None
                work.cancel()
                await asyncio.wait({work}, timeout=LAST_BATCH_S)
            raise
        finally:
            given_up.cancel()
            self._finish(outcome, error)

    async def _attempts(self, may_start: Callable[[Driver], Awaitable[None]]) -> None:
        await may_start(self)
        request, context = self.plan.request, self.plan.context
        adapter = self._agent.adapter = await self._adapter_for(self.plan.started.provider)
        try:
            await self._attempt(adapter, self.plan)
        except SessionRejected as refused:
            if self.cancelling or self.tracker.has_content or request.provider_session_id is None:
                raise
            # once, and said in the thread: a new conversation that begins with the transcript
            self.tracker.begin_anew()
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
            context = replace(context, first_session_id=session_id, never_completed=False)
            await self._attempt(adapter, replace(self.plan, request=anew, context=context))

    async def _attempt(self, adapter: Adapter, plan: RunPlan) -> None:
        run = self._agent.run = await adapter.start(plan.request, plan.context)
        try:
            await pump(run.steps(), self.commit, self._owner, self.run_id)
        except ProviderError:
            raise  # by the contract the agent's part is over
        except BaseException:
            if not self.cancelling:
                await self._agent.end_agent()
            raise
        finally:
            self._agent.run = None

    def commit(self, bodies: list[EventBody], offset: int | None) -> None:
        """Store and publish a batch. Raises StorageError; then nothing of it has happened."""
        if self.finished.is_set():
            return  # an adapter that was given up still talks: the run has its end
        small = [shrink(self._allowed(body), self._store, self.chat_id) for body in bodies]
        saved = self.tracker.save()
        drafts = self.tracker.drafts(small, self._store.last_seq(self.chat_id) + 1)
        if drafts or offset is not None:
            try:
                self._room.record(
                    drafts,
                    run_id=self.run_id,
                    offset=offset,
                    lease=self._lease,
                    # a person was promised these
                    durable=any(isinstance(draft.body, Ask) for draft in drafts),
                )
            except AgentChatError:
                self.tracker.restore(saved)
                raise
        for body in bodies:
            if isinstance(body, Session) and body.provider == self.plan.started.provider:
                self._hooks.session(self.chat_id, body)
        self._hooks.progress()
        self._room.show_state()

    def _allowed(self, body: EventBody) -> EventBody:
        return within(body, self.plan.max_permission) if isinstance(body, Ask) else body

    def _finish(self, outcome: Outcome, error: AgentChatError | None) -> None:
        said = self.tracker.complete
        complete = Complete(
            outcome=outcome,
            usage=(said.usage if said else None) or self.tracker.usage,
            cost_usd=said.cost_usd if said else None,
            duration_ms=round((time.monotonic() - self._began) * 1000),
            num_turns=said.num_turns if said else None,
        )
        end: list[EventBody] = [complete]
        if outcome == "failed":
            end.insert(0, self.tracker.error or error_event(error))
        try:
            closing = self.tracker.closing(outcome)
            drafts = self.tracker.drafts(closing, self._store.last_seq(self.chat_id) + 1)
            self._room.record(
                [*drafts, *map(Draft, end)],
                run_id=self.run_id,
                lease=self._lease,
                durable=True,
                outcome=outcome,
            )
        except AgentChatError as full:
            # the next prompt, or the next start, closes it (hub._close_leftover)
            text = "chat=%s run=%s: its end could not be stored: %s"
            log.error(text, self.chat_id, self.run_id, full)  # noqa: TRY400 - expected, no traceback
        else:
            self._hooks.finished(self.chat_id, complete)
        finally:
            self.finished.set()

    # ---- commands ---------------------------------------------------------------------------

    def cancel(self, *, end_as: Outcome = "cancelled") -> None:
        """Stop the run; again forces. Returns at once: `finished` says when the chat is free."""
        if self.finished.is_set():
            return
        if not self.cancelling:
            self.cancelling = True
            self._end_as = end_as
            self._stopping = self._owner.spawn(self._stop(force=False), name=f"stop {self.run_id}")
            self._room.show_state()
        elif self._forcing is None or self._forcing.done():
            self._forcing = self._owner.spawn(self._stop(force=True), name=f"force {self.run_id}")

    async def _stop(self, *, force: bool) -> None:
        if self._work is not None:
            await self._agent.stop(self._work, force=force)

    def knows_ask(self, ask_id: str) -> bool:
        """Whether an ask of this run has this id, open or not."""
        return ask_id in self.tracker.asks or ask_id in self.tracker.resolved

    async def answer(
        self,
        ask_id: str,
        answer: AskAnswer,
        author: Author,
        stored: Callable[[Ask, AskResolved], None] | None = None,
    ) -> AskResolved:
        """A person's answer: stored first, then written to the agent; the first one wins.

        `stored` is called in between. Raises AlreadyResolved, NotFound, BadRequest, Busy while the
        run is being stopped, StorageError (the ask stays open). Once stored, a failure to write is
        the run's (a notice, and the run's own end), never the person's; on cancel the answer still
        goes to the agent.
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
        if self.cancelling:
            # what was allowed after Stop could still be begun
            raise Busy("The run is being stopped.", run_id=self.run_id)
        resolved = resolution(ask, checked, author)
        saved = self.tracker.save()
        try:
            self._room.record(
                self.tracker.drafts([resolved], self._store.last_seq(self.chat_id) + 1),
                run_id=self.run_id,
                lease=self._lease,
                durable=True,
            )
        except AgentChatError:
            self.tracker.restore(saved)
            raise
        chosen = next((o for o in ask.options if o.id == resolved.option_id), None)
        if chosen is not None and chosen.leads_to is not None:
            self._permission = chosen.leads_to
        if stored is not None:
            stored(ask, resolved)
        self._room.show_state()
        # not a part of the request: a page that closes now must not keep the answer from the agent
        telling = self._owner.spawn(self._tell(ask_id, checked), name=f"answer {self.run_id}")
        await asyncio.wait({telling})
        return resolved

    async def _tell(self, ask_id: str, answer: AskAnswer) -> None:
        run = self._agent.run
        if run is None:
            return
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                await run.answer(ask_id, answer)
        except (AgentChatError, TimeoutError) as error:
            log.warning(
                "chat=%s run=%s: answer not delivered: %s", self.chat_id, self.run_id, error
            )
        except Exception:
            log.exception("chat=%s run=%s: answer not delivered", self.chat_id, self.run_id)
        else:
            return
        text = "The answer is kept, but the agent could not be told. Stop the run and try again."
        try:
            self.commit([Notice(level="warning", code="answer_not_delivered", text=text)], None)
        except AgentChatError as error:
            log.warning("chat=%s run=%s: %s", self.chat_id, self.run_id, error)

    async def lower_permission(self, permission: Permission) -> bool:
        """Pass a lower permission to the running agent; False where it holds from the next run."""
        if PERMISSIONS.index(permission) >= PERMISSIONS.index(self._permission):
            return True  # this run may do no more than that as it is
        run = self._agent.run
        if run is None:
            return False
        try:
            async with asyncio.timeout(ANSWER_DEADLINE_S):
                lowered = await run.set_permission(permission)
        except (AgentChatError, TimeoutError) as error:
            log.info("chat=%s run=%s: %s", self.chat_id, self.run_id, error)
            return False
        if lowered:
            self._permission = permission
        return lowered
