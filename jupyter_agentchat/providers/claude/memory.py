"""What is remembered of a chat from one of its processes to the next, while this server lives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from .translate.checklist import Line
from .wire import Json, canonical


@dataclass
class ChatMemory:
    """One chat's memory.

    `checklist`: the agent's list as its last run left it. `rules`: what a person allowed for this
    chat. The CLI keeps those only as long as its process; a new one asks again, and is answered
    with the same rules.
    """

    checklist: tuple[Line, ...] = ()
    _rules: set[str] = field(default_factory=set)

    def allow(self, rules: Iterable[Json], told: set[str]) -> None:
        """A person has allowed these for the chat; `told`: what its process knows of already."""
        known = set(map(canonical, rules))
        self._rules |= known
        told |= known

    def allows(self, rules: Sequence[Json], told: set[str]) -> bool:
        """Whether a person has allowed all of these for the chat, and its process does not know.

        One that knows them and asks all the same has its reasons: a person must look.
        """
        asked = set(map(canonical, rules))
        return asked <= self._rules and not asked <= told
