"""A bounded record of what went over one child's wires, for diagnosis and for test transcripts."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from .redact import redact

Direction = Literal["in", "out", "err"]
"""From the child's side: `in` is its stdin, `out` its stdout, `err` its stderr."""


@dataclass(frozen=True, slots=True)
class TraceLine:
    """One line on a wire, `ms` milliseconds after the trace began."""

    dir: Direction
    ms: int
    line: str


class WireTrace:
    """A ring of the last lines, at most `limit_chars` characters; the oldest go first.

    A line longer than `line_limit_chars` is cut and says by how much. Lines are kept raw in
    memory; `dump` redacts them. A recorder of transcripts sets both limits high.
    """

    def __init__(
        self,
        limit_chars: int = 128 * 1024,
        *,
        line_limit_chars: int = 8 * 1024,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit = limit_chars
        self._line_limit = line_limit_chars
        self._clock = clock
        self._start = clock()
        self._records: deque[tuple[Direction, int, str]] = deque()
        self._size = 0
        self.lost = 0
        """How many records fell out of the ring."""

    def record(self, direction: Direction, text: str) -> None:
        """Keep `text`, a line without its newline (for `err` also a piece of several lines)."""
        if len(text) > self._line_limit:
            cut = len(text) - self._line_limit
            text = f"{text[: self._line_limit]}… ({cut} more characters)"
        ms = int((self._clock() - self._start) * 1000)
        self._records.append((direction, ms, text))
        self._size += len(text)
        while self._size > self._limit and len(self._records) > 1:
            self._size -= len(self._records.popleft()[2])
            self.lost += 1

    def lines(self) -> Iterator[TraceLine]:
        """What the ring holds, oldest first, unredacted. Pieces of stderr are joined to lines."""
        err, err_ms = "", 0
        for direction, ms, text in self._records:
            if direction == "err":
                err_ms = err_ms if err else ms
                *whole, err = (err + text).split("\n")
                for line in whole:
                    yield TraceLine("err", err_ms, line)
                    err_ms = ms
            else:
                if err:
                    yield TraceLine("err", err_ms, err)
                    err = ""
                yield TraceLine(direction, ms, text)
        if err:
            yield TraceLine("err", err_ms, err)

    def dump(self) -> str:
        """The redacted lines as a transcript: one JSON object `{dir, ms, line}` a line."""
        return "".join(
            json.dumps({"dir": item.dir, "ms": item.ms, "line": redact(item.line)}) + "\n"
            for item in self.lines()
        )
