"""Drives one run from its first event to its one `complete`.

Whatever happens on the way (refused resume, dead process, full disk, Stop, server stop), a run
ends in `RunLog.finish`: open items, tools and asks closed, `error` exactly when it failed,
`complete`, and only then is the chat free. The one exception is `leave`: the server goes, the agent
works on, and the next server takes the run over.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

from ..errors import AgentChatError
from ..process.tasks import TaskOwner
from ..protocol.events import Ask, AskResolved, EventBody, Notice, User
from ..protocol.resources import AskAnswer, Attachment, Author
from ..protocol.words import Outcome, Permission, Phase
from ..providers.base import Adapter
from ..store.base import Lease, Store
from .answers import ANSWER_DEADLINE_S, Answers
from .attempt import Attempt
from .outcome import settle
from .plan import Resumed, RunPlan
from .room import Room
from .run_log import DriverHooks, RunLog
from .stopping import CANCEL_DEADLINE_S, Stopper
from .tracker import RunTracker

LAST_BATCH_S = 1.0
UNSURE_STEER = (
    "The server went down while a message was on its way into this turn: the agent may not have "
    "it. If the answer does not show it, send it again."
)


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
        resumed: Resumed | None = None,
    ) -> None:
        """`resumed`: the run was begun by an earlier server and is to be taken over."""
        self.plan = plan
        self.run_id = plan.request.run_id
        self.chat_id = plan.request.chat_id
        self.resumed = resumed
        self.awake = hooks.awake
        self.cancelling = False
        self.left = False
        self.finished = asyncio.Event()
        self._room = room
        self._owner = owner
        self._log = RunLog(plan, room, store, hooks, lease, resumed.tracker if resumed else None)
        self._agent = Stopper(owner, self.chat_id, self.run_id)
        self._answers = Answers(
            self._log,
            room,
            self._agent,
            owner,
            resumed.permission if resumed else plan.started.permission,
            resumed.undelivered if resumed else (),
        )
        self._attempt = Attempt(self._log, self._answers, self._agent, adapter_for, owner)
        self._work: asyncio.Task[AgentChatError | None] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._forcing: asyncio.Task[None] | None = None
        self._end_as: Outcome = "cancelled"
        self._began = time.monotonic()
        if resumed is not None:
            self._log.child_id = resumed.mark.child_id
            self._began -= resumed.age_s

    @property
    def tracker(self) -> RunTracker:
        return self._log.tracker

    @property
    def phase(self) -> Phase:
        return "cancelling" if self.cancelling else self.tracker.phase

    @property
    def child_id(self) -> str | None:
        """The child that the run is in, once that is stored."""
        return self._log.child_id

    @property
    def first_line(self) -> int:
        """Where a run that is taken over begins in its child's output."""
        return self.resumed.mark.first if self.resumed else 0

    @property
    def lost_child(self) -> bool:
        """Whether it should have been taken over from an earlier server, and was not."""
        return self.resumed is not None and not self._attempt.attached

    @property
    def unclosed(self) -> bool:
        """Whether it is over, and its end could not be stored."""
        return self._log.unclosed

    @property
    def can_steer(self) -> bool:
        """Whether the agent takes a message now."""
        run = self._agent.run
        return run is not None and not self.cancelling and run.can_steer

    # ---- the run ----------------------------------------------------------------------------

    async def drive(self, may_start: Callable[[Driver], Awaitable[None]]) -> None:
        """Run to the end. `may_start` waits for a free place; it may be cancelled by Stop.

        When this task is cancelled (the server's stop was too slow) the run still gets its end.
        """
        work = self._work = self._owner.spawn(self._run(may_start), name=f"run {self.run_id}")
        given_up = self._owner.spawn(self._agent.given_up.wait(), name=f"watch {self.run_id}")
        outcome: Outcome = self._end_as
        error: AgentChatError | None = None
        try:
            if self.cancelling or self.left:
                work.cancel()
            await asyncio.wait({work, given_up}, return_when=asyncio.FIRST_COMPLETED)
            outcome, error = settle(work, self.tracker, self.cancelling, self._end_as)
            if outcome == "cancelled" and self.resumed is not None and not self.cancelling:
                # told so by a server that was killed while it stopped: nobody is known to have
                outcome = "interrupted"
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
            if not self.left:
                self._log.finish(outcome, error, self._began)
            self._log.closed = True
            self.finished.set()

    async def _run(self, may_start: Callable[[Driver], Awaitable[None]]) -> AgentChatError | None:
        """An expected failure is a value: the run tells it, and nobody logs a traceback."""
        try:
            await may_start(self)
            if self.resumed is not None:
                unsure = Notice(level="warning", code="steer_not_taken", text=UNSURE_STEER)
                for _ in range(self.resumed.unsure_steers):
                    self.commit([unsure], None)
                await self._attempt.attach(self.resumed.mark, lambda: self.cancelling)
            else:
                await self._attempt.start(lambda: self.cancelling)
        except AgentChatError as error:
            return error
        return None

    def commit(self, bodies: list[EventBody], offset: int | None) -> None:
        """Store and publish a batch. Raises StorageError; then nothing of it has happened."""
        self._log.commit(bodies, offset)

    def show_state(self) -> None:
        """Tell followers when what they can see has changed without an event."""
        self._log.show_state()

    def leave(self) -> None:
        """The server stops and the agent works on: the run stays open. `finished` says when what
        had come is stored. Nothing to take over later (no child yet): then cancel instead."""
        if not self.finished.is_set():
            self.left = self._attempt.leaving = True
            if self._work is not None:
                self._work.cancel()

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
        return self._answers.knows(ask_id)

    async def answer(
        self,
        ask_id: str,
        answer: AskAnswer,
        author: Author,
        stored: Callable[[Ask, AskResolved], None] | None = None,
    ) -> AskResolved:
        """See `Answers.answer`."""
        return await self._answers.answer(
            ask_id, answer, author, stored, cancelling=self.cancelling
        )

    async def lower_permission(self, permission: Permission) -> bool:
        """See `Answers.lower_permission`."""
        return await self._answers.lower_permission(permission)

    def keep(self, user: User) -> None:
        """Store a person's message into the running turn. Raises StorageError, Busy."""
        self._log.keep(user)

    async def steer(self, text: str, attachments: list[Attachment]) -> bool:
        """A message into the running turn; False where the agent does not take it now.

        Raises ProviderError, TimeoutError when it is not known whether the agent got it.
        """
        run = self._agent.run
        if run is None or not self.can_steer:
            return False
        async with asyncio.timeout(ANSWER_DEADLINE_S):
            return await run.steer(text, attachments)
