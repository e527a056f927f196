"""Runs that an earlier server began: whose they are, and what of them must be known to go on.

A run is taken over only when its server is proved dead on this host, by raising the epoch of its
lease: of two servers that find it, one wins. Its stored events are absorbed by a fresh tracker;
what the agent wrote since comes through the adapter (`Adapter.attach`).
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from ..protocol.events import (
    Ask,
    AskResolved,
    EventBody,
    Notice,
    RunStarted,
    ToolUseEnd,
    User,
)
from ..protocol.resources import RunRequest
from ..protocol.words import PERMISSIONS, Permission
from ..providers.base import ChildMark, RunContext
from ..store.base import Lease, RunRecord, Store, StoredEvent
from .plan import Resumed, RunPlan
from .tracker import RunTracker

log = logging.getLogger(__name__)

PAGE = 2_000


@dataclass(frozen=True, slots=True)
class Found:
    """A run of another server that is now this one's to go on with."""

    plan: RunPlan
    resumed: Resumed
    lease: Lease


def orphaned(store: Store, holder_alive: Callable[[str], bool]) -> list[RunRecord]:
    """Open runs that no living server holds."""
    return [
        run for run in store.open_runs() if run.lease is None or not holder_alive(run.lease.holder)
    ]


def take_lease(store: Store, run: RunRecord, holder: str) -> Lease:
    """Make the run `holder`'s. Raises Busy when another server was faster, StorageError, NotFound
    when its chat is gone."""
    store.last_seq(run.chat_id)
    lease = Lease(holder, run.lease.epoch + 1 if run.lease else 1)
    store.save_run(replace(run, lease=lease))
    return lease


def rebuild(store: Store, run: RunRecord) -> tuple[RunTracker, list[EventBody]]:
    """The run's tracker as its stored events leave it, and those events that are not streamed."""
    tracker = RunTracker()
    bodies: list[EventBody] = []
    after = max(run.first_seq - 1, 0)
    while True:
        page = store.events_after(run.chat_id, after, limit=PAGE)
        mine = [event for event in page.events if event.run_id == run.run_id]
        tracker.absorb(mine)
        bodies += _bodies(mine)
        if not page.has_more or page.last_seq is None:
            return tracker, bodies
        after = page.last_seq


def find(store: Store, run: RunRecord, holder: str) -> Found | None:
    """Take the run over, if its row says enough to go on with; None: nothing was changed.

    Raises as `take_lease`.
    """
    plan = plan_of(run)
    if plan is None or run.child_id is None:
        return None
    lease = take_lease(store, run, holder)
    tracker, bodies = rebuild(store, run)
    for body in bodies:
        if isinstance(body, RunStarted):
            plan = replace(plan, started=body)
    resumed = Resumed(
        mark=ChildMark(run.child_id, run.spool_first, run.spool_stored),
        tracker=tracker,
        undelivered=undelivered(bodies),
        permission=raised(plan.started.permission, bodies),
        age_s=_age_s(run.started),
        unsure_steers=unsure_steers(store, run.chat_id, bodies),
    )
    return Found(plan, resumed, lease)


def plan_of(run: RunRecord) -> RunPlan | None:
    """What the run's row says of its plan; None for a row of an older version, or a broken one."""
    try:
        request = RunRequest.model_validate_json(run.request)
        context: dict[str, Any] = json.loads(run.context)
        started = RunStarted(provider=run.provider, permission=request.permission)
        return RunPlan(
            request=request,
            context=RunContext(
                trusted=context["trusted"] is True,
                first_session_id=str(context["first_session_id"]),
                never_completed=context["never_completed"] is True,
            ),
            user=None,
            started=started,
            transcript=lambda: None,  # never begun anew by itself: a person says Continue
            max_permission=_permission(context["max_permission"]),
        )
    except (ValidationError, ValueError, KeyError, TypeError) as error:
        if run.request:
            log.warning("run=%s: its row cannot be read: %s", run.run_id, error)
        return None


def undelivered(bodies: list[EventBody]) -> frozenset[str]:
    """Asks with a person's answer whose call has not ended: it may not have reached the agent."""
    open_asks: dict[str, str | None] = {}
    waiting: set[str] = set()
    for body in bodies:
        match body:
            case Ask():
                open_asks[body.ask_id] = body.tool_id
            case AskResolved() if body.decision != "withdrawn":
                waiting.add(body.ask_id)
            case ToolUseEnd():
                waiting -= {ask for ask in waiting if open_asks.get(ask) == body.tool_id}
    return frozenset(waiting)


def unsure_steers(store: Store, chat_id: str, bodies: list[EventBody]) -> int:
    """How many messages into the turn are stored, but not as taken, with nothing said of it."""
    count = 0
    for body in bodies:
        match body:
            case User(origin="steered"):
                count += not store.find_prompt(chat_id, body.author.username, body.client_id)
            case Notice(code="steer_not_taken"):
                count -= 1
    return count


def raised(permission: Permission, bodies: list[EventBody]) -> Permission:
    """The permission after the answers that lead to another one."""
    options: dict[tuple[str, str], Permission] = {}
    for body in bodies:
        if isinstance(body, Ask):
            options |= {(body.ask_id, o.id): o.leads_to for o in body.options if o.leads_to}
        elif isinstance(body, AskResolved) and body.option_id is not None:
            permission = options.get((body.ask_id, body.option_id), permission)
    return permission


def _bodies(events: list[StoredEvent]) -> list[EventBody]:
    telling = {"ask", "ask_resolved", "tool_use_end", "run_started", "user", "notice"}
    return [body for event in events if event.type in telling and (body := event.body())]


def _permission(value: object) -> Permission:
    for permission in PERMISSIONS:
        if permission == value:
            return permission
    raise ValueError(f"no permission: {value!r}")


def _age_s(started: str) -> float:
    try:
        age = datetime.now(UTC) - datetime.fromisoformat(started)
    except (ValueError, TypeError):
        return 0.0
    return max(0.0, age.total_seconds())
