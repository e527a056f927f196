#!/usr/bin/env python3
"""An agent that does what it is told, well or badly: the fake behind most tests and benches.

It speaks the native agent protocol and imports nothing of ours. What to do stands in the prompt,
`scenario: [steps]`, or in the file of `--script`; any other prompt is echoed. A step is a word or
an object whose first key is the word:

    {"say": "text", "chunks": 3, "rate": 50}   answer text in n deltas (rate: deltas a second)
    {"think": ...}                             the same as reasoning
    {"tool": {"kind", "name", "title", "input", "updates": [], "output", "status", "exit_code"}}
    {"diff": {"path", "old", "new"}}           an edit tool; with "write": true it is written
    {"write_file": {"path", "text"}}  {"delete_file": "path"}    as a shell would: no tool says it
    {"ask": {...}, "allow": [steps], "deny": [steps], "withdraw_after": s}
    {"question": {...}}                        the answer is `{answer}` in what follows
    {"burst": n, "text": "x"}  {"stamp": n, "rate": r}   deltas; stamps carry monotonic ns
    {"flood": bytes, "chunk": 32768, "rate": 0}          that much text, a finished item per chunk
    {"grow": "text", "by": "more", "times": n, "rate": r, "pause": s}   a long text that grows on
    {"huge_line": bytes}  "bad_bytes"  "nul"  "torn"  {"deep_json": depth}  "unknown_type"
    {"fork": s}  {"daemon": s}                 a grandchild that holds stdout / left the session
    "ignore_term"  "ignore_cancel"  "hang"  {"sleep": s}  {"stderr": bytes or text}
    {"exit": n}  {"die": signal}  {"fail": "message"}  "resume_refused"  {"session": id}
    {"usage": {...}}  {"plan": [...]}  {"emit": body}  {"raw": "line"}
    {"complete": outcome, "then": [bodies written outside the run]}

Texts may hold {prompt} {answer} {session} {transcript} {cwd} {permission} {model} {pid}.
`--journal FILE` keeps every line written, synced to disk *before* it is written; `--journals DIR`
keeps a file per run and process, `RUN_ID.PID.jsonl`, so that a run that ran twice shows.
`--hello none|late|bad` spoils the greeting.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

Json = dict[str, Any]


class CancelledError(Exception):
    """The run is to end: a cancel, or the end of input."""


class Wire:
    """Lines out, with a journal; operations in."""

    def __init__(self, journal: Path | None) -> None:
        self._journal = journal.open("ab") if journal else None
        self._partial = b""
        self._ops: collections.deque[Json] = collections.deque()
        self.closed = False

    def begin_journal(self, path: Path) -> None:
        """From here on lines are kept in this file."""
        if self._journal:
            self._journal.close()
        self._journal = path.open("ab")

    def write(self, *lines: bytes) -> None:
        """Write complete lines; the journal is on the disk before the first byte leaves."""
        data = b"".join(line + b"\n" for line in lines)
        self.write_raw(data)

    def write_raw(self, data: bytes) -> None:
        if self._journal:
            self._journal.write(data)
            self._journal.flush()
            os.fsync(self._journal.fileno())
        view = memoryview(data)
        while view:
            view = view[os.write(1, view) :]

    def read(self, timeout_s: float | None) -> Json | None:
        """The next operation; None after `timeout_s` seconds or at the end of input."""
        while not self._ops and not self.closed:
            if not select.select([0], [], [], timeout_s)[0]:
                return None
            chunk = os.read(0, 1 << 16)
            if not chunk:
                self.closed = True
                break
            *lines, self._partial = (self._partial + chunk).split(b"\n")
            self._ops.extend(json.loads(line) for line in lines if line.strip())
        return self._ops.popleft() if self._ops else None


class Run:
    """One run of a script."""

    def __init__(self, wire: Wire, request: Json) -> None:
        self.wire = wire
        self.request = request
        self.count = 0
        self.answer = ""
        self.heeds_cancel = True
        self.done = False
        self.refused = False
        own = f"scenario-{request['chat_id']}"
        resumed = request.get("provider_session_id")
        self.session = f"{own}-fork" if request.get("fork") else resumed or own
        self.said_session = False

    def play(self, steps: list[Any]) -> None:
        """Perform the steps and end the run, also when it is cancelled."""
        outcome = "completed"
        try:
            self.perform(steps)
        except CancelledError:
            outcome = "cancelled"
        if not self.done:
            self.emit({"type": "complete", "outcome": outcome})

    def perform(self, steps: list[Any]) -> None:
        for step in steps:
            if self.done:
                return
            options: Json = {step: True} if isinstance(step, str) else step
            word, value = next(iter(options.items()))
            if word not in ("resume_refused", "session", "exit", "die", "hang", "stderr"):
                self.say_session()
            self.wait(0)
            perform: Callable[[Any, Json], None] = getattr(self, f"do_{word}")
            perform(value, options)

    # --- what the steps are made of ---

    def say_session(self) -> None:
        if not self.said_session:
            self.said_session = True
            body = {"provider": "scenario", "provider_session_id": self.session}
            self.emit({"type": "session", **body})

    def emit(self, *bodies: Json) -> None:
        self.wire.write(*(json.dumps(body, ensure_ascii=False).encode() for body in bodies))

    def new_id(self, word: str) -> str:
        self.count += 1
        return f"{self.request['run_id']}.{word}{self.count}"

    def fill(self, text: str) -> str:
        values = {name: self.request.get(name) for name in ("prompt", "transcript", "cwd")}
        values |= {name: self.request.get(name) for name in ("permission", "model")}
        values |= {"answer": self.answer, "session": self.session, "pid": os.getpid()}
        for name, value in values.items():
            text = text.replace("{" + name + "}", str(value))
        return text

    def wait(self, seconds: float | None, ask_id: str | None = None) -> Json | None:
        """Wait, heeding cancel; returns the answer to `ask_id` if one comes in time."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            op = self.wire.read(left)
            if op is None and self.wire.closed:
                raise CancelledError
            if op is None:
                return None
            if op["op"] in ("cancel", "close") and self.heeds_cancel:
                raise CancelledError
            if op["op"] == "steer":
                self.do_say(op["text"], {})
            if op["op"] == "answer" and op["ask_id"] == ask_id:
                return op

    def stream(self, kind: str, pieces: list[str], rate: float, *, final: bool = True) -> None:
        item = {"type": kind, "item_id": self.new_id("item")}
        start = time.monotonic()
        for number, piece in enumerate(pieces, 1):
            self.emit({**item, "delta": piece})
            self.wait(max(0.0, start + number / rate - time.monotonic()) if rate else 0)
        if final:
            self.emit({**item, "text": "".join(pieces), "final": True})

    # --- steps: content ---

    def do_say(self, text: str, options: Json, kind: str = "assistant_text") -> None:
        text, chunks = self.fill(text), options.get("chunks", 3)
        size = max(1, -(-len(text) // chunks))
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        self.stream(kind, pieces, options.get("rate", 0), final=options.get("final", True))

    def do_think(self, text: str, options: Json) -> None:
        self.do_say(text, options, kind="thinking")

    def do_grow(self, text: str, options: Json) -> None:
        item = {"type": "assistant_text", "item_id": self.new_id("item")}
        self.emit({**item, "delta": text})
        self.wait(options.get("pause", 3))
        more, start = [options["by"]] * options["times"], time.monotonic()
        for number, piece in enumerate(more, 1):
            self.emit({**item, "delta": piece})
            self.wait(max(0.0, start + number / options["rate"] - time.monotonic()))
        self.emit({**item, "text": text + "".join(more), "final": True})

    def do_burst(self, count: int, options: Json) -> None:
        item = {"type": "assistant_text", "item_id": self.new_id("item")}
        text = options.get("text", "x")
        self.emit(*[{**item, "delta": text}] * count)
        self.emit({**item, "text": text * count, "final": True})

    def do_flood(self, size: int, options: Json) -> None:
        chunk, rate, start = options.get("chunk", 32_768), options.get("rate", 0), time.monotonic()
        for number in range(1, size // chunk + 1):
            item = {"type": "assistant_text", "item_id": self.new_id("item"), "final": True}
            self.emit({**item, "text": "f" * chunk})
            self.wait(max(0.0, start + number / rate - time.monotonic()) if rate else 0)

    def do_stamp(self, count: int, options: Json) -> None:
        rate = options.get("rate", 100)
        item = {"type": "assistant_text", "item_id": self.new_id("item")}
        start, said = time.monotonic(), []
        for number in range(1, count + 1):
            self.wait(max(0.0, start + number / rate - time.monotonic()))
            said.append(f"{time.monotonic_ns()} ")
            self.emit({**item, "delta": said[-1]})
        self.emit({**item, "text": "".join(said), "final": True})

    def do_tool(self, given: Json, options: Json) -> None:
        tool_id, kind = self.new_id("tool"), given.get("kind", "shell")
        start = {"type": "tool_use_start", "tool_id": tool_id, "kind": kind}
        start |= {"name": given.get("name", kind.capitalize()), "title": given.get("title", "")}
        self.emit({**start, "input": given.get("input", {"command": "true"})})
        for text in given.get("updates", []):
            self.emit({"type": "tool_use_update", "tool_id": tool_id, "output_delta": text})
            self.wait(0)
        self.wait(given.get("sleep", 0))
        status, text = given.get("status", "completed"), given.get("output", "")
        if isinstance(text, int):  # that many bytes
            text = "0123456789abcde\n" * (text // 16)
        end = {"type": "tool_use_end", "tool_id": tool_id, "status": status}
        end |= {"is_error": status == "failed", "exit_code": given.get("exit_code")}
        output = [{"type": "text", "text": self.fill(text)}] if text else []
        self.emit({**end, "output": output, "diffs": given.get("diffs", [])})

    def do_diff(self, given: Json, options: Json) -> None:
        old, new = given.get("old"), given.get("new", "")
        if options.get("write"):
            Path(self.request["cwd"], given["path"]).write_text(new, "utf-8")
        change = "add" if old is None else "update"
        diff = {"path": given["path"], "change": change, "old": old, "new": new}
        diff |= {"added": len(new.splitlines()), "removed": len((old or "").splitlines())}
        path = {"path": given["path"]}
        self.do_tool({"kind": "edit", "name": "Edit", "input": path, "diffs": [diff]}, {})

    def do_write_file(self, given: Json, options: Json) -> None:
        path = Path(self.request["cwd"], given["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.fill(given["text"]), "utf-8")

    def do_delete_file(self, path: str, options: Json) -> None:
        Path(self.request["cwd"], path).unlink()

    def do_ask(self, given: Json, options: Json) -> None:
        ask_id = self.new_id("ask")
        allow = {"id": "allow_once", "label": "Allow once", "decision": "allow", "scope": "once"}
        chat = {"id": "allow_chat", "label": "Allow for this chat", "decision": "allow"}
        deny = {"id": "deny", "label": "Deny", "decision": "deny"}
        body = {"kind": "permission", "title": "May I?", **given}
        if body["kind"] == "permission":
            body.setdefault("options", [allow, chat | {"scope": "chat"}, deny])
        self.emit({"type": "ask", "ask_id": ask_id, **body})
        op = self.wait(options.get("withdraw_after"), ask_id)
        if op is None:
            self.emit({"type": "ask_resolved", "ask_id": ask_id, "decision": "withdrawn"})
            return
        self.answer = json.dumps(op.get("answers") or op.get("message") or op["decision"])
        self.perform(options.get("deny" if op["decision"] == "deny" else "allow", []))

    def do_question(self, given: Json, options: Json) -> None:
        choices = [{"label": "Red"}, {"label": "Blue"}]
        page = {"id": "colour", "header": "Colour", "question": "Which?", "options": choices}
        self.do_ask(
            {"kind": "question", "title": "A question", "questions": [page]} | given, options
        )

    def do_plan(self, entries: list[Json], options: Json) -> None:
        self.emit({"type": "plan", "entries": entries})

    def do_usage(self, figures: Json, options: Json) -> None:
        self.emit({"type": "usage", **figures})

    def do_session(self, session: str, options: Json) -> None:
        self.session, self.said_session = session, False
        self.say_session()

    def do_resume_refused(self, _: Any, options: Json) -> None:
        given = self.request.get("provider_session_id")
        if given:
            body = {"provider": "scenario", "provider_session_id": given, "reason": "unknown id"}
            self.refused = True
            self.emit({"type": "resume_refused", **body})
            self.do_complete("completed", {})

    def do_fail(self, message: str, options: Json) -> None:
        self.emit({"type": "error", "code": "provider_error", "message": message})
        self.do_complete("failed", {})

    def do_complete(self, outcome: str, options: Json) -> None:
        self.done = True
        self.emit({"type": "complete", "outcome": outcome}, *options.get("then", []))

    def do_emit(self, body: Json, options: Json) -> None:
        self.emit(body)

    # --- steps: misbehaviour ---

    def do_raw(self, line: str, options: Json) -> None:
        self.wire.write(line.encode("utf-8", "surrogatepass"))

    def do_huge_line(self, size: int, options: Json) -> None:
        item = {"type": "assistant_text", "item_id": self.new_id("item"), "final": True}
        self.emit({**item, "text": "h" * size})

    def do_bad_bytes(self, _: Any, options: Json) -> None:
        item = json.dumps({"type": "assistant_text", "item_id": self.new_id("item"), "delta": "@"})
        self.wire.write(item.encode().replace(b"@", b"caf\xe9 \xff"))

    def do_nul(self, _: Any, options: Json) -> None:
        item = {"type": "assistant_text", "item_id": self.new_id("item")}
        self.emit({**item, "delta": "before\0after"})
        lone = json.dumps({**item, "delta": "lone \ud83d half"})  # escaped: valid JSON
        self.wire.write(lone.encode("ascii"))

    def do_deep_json(self, depth: int, options: Json) -> None:
        self.wire.write(b'{"type": "system", "subtype": ' + b"[" * depth + b"]" * depth + b"}")

    def do_unknown_type(self, _: Any, options: Json) -> None:
        self.emit({"type": "hologram", "shape": "cube"})

    def do_torn(self, _: Any, options: Json) -> NoReturn:
        item = {"type": "assistant_text", "item_id": self.new_id("item"), "delta": "torn é"}
        self.wire.write_raw(json.dumps(item, ensure_ascii=False).encode()[:-3])
        os._exit(0)

    def do_sleep(self, seconds: float, options: Json) -> None:
        self.wait(seconds)

    def do_stderr(self, what: int | str, options: Json) -> None:
        text = what if isinstance(what, str) else "stderr line\n" * (what // 12)
        os.write(2, text.encode())

    def do_exit(self, code: int, options: Json) -> NoReturn:
        os._exit(code)

    def do_die(self, number: int, options: Json) -> NoReturn:
        os.kill(os.getpid(), number)
        while True:
            time.sleep(1)

    def do_hang(self, _: Any, options: Json) -> NoReturn:
        while True:
            time.sleep(1)

    def do_ignore_term(self, _: Any, options: Json) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)

    def do_ignore_cancel(self, _: Any, options: Json) -> None:
        self.heeds_cancel = False

    def do_fork(self, seconds: float, options: Json) -> None:
        if os.fork() == 0:
            time.sleep(seconds)
            os._exit(0)

    def do_daemon(self, seconds: float, options: Json) -> None:
        middle = os.fork()
        if middle == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(seconds)
            os._exit(0)
        os.waitpid(middle, 0)


def parse_steps(prompt: str, script: Path | None) -> list[Any]:
    """The script of a run: from the prompt, else from the file, else an echo."""
    _, found, text = prompt.partition("scenario:")
    if found:
        steps: list[Any] = json.JSONDecoder().raw_decode(text.strip())[0]
        return steps
    if script:
        return list(json.loads(script.read_text("utf-8")))
    return [{"say": "You said: {prompt}", "chunks": 5, "rate": 200}]


def main() -> int:
    """Serve runs until the input ends."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--script", type=Path)
    parser.add_argument("--journal", type=Path)
    parser.add_argument("--journals", type=Path)
    parser.add_argument("--hello", choices=["good", "none", "late", "bad", "plain"], default="good")
    options = parser.parse_args()
    wire = Wire(options.journal)
    features = dict.fromkeys(
        ("resume", "asks", "questions", "reasoning", "steer", "reattach"), True
    )
    hello = {"type": "hello", "name": "Scenario", "version": "1.0", "features": features}
    if options.hello == "plain":  # as most programs: what it is told twice it does twice
        del features["reattach"]
    if options.hello == "late":
        time.sleep(1)
    if options.hello == "bad":
        wire.write(b"Welcome to the scenario agent!")
    elif options.hello != "none":
        wire.write(json.dumps(hello).encode())
    begun: set[str] = set()
    while (op := wire.read(None)) is not None and op["op"] != "close":
        # a server that took us over may say it again: each run runs once
        if op["op"] == "run" and op["request"]["run_id"] not in begun:
            begun.add(op["request"]["run_id"])
            prompt = op["request"]["prompt"]
            if options.journals:
                name = f"{op['request']['run_id']}.{os.getpid()}.jsonl"
                wire.begin_journal(options.journals / name)
            run = Run(wire, op["request"])
            run.play(parse_steps(prompt, options.script))
            if run.refused:  # it comes again, as a new conversation
                begun.discard(op["request"]["run_id"])
    return 0


if __name__ == "__main__":
    sys.exit(main())
