"""A running child: the handle that launchers give out, whatever way its bytes travel."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable
from typing import Any

from ..errors import ProcessExited, ProviderTimeout
from .framing import Frame, LineFramer, Oversize
from .identity import ProcessIdentity
from .ladder import Descent, Exit, Ladder
from .streams import ChildStreams
from .sweep import find_leftovers, sweep
from .tasks import TaskOwner
from .trace import WireTrace

WRITE_TIMEOUT_S = 30.0

# what a grandchild that holds the pipe may add after the leader's death
_DRAIN_S = 0.5
_LEFTOVER_TERM_S = 0.5
_LAST_WORDS_S = 0.2
_EXIT_AFTER_BROKEN_PIPE_S = 1.0
# above these and a ladder's own deadlines something is wrong with this machine, not the child
_QUIET_S = 5.0
_FRAMES_PER_TURN = 32


class Child:
    """One child, its two-way line stream, and its way out. Implements `launcher.Handle`."""

    def __init__(
        self,
        child_id: str,
        identity: ProcessIdentity,
        streams: ChildStreams,
        *,
        framer: LineFramer,
        trace: WireTrace,
        tasks: TaskOwner,
        seen_alive: bool = True,
        on_quiet: Callable[[Child], None],
    ) -> None:
        self.child_id = child_id
        self.identity = identity
        self.trace = trace
        self.survivors: frozenset[ProcessIdentity] = frozenset()
        self.left = False
        self._streams = streams
        self._framer = framer
        self._tasks = tasks
        # of a child that was dead before we came, the group's number may have been used again
        self._seen_alive = seen_alive
        self._on_quiet = on_quiet
        self._known: set[ProcessIdentity] = set()
        self._writing = asyncio.Lock()
        self._reading = False
        self._killed = False
        self._input_ended = False
        self._descent: Descent | None = None
        self._stopping: asyncio.Task[Exit] | None = None
        self._quiet = tasks.spawn(self._settle(), name=f"settle {child_id}")

    # reading

    async def lines(self) -> AsyncGenerator[Frame, None]:
        """See `Handle.lines`."""
        taken = 0
        while (frame := await self._next_frame()) is not None:
            yield frame
            taken += 1
            if taken % _FRAMES_PER_TURN == 0:
                # a flood of tiny lines never waits by itself: let the others have the loop
                await asyncio.sleep(0)

    async def _next_frame(self) -> Frame | None:
        if self._reading:
            raise RuntimeError(f"child={self.child_id}: its lines have a reader already")
        self._reading = True
        try:
            while (frame := self._framer.next()) is None:
                chunk = await self._streams.read()
                if not chunk:
                    frame = self._framer.finish()
                    break
                self._framer.feed(chunk)
        finally:
            self._reading = False
        if isinstance(frame, Oversize):
            self.trace.record("out", f"{frame.head}… ({frame.dropped} bytes dropped)")
        elif frame is not None:
            self.trace.record("out", frame.text)
        return frame

    @property
    def position(self) -> int:
        """See `Handle.position`."""
        return self._framer.end

    def settle(self, upto: int) -> None:
        """See `Handle.settle`."""
        self._streams.settle(upto)

    def stderr_tail(self, limit_chars: int = 4096) -> str:
        """See `Handle.stderr_tail`."""
        return self._streams.stderr_tail(limit_chars)

    # writing

    async def write(self, line: str, *, timeout_s: float = WRITE_TIMEOUT_S) -> None:
        """See `Handle.write`."""
        if "\n" in line:
            raise ValueError("one line at a time: a newline inside would make two messages of it")
        if self._input_ended and not self.exited.done():
            raise ProcessExited("The input of the agent was closed; it is about to end.")
        data = line.encode("utf-8", "replace") + b"\n"
        try:
            async with asyncio.timeout(timeout_s), self._writing:
                # an earlier write that timed out may still fill the pipe: do not pile up
                await self._streams.drained()
                sent = self._streams.write(data)
                await self._streams.drained()
        except TimeoutError:
            raise ProviderTimeout(
                "The agent has stopped reading its input.",
                hint="Stop the run and send the prompt again.",
                timeout_s=timeout_s,
            ) from None
        if not sent or not self._streams.can_write:
            raise await self.failure()
        self.trace.record("in", line)

    def close_stdin(self) -> None:
        """See `Handle.close_stdin`."""
        self._input_ended = True
        self._streams.close_stdin()

    # the end

    @property
    def takes_input(self) -> bool:
        """Whether it was started with an input."""
        return self._streams.has_stdin

    @property
    def exited(self) -> asyncio.Future[Exit]:
        """Done at the exit; wait on it, never await it bare."""
        return self._streams.exited

    async def wait_started(self, timeout_s: float) -> None:
        """Wait for its first output or its exit, `timeout_s` seconds at most."""
        either: set[asyncio.Future[Any]] = {self._streams.first_output, self.exited}
        await asyncio.wait(either, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)

    @property
    def exit(self) -> Exit | None:
        """See `Handle.exit`."""
        return self.exited.result() if self.exited.done() else None

    async def wait_exit(self, timeout_s: float | None = None) -> Exit | None:
        """See `Handle.wait_exit`."""
        await asyncio.wait({self.exited}, timeout=timeout_s)
        return self.exit

    async def wait_quiet(self, timeout_s: float | None = None) -> bool:
        """See `Handle.wait_quiet`."""
        await asyncio.wait({self._quiet}, timeout=timeout_s)
        return self._quiet.done()

    async def failure(self) -> ProcessExited:
        """See `Handle.failure`."""
        if self._streams.trouble is not None:
            return self._streams.trouble
        ended = await self.wait_exit(_EXIT_AFTER_BROKEN_PIPE_S)
        await asyncio.wait({self._streams.output_ended}, timeout=_LAST_WORDS_S)
        what = f"The agent's process ended ({ended})." if ended else "The agent closed its input."
        return ProcessExited(
            what,
            exit_code=ended.code if ended else None,
            signal=ended.signal if ended else None,
            stderr_tail=self.stderr_tail(),
            hint="Send the prompt again to start the agent anew.",
        )

    def signal(self, sig: signal.Signals) -> None:
        """See `Handle.signal`."""
        if self.exited.done():
            return
        self._killed = self._killed or sig == signal.SIGKILL
        self._streams.signal(sig)

    async def note_descendants(self) -> None:
        """Remember who is below the child now; for the sweep after its death."""
        self._known |= await asyncio.to_thread(find_leftovers, self.child_id, self.identity)

    async def stop(self, ladder: Ladder | None = None) -> Exit:
        """See `Handle.stop`. One that was left to the next server is not ours to stop."""
        if self.left:
            return Exit(None, None)
        ladder = ladder or Ladder()
        if self._descent is None or self._stopping is None:
            self._descent = Descent(self, ladder)
            self._stopping = self._tasks.spawn(
                self._stop(self._descent), name=f"stop {self.child_id}"
            )
        else:
            self._descent.hurry(ladder)
        return await asyncio.shield(self._stopping)

    async def _stop(self, descent: Descent) -> Exit:
        if await descent.run():
            await self.wait_quiet(_QUIET_S)
            return self.exited.result()
        left = await sweep(self.child_id, self.identity, known=self._known, term_s=0)
        self.survivors = frozenset(left | {self.identity})
        return Exit(None, None)

    async def _settle(self) -> None:
        """After the exit: take the last output, end what was left behind, free the pipes."""
        try:
            await asyncio.wait({self.exited})
            if not self._killed:
                await self._streams.last_output(_DRAIN_S)
            left = await sweep(
                self.child_id,
                self.identity,
                known=self._known,
                headless_group=self._seen_alive,
                term_s=0 if self._killed else _LEFTOVER_TERM_S,
            )
            self.survivors = frozenset(left)
            await self._streams.last_output(_DRAIN_S)
        finally:
            self._streams.close()
            self._on_quiet(self)
        await asyncio.wait({self._streams.output_ended}, timeout=_DRAIN_S)
