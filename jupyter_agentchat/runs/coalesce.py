"""Joins what waits: neighbouring deltas of one item become one event. Pure.

Rule (performance): the first delta after 16 ms of quiet goes at once; a faster stream groups in
windows of at most 50 ms; anything that is not a delta goes at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..protocol.events import AssistantText, EventBody, Thinking, ToolUseUpdate
from ..providers.base import Step

QUIET_S = 0.016
WINDOW_S = 0.050
BATCH_LIMIT = 500
"""Bodies after which a batch is stored whatever the clock says."""


def is_delta(body: EventBody) -> bool:
    """True for the pieces of a stream, which may be joined with their neighbours."""
    if isinstance(body, AssistantText | Thinking):
        return not body.final
    return isinstance(body, ToolUseUpdate) and body.title is None and body.input is None


def join(bodies: list[EventBody]) -> list[EventBody]:
    """Neighbouring deltas of the same item as one; order and text unchanged."""
    joined: list[EventBody] = []
    run: list[str] = []

    def settle() -> None:
        if len(run) > 1:
            key = "output_delta" if isinstance(joined[-1], ToolUseUpdate) else "delta"
            joined[-1] = joined[-1].model_copy(update={key: "".join(run)})
        run.clear()

    for body in bodies:
        if not is_delta(body):
            settle()
            joined.append(body)
            continue
        if not (run and _same_item(joined[-1], body)):
            settle()
            joined.append(body)
        run.append(_piece(body))
    settle()
    return joined


def _piece(body: EventBody) -> str:
    match body:
        case ToolUseUpdate():
            return body.output_delta or ""
        case AssistantText() | Thinking():
            return body.delta or ""
        case _:
            return ""


def _same_item(first: EventBody, second: EventBody) -> bool:
    return type(first) is type(second) and _item_id(first) == _item_id(second)


def _item_id(body: EventBody) -> str:
    match body:
        case ToolUseUpdate():
            return body.tool_id
        case AssistantText() | Thinking():
            return body.item_id
        case _:
            return ""


@dataclass
class Batch:
    """Steps that wait for one commit. Times are seconds of a monotonic clock."""

    bodies: list[EventBody] = field(default_factory=list)
    offset: int | None = None
    first_arrival: float = 0.0
    last_delta: float = float("-inf")
    urgent: bool = False

    def add(self, step: Step, at: float) -> None:
        """Take one more step; its offset is the batch's from now on."""
        if not self.bodies:
            self.first_arrival = at
        if any(is_delta(body) for body in step.bodies):
            # quiet is the time between deltas: the first one behind anything else goes at once
            if at - self.last_delta >= QUIET_S:
                self.urgent = True
            self.last_delta = at
        self.bodies.extend(step.bodies)
        if step.offset is not None:
            self.offset = step.offset
        if len(self.bodies) >= BATCH_LIMIT or any(not is_delta(body) for body in step.bodies):
            self.urgent = True

    def wait_s(self, at: float) -> float | None:
        """Seconds that the batch may still wait; 0 means store it now, None that it is empty."""
        if not self.bodies:
            return None if self.offset is None else WINDOW_S
        if self.urgent:
            return 0.0
        return max(0.0, self.first_arrival + WINDOW_S - at)

    def take(self) -> tuple[list[EventBody], int | None]:
        """The joined bodies and their offset; the batch is empty afterwards."""
        bodies, offset = join(self.bodies), self.offset
        self.bodies, self.offset, self.urgent = [], None, False
        return bodies, offset
