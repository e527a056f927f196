"""Replays a recording of Codex: every prompt begins a run, lines go to the run of their thread."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol

from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.providers.codex.received import Received
from jupyter_agentchat.providers.codex.translate import Translator, Turn
from jupyter_agentchat.providers.codex.wire import as_object, thread_of

OPENING = frozenset({"thread/start", "thread/resume", "thread/fork"})
PROMPTING = frozenset({"turn/start", "review/start", "thread/compact/start"})


class Recorded(Protocol):
    """One line of a recording."""

    dir: str
    line: str


class _Replay:
    def __init__(self) -> None:
        self.runs: list[list[EventBody]] = []
        self._now: dict[str, tuple[Translator, list[EventBody]]] = {}
        self._opened: dict[str, Received] = {}
        self._asked: dict[Any, tuple[str, str]] = {}
        self._end = 0

    def take(self, item: Recorded) -> None:
        try:
            message = json.loads(item.line)
        except ValueError:
            return
        if not isinstance(message, dict):
            return
        if item.dir == "in":
            self._sent(message)
        elif item.dir == "out":
            self._end += len(item.line) + 1
            self._said(message)

    def _sent(self, message: dict[str, Any]) -> None:
        method, thread_id = message.get("method"), message.get("params", {}).get("threadId", "")
        if method is None:
            for translator, _ in self._now.values():
                for ask_id, opened in list(translator.asks.items()):
                    if opened.request_id == message.get("id"):
                        del translator.asks[ask_id]
            return
        self._asked[message.get("id")] = (method, thread_id)
        running = thread_id in self._now and not self._now[thread_id][0].finished
        if method in PROMPTING and not running:
            bodies: list[EventBody] = []
            self.runs.append(bodies)
            cwd = "<WORKSPACE>"
            translator = Translator(Turn(f"run-{len(self.runs)}", "codex", cwd, thread_id))
            self._now[thread_id] = (translator, bodies)
            if (opened := self._opened.pop(thread_id, None)) is not None:
                bodies += translator.read(opened)

    def _said(self, message: dict[str, Any]) -> None:
        params = as_object(message.get("params"))
        if "method" not in message:
            self._answered(message)
            return
        kind = "notification" if message.get("id") is None else "request"
        item = Received(kind, message["method"], params, self._end, request_id=message.get("id"))
        thread_id = thread_of(params)
        for_all = item.method == "account/rateLimits/updated"
        for owner, (translator, bodies) in self._now.items():
            if for_all or thread_id == owner:
                bodies += translator.read(item)

    def _answered(self, message: dict[str, Any]) -> None:
        method, thread_id = self._asked.get(message["id"], ("", ""))
        result, error = as_object(message.get("result")), message.get("error")
        if method in OPENING and error is None:
            self._opened[thread_of(result)] = Received("answer", "thread", result, self._end)
        elif method in PROMPTING and thread_id in self._now:
            translator, bodies = self._now[thread_id]
            bodies += translator.read(Received("answer", "turn", result, self._end, error=error))


def codex_runs(recorded: Sequence[Recorded]) -> list[list[EventBody]]:
    """The runs of a recording, each a list of bodies."""
    replay = _Replay()
    for item in recorded:
        replay.take(item)
    return replay.runs
