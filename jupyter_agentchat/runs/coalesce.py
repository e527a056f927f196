"""Joins what waits: neighbouring deltas of one item become one event. Pure.

Rule (performance): the first delta after 16 ms of quiet goes at once; a faster stream groups in
windows of at most 50 ms; anything that is not a delta goes at once. A batch is full when one
transaction should store no more: it is the most that one turn of the loop is kept for.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..protocol.events import AssistantText, EventBody, Thinking, ToolUseUpdate
from ..providers.base import Step

QUIET_S = 0.016
WINDOW_S = 0.050
BATCH_LIMIT = 500
"""Bodies after which a batch is stored whatever the clock says."""
BATCH_LIMIT_BYTES = 64 * 1024
"""The same for the bytes of the lines that they came from: a store takes some ms for that much."""


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
    """It is not to wait for a window's end."""
    fresh: bool = False
    """A person waits for it: not even for the end of the loop's turn."""
    taken_offset: int | None = None
    """Where the lines before this batch ended."""

    @property
    def empty(self) -> bool:
        """Whether there is nothing to store, not even an offset."""
        return not self.bodies and self.offset is None

    @property
    def full(self) -> bool:
        """Whether nothing more must be added to what one transaction stores."""
        if len(self.bodies) >= BATCH_LIMIT:
            return True
        if self.offset is None or self.taken_offset is None or not self.bodies:
            return False
        return self.offset - self.taken_offset >= BATCH_LIMIT_BYTES

    def add(self, step: Step, at: float) -> None:
        """Take one more step; its offset is the batch's from now on."""
        if not self.bodies and self.offset is None:
            self.first_arrival = at
        for body in step.bodies:
            if not is_delta(body):
                self.urgent = True
            elif at > self.last_delta:
                # quiet is the time between deltas: the first one behind anything else goes at once
                if at - self.last_delta >= QUIET_S:
                    self.urgent = self.fresh = True
                self.last_delta = at
            self.bodies.append(body)
        if step.offset is not None:
            self.offset = step.offset
            if self.taken_offset is None or step.offset < self.taken_offset:
                self.taken_offset = step.offset  # the first line, or that of another child

    def wait_s(self, at: float) -> float | None:
        """Seconds that the batch may still wait; 0 means store it now, None that it is empty."""
        if self.empty:
            return None
        if self.urgent or self.full:
            return 0.0
        return max(0.0, WINDOW_S - (at - self.first_arrival))

    def take(self) -> tuple[list[EventBody], int | None]:
        """The joined bodies and their offset; the batch is empty afterwards."""
        bodies, offset = join(self.bodies), self.offset
        self.bodies, self.offset = [], None
        self.urgent = self.fresh = False
        if offset is not None:
            self.taken_offset = offset
        return bodies, offset
