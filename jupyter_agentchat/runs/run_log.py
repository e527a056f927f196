"""What one run writes: bodies go through its tracker into the room's log, and nowhere else.

A run writes its end once (`finish`); what comes later, of an adapter that was given up, is dropped.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ..errors import AgentChatError, LogMoved
from ..protocol.events import Ask, AskResolved, Complete, EventBody, Session, User
from ..protocol.resources import RunRequest
from ..protocol.words import Outcome
from ..providers.base import ChildMark, RunContext, Scope
from ..store.base import Draft, Lease, Store
from .activity import Wakefulness
from .asks import within
from .ledger import describe_child
from .outcome import error_event
from .outputs import shrink
from .plan import RunPlan
from .room import Room
from .tracker import RunTracker

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DriverHooks:
    """What the hub wants to know; none of them may raise.

    `seen(chat_id, run_id, bodies)`: these were stored. `awake` is moved on by `progress`.
    """

    session: Callable[[str, Session], None]
    progress: Callable[[], None]
    finished: Callable[[str, Complete], None]
    seen: Callable[[str, str, Sequence[EventBody]], None]
    awake: Wakefulness


class RunLog:
    """The writing side of one run. `tracker` is what is open in it."""

    def __init__(
        self,
        plan: RunPlan,
        room: Room,
        store: Store,
        hooks: DriverHooks,
        lease: Lease | None,
        tracker: RunTracker | None = None,
    ) -> None:
        self.plan = plan
        self.run_id = plan.request.run_id
        self.chat_id = plan.request.chat_id
        self.tracker = tracker or RunTracker()
        self.child_id: str | None = None
        """The child that the run's row names: from then on the next server can take it over."""
        self.closed = False
        self.unclosed = False
        """Its end could not be stored."""
        self._room = room
        self._store = store
        self._hooks = hooks
        self._lease = lease

    def commit(self, bodies: list[EventBody], offset: int | None) -> None:
        """Store and publish a batch. Raises StorageError; then nothing of it has happened."""
        if self.closed:
            return
        small = [shrink(self._allowed(body), self._store, self.chat_id) for body in bodies]
        # a person was promised these
        durable = any(isinstance(body, Ask | User) for body in small)
        self._record(small, offset=offset, durable=durable)
        self._tell_session(bodies)
        self._hooks.progress()
        self._room.show_state()
        self._hooks.seen(self.chat_id, self.run_id, bodies)

    def recall(self, bodies: Sequence[EventBody]) -> None:
        """Bodies of lines whose events are stored: takes what stands in no event of its own.

        An `error` or `complete` is kept back until the run's end, and the conversation's id may
        not have reached the chat when the server died.
        """
        self.tracker.recall(bodies)
        self._tell_session(bodies)

    def answer(self, resolved: AskResolved) -> None:
        """Store a person's answer. Raises StorageError; then the ask is still open."""
        self._record([resolved], durable=True)

    def keep(self, user: User) -> None:
        """Store a person's message into the running turn. Raises StorageError, Busy."""
        self._room.record([Draft(user)], run_id=self.run_id, lease=self._lease, durable=True)

    def show_state(self) -> None:
        """Tell followers when what they can see has changed."""
        self._room.show_state()

    def move_to(
        self, mark: ChildMark, request: RunRequest, context: RunContext, scope: Scope
    ) -> None:
        """The run is in this child now, with this request: what the next server needs of it.

        Raises StorageError, and Busy when another server has taken the run over.
        """
        row = self._store.run(self.run_id)
        if row is None or self.closed:
            return
        self._store.save_run(
            replace(
                row,
                child_id=mark.child_id,
                spool_first=mark.first,
                spool_stored=mark.first,
                request=request.model_dump_json(),
                context=encode_context(context, self.plan),
                lease=self._lease,
            )
        )
        self.child_id = mark.child_id
        chat_id = self.chat_id if scope is Scope.CHAT else None
        describe_child(self._store, mark.child_id, self.plan.started.provider, scope, chat_id)

    def finish(self, outcome: Outcome, error: AgentChatError | None, began: float) -> None:
        """Write the run's end; `began` is of the monotonic clock. A full disk is logged: the run
        is closed when there is room again, by the next prompt or start at the latest."""
        if self.closed:
            return
        said = self.tracker.complete
        complete = Complete(
            outcome=outcome,
            usage=(said.usage if said else None) or self.tracker.usage,
            cost_usd=said.cost_usd if said else None,
            duration_ms=round((time.monotonic() - began) * 1000),
            num_turns=said.num_turns if said else None,
        )
        end: list[EventBody] = [complete]
        if outcome == "failed":
            end.insert(0, self.tracker.error or error_event(error))
        try:
            closing = self.tracker.closing(outcome)
            self._record(closing, end, durable=True, outcome=outcome)
        except AgentChatError as full:
            self.unclosed = True
            text = "chat=%s run=%s: its end could not be stored: %s"
            log.error(text, self.chat_id, self.run_id, full)  # noqa: TRY400 - expected, no traceback
        else:
            self._hooks.finished(self.chat_id, complete)
        finally:
            self.closed = True

    def _record(
        self,
        bodies: Sequence[EventBody],
        end: Sequence[EventBody] = (),
        *,
        offset: int | None = None,
        durable: bool = False,
        outcome: Outcome | None = None,
    ) -> None:
        """`bodies` through the tracker, and `end` as it is. Raises StorageError, Busy: then the
        tracker is as before."""
        saved, last_seq = self.tracker.save(), self._room.known_end()
        while True:
            try:
                drafts = self.tracker.drafts(bodies, last_seq + 1)
                if drafts or end or offset is not None:
                    self._room.record(
                        [*drafts, *map(Draft, end)],
                        run_id=self.run_id,
                        offset=offset,
                        lease=self._lease,
                        durable=durable,
                        outcome=outcome,
                        after=last_seq,
                    )
            except LogMoved as moved:  # another server has written: count again
                self.tracker.restore(saved)
                last_seq = moved.last_seq
            except AgentChatError:
                self.tracker.restore(saved)
                raise
            else:
                return

    def _tell_session(self, bodies: Sequence[EventBody]) -> None:
        for body in bodies:
            if isinstance(body, Session) and body.provider == self.plan.started.provider:
                self._hooks.session(self.chat_id, body)

    def _allowed(self, body: EventBody) -> EventBody:
        return within(body, self.plan.max_permission) if isinstance(body, Ask) else body


def encode_context(context: RunContext, plan: RunPlan) -> str:
    """A run's context for its row; `reattach.plan_of` reads it."""
    return json.dumps(
        {
            "trusted": context.trusted,
            "first_session_id": context.first_session_id,
            "never_completed": context.never_completed,
            "max_permission": plan.max_permission,
        }
    )
