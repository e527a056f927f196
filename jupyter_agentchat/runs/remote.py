"""Runs of other living servers on the same store: whose they are, and what they are doing.

Here such a run can only be watched: its events are read from the store (`Audience`, at most every
second, and only while somebody follows), and every command on its chat is refused with `busy`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ..errors import Busy
from ..protocol.events import Ask
from ..protocol.words import Phase
from ..store.base import RunRecord, Store
from .ledger import is_of_this_host
from .reattach import PAGE
from .tracker import RunTracker

FRESH_S = 0.4


@dataclass(slots=True)
class RemoteRun:
    """A run of another server, and what its events say that it is doing."""

    run: RunRecord
    tracker: RunTracker = field(default_factory=RunTracker)
    upto: int = 0

    @property
    def holder(self) -> str:
        return self.run.lease.holder if self.run.lease else ""

    @property
    def phase(self) -> Phase:
        return self.tracker.phase

    @property
    def asks(self) -> list[Ask]:
        return list(self.tracker.asks.values())

    def look(self, store: Store) -> None:
        """Read what its server has stored since the last look."""
        after = max(self.upto, self.run.first_seq - 1)
        while True:
            page = store.events_after(self.run.chat_id, after, limit=PAGE)
            self.tracker.absorb([e for e in page.events if e.run_id == self.run.run_id])
            self.upto = after = page.last_seq or after
            if not page.has_more:
                return


class RemoteRuns:
    """The runs of other servers, as of the last `refresh`."""

    def __init__(self, store: Store, holder: str, lives: Callable[[str], bool]) -> None:
        """`lives(holder)`: whether that server lives, or may."""
        self._store = store
        self._holder = holder
        self._lives = lives
        self._runs: dict[str, RemoteRun] = {}
        self._looked = float("-inf")
        self._orphans: list[RunRecord] = []

    def refresh(self) -> set[str]:
        """Look again; returns the chats whose remote run is new or gone. Raises StorageError."""
        self._looked = time.monotonic()
        before = {chat_id: remote.run.run_id for chat_id, remote in self._runs.items()}
        found: dict[str, RemoteRun] = {}
        self._orphans = []
        for run in self._store.open_runs():
            holder = run.lease.holder if run.lease else ""
            if holder == self._holder:
                continue
            if not self._lives(holder):
                self._orphans.append(run)
                continue
            known = self._runs.get(run.chat_id)
            same = known is not None and known.run.run_id == run.run_id
            found[run.chat_id] = known if same and known else RemoteRun(run)
        self._runs = found
        after = {chat_id: remote.run.run_id for chat_id, remote in found.items()}
        return {chat_id for chat_id, _ in before.items() ^ after.items()}

    def take_orphans(self) -> list[RunRecord]:
        """Runs whose server was found dead since the last call: to be taken over."""
        taken, self._orphans = self._orphans, []
        return taken

    def of(self, chat_id: str) -> RemoteRun | None:
        """The chat's remote run, if it has one; at most FRESH_S old. Raises StorageError."""
        if time.monotonic() - self._looked > FRESH_S:
            self.refresh()
        remote = self._runs.get(chat_id)
        if remote is not None:
            remote.look(self._store)
        return remote

    def refuse(self, chat_id: str) -> None:
        """Raise Busy, with the holder, when another living server runs this chat now.

        Look again when a dead one does: see `take_orphans`.
        """
        for run in self._store.open_runs():
            holder = run.lease.holder if run.lease else ""
            if run.chat_id == chat_id and holder != self._holder:
                if self._lives(holder):
                    raise refusal(run, holder)
                self.refresh()


def refusal(run: RunRecord, holder: str) -> Busy:
    """What a person is told who wants something of a chat that another server runs."""
    text = "Another server runs this chat."
    if not is_of_this_host(holder):
        host = holder.rpartition("/")[0]
        text = (
            f"A server on {host} runs this chat. If that server is gone for good, "
            'choose "Stop the agent" to free the chat.'
        )
    return Busy(text, holder=holder, run_id=run.run_id)
