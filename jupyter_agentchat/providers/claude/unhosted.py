"""Lines of a turn that no run has taken part in yet: kept, in order, for the run that will.

The CLI begins turns by itself when a background command has ended. Whatever belongs to such a turn
waits here until the hub has made a run of it, or until the chat's next run takes it in.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .inbox import ROOM_BYTES, Lost, Received
from .wire import Json, list_of, object_of, text_of


def wakes(message: Json) -> bool:
    """Whether the CLI has begun to work, or asks something: a run must be found for it."""
    match text_of(message, "type"):
        case "system":
            return text_of(message, "subtype") == "init"
        case "control_request":
            return text_of(object_of(message, "request"), "subtype") == "can_use_tool"
        case "assistant":
            return bool(list_of(object_of(message, "message"), "content"))
        case "stream_event":
            return text_of(object_of(message, "event"), "type") == "message_start"
    return False


class Unhosted:
    """What waits. It begins with a line that matters to a person; what trails behind a run (its
    last lifecycle lines, the results of calls that were stopped with it) begins nothing."""

    def __init__(self) -> None:
        self.given_up = False
        """No run was found: what is asked now, nobody can answer."""
        self._awake = False
        self._items: list[tuple[int, Received | Lost]] = []
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether so much waits that the turn had better be stopped."""
        return self._size > ROOM_BYTES and not self.given_up

    @property
    def waits(self) -> bool:
        """Whether a turn waits here for its run."""
        return self._awake

    def take(self, item: Received | Lost, begins: int) -> bool:
        """Keep a line that begins at offset `begins`; whether a run must be looked for now."""
        message = item.message if isinstance(item, Received) else {}
        waking = wakes(message)
        if not self._items and not waking and text_of(message, "subtype") != "task_notification":
            return False
        self._items.append((begins, item))
        self._size += item.size if isinstance(item, Received) else 0
        begun = self.given_up and text_of(message, "subtype") == "init"
        anew = begun or (waking and not self._awake)
        if anew:
            self._awake, self.given_up = True, False
        return anew

    def hand_over(self) -> list[tuple[int, Received | Lost]]:
        """All that waits, each with the offset where it begins; nothing waits afterwards."""
        items, self._items = self._items, []
        self._awake = self.given_up = False
        self._size = 0
        return items

    def messages(self) -> list[Json]:
        """Take the messages out, without the questions, which nobody can answer any more."""
        self.give_up()
        return [item.message for _, item in self.hand_over() if isinstance(item, Received)]

    def give_up(self) -> list[str]:
        """No run was found. Takes the questions to a person out: the ids of their requests."""
        self.given_up = True
        kept: list[tuple[int, Received | Lost]] = []
        request_ids: list[str] = []
        for begins, item in self._items:
            if isinstance(item, Received) and text_of(item.message, "type") == "control_request":
                request_ids.append(text_of(item.message, "request_id"))
            else:
                kept.append((begins, item))
        self._items = kept
        return request_ids


@dataclass
class LeftBehind:
    """Of the chat's process before this one: the `works` in the background that were ended with
    it, and the `messages` of a turn that no run took part in."""

    works: list[str] = field(default_factory=list)
    messages: list[Json] = field(default_factory=list)
