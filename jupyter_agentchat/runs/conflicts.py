"""Two chats that write one file while both run: a person is told in both.

What a run writes is read from its events: the paths of finished writing calls and of their diffs.
A shell command that writes is not seen. Pure: no I/O, no clock.
"""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..protocol.events import EventBody, ToolUseEnd, ToolUseStart, ToolUseUpdate
from ..protocol.tools import EditInput, NotebookInput, WriteInput

READING_OPS = frozenset({"read"})


@dataclass(frozen=True, slots=True)
class Conflict:
    """`run_id` has written `path`, which `other_run` of `other_chat` wrote while both ran."""

    path: str
    run_id: str
    other_run: str
    other_chat: str


@dataclass(slots=True)
class _Writer:
    chat_id: str
    cwd: str
    running: bool = True
    calls: dict[str, str] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    beside: set[str] = field(default_factory=set)


class Conflicts:
    """The files that runs write, for as long as a run that overlapped them goes on."""

    def __init__(self) -> None:
        self._writers: dict[str, _Writer] = {}
        self._told: set[tuple[str, str, str]] = set()

    def began(self, run_id: str, chat_id: str, cwd: str) -> None:
        """A run has begun; `cwd` is absolute."""
        writer = _Writer(chat_id, cwd)
        for name, other in self._writers.items():
            if other.running:
                writer.beside.add(name)
                other.beside.add(run_id)
        self._writers[run_id] = writer

    def ended(self, run_id: str) -> None:
        """A run is over; it is forgotten with the last of those that ran beside it."""
        writer = self._writers.get(run_id)
        if writer is None:
            return
        writer.running = False
        for name, one in list(self._writers.items()):
            if not one.running and not any(self._runs(other) for other in one.beside):
                del self._writers[name]
        self._told = {told for told in self._told if self._writers.keys() & set(told[:2])}

    def stored(self, run_id: str, bodies: Sequence[EventBody]) -> list[Conflict]:
        """Events of a run; the conflicts that they make, each told once for a pair and a file."""
        writer = self._writers.get(run_id)
        if writer is None:
            return []
        found: list[Conflict] = []
        for body in bodies:
            for path in _written(writer, body):
                if path not in writer.paths:
                    writer.paths.add(path)
                found += self._against(run_id, writer, path)
        return found

    def _against(self, run_id: str, writer: _Writer, path: str) -> list[Conflict]:
        found = []
        for name in sorted(writer.beside):
            other = self._writers.get(name)
            if other is None or path not in other.paths or other.chat_id == writer.chat_id:
                continue
            first, second = sorted((run_id, name))
            if (first, second, path) not in self._told:
                self._told.add((first, second, path))
                found.append(Conflict(path, run_id, name, other.chat_id))
        return found

    def _runs(self, run_id: str) -> bool:
        writer = self._writers.get(run_id)
        return writer is not None and writer.running


def _written(writer: _Writer, body: EventBody) -> list[str]:
    """The absolute paths that a finished call has written."""
    match body:
        case ToolUseStart() | ToolUseUpdate():
            match body.input:
                case WriteInput(path=path) | EditInput(path=path):
                    writer.calls[body.tool_id] = path
                case NotebookInput(path=path, op=op) if op not in READING_OPS:
                    writer.calls[body.tool_id] = path
        case ToolUseEnd():
            path = writer.calls.pop(body.tool_id, "")
            if body.status != "completed" or body.is_error:
                return []
            paths = {path, *(diff.path for diff in body.diffs)} - {""}
            return sorted(posixpath.normpath(posixpath.join(writer.cwd, one)) for one in paths)
    return []
