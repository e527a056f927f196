"""What `chats` hands to the hub to start a run: everything decided, nothing to look up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..protocol.events import RunStarted, User
from ..protocol.resources import RunRequest
from ..protocol.words import Permission
from ..providers.base import RunContext


@dataclass(frozen=True, slots=True)
class RunPlan:
    """One run, ready to start.

    `transcript` builds the bounded visible transcript of what came before this run; it is called
    only when the provider refuses to resume. `user` is None for turns the provider begins.
    `max_permission` is the admin's: no option of an ask may lead above it.
    """

    request: RunRequest
    context: RunContext
    user: User | None
    started: RunStarted
    transcript: Callable[[], str | None]
    max_permission: Permission = "full"
