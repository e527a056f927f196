"""The events of one session, in order, from whichever connection brought them.

While a run reads the feed its events wait for it, a bounded number of them: a slow store slows the
connection. With no reader they are passed over, but for a turn that nobody asked for: its events
are kept, and somebody is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from ...errors import ProviderError
from ...protocol.events import EventBody
from .fill import StepKey, Texts, fill, step_of
from .translate import is_unasked
from .wire import MAIN, Json, int_of, object_of, text_of

WAITING_LIMIT: Final = 4_000

Item = Json | tuple[EventBody, ...]
"""An event, or bodies that stand for none."""


class Feed:
    """One session's events. `seq` and `epoch` say up to where they are known."""

    def __init__(self, session_id: str, on_unasked: Callable[[Feed, int], None]) -> None:
        self.session_id = session_id
        self.seq = 0
        self.epoch = ""
        self.owner: str | None = None
        """The run that reads it."""
        self.kept = False
        """Events of a turn that nobody asked for are kept, until a run reads them."""
        self.kept_from = 0
        """The seq of the event that began that turn."""
        self.failure: ProviderError | None = None
        self.lost = False
        """Events were missed that cannot be had again."""
        self._prompts: set[str] = set()
        self._on_unasked = on_unasked
        self._queue: asyncio.Queue[Item | None] = asyncio.Queue(WAITING_LIMIT)
        self._held: list[Json] | None = None
        self._running: StepKey | None = None
        self._running_before: StepKey | None = None

    @property
    def read(self) -> bool:
        """Whether events wait for a reader."""
        return self.owner is not None or self.kept

    def begin(self, owner: str) -> None:
        """A run reads the events from here on, and those that were kept."""
        if not self.kept:
            self._clear()
        self.owner, self.kept, self.failure = owner, False, None
        self._prompts = set()

    def end(self, owner: str) -> None:
        """The run reads no more. What came behind its end is not its own. Idempotent."""
        if self.owner != owner:
            return
        self.owner = None
        for item in self._clear():
            if isinstance(item, dict):
                self._look_at(item)
                if self.kept:
                    self._queue.put_nowait(item)

    def drop(self) -> None:
        """Nobody will read what was kept."""
        self.kept = False
        if self.owner is None:
            self._clear()

    async def get(self) -> Item | None:
        """The next item; None when nothing will follow, `failure` says why."""
        if self.failure is not None and self._queue.empty():
            return None
        return await self._queue.get()

    def fail(self, failure: ProviderError) -> None:
        """Nothing will follow."""
        self.failure = failure
        self._held = None
        if not self._queue.full():  # else the reader comes to the end by itself
            self._queue.put_nowait(None)

    def add(self, bodies: tuple[EventBody, ...]) -> None:
        """Bodies for the run that reads, which no event brings; left out when there is no room."""
        if self.owner is not None and not self._queue.full():
            self._queue.put_nowait(bodies)

    def hold(self) -> None:
        """What comes is kept back until `release`: text may have to be put in between."""
        self._held = []
        self._running_before = self._running

    async def release(self, texts: Texts, *, stored: int = 0) -> None:
        """Let go of what was kept back, with the texts put in. Idempotent."""
        frames = fill(self.held, texts, running=self._running_before, stored=stored)
        while self._held is not None:
            self._held = []  # what comes while these are handed on stands behind them
            for frame in frames:
                await self._deliver(frame)
            frames = self.held
            if not frames:
                self._held = None

    def has_prompt(self, prompt_id: str) -> bool:
        """Whether the prompt was among the events since the run began to read."""
        return prompt_id in self._prompts

    @property
    def held(self) -> list[Json]:
        """What is kept back."""
        return self._held or []

    @property
    def running_before(self) -> StepKey | None:
        """The step that ran when `hold` was called."""
        return self._running_before

    async def take(self, frame: Json) -> None:
        """One event from the connection; what is known already is passed over."""
        if frame.get("volatile") is not True:
            seq = int_of(frame, "seq") or 0
            if seq <= self.seq:
                return
            self.seq = seq
            self.epoch = text_of(frame, "epoch") or self.epoch
            self._note(frame)
        if self._held is not None:
            self._held.append(frame)
            return
        await self._deliver(frame)

    async def _deliver(self, frame: Json) -> None:
        self._look_at(frame)
        if self.read:
            await self._queue.put(frame)

    def _look_at(self, frame: Json) -> None:
        turn = int_of(object_of(frame, "payload"), "turnId")
        if not self.read and is_unasked(frame) and turn is not None:
            self._clear()
            self.kept = True
            self.kept_from = int_of(frame, "seq") or 0
            self._on_unasked(self, turn)

    def _note(self, frame: Json) -> None:
        kind, payload = text_of(frame, "type"), object_of(frame, "payload")
        main = text_of(payload, "agentId") == MAIN
        if (step := step_of(frame)) is not None:
            self._running = step
        elif kind in ("turn.step.completed", "turn.ended") and main:
            self._running = None
        elif kind == "prompt.submitted" and main and self.owner is not None:
            self._prompts.add(text_of(payload, "promptId"))

    def _clear(self) -> list[Item | None]:
        # also lets go whoever waits for room
        return [self._queue.get_nowait() for _ in range(self._queue.qsize())]
