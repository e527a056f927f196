"""Which prompts and turns belong to a run, and when nothing of it is left to do. Pure.

Ids of prompts are ours: they follow from the run's id, so that the next server knows them too. A
message that is steered in is taken up by the running turn (`turn.steer`), or gets a turn of its own
when that one is stopped before (measured, even after the message was taken back).
"""

from __future__ import annotations

from typing import Final

from ..wire import MAIN, Json, int_of, object_of, text_of, texts_of

_PREFIX: Final = "agentchat-"


def prompt_id(run_id: str) -> str:
    """The id of a run's prompt."""
    return f"{_PREFIX}{run_id}"


def steer_id(run_id: str, number: int) -> str:
    """The id of the message `number` (from 0) that is steered into a run."""
    return f"{_PREFIX}{run_id}-{number}"


class Turns:
    """The prompts of one run: its own, and those steered into it.

    An unasked run has no prompt: it is the first turn that no prompt began.
    """

    def __init__(self, run_id: str, *, unasked: bool = False) -> None:
        self.seen = False
        """Kimi Code has the prompt."""
        self.active = False
        """A turn of the run goes on."""
        self.begun_by_steer = ""
        """The steered message whose own turn goes on, or went on last."""
        self._run_id = run_id
        self._own = prompt_id(run_id)
        self._unasked = unasked
        self._turns: set[int] = set()
        self._open = {self._own}
        self._waiting: set[str] = set()
        self._turn_of: dict[int, str] = {}
        self._steers = 0

    @property
    def over(self) -> bool:
        """Whether the run has ended."""
        return not self._open and not self._waiting

    @property
    def waiting(self) -> bool:
        """Whether the run's own prompt is done and only steered messages are left."""
        return not self._open and bool(self._waiting) and not self.active

    def expect(self, *, skip: int = 0) -> str:
        """The id for another message; the run is not over before it is done or `unexpected`.

        `skip` leaves room for what an earlier server may have sent.
        """
        named = steer_id(self._run_id, self._steers + skip)
        self._note_steer(named)
        return named

    def unexpected(self, named: str) -> None:
        """The message was not taken."""
        self._waiting.discard(named)

    def give_up_waiting(self) -> None:
        """Nothing will come of the steered messages that are left."""
        self._waiting.clear()

    def adopt(self, turn: int) -> None:
        """A turn whose beginning was missed is the run's."""
        self.seen = self.active = True
        self._turns.add(turn)

    def has(self, turn: int | None) -> bool:
        """Whether a turn of the main agent is the run's."""
        return turn in self._turns

    def read(self, kind: str, payload: Json) -> None:
        """Take note of an event of the main agent."""
        named = text_of(payload, "promptId")
        match kind:
            case "prompt.submitted" if named == self._own:
                self.seen = True
            case "prompt.submitted" if self._is_steer(named):
                self._note_steer(named)
            case "turn.started" if named == self._own or self._is_steer(named):
                self._begin(int_of(payload, "turnId"), named)
            case "turn.started" if self._unasked and not named and not self._turns:
                self._begin(int_of(payload, "turnId"), self._own)
            case "turn.steer":
                self._waiting.difference_update(texts_of(payload, "promptIds"))
            case "turn.ended" if self.has(turn := int_of(payload, "turnId")):
                self.active = False
                # a steered message's own turn has no `prompt.completed`
                self._waiting.discard(self._turn_of.get(turn or 0, ""))
                if self._unasked:
                    self._open.clear()
            case "prompt.completed" | "prompt.aborted":
                self._open.discard(named)

    def _begin(self, turn: int | None, named: str) -> None:
        self.seen = True
        if turn is None:
            return
        self.active = True
        self._turns.add(turn)
        self.begun_by_steer = named if named != self._own else ""
        if self.begun_by_steer:
            self._turn_of[turn] = named
            self._note_steer(named)

    def _note_steer(self, named: str) -> None:
        number = named.removeprefix(f"{self._own}-")
        if number.isascii() and number.isdigit() and len(number) < 10:
            self._steers = max(self._steers, int(number) + 1)
        self._waiting.add(named)

    def _is_steer(self, named: str) -> bool:
        return named.startswith(f"{self._own}-")


def is_unasked(frame: Json) -> bool:
    """Whether an event begins a turn of the main agent that no prompt asked for."""
    payload = object_of(frame, "payload")
    return (
        text_of(frame, "type") == "turn.started"
        and text_of(payload, "agentId") == MAIN
        and not text_of(payload, "promptId")
    )
