"""Which of our own messages the CLI still has before it: a run is over with the last of them. Pure.

Every line we send has a uuid of ours, and the CLI tells what becomes of it. Steered lines have
uuids that follow from the prompt's, so that another server knows them for this run's when it reads
the same output. Helpers that still work when the turn's result comes hold the run as well: the
CLI begins a turn of its own when one of them is done. A background command holds no run: it may
work for days. Source: providers/claude design §4.3; recordings steer, helper, background.
"""

from __future__ import annotations

import uuid
from typing import Final

from ..wire import Json, object_of, objects_of, text_of, texts_of
from .helpers import HELPER

_LOST_STATES: Final = frozenset({"cancelled", "discarded", "refused"})
_WAITING_STATES: Final = frozenset({"queued", "started"})
_NAMESPACE: Final = uuid.UUID("0c8f0c1e-41a5-5c3e-8d5f-5d2b7f0a9a6d")
# how far ahead a number is looked for: those between were never delivered
_WINDOW: Final = 64
_GAP: Final = 8


def steer_uuid(prompt_uuid: str, number: int) -> str:
    """The uuid of the steered message `number` (from 0) of the run with this prompt."""
    return str(uuid.uuid5(_NAMESPACE, f"{prompt_uuid} {number}"))


class Commands:
    """The messages of one run: its prompt, and those steered into it.

    A run that the agent began by itself (`unasked`) has no prompt: the turn that it found is what
    it waits for.
    """

    def __init__(self, prompt_uuid: str, *, unasked: bool = False) -> None:
        self.prompt_seen = False
        """The CLI has taken the prompt."""
        self.told = False
        """The CLI says what becomes of a message; older ones do not."""
        self.steered: list[str] = []
        """The uuids of steered messages, sent or seen."""
        self.helpers: frozenset[str] = frozenset()
        """The ids of the helpers that are at work."""
        self._unasked = unasked
        self._waiting_for_helpers = False
        self._prompt = prompt_uuid
        self._open = {prompt_uuid}
        self._number = 0

    @property
    def over(self) -> bool:
        """Whether nothing of the run is left to do."""
        return not (self._open or self._waiting_for_helpers)

    def next_steer(self, *, skip: bool = False) -> str:
        """The uuid for another message; the run is not over before it is done.

        `skip` leaves room for what an earlier server may have sent and the CLI has not read yet:
        a uuid is taken once only.
        """
        self._number += _GAP if skip else 0
        steered = steer_uuid(self._prompt, self._number)
        self.expect(steered)
        self._number += 1
        return steered

    def expect(self, steered: str) -> None:
        """A message is on its way, or was seen further on in the output."""
        if steered not in self.steered:
            self.steered.append(steered)
            self._open.add(steered)

    def is_result_of_another(self, message: Json) -> bool:
        """Whether a `result` answers messages of another run only."""
        answered = texts_of(message, "user_message_uuids")
        return bool(answered) and not self._answers(answered)

    def ends(self, message: Json) -> bool:
        """Note what `message` says of our messages; whether the run ends with it.

        A turn that the CLI began by itself has a result of its own, which names none of them. A
        message that was cancelled while it still waited gets no result, only its lifecycle line.
        """
        was_over = self.over
        self._note(message)
        return self.over and not was_over

    def lost(self, message: Json) -> bool:
        """Whether the line says that a steered message will not be done, though nobody stopped."""
        return (
            text_of(message, "state") in _LOST_STATES - {"cancelled"}
            and text_of(message, "command_uuid") in self.steered
        )

    def _note(self, message: Json) -> None:
        match text_of(message, "type"), text_of(message, "subtype"):
            case "command_lifecycle", _:
                self._lifecycle(text_of(message, "command_uuid"), text_of(message, "state"))
            case "result", _:
                self._result(message)
            case "system", "background_tasks_changed":
                self.helpers = frozenset(
                    text_of(task, "task_id")
                    for task in objects_of(message, "tasks")
                    if text_of(task, "task_type") == HELPER
                )
            case "system", "session_state_changed" if text_of(message, "state") == "idle":
                self._idle()
        if self._prompt in texts_of(message, "user_message_uuids"):
            self.prompt_seen = True

    def _result(self, message: Json) -> None:
        was_over, answered = self.over, texts_of(message, "user_message_uuids")
        if self._unasked:
            self._open.discard(self._prompt)
        elif not answered and not object_of(message, "origin"):
            answered = [self._prompt]
        self._open.difference_update(answered)
        if not was_over and (self._answers(answered) or not answered):
            self._waiting_for_helpers = bool(self.helpers)

    def _idle(self) -> None:
        """The CLI does nothing any more. Said between two prompts it is old news, so that it only
        counts where no result can be relied on: helpers that were stopped bring none."""
        self._waiting_for_helpers = False
        if self._unasked:
            self._open.discard(self._prompt)

    def _answers(self, uuids: list[str]) -> bool:
        return any(one == self._prompt or one in self.steered for one in uuids)

    def _lifecycle(self, command: str, state: str) -> None:
        if command == self._prompt:
            self.prompt_seen = self.told = True
        elif command not in self.steered:
            if state not in _WAITING_STATES or not self._knows(command):
                return
            self.expect(command)
        if state in _LOST_STATES or (state == "completed" and command != self._prompt):
            self._open.discard(command)

    def _knows(self, command: str) -> bool:
        for number in range(self._number, self._number + _WINDOW):
            if command == steer_uuid(self._prompt, number):
                self._number = number + 1
                return True
        return False
