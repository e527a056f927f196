"""What the tour can do in front of a person: speak, think, show a checklist, use a tool, ask.

Everything is streamed at a human pace, and at every pause the input is looked at, so that Stop
takes effect at once wherever the script stands.
"""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .wire import Body, Prompt, Wire

_CHUNK_CHARS = 30
_CHUNK_S = 0.03
_COMMAND_DEADLINE_S = 10.0
_OUTPUT_LIMIT = 32_768


class CancelledError(Exception):
    """The person pressed Stop, or nobody is listening any more."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back on an ask; `answers` maps question ids to the chosen labels or typed words."""

    decision: str
    option_id: str | None = None
    answers: dict[str, list[str]] = field(default_factory=dict)
    message: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a tool call ended. `text` is its output as the person sees it."""

    text: str = ""
    status: str = "completed"
    diffs: tuple[Body, ...] = ()
    exit_code: int | None = None


class Stage:
    """One run, seen from the script: every method writes events and returns when they are out.

    All of them raise CancelledError when the run is to end. `pace` stretches the pauses; 0 is as
    fast as the pipe takes it.
    """

    def __init__(self, wire: Wire, prompt: Prompt, *, pace: float = 1.0) -> None:
        self.prompt = prompt
        self._wire = wire
        self._pace = pace
        self._count = 0
        self._open: tuple[str, str, list[str]] | None = None

    @property
    def cwd(self) -> Path:
        """The folder that the chat works in."""
        return self.prompt.cwd

    def emit(self, body: Body) -> None:
        """Write one event body."""
        self._wire.write(body)

    def say(self, markdown: str) -> None:
        """Stream a piece of the answer."""
        self._stream("assistant_text", markdown)

    def think(self, text: str) -> None:
        """Stream a piece of reasoning."""
        self._stream("thinking", text)

    def finish_open(self) -> None:
        """Close the item that a cancel cut short: what was shown so far stays."""
        if self._open is not None:
            kind, item_id, shown = self._open
            self._open = None
            self.emit({"type": kind, "item_id": item_id, "text": "".join(shown), "final": True})

    def plan(self, entries: Iterable[tuple[str, str]]) -> None:
        """Show the checklist: (text, status) pairs."""
        self.emit(
            {
                "type": "plan",
                "entries": [{"text": text, "status": status} for text, status in entries],
            }
        )

    def start_tool(self, kind: str, name: str, title: str, given: Body) -> str:
        """Show that a tool call begins; returns its id."""
        tool_id = self._new_id("tool")
        self.emit(
            {"type": "tool_use_start", "tool_id": tool_id, "name": name, "kind": kind}
            | {"title": title, "input": {"kind": kind, **given}, "raw_input": given}
        )
        return tool_id

    def end_tool(self, tool_id: str, outcome: Outcome, started: float | None = None) -> None:
        """Show how it ended; `started` is the `time.monotonic()` at which the work began."""
        body: Body = {"type": "tool_use_end", "tool_id": tool_id, "status": outcome.status}
        body["is_error"] = outcome.status == "failed"
        body["output"] = [{"type": "text", "text": outcome.text}] if outcome.text else []
        body["diffs"] = list(outcome.diffs)
        body["exit_code"] = outcome.exit_code
        if started is not None:
            body["duration_ms"] = round((time.monotonic() - started) * 1000)
        self.emit(body)

    def tool(
        self, kind: str, name: str, title: str, given: Body, work: Callable[[], Outcome]
    ) -> Outcome:
        """Do `work` as a tool call. An OSError of it becomes a failed call, shown as such."""
        tool_id = self.start_tool(kind, name, title, given)
        self.pause(0.15)
        started = time.monotonic()
        try:
            outcome = work()
        except OSError as error:
            outcome = Outcome(error.strerror or str(error), status="failed")
        self.end_tool(tool_id, outcome, started)
        self.pause(0.15)
        return outcome

    def command(self, argv: Sequence[str]) -> Outcome:
        """Run a program of ours, without a shell, in the chat's folder; 10 s at most."""
        deadline = time.monotonic() + _COMMAND_DEADLINE_S
        output = bytearray()
        with subprocess.Popen(  # noqa: S603 - the argument vector is fixed in the script
            argv,
            cwd=self.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        ) as child:
            try:
                assert child.stdout is not None  # noqa: S101 - PIPE was asked for
                pipe = child.stdout.fileno()
                while time.monotonic() < deadline:
                    self.check()
                    if select.select([pipe], [], [], 0.05)[0]:
                        chunk = os.read(pipe, 65_536)
                        if not chunk:
                            break
                        output += chunk[: _OUTPUT_LIMIT - len(output)]
                else:
                    return Outcome(f"no end after {_COMMAND_DEADLINE_S:.0f} s", status="failed")
                code = child.wait(timeout=max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                return Outcome(f"no end after {_COMMAND_DEADLINE_S:.0f} s", status="failed")
            finally:
                if child.poll() is None:
                    child.kill()
        status = "completed" if code == 0 else "failed"
        return Outcome(output.decode("utf-8", "replace").strip(), status=status, exit_code=code)

    def ask(self, body: Body) -> Answer:
        """Put an ask before the person and wait for the answer, however long that takes."""
        ask_id = self._new_id("ask")
        self.emit({"type": "ask", "ask_id": ask_id, **body})
        while True:
            op = self._next_op(None)
            if op is not None and op.get("op") == "answer" and op.get("ask_id") == ask_id:
                return _parse_answer(op)

    def pause(self, seconds: float) -> None:
        """Wait for `seconds` times the pace."""
        self.wait(seconds * self._pace)

    def wait(self, seconds: float) -> None:
        """Wait for `seconds`, whatever the pace."""
        end = time.monotonic() + seconds
        self._next_op(0)
        while (left := end - time.monotonic()) > 0:
            self._next_op(left)

    def check(self) -> None:
        """Raise CancelledError if the run is to end."""
        self._next_op(0)

    def _next_op(self, timeout_s: float | None) -> Body | None:
        op = self._wire.read(timeout_s)
        if self._wire.closed and op is None:
            raise CancelledError
        if op is not None and op.get("op") in ("cancel", "close"):
            raise CancelledError
        return op

    def _stream(self, kind: str, text: str) -> None:
        item_id = self._new_id("item")
        shown: list[str] = []
        self._open = (kind, item_id, shown)
        for piece in pieces(text):
            self.emit({"type": kind, "item_id": item_id, "delta": piece})
            shown.append(piece)
            self.pause(_CHUNK_S)
        self.finish_open()

    def _new_id(self, word: str) -> str:
        self._count += 1
        return f"{self.prompt.run_id}.{word}{self._count}"


def pieces(text: str) -> Iterator[str]:
    """Cut `text` behind spaces into pieces of 30 characters or a little more."""
    start = 0
    while start < len(text):
        cut = text.find(" ", start + _CHUNK_CHARS)
        end = len(text) if cut < 0 else cut + 1
        yield text[start:end]
        start = end


def _parse_answer(op: Body) -> Answer:
    option_id, message, given = op.get("option_id"), op.get("message"), op.get("answers")
    answers: dict[str, list[str]] = {}
    for question, value in given.items() if isinstance(given, dict) else ():
        values = value if isinstance(value, list) else [value]
        answers[question] = [
            item.strip() for item in values if isinstance(item, str) and item.strip()
        ]
    return Answer(
        decision=str(op.get("decision")),
        option_id=option_id if isinstance(option_id, str) else None,
        answers=answers,
        message=message if isinstance(message, str) and message.strip() else None,
    )
