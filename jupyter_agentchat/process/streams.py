"""What a `Child` needs of the way its bytes travel: pipes here, files that outlive us there."""

from __future__ import annotations

import asyncio
import signal
from typing import Protocol

from ..errors import ProcessExited
from .ladder import Exit


class ChildStreams(Protocol):
    """The input, the output and the end of one child.

    The futures are for waiting on, not for awaiting bare: cancelling a waiter must not cancel the
    fact.
    """

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done as soon as the exit is known, output ended or not."""

    @property
    def first_output(self) -> asyncio.Future[None]:
        """Done once it said anything on stdout."""

    @property
    def output_ended(self) -> asyncio.Future[None]:
        """Done once nothing can be added to what can be read."""

    @property
    def trouble(self) -> ProcessExited | None:
        """Why it has to be ended from our side, where that is so."""

    @property
    def has_stdin(self) -> bool:
        """Whether the child was given an input at all."""

    @property
    def can_write(self) -> bool:
        """Whether the child still takes input, as far as we know."""

    def write(self, data: bytes) -> bool:
        """Hand `data` over as a whole; False when there is nobody to take it."""

    async def drained(self) -> None:
        """Wait until the child has taken what was written, or can take no more."""

    def close_stdin(self) -> None:
        """Deliver end of input behind what was written."""

    async def read(self) -> bytes:
        """The next piece of stdout; b"" after its end. Cancelling loses nothing."""

    def stderr_tail(self, limit_chars: int) -> str:
        """The end of stderr, redacted."""

    def signal(self, sig: signal.Signals) -> None:
        """Signal the child's group. Only before the exit is known."""

    def settle(self, upto: int) -> None:
        """What lies below the offset `upto` of stdout will not be asked for again."""

    async def last_output(self, timeout_s: float) -> None:
        """After the exit: wait until nobody is left who could add to the output."""

    def close(self) -> None:
        """Give up what is still open. Only after the exit; what was read can still be taken."""
