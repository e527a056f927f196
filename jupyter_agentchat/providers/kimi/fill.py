"""Puts text that is never replayed back between the events that are. Pure.

Text is told only while it streams. What came of it before a reader was there stands in the server's
transcript (finished steps) and its snapshot (the step that runs); it is put behind the beginning of
its step as one piece. A reader that has stored a part of a step gets exactly the rest as news.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from .translate import POSITION_SHIFT
from .wire import MAIN, Json, int_of, object_of, objects_of, text_of

StepKey: TypeAlias = "tuple[int, int]"
"""A step of the main agent: turn, and its number in the turn."""

_LOW = (1 << POSITION_SHIFT) - 1


class StepText(NamedTuple):
    """What a step has said so far."""

    thinking: str
    text: str


Texts: TypeAlias = "dict[StepKey, StepText]"


def finished_texts(transcript: Json) -> Texts:
    """The texts of the finished steps in the answer to `/transcript`."""
    texts: Texts = {}
    for turn in objects_of(transcript, "items"):
        number = _number(text_of(turn, "turnId"), "t")
        for step in objects_of(turn, "steps"):
            ordinal = int_of(step, "ordinal")
            if number is None or ordinal is None or text_of(step, "state") == "running":
                continue
            frames = objects_of(step, "frames")
            said = StepText(*(_joined(frames, kind) for kind in ("thinking", "text")))
            if any(said):
                texts[number, ordinal] = said
    return texts


def running_text(snapshot: Json) -> tuple[int, StepText] | None:
    """(turn, text of its running step) in a snapshot; None when no turn goes on."""
    turn = object_of(snapshot, "in_flight_turn")
    number = int_of(turn, "turn_id")
    if number is None:
        return None
    return number, StepText(text_of(turn, "thinking_text"), text_of(turn, "assistant_text"))


def step_of(frame: Json) -> StepKey | None:
    """The step that an event begins; None for any other event."""
    payload = object_of(frame, "payload")
    turn, step = int_of(payload, "turnId"), int_of(payload, "step")
    if text_of(frame, "type") != "turn.step.started" or text_of(payload, "agentId") != MAIN:
        return None
    return None if turn is None or step is None else (turn, step)


def turns_of(transcript: Json, prompt_id: str) -> list[int]:
    """The turns that a prompt, or a message steered into its run, began; for "" the newest one, if
    nobody asked for it."""
    turns = [item for item in objects_of(transcript, "items") if text_of(item, "turnId")]
    if not prompt_id:
        turns = [turn for turn in turns[-1:] if not text_of(turn, "triggerPromptId")]
    numbers = [
        _number(text_of(turn, "turnId"), "t")
        for turn in turns
        if f"{text_of(turn, 'triggerPromptId')}-".startswith(f"{prompt_id}-") or not prompt_id
    ]
    return [number for number in numbers if number is not None]


def fill(
    frames: Sequence[Json], texts: Texts, *, running: StepKey | None = None, stored: int = 0
) -> list[Json]:
    """`frames` with the text of their steps put in.

    `running` is the step that had begun before the first frame. `stored`: the position behind what
    is stored already; of the step in which it lies, that much is one piece, and the rest another
    one that stands behind it.
    """
    filled: list[Json] = []
    if running is not None and running in texts:
        seq = (int_of(frames[0], "seq") or 1) - 1 if frames else 0
        filled += pieces(running[0], seq, texts[running])
    late: list[Json] = []
    split = _split_step(frames, stored)
    for frame in frames:
        seq = int_of(frame, "seq") or 0
        if late and seq > stored >> POSITION_SHIFT and frame.get("volatile") is not True:
            filled, late = filled + late, []
        filled.append(frame)
        step = step_of(frame)
        if step is None or step not in texts:
            continue
        if step != split or not stored & _LOW:
            # behind an event in the middle of a step, its text so far is taken for stored: should
            # some be missing, it comes with the step's end, which has the whole
            filled += pieces(step[0], seq, texts[step])
            continue
        first = _beginning(texts[step], stored & _LOW)
        filled += pieces(step[0], seq, first)
        late = pieces(step[0], stored >> POSITION_SHIFT, texts[step])
    return filled + late


def pieces(turn: int, seq: int, said: StepText) -> list[Json]:
    """`said` as the events that would have told it, thinking first."""
    kinds = zip(("thinking.delta", "assistant.delta"), said, strict=True)
    return [
        {
            "type": kind,
            "seq": seq,
            "volatile": True,
            "offset": 0,
            "payload": {"agentId": MAIN, "turnId": turn, "delta": text},
        }
        for kind, text in kinds
        if text
    ]


def _split_step(frames: Iterable[Json], stored: int) -> StepKey | None:
    """The step in whose middle `stored` lies."""
    inside: StepKey | None = None
    for frame in frames:
        if frame.get("volatile") is True:
            continue
        if (int_of(frame, "seq") or 0) > stored >> POSITION_SHIFT:
            break
        payload = object_of(frame, "payload")
        main = text_of(payload, "agentId") == MAIN
        if (step := step_of(frame)) is not None:
            inside = step
        elif main and text_of(frame, "type") in ("turn.step.completed", "turn.ended"):
            inside = None
    return inside


def _beginning(said: StepText, count: int) -> StepText:
    """The first `count` characters, thinking first."""
    rest = max(0, count - len(said.thinking))
    return StepText(said.thinking[:count], said.text[:rest])


def _joined(frames: Iterable[Json], kind: str) -> str:
    return "".join(text_of(frame, "text") for frame in frames if text_of(frame, "kind") == kind)


def _number(name: str, prefix: str) -> int | None:
    digits = name.removeprefix(prefix)
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
