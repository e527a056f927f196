"""An ACP agent without a process: a handle whose other end is the test, and what it says."""

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
Play = Callable[["ScriptedAgent", Json], None]

SESSION = "s-1"
MODES = {
    "currentModeId": "default",
    "availableModes": [
        {"id": name, "name": name} for name in ("plan", "default", "auto-edit", "yolo")
    ],
}
CAPABILITIES = {
    "loadSession": True,
    "promptCapabilities": {"image": True},
    "mcpCapabilities": {"http": True},
    "sessionCapabilities": {},
}


class ScriptedAgent:
    """Implements `launcher.Handle`. `say` is the agent's stdout, `heard` what it was sent.

    It answers the protocol's questions by `answers` (a result, or an error as RpcRefusal), and
    plays each prompt by `play`.
    """

    def __init__(self, spawn: Spawn | None = None) -> None:
        self.argv = list(spawn.argv) if spawn else []
        self.env = dict(spawn.env) if spawn else {}
        self.child_id = spawn.child_id if spawn else "acp-test"
        self.identity = ProcessIdentity(1, 0, "", 1)
        self.trace = WireTrace()
        self.survivors: frozenset[ProcessIdentity] = frozenset()
        self.exit: Exit | None = None
        self.stderr = ""
        self.heard: list[Json] = []
        self.ladders: list[Ladder | None] = []
        self.answers: dict[str, Any] = {
            "initialize": {"protocolVersion": 1, "agentCapabilities": CAPABILITIES},
            "session/new": {"sessionId": SESSION, "modes": MODES},
            "session/load": {"modes": MODES},
            "session/set_mode": {},
            "session/set_model": {},
        }
        self.history = ["Before."]
        """What a loaded conversation replays."""
        self.play: Play | None = None
        self.prompt_id: Any = None
        self.asleep = False
        """It reads, and does not react yet; see `wake`."""
        self.left = False
        self.position = 0
        self.settled = 0
        self.written: list[Frame] = []
        self._frames: asyncio.Queue[Frame | None] = asyncio.Queue()
        self._end = 0

    def say(self, *messages: Json | str) -> None:
        """Write lines."""
        for message in messages:
            whole = message if isinstance(message, str) else {"jsonrpc": "2.0", **message}
            text = whole if isinstance(whole, str) else json.dumps(whole)
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

    def end(self, reason: str = "end_turn", **more: Any) -> None:
        """Answer the prompt."""
        self.say({"id": self.prompt_id, "result": {"stopReason": reason, **more}})

    def fail(self, code: int, message: str, data: Any = None) -> None:
        """Answer the prompt with an error."""
        error = {"code": code, "message": message, **({"data": data} if data else {})}
        self.say({"id": self.prompt_id, "error": error})

    def sent(self, method: str) -> list[Json]:
        """The params of all it got by `method`."""
        return [one.get("params", {}) for one in self.heard if one.get("method") == method]

    def replies(self) -> dict[Any, Json]:
        """Answers to its own requests, by their id: the result, or the error."""
        return {
            one["id"]: one.get("result", one.get("error"))
            for one in self.heard
            if "method" not in one
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
        if not self.asleep:
            self._react(message)

    def wake(self) -> None:
        """React to what was heard asleep, and from now on at once."""
        self.asleep = False
        for message in list(self.heard):
            self._react(message)

    def _react(self, message: Json) -> None:
        method = message.get("method")
        if method == "session/prompt":
            self.prompt_id = message["id"]
            if self.play is not None:
                self.play(self, message)
            return
        if method is None or "id" not in message:
            if self.play is not None:
                self.play(self, message)
            return
        if method in ("session/load", "session/fork"):
            for text in self.history:
                self.say(update("user_message_chunk", content=words(text)))
        answer = self.answers.get(method, Refusal(-32601, f"Method not found: {method}"))
        if isinstance(answer, Refusal):
            self.say({"id": message["id"], "error": {"code": answer.code, "message": answer.text}})
        else:
            self.say({"id": message["id"], "result": answer})

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


class Refusal:
    """An error in place of an answer."""

    def __init__(self, code: int, text: str = "no") -> None:
        self.code, self.text = code, text


class ScriptedLauncher:
    """Implements `launcher.Launcher`: every start gives a new `ScriptedAgent`.

    `prepare` is called with each before it is used.
    """

    def __init__(self) -> None:
        self.agents: list[ScriptedAgent] = []
        self.play: Play | None = None
        self.prepare: Callable[[ScriptedAgent], None] | None = None

    async def spawn(self, spawn: Spawn) -> ScriptedAgent:
        return self._hold(ScriptedAgent(spawn))

    async def attach(self, child_id: str, *, offset: int = 0) -> ScriptedAgent:
        """The newest agent again, as another server has it: its output from `offset` on."""
        old = self.agents[-1]
        agent = self._hold(ScriptedAgent())
        agent.argv, agent.child_id, agent.position = old.argv, old.child_id, offset
        agent.prompt_id, agent.heard = old.prompt_id, old.heard
        for frame in old.written:
            if frame.end > offset:
                agent.put(frame)
        agent._end = old._end
        if old.exit is not None:
            agent.die(old.exit.code or 0, old.stderr)
        return agent

    async def close(self, ladder: Ladder | None = None) -> None:
        pass

    def _hold(self, agent: ScriptedAgent) -> ScriptedAgent:
        agent.play = self.play
        if self.prepare is not None:
            self.prepare(agent)
        self.agents.append(agent)
        return agent


def words(text: str) -> Json:
    """A content block of text."""
    return {"type": "text", "text": text}


def update(what: str, /, session: str = SESSION, **more: Any) -> Json:
    """A `session/update`."""
    params = {"sessionId": session, "update": {"sessionUpdate": what, **more}}
    return {"method": "session/update", "params": params}


def text(piece: str, **more: Any) -> Json:
    """A chunk of an answer."""
    return update("agent_message_chunk", content=words(piece), **more)


def thought(piece: str) -> Json:
    """A chunk of reasoning."""
    return update("agent_thought_chunk", content=words(piece))


def call(call_id: str, **more: Any) -> Json:
    """A `tool_call`."""
    return update("tool_call", toolCallId=call_id, **more)


def call_update(call_id: str, **more: Any) -> Json:
    """A `tool_call_update`."""
    return update("tool_call_update", toolCallId=call_id, **more)


def shell(call_id: str = "t1", command: str = "make", **more: Any) -> Json:
    """A shell call that has begun."""
    given = {"kind": "execute", "title": command, "status": "in_progress", **more}
    return call(call_id, rawInput={"command": command}, **given)


ONCE = {"optionId": "once", "name": "Allow", "kind": "allow_once"}
ALWAYS = {"optionId": "always", "name": "Allow for this session", "kind": "allow_always"}
REJECT = {"optionId": "no", "name": "Reject", "kind": "reject_once"}


def ask(request_id: int | str, tool: Json, *options: Json, session: str = SESSION) -> Json:
    """A `session/request_permission`."""
    params = {"sessionId": session, "toolCall": tool, "options": list(options or (ONCE, REJECT))}
    return {"id": request_id, "method": "session/request_permission", "params": params}


def last_text(message: Json) -> str:
    """The text of a prompt's last block."""
    return str(message["params"]["prompt"][-1]["text"])
