"""Which of our own messages the CLI still has before it: a run is over with the last of them. Pure.

Every line we send has a uuid of ours, and the CLI tells what becomes of it. Steered lines have
uuids that follow from the prompt's, so that another server knows them for this run's when it reads
the same output. Source: providers/claude design §4.3; recording steer.
"""

from __future__ import annotations

import uuid
from typing import Final

from ..wire import Json, object_of, text_of, texts_of

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
    """The messages of one run: its prompt, and those steered into it."""

    def __init__(self, prompt_uuid: str) -> None:
        self.prompt_seen = False
        """The CLI has taken the prompt."""
        self.told = False
        """The CLI says what becomes of a message; older ones do not."""
        self.steered: list[str] = []
        """The uuids of steered messages, sent or seen."""
        self._prompt = prompt_uuid
        self._open = {prompt_uuid}
        self._number = 0

    @property
    def over(self) -> bool:
        """Whether nothing of the run is left to do."""
        return not self._open

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

    def is_own_result(self, message: Json) -> bool:
        """Whether a `result` is of this run, not of a turn that the CLI began by itself."""
        answered = texts_of(message, "user_message_uuids")
        if not answered:
            return not object_of(message, "origin")
        return self._prompt in answered or any(one in self.steered for one in answered)

    def ends(self, message: Json) -> bool:
        """Note what `message` says of our messages; whether the run ends with it.

        A turn that the CLI began by itself has a result of its own, which names none of them. A
        message that was cancelled while it still waited gets no result, only its lifecycle line.
        """
        kind = text_of(message, "type")
        if kind == "command_lifecycle":
            return self._lifecycle(text_of(message, "command_uuid"), text_of(message, "state"))
        if self._prompt in texts_of(message, "user_message_uuids"):
            self.prompt_seen = True
        if kind != "result" or not self.is_own_result(message):
            return False
        return self._close(*(texts_of(message, "user_message_uuids") or [self._prompt]))

    def lost(self, message: Json) -> bool:
        """Whether the line says that a steered message will not be done, though nobody stopped."""
        return (
            text_of(message, "state") in _LOST_STATES - {"cancelled"}
            and text_of(message, "command_uuid") in self.steered
        )

    def _lifecycle(self, command: str, state: str) -> bool:
        if command == self._prompt:
            self.prompt_seen = self.told = True
        elif command not in self.steered:
            if state not in _WAITING_STATES or not self._knows(command):
                return False
            self.expect(command)
        if state in _LOST_STATES or (state == "completed" and command != self._prompt):
            return self._close(command)
        return False

    def _close(self, *commands: str) -> bool:
        was_open = bool(self._open)
        self._open.difference_update(commands)
        return was_open and not self._open

    def _knows(self, command: str) -> bool:
        for number in range(self._number, self._number + _WINDOW):
            if command == steer_uuid(self._prompt, number):
                self._number = number + 1
                return True
        return False
