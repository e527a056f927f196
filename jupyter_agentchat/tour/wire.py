"""The tour's end of the native agent protocol: JSON lines out, `op` lines in, no thread.

Plain dictionaries instead of the pydantic models: a program that starts in 50 ms feels instant, and
this one stands as the example that an agent can be written in any language.
"""

from __future__ import annotations

import json
import os
import select
import sys
from collections import deque
from dataclasses import dataclass
from pathlib import Path

Body = dict[str, object]

_CHUNK_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Prompt:
    """What of a run request the tour needs; `resumed`: the chat has talked to the tour before."""

    chat_id: str
    run_id: str
    text: str
    cwd: Path
    permission: str
    resumed: bool


class Wire:
    """Reads operations from one descriptor, writes event bodies to another."""

    def __init__(self, read_fd: int = 0, write_fd: int = 1) -> None:
        self._read_fd = read_fd
        self._write_fd = write_fd
        self._partial = bytearray()
        self._ops: deque[Body] = deque()
        self.closed = False
        """The other side has closed our input: nothing will follow."""

    def write(self, body: Body) -> None:
        """Write one body as a line, whole. Raises BrokenPipeError when nobody reads any more."""
        # lone surrogates come from odd file names and are not allowed on the wire
        text = json.dumps(body, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        view = memoryview(text)
        while view:
            view = view[os.write(self._write_fd, view) :]

    def read(self, timeout_s: float | None) -> Body | None:
        """The next operation, waiting `timeout_s` seconds at most (None: until input ends)."""
        while not self._ops and not self.closed:
            if not select.select([self._read_fd], [], [], timeout_s)[0]:
                return None
            self._fill()
        return self._ops.popleft() if self._ops else None

    def _fill(self) -> None:
        chunk = os.read(self._read_fd, _CHUNK_BYTES)
        if not chunk:
            self.closed = True
            return
        *lines, rest = (self._partial + chunk).split(b"\n")
        self._partial = bytearray(rest)
        for line in lines:
            try:
                op = json.loads(line)
            except ValueError:
                op = None
            if isinstance(op, dict):
                self._ops.append(op)
            else:
                sys.stderr.write("tour: a line of input is not an operation and was ignored\n")


def parse_prompt(op: Body) -> Prompt | None:
    """The prompt of an `op: run`; None when it cannot be used."""
    request = op.get("request")
    if not isinstance(request, dict):
        return None
    text = {key: value for key, value in request.items() if isinstance(value, str)}
    if not text.get("chat_id") or not text.get("run_id") or not text.get("cwd"):
        return None
    return Prompt(
        chat_id=text["chat_id"],
        run_id=text["run_id"],
        text=text.get("prompt", ""),
        cwd=Path(text["cwd"]),
        permission=text.get("permission", "ask"),
        resumed=bool(text.get("provider_session_id")),
    )
