"""A Codex app server without a process: a handle whose other end is played here or by the test."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncGenerator, Callable
from typing import Any

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.process.framing import Frame, Line
from jupyter_agentchat.process.identity import ProcessIdentity
from jupyter_agentchat.process.ladder import Exit, Ladder
from jupyter_agentchat.process.launcher import Spawn
from jupyter_agentchat.process.trace import WireTrace

Json = dict[str, Any]
Act = Callable[["ScriptedApp", Json], Any]
"""Called with each request or answer that it gets; True: it was dealt with."""

HANDSHAKE = {"initialize": {"userAgent": "jupyter_agentchat/0.171.0 (test)"}}


class ScriptedApp:
    """Implements `launcher.Handle`. `say` is its stdout, `heard` what it was sent.

    It knows threads and turns well enough for a run; what `act` deals with is left to the test.
    """

    def __init__(self, spawn: Spawn | None = None, act: Act | None = None) -> None:
        self.argv = list(spawn.argv) if spawn else []
        self.env = dict(spawn.env) if spawn else {}
        self.child_id = spawn.child_id if spawn else "codex-test"
        self.identity = ProcessIdentity(1, 0, "", 1)
        self.trace = WireTrace()
        self.survivors: frozenset[ProcessIdentity] = frozenset()
        self.exit: Exit | None = None
        self.stderr = ""
        self.heard: list[Json] = []
        self.lines_in: list[str] = []
        self.act = act
        self.results: dict[str, Json] = {}
        """By method: what it answers where it has nothing of its own to say."""
        self.threads = 0
        self.turns = 0
        self.left = False
        self.position = 0
        self.settled = 0
        self.written: list[Frame] = []
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._end = 0

    # what it says

    def say(self, *messages: Json | str) -> None:
        """Write lines."""
        for message in messages:
            text = message if isinstance(message, str) else json.dumps(message)
            self._end += len(text) + 1
            self.put(Line(text, self._end))

    def put(self, frame: Frame) -> None:
        """Hand over a frame as it is."""
        self.written.append(frame)
        self._frames.put_nowait(frame)

    def tell(self, method: str, thread_id: str, **params: Any) -> None:
        """A notification about a thread."""
        self.say({"method": method, "params": {"threadId": thread_id, **params}})

    def answer(self, request: Json, result: Json) -> None:
        """The result of a request."""
        self.say({"id": request["id"], "result": result})

    def refuse(self, request: Json, message: str, code: int = -32600) -> None:
        """An error answer."""
        self.say({"id": request["id"], "error": {"code": code, "message": message}})

    def text(self, thread_id: str, turn_id: str, text: str, item_id: str = "msg_1") -> None:
        """A streamed message."""
        common = {"turnId": turn_id, "itemId": item_id}
        self.tell("item/agentMessage/delta", thread_id, delta=text[:2], **common)
        item = {"type": "agentMessage", "id": item_id, "text": text}
        self.tell("item/completed", thread_id, turnId=turn_id, item=item)

    def command(self, thread_id: str, turn_id: str, *, over: bool, **more: Any) -> None:
        """A command that begins or ends."""
        item = {
            "type": "commandExecution",
            "id": "call_1",
            "command": "/bin/bash -lc 'make all'",
            "status": "completed" if over else "inProgress",
            **({"exitCode": 0} if over else {}),
            **more,
        }
        method = "item/completed" if over else "item/started"
        self.tell(method, thread_id, turnId=turn_id, item=item)

    def begin(self, request: Json) -> tuple[str, str]:
        """Answer a `turn/start` and begin its turn; (thread, turn)."""
        thread_id = request["params"]["threadId"]
        self.turns += 1
        turn_id = f"turn-{self.turns}"
        turn = {"id": turn_id, "status": "inProgress", "items": []}
        self.answer(request, {"turn": turn})
        self.tell("thread/status/changed", thread_id, status={"type": "active"})
        self.tell("turn/started", thread_id, turn={"id": turn_id, "rootTurnId": turn_id})
        return thread_id, turn_id

    def finish(self, thread_id: str, turn_id: str, status: str = "completed", **more: Any) -> None:
        """The turn is over."""
        self.tell("thread/status/changed", thread_id, status={"type": "idle"})
        turn = {"id": turn_id, "status": status, **more}
        self.tell("turn/completed", thread_id, turn=turn)

    def die(self, code: int = 1, stderr: str = "") -> None:
        """End the process."""
        self.exit, self.stderr = Exit(code, None), stderr
        self._frames.put_nowait(None)

    def leave(self) -> None:
        """This server lets go of it."""
        self.left = True
        self._frames.put_nowait(None)

    # what it hears

    def requests(self, method: str) -> list[Json]:
        """The requests of one method that it got."""
        return [message for message in self.heard if message.get("method") == method]

    def params(self, method: str) -> Json:
        """The parameters of the newest request of that method."""
        params: Json = self.requests(method)[-1]["params"]
        return params

    def replies(self) -> dict[Any, Any]:
        """Answers to its own requests, by their id; an error as it is."""
        return {
            message["id"]: message.get("result", message.get("error"))
            for message in self.heard
            if "method" not in message
        }

    def _react(self, message: Json) -> None:
        if self.act is not None and self.act(self, message):
            return
        match message.get("method"):
            case "initialize":
                self.answer(message, HANDSHAKE["initialize"])
            case "thread/start" | "thread/fork":
                self.threads += 1
                thread = {"id": f"thread-{self.threads}", "status": {"type": "idle"}}
                self.answer(message, {"thread": thread, "model": "gpt-test"})
            case "thread/resume":
                thread = {"id": message["params"]["threadId"], "status": {"type": "idle"}}
                self.answer(message, {"thread": thread, "model": "gpt-test"})
            case "turn/start":
                thread_id, turn_id = self.begin(message)
                self.text(thread_id, turn_id, "Here is the answer.")
                self.finish(thread_id, turn_id)
            case "turn/interrupt":
                self.answer(message, {})
                self.finish(
                    message["params"]["threadId"], message["params"]["turnId"], "interrupted"
                )
            case str() as method if "id" in message:
                self.answer(message, self.results.get(method, {}))

    # ---- Handle

    async def lines(self) -> AsyncGenerator[Frame, None]:
        while (frame := await self._frames.get()) is not None:
            self.position = frame.end
            yield frame
        if self.left:
            raise ChildGone("The server has left it.")

    def settle(self, upto: int) -> None:
        self.settled = max(self.settled, upto)

    async def write(self, line: str, *, timeout_s: float = 30.0) -> None:
        if self.exit is not None:
            raise await self.failure()
        self.lines_in.append(line)
        if not line:
            return
        message = json.loads(line)
        self.heard.append(message)
        self._react(message)

    def close_stdin(self) -> None:
        pass

    def signal(self, sig: signal.Signals) -> None:
        pass

    async def wait_exit(self, timeout_s: float | None = None) -> Exit | None:
        return self.exit

    async def wait_quiet(self, timeout_s: float | None = None) -> bool:
        return True

    async def failure(self) -> ProcessExited:
        code = self.exit.code if self.exit else None
        return ProcessExited("The process ended.", exit_code=code, stderr_tail=self.stderr)

    def stderr_tail(self, limit_chars: int = 4096) -> str:
        return self.stderr

    async def stop(self, ladder: Ladder | None = None) -> Exit:
        if self.exit is None:
            self.die(0)
        return self.exit or Exit(0, None)


class ScriptedLauncher:
    """Implements `launcher.Launcher`: every start gives a new `ScriptedApp` with this `act`.

    `attach` gives the newest again, with all it wrote from the offset on, as a spool would.
    """

    def __init__(self, act: Act | None = None) -> None:
        self.act = act
        self.apps: list[ScriptedApp] = []

    async def spawn(self, spawn: Spawn) -> ScriptedApp:
        app = ScriptedApp(spawn, self.act)
        self.apps.append(app)
        return app

    async def attach(self, child_id: str, *, offset: int = 0) -> ScriptedApp:
        old = self.apps[-1]
        if old.child_id != child_id:
            raise ChildGone("There is no such child.")
        app = ScriptedApp(None, self.act)
        app.child_id, app.threads, app.turns = old.child_id, old.threads, old.turns
        app._end, app.position = old._end, offset
        app.exit, app.stderr = old.exit, old.stderr
        for frame in old.written:
            if frame.end > offset:
                app.put(frame)
        if app.exit is not None:
            app._frames.put_nowait(None)
        self.apps.append(app)
        return app

    async def close(self, ladder: Ladder | None = None) -> None:
        for app in self.apps:
            await app.stop(ladder)
