"""A Claude Code CLI without a process: a handle whose other end is the test."""

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
Act = Callable[["ScriptedHandle", Json], None]


class ScriptedHandle:
    """Implements `launcher.Handle`. `say` is the CLI's stdout, `heard` what it was sent.

    `act` is called with each message that it gets.
    """

    def __init__(self, spawn: Spawn | None = None) -> None:
        self.argv = list(spawn.argv) if spawn else []
        self.child_id = spawn.child_id if spawn else "claude-test"
        self.identity = ProcessIdentity(1, 0, "", 1)
        self.trace = WireTrace()
        self.survivors: frozenset[ProcessIdentity] = frozenset()
        self.exit: Exit | None = None
        self.stderr = ""
        self.heard: list[Json] = []
        self.ladders: list[Ladder | None] = []
        self.answers_control = True
        self.act: Act | None = None
        self.payloads: dict[str, list[Json]] = {}
        """By subtype: what it answers to control requests, one after the other."""
        self.left = False
        self.position = 0
        self.settled = 0
        self.written: list[Frame] = []
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._end = 0

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

    def die(self, code: int = 1, stderr: str = "") -> None:
        """End the process."""
        self.exit, self.stderr = Exit(code, None), stderr
        self._frames.put_nowait(None)

    def leave(self) -> None:
        """This server lets go of it."""
        self.left = True
        self._frames.put_nowait(None)

    def requests(self, subtype: str) -> list[Json]:
        """Control requests that it got."""
        return [
            message["request"]
            for message in self.heard
            if message["type"] == "control_request" and message["request"]["subtype"] == subtype
        ]

    def replies(self) -> dict[str, Json]:
        """Answers to its own control requests, by their id."""
        return {
            message["response"]["request_id"]: message["response"]
            for message in self.heard
            if message["type"] == "control_response"
        }

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
        message = json.loads(line)
        self.heard.append(message)
        if self.act is not None:
            self.act(self, message)
        if message["type"] == "control_request" and self.answers_control:
            inner = {"subtype": "success", "request_id": message["request_id"]}
            if answers := self.payloads.get(message["request"]["subtype"]):
                inner |= answers.pop(0)
            self.say({"type": "control_response", "response": inner})

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
        self.ladders.append(ladder)
        if self.exit is None:
            self.die(0)
        return self.exit or Exit(0, None)


class ScriptedLauncher:
    """Implements `launcher.Launcher`: every start gives a new `ScriptedHandle`."""

    def __init__(self) -> None:
        self.handles: list[ScriptedHandle] = []
        self.answers_control = True
        self.act: Act | None = None

    async def spawn(self, spawn: Spawn) -> ScriptedHandle:
        handle = ScriptedHandle(spawn)
        handle.answers_control, handle.act = self.answers_control, self.act
        self.handles.append(handle)
        return handle

    async def attach(self, child_id: str, *, offset: int = 0) -> ScriptedHandle:
        """The newest CLI again, as another server has it: its output from `offset` on."""
        old = self.handles[-1]
        handle = ScriptedHandle()
        handle.argv, handle.child_id, handle.position = old.argv, old.child_id, offset
        handle.answers_control, handle.act = self.answers_control, self.act
        for frame in old.written:
            if frame.end > offset:
                handle.put(frame)
        handle._end = old._end
        if old.exit is not None:
            handle.die(old.exit.code or 0, old.stderr)
        self.handles.append(handle)
        return handle

    async def close(self, ladder: Ladder | None = None) -> None:
        pass


def init(session_id: str = "s-1", **more: Any) -> Json:
    """The line that opens a turn."""
    return {
        "type": "system",
        "subtype": "init",
        "session_id": session_id,
        "cwd": "/project",
        "model": "m-1",
        "permissionMode": "default",
        **more,
    }


def assistant(message_id: str, *blocks: Json, **more: Any) -> Json:
    """A finished block of an answer."""
    return {"type": "assistant", "message": {"id": message_id, "content": list(blocks)}, **more}


def event(kind: str, **more: Any) -> Json:
    """A stream event."""
    return {"type": "stream_event", "event": {"type": kind, **more}}


def result(**more: Any) -> Json:
    """The end of a turn."""
    return {"type": "result", "subtype": "success", "is_error": False, "num_turns": 1, **more}


def can_use_tool(request_id: str, name: str, arguments: Json, **more: Any) -> Json:
    """An ask."""
    request = {"subtype": "can_use_tool", "tool_name": name, "input": arguments, **more}
    return {"type": "control_request", "request_id": request_id, "request": request}


def tool_result(tool_id: str, content: Any, **more: Any) -> Json:
    """A call's result."""
    block = {"type": "tool_result", "tool_use_id": tool_id, "content": content}
    return {"type": "user", "message": {"content": [block]}, **more}
