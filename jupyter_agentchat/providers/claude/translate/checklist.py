"""The agent's checklist, from the two kinds of tools that keep it: pure.

`TodoWrite` replaces the list whole; `TaskCreate`, `TaskUpdate` and `TaskList` change one line at a
time and name it by an id. Which of them the CLI offers depends on its version, its model and the
environment; newer ones offer neither. Source: recordings todo_list and task_list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....protocol.events import EventBody, Plan
from ....protocol.tools import PlanEntry
from ....protocol.words import PlanStatus
from ..wire import Json, object_of, objects_of, text_of

TOOLS: Final = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate", "TaskList"})

_STATES: Final[dict[str, PlanStatus]] = {
    "pending": "pending",
    "in_progress": "in_progress",
    "completed": "completed",
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the checklist; `id` is "" where the CLI replaces the list whole."""

    id: str
    text: str
    status: PlanStatus = "pending"


class Checklist:
    """The list as it stands. It goes on from run to run: begin with the `lines` of the last."""

    def __init__(self, lines: Sequence[Line] = ()) -> None:
        self.lines = tuple(lines)

    def change(self, tool: str, arguments: Json, structured: Json) -> list[EventBody]:
        """What a call of `tool` that succeeded did to the list; nothing when it is as before."""
        before = self.lines
        match tool:
            case "TodoWrite":
                todos = objects_of(structured, "newTodos") or objects_of(arguments, "todos")
                self.lines = tuple(_line("", text_of(todo, "content"), todo) for todo in todos)
            case "TaskList":
                tasks = objects_of(structured, "tasks")
                self.lines = tuple(_line(text_of(t, "id"), text_of(t, "subject"), t) for t in tasks)
            case "TaskCreate":
                task = object_of(structured, "task")
                if text_of(task, "id"):
                    self._put(_line(text_of(task, "id"), text_of(task, "subject"), task))
            case "TaskUpdate":
                self._update(arguments, object_of(structured, "statusChange"))
        return [] if self.lines == before else [self._plan()]

    def _update(self, arguments: Json, change: Json) -> None:
        task_id = text_of(arguments, "taskId")
        known = next((line for line in self.lines if line.id == task_id), None)
        if known is None:
            return  # made in a time that nobody here remembers: its text is not known
        status = text_of(change, "to") or text_of(arguments, "status")
        if status == "deleted":
            self.lines = tuple(line for line in self.lines if line is not known)
            return
        text = text_of(arguments, "subject") or known.text
        self._put(replace(known, text=text, status=_STATES.get(status, known.status)))

    def _put(self, line: Line) -> None:
        if any(one.id == line.id for one in self.lines):
            self.lines = tuple(line if one.id == line.id else one for one in self.lines)
        else:
            self.lines = (*self.lines, line)

    def _plan(self) -> Plan:
        return Plan(entries=[PlanEntry(text=one.text, status=one.status) for one in self.lines])


def _line(line_id: str, text: str, said: Json) -> Line:
    return Line(line_id, text, _STATES.get(text_of(said, "status"), "pending"))
