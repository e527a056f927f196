"""The messages of one run, and what is known of it at the newest of them. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ...process.jsonrpc import RequestId
from .wire import Json, object_of, text_of, thread_of, turn_of

GO_AHEAD: Final = "go-ahead"
"""The step at which a run's second turn is asked for: its plan was approved."""
_QUIET_STATES: Final = frozenset({"idle", "systemError", "notLoaded"})


@dataclass(frozen=True, slots=True)
class Received:
    """One message; `end` is where its line ends in the output, `size` its length.

    kind `answer`: to one of the run's own requests, `method` is its step (`thread`, `turn`, ...),
    `params` the result, `error` the error object. kind `request`: of Codex, to be answered under
    `request_id`. kind `lost`: a line above the limit of the framer. kind `own`: no line, but what a
    person has decided.
    """

    kind: Literal["answer", "notification", "request", "lost", "own"]
    method: str
    params: Json
    end: int
    size: int = 0
    error: Json | None = None
    request_id: RequestId | None = None


class Facts:
    """What is known of the run at the newest line; its consumer may be far behind.

    A run whose turn ends with a proposed plan (`planning`) goes on: it is `undecided` until a
    person has said what becomes of the plan, and then has a second turn or is over.
    """

    def __init__(self, thread_id: str | None, *, planning: bool = False) -> None:
        self.thread_id = thread_id
        self.undecided = False
        self._planning = planning
        self._planned = False
        self.turn_id = ""
        self.sent = False
        """Codex has taken the prompt: its answer or the turn's beginning was seen."""
        self.idle = False
        """The thread was said to be idle after the prompt was taken."""
        self.opened = False
        """The thread was opened for this run: started, resumed or forked."""
        self.model = ""
        """The model that it was opened with."""
        self._turns: set[str] = set()
        self._foreign: set[str] = set()

    def note(self, item: Received) -> bool:
        """Take in a message; whether it ends the run's turn."""
        params = item.params
        if item.kind == "answer":
            if item.error is None:
                self._answered(item.method, params)
            return False
        if thread_of(params) not in ("", self.thread_id):
            return False  # of a helper
        match item.method:
            case "turn/started":
                turn = object_of(params, "turn")
                root = text_of(turn, "rootTurnId") or text_of(turn, "id")
                if not self.turn_id or self.undecided:
                    # a compaction's answer names no turn
                    self._begin(root)
                if self.turn_id in (root, text_of(turn, "id")):
                    self._turns.add(text_of(turn, "id"))
                    self.idle = False
                else:
                    self._foreign.add(text_of(turn, "id"))
            case "thread/status/changed":
                state = text_of(object_of(params, "status"), "type")
                self.idle = self.sent and state in _QUIET_STATES
            case "item/completed":
                is_plan = text_of(object_of(params, "item"), "type") == "plan"
                self._planned = self._planned or (is_plan and self.owns(turn_of(params)))
            case "turn/completed" if self.turn_id and turn_of(params) == self.turn_id:
                completed = text_of(object_of(params, "turn"), "status") == "completed"
                self.undecided = completed and self._planning and self._planned
                return not self.undecided
            case "plan/kept":
                return self.undecided
        return False

    def _answered(self, step: str, result: Json) -> None:
        if step == "thread":
            self.thread_id = self.thread_id or thread_of(result)
            self.opened, self.model = True, text_of(result, "model")
        elif (step == "turn" and not self.sent) or (step == GO_AHEAD and self.undecided):
            self._begin(turn_of(result))

    def _begin(self, turn_id: str) -> None:
        self._planning = self._planning and not self.undecided  # the second turn is the last
        self.sent, self.undecided, self.idle = True, False, False
        self.turn_id = turn_id
        self._turns.add(turn_id)

    def owns(self, turn_id: str) -> bool:
        """Whether a turn is the run's, or a review's within it."""
        return turn_id in self._turns

    def is_foreign(self, turn_id: str) -> bool:
        """Whether a turn is known to be another's: neither the run's nor a review's within it."""
        return turn_id in self._foreign and turn_id not in self._turns
