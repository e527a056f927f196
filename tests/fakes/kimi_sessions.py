"""The conversations of the stand-in of Kimi Code: their events, prompts and listeners."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

Json = dict[str, Any]

SESSIONS: dict[str, Session] = {}
PLAYERS: list[Callable[[Session, str, str], Awaitable[None]]] = []
"""What plays a turn: (session, prompt id, words)."""


class Listener(Protocol):
    """Whoever is told of a session."""

    def say(self, frame: Json) -> None:
        """Tell an event."""

    def say_half(self, frame: Json) -> None:
        """Tell the first half of an event."""

    def close(self) -> None:
        """Cut the connection."""


class Refusal(Exception):
    """A refusal in the server's own way."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(message)
        self.code = code


class Session:
    """One conversation: its events, its turns, and whoever listens."""

    def __init__(self, cwd: str) -> None:
        self.id = f"session_{uuid.uuid4()}"
        self.cwd = cwd
        self.metadata: Json = {}
        self.config: Json = {}
        self.epoch = f"ep_{uuid.uuid4().hex}"
        self.events: list[Json] = []
        self.listeners: set[Listener] = set()
        self.turns: list[Json] = []
        self.said: list[str] = []
        self.queue: list[tuple[str, str]] = []
        self.steered: list[tuple[str, str]] = []
        self.pending: dict[str, asyncio.Future[Json]] = {}
        self.used: set[str] = set()
        self.active: str | None = None
        self.begun = False
        self.running: Json | None = None
        self._task: asyncio.Task[None] | None = None
        self._turn = -1
        self._seq = 0

    def tell(self, kind: str, *, volatile: bool = False, lost: bool = False, **more: Any) -> None:
        """An event; `lost` ones reach nobody."""
        offset = more.pop("offset", None)
        self._seq += 0 if volatile else 1
        payload = {"type": kind, "agentId": "main", **more}
        frame = {
            "type": kind,
            "seq": self._seq,
            "epoch": self.epoch,
            "session_id": self.id,
            "payload": payload,
            **({"volatile": True} if volatile else {}),
            **({} if offset is None else {"offset": offset}),
        }
        if not volatile:
            self.events.append(frame)
        for listener in [] if lost else list(self.listeners):
            listener.say(frame)

    @property
    def seq(self) -> int:
        return self._seq

    def submit(self, prompt_id: str, text: str) -> str:
        """Begin a prompt, or queue it."""
        if prompt_id in self.used:
            raise Refusal(40927, f"prompt_id '{prompt_id}' is already in use")
        self.used.add(prompt_id)
        status = "queued" if self.active else "running"
        self.tell("prompt.submitted", promptId=prompt_id, status=status)
        if self.active:
            self.queue.append((prompt_id, text))
        else:
            self.active = prompt_id
            self._task = asyncio.create_task(self._run(prompt_id, text))
        return status

    def steer(self, prompt_ids: list[str]) -> None:
        for item in list(self.queue):
            if item[0] in prompt_ids:
                self.queue.remove(item)
                self.steered.append(item)
                self.tell("prompt.steered", promptIds=[item[0]])

    def abort(self, prompt_id: str | None = None) -> None:
        if self._task is None or self.active is None or prompt_id not in (None, self.active):
            raise Refusal(40402, "no prompt with that id")
        if not self.begun:
            raise Refusal(40402, "it has not begun")
        if not self.said[-1].startswith("deaf"):
            self._task.cancel()

    def undo(self) -> None:
        if not self.turns:
            raise Refusal(40911, "Nothing to undo")
        self.turns.pop()
        self.said.pop()

    def fork(self) -> Session:
        copy = Session(self.cwd)
        copy.turns, copy.said, copy._turn = list(self.turns), list(self.said), self._turn
        SESSIONS[copy.id] = copy
        return copy

    async def _run(self, prompt_id: str, text: str) -> None:
        self.begun = True
        try:
            await PLAYERS[0](self, prompt_id, text)
        finally:
            self.running = None
            left = self.steered + self.queue
            self.steered, self.queue, self.active, self.begun = [], [], None, False
            if left:
                self.active = left[0][0]
                self.queue = left[1:]
                self._task = asyncio.create_task(self._run(*left[0]))
            elif text.startswith("task"):
                self._task = asyncio.create_task(self._run("", "say by itself"))

    def next_turn(self) -> int:
        self._turn += 1
        return self._turn
