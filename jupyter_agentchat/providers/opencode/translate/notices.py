"""What is said beside the answer: checklists, retries, gaps, and what nobody knows yet. Pure."""

from __future__ import annotations

from typing import Final

from ....protocol.events import EventBody, Notice, Plan
from ....protocol.tools import PlanEntry
from ....protocol.words import PlanStatus
from ..wire import Json, int_of, objects_of, text_of

SILENT: Final = frozenset(
    {
        *("session.diff", "session.deleted", "message.removed", "message.part.removed"),
        *("session.next", "permission.v2", "question.v2", "file.edited", "vcs.branch.updated"),
        *("command.executed", "server.instance.disposed", "project.updated", "mcp.tools.changed"),
        *("installation.updated", "installation.update-available", "storage.write"),
        *("step-start", "snapshot", "patch", "agent", "subtask", "file", "retry"),
    }
)
"""Events and parts that are known and not shown; a name stands for all that begin with it and a
dot."""
GAP: Final = Notice(
    level="warning",
    code="gap",
    text="The connection to opencode was cut for a moment: words of the answer that is being "
    "written are missing until it is finished.",
)
_PLAN: Final[dict[str, PlanStatus]] = {"in_progress": "in_progress", "completed": "completed"}
_MAX_KINDS: Final = 20


class Strange:
    """Names each kind of message that this version does not know once."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()

    def note(self, kind: str, name: str) -> list[EventBody]:
        """`kind` is what is shown of it, `name` opencode's own word."""
        quiet = name in SILENT or any(name.startswith(f"{one}.") for one in SILENT)
        if not name or quiet or kind in self._kinds or len(self._kinds) >= _MAX_KINDS:
            return []
        self._kinds.add(kind)
        text = f"opencode sent something that this version does not show: {kind[:80]}"
        return [Notice(level="info", code="unknown_message", text=text)]


def checklist(properties: Json) -> Plan:
    """A `todo.updated`."""
    return Plan(
        entries=[
            PlanEntry(
                text=text_of(one, "content"), status=_PLAN.get(text_of(one, "status"), "pending")
            )
            for one in objects_of(properties, "todos")
            if text_of(one, "status") != "cancelled"
        ]
    )


def retry(status: Json) -> Notice:
    """A `session.status` of kind retry: opencode never gives up by itself."""
    attempt = int_of(status, "attempt") or 1
    said = text_of(status, "message").split("\n")[0][:500] or "the model did not answer"
    text = f"opencode tries again, for ever if need be (attempt {attempt}): {said}"
    return Notice(level="warning", code="retrying", text=text)
