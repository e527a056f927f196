"""Which of a run's messages have arrived, from lines that were read before. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .inbox import Line
from .translate import Turn
from .wire import Json, object_of, suffix_of, text_of


def has_prompt(turn: Turn, lines: Sequence[Line]) -> bool:
    """Whether the run's own prompt is among them."""
    infos = _messages(lines)
    if turn.any_prompt:
        return any(text_of(info, "sessionID") == turn.session for info in infos)
    return _has(infos, suffix_of(turn.run_id))


def steered(turn: Turn, lines: Sequence[Line]) -> list[str]:
    """What the ids of the messages end with that were put into the running turn."""
    infos = _messages(lines)
    found: list[str] = []
    while _has(infos, suffix := suffix_of(turn.run_id, len(found) + 1)):
        found.append(suffix)
    return found


def _has(infos: list[Json], suffix: str) -> bool:
    return any(text_of(info, "id").endswith(suffix) for info in infos)


def _messages(lines: Sequence[Line]) -> list[Json]:
    """A person's messages."""
    found = []
    for line in lines:
        payload = object_of(line.message or {}, "payload")
        if text_of(payload, "type") == "message.updated":
            info = object_of(object_of(payload, "properties"), "info")
            if text_of(info, "role") == "user":
                found.append(info)
    return found
