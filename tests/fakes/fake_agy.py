#!/usr/bin/env python3
"""A fake of Antigravity's program `agy`: no public package ships the real one.

It speaks the `stream-json` that public drivers of it read, one turn a process, and does what the
prompt says: hello, tool, fail, slow, huge, torn, crash, empty, canceled, silent, plain (text and
nothing else), noise (lines that are no JSON), future (events nobody knows), waiting. Conversations
are kept as files below HOME; `--version` says what FAKE_AGY_VERSION says. Imports nothing of ours.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
import uuid
from pathlib import Path
from typing import Any, NoReturn

Json = dict[str, Any]
MODELS = "fake-pro\tFake Pro\nfake-flash\tFake Flash\n"


def main() -> None:
    """One turn, or an answer to a question about the program."""
    options = dict(arg.lstrip("-").split("=", 1) for arg in sys.argv[1:] if "=" in arg)
    if "--version" in sys.argv:
        print("agy version", os.environ.get("FAKE_AGY_VERSION", "1.2.11"))
        return
    if "models" in sys.argv:
        print(MODELS, end="")
        return
    if options.get("output-format") != "stream-json":
        print("The answer as plain text.")
        return
    line = json.loads(sys.stdin.readline() or "{}")
    texts = [block["text"] for block in line.get("message", {}).get("content", [])]
    Turn(options, "\n".join(texts)).run()


class Turn:
    """What one prompt brings."""

    def __init__(self, options: dict[str, str], prompt: str) -> None:
        self._prompt = prompt
        self._home = Path(os.environ["HOME"], ".fake-agy")
        self._home.mkdir(exist_ok=True)
        self._id = options.get("conversation") or f"conv-{uuid.uuid4().hex}"
        if "conversation" in options and not (self._home / self._id).exists():
            self._refuse()
        with (self._home / self._id).open("a", encoding="utf-8") as file:
            file.write(json.dumps(prompt) + "\n")
        self._step = 0
        signal.signal(signal.SIGINT, self._interrupted)

    def run(self) -> None:
        """Play the scenario that the last line of the prompt names."""
        words = self._prompt.splitlines()[-1].split()
        self._init()
        play = getattr(self, f"_{words[0]}", None) if words else None
        if play is None:
            self._say(["You said: ", self._prompt])
            self._end("SUCCESS", f"You said: {self._prompt}")
        else:
            play()

    def _hello(self) -> None:
        self._say(["Hello ", "from ", "the fake."])
        self._end("SUCCESS", "Hello from the fake.", usage={"input_tokens": 10, "output_tokens": 4})

    def _plain(self) -> None:
        self._say(["Only ", "text."])
        self._end("SUCCESS", "Only text.")

    def _tool(self) -> None:
        self._use("run_command", {"command_line": "ls"}, "DONE", output="notes.txt\n")
        self._say(["Done."])
        self._end("SUCCESS", "Done.")

    def _fail(self) -> None:
        self._use("view_file", {"path": f"{os.getcwd()}/none"}, "ERROR", error="no such file")  # noqa: PTH109
        self._say(["It failed."])
        self._end("SUCCESS", "It failed.")

    def _slow(self) -> None:
        while True:
            self._update("agent_response", "IN_PROGRESS", text_delta="word ")
            time.sleep(0.02)

    def _steady(self) -> None:
        for number in range(40):
            self._update("agent_response", "IN_PROGRESS", text_delta=f"part {number} ")
            time.sleep(0.03)
        self._end("SUCCESS", "")

    def _huge(self) -> None:
        self._say(["x" * 2_000_000])
        self._end("SUCCESS", "")

    def _torn(self) -> None:
        sys.stdout.write('{"event": "step_update", "step_upd')
        sys.stdout.flush()
        sys.exit(0)

    def _crash(self) -> None:
        print("out of luck", file=sys.stderr)
        sys.exit(3)

    def _empty(self) -> None:
        self._end("SUCCESS", "")

    def _canceled(self) -> None:
        self._say(["So f"])
        self._end("CANCELED", "")

    def _waiting(self) -> None:
        self._end("WAITING", "")

    def _silent(self) -> None:
        time.sleep(600)

    def _noise(self) -> None:
        print("Downloading something…", flush=True)
        self._hello()

    def _future(self) -> None:
        self._write({"event": "from_the_future", "x": 1})
        self._write({"event": "from_the_future", "x": 2})
        self._write({"event": "step_update", "step_update": {"step_type": "dream", "state": "?"}})
        self._hello()

    def _recall(self) -> None:
        said = [json.loads(line) for line in (self._home / self._id).read_text().splitlines()]
        self._say([" | ".join(said)])
        self._end("SUCCESS", "")

    def _init(self) -> None:
        inner = {"cwd": os.getcwd(), "permission_mode": "default", "tools": [], "model": "fake-pro"}  # noqa: PTH109
        self._write({"event": "init", "conversation_id": self._id, "init": inner})

    def _say(self, pieces: list[str]) -> None:
        for piece in pieces:
            self._update("agent_response", "IN_PROGRESS", text_delta=piece)
        self._update("agent_response", "DONE")
        self._step += 1

    def _use(self, name: str, args: Json, state: str, **more: str) -> None:
        self._update("tool_call", "IN_PROGRESS", tool_info={"name": name, "args": args})
        self._update("tool_call", state, tool_info={"name": name, "args": args, **more})
        self._step += 1

    def _update(self, kind: str, state: str, **more: Any) -> None:
        step = {"conversation_id": self._id, "step_index": self._step, "step_type": kind, **more}
        self._write(
            {"event": "step_update", "step_update": {**step, "state": f"STEP_STATE_{state}"}}
        )

    def _end(self, status: str, response: str, **more: Any) -> None:
        result = {"conversation_id": self._id, "status": status, "response": response, **more}
        self._write(
            {"event": "result", "result": {"duration_seconds": 1, "num_turns": 1, **result}}
        )

    def _refuse(self) -> NoReturn:
        error = f"conversation {self._id} does not exist"
        self._end("ERROR", "", error=error)
        sys.exit(1)

    def _interrupted(self, *_: Any) -> None:
        self._end("CANCELED", "")
        sys.exit(0)

    def _write(self, event: Json) -> None:
        sys.stdout.write(json.dumps(event) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
