"""One native agent's process: greeted, written to, and kept warm between the runs of a chat."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress

from pydantic import BaseModel

from ...errors import ChildGone, ProtocolError, ProviderError, ProviderTimeout
from ...process.framing import Frame, Line
from ...process.ladder import Ladder
from ...process.launcher import Handle
from ...process.tasks import TaskOwner
from ...protocol.native import AgentHello, OpClose
from .wire import encode, parse_hello

_log = logging.getLogger(__name__)

_CLOSE_WRITE_S = 0.5


class NativeChild:
    """A process after its start. At most one run uses it at a time.

    Between runs its output is read and dropped, so that what it says unasked is not taken for a
    part of the next run, and so that its death is noticed.
    """

    def __init__(self, handle: Handle, ladder: Ladder, *, name: str, cwd: str) -> None:
        self.handle = handle
        self.cwd = cwd
        self.hello = AgentHello(name=name)
        self.busy = False
        """A run has begun and its end was not seen."""
        self._ladder = ladder
        self._name = name
        self._ended = False
        self._resting: asyncio.Task[None] | None = None

    @property
    def usable(self) -> bool:
        """Whether a run may be given to it."""
        return not self.busy and not self._ended and self.handle.exit is None

    async def greet(self, timeout_s: float) -> AgentHello:
        """Read the greeting, which must be the first line.

        Raises ProviderTimeout, ProtocolError or ProcessExited; the process is not stopped.
        """
        try:
            async with asyncio.timeout(timeout_s), aclosing(self.handle.lines()) as frames:
                frame = await anext(frames, None)
        except TimeoutError:
            raise ProviderTimeout(
                f"{self._name} did not say hello within {timeout_s:g} s.",
                hint="Start its command in a terminal: its first line must be a hello.",
                timeout_s=timeout_s,
                stderr_tail=self.handle.stderr_tail(),
            ) from None
        if frame is None:
            raise await self.handle.failure()
        hello = parse_hello(frame.text) if isinstance(frame, Line) else None
        if hello is None:
            raise ProtocolError(
                f"{self._name} does not speak the native agent protocol.",
                hint="Its standard output must carry JSON lines only, a hello first.",
                stderr_tail=self.handle.stderr_tail(),
            )
        self.hello = hello
        return hello

    def frames(self) -> AsyncGenerator[Frame, None]:
        """What it writes, up to the end of output."""
        return self.handle.lines()

    async def send(self, op: BaseModel, *, timeout_s: float = 30.0) -> None:
        """Write one operation. Raises ProviderTimeout or ProcessExited."""
        await self.handle.write(encode(op), timeout_s=timeout_s)

    def rest(self, tasks: TaskOwner, idle_s: float, on_gone: Callable[[], None]) -> None:
        """The run is over: drop what comes unasked; end the process after `idle_s` seconds.

        `on_gone` is called when it was ended, or had ended, without having been woken.
        """
        self.busy = False
        resting = self._rest(idle_s, on_gone)
        self._resting = tasks.spawn(resting, name=f"rest {self.handle.child_id}")

    async def wake(self) -> bool:
        """Before a run: stop resting. False when it is not usable any more."""
        resting, self._resting = self._resting, None
        if resting is not None:
            # a run that follows at once: let it drop what has already been read
            await asyncio.sleep(0)
            resting.cancel()
            await asyncio.wait({resting})
        return self.usable

    async def stop(self, ladder: Ladder | None = None) -> None:
        """Say close, then climb down the ladder; returns once the process is quiet. Idempotent."""
        self._ended = True
        if self._resting is not asyncio.current_task():
            await self.wake()
        if not self.busy and self.handle.exit is None:
            with suppress(ProviderError):
                await self.send(OpClose(), timeout_s=_CLOSE_WRITE_S)
        ended = await self.handle.stop(ladder or self._ladder)
        _log.debug("child=%s ended: %s", self.handle.child_id, ended)

    async def _rest(self, idle_s: float, on_gone: Callable[[], None]) -> None:
        try:
            async with asyncio.timeout(idle_s), aclosing(self.handle.lines()) as frames:
                async for _ in frames:
                    _log.info("child=%s wrote a line outside a run", self.handle.child_id)
            self._ended = True  # its output ended: whatever it still does, it cannot answer
        except TimeoutError:
            _log.info("child=%s was idle for %s s", self.handle.child_id, idle_s)
        except ChildGone:
            return  # the server stops and leaves it to the next one
        await self.stop()
        on_gone()
