"""What `chats` hands to the hub to start a run: everything decided, nothing to look up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..protocol.events import RunStarted, User
from ..protocol.resources import RunRequest
from ..protocol.words import Permission
from ..providers.base import Begin, ChildMark, RunContext
from .tracker import RunTracker


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run, ready to start.

    `transcript` builds the bounded visible transcript of what came before this run; it is called
    only when the provider refuses to resume. `user` is None for turns that the provider has begun:
    `begin` then stands for `Adapter.start`.
    `max_permission` is the admin's: no option of an ask may lead above it. `queued` is the item of
    the chat's queue that this run takes.
    """

    request: RunRequest
    context: RunContext
    user: User | None
    started: RunStarted
    transcript: Callable[[], str | None]
    max_permission: Permission = "full"
    queued: str | None = None
    begin: Begin | None = None


@dataclass(frozen=True, slots=True)
class Resumed:
    """What is known of a run that an earlier server began, from its row and its stored events.

    `undelivered`: asks with a stored answer that is not proved to have reached the agent.
    `permission`: what the agent may do by now, as far as answers have raised it. `age_s`: seconds
    since it began, by the wall clock. `unsure_steers`: messages into its turn of which nobody knows
    whether the agent has them.
    """

    mark: ChildMark
    tracker: RunTracker
    undelivered: frozenset[str]
    permission: Permission
    age_s: float = 0.0
    unsure_steers: int = 0
