"""The shutdown ladder: end of input, then TERM, then KILL, with a deadline for each step.

Never KILL first: a killed CLI leaves its own children alive and loses its session file. Never TERM
together with the end of input: some CLIs lose their last message then. The native interrupt that
comes before all this is the adapter's.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Exit:
    """How a process ended: `code`, or the number of the `signal` that ended it.

    Both None: not known, it did not end or nobody could read its status.
    """

    code: int | None
    signal: int | None

    def __str__(self) -> str:
        if self.signal is not None:
            return f"signal {self.signal}"
        return "unknown exit" if self.code is None else f"exit code {self.code}"


@dataclass(frozen=True, slots=True)
class Ladder:
    """Seconds to wait for the exit after each step; an adapter declares its own."""

    eof_s: float = 1.0
    term_s: float = 1.0
    kill_s: float = 2.0

    def hurried_by(self, other: Ladder) -> Ladder:
        """The faster of both at each step."""
        return Ladder(
            min(self.eof_s, other.eof_s),
            min(self.term_s, other.term_s),
            min(self.kill_s, other.kill_s),
        )


class Stoppable(Protocol):
    """What can be climbed down on."""

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done once the child has exited. Wait on it; never await it bare, that could cancel it."""

    @property
    def takes_input(self) -> bool:
        """Whether it has an input that can be ended."""

    def close_stdin(self) -> None:
        """End the child's input, once what was written is out."""

    def signal(self, sig: signal.Signals) -> None:
        """Signal the child's group; nothing when the child has exited."""

    async def note_descendants(self) -> None:
        """Remember who is below the child now: after its death nobody can tell any more."""


class Descent:
    """One way down a ladder. It can be hurried while it runs, by a second Stop for example."""

    def __init__(self, target: Stoppable, ladder: Ladder) -> None:
        self._target = target
        self._ladder = ladder
        self._hurried: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def hurry(self, ladder: Ladder) -> None:
        """Use the faster deadlines from now on; a step that is overdue by them ends at once."""
        self._ladder = self._ladder.hurried_by(ladder)
        if not self._hurried.done():
            self._hurried.set_result(None)

    async def run(self) -> bool:
        """Climb down until the child has exited; False when it survived even KILL.

        What the child leaves behind is not dealt with here. Cancelling stops on the step reached.
        """
        target = self._target
        if target.exited.done():
            return True
        await target.note_descendants()
        target.close_stdin()
        if target.takes_input and await self._exits(lambda ladder: ladder.eof_s):
            return True
        await target.note_descendants()
        target.signal(signal.SIGTERM)
        if await self._exits(lambda ladder: ladder.term_s):
            return True
        await target.note_descendants()
        target.signal(signal.SIGKILL)
        return await self._exits(lambda ladder: ladder.kill_s)

    async def _exits(self, step_s: Callable[[Ladder], float]) -> bool:
        loop = asyncio.get_running_loop()
        start = loop.time()
        exited = self._target.exited
        while not exited.done() and (left := start + step_s(self._ladder) - loop.time()) > 0:
            if self._hurried.done():
                self._hurried = loop.create_future()
            either: set[asyncio.Future[Any]] = {exited, self._hurried}
            await asyncio.wait(either, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        return exited.done()
