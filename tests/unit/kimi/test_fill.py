"""Whoever comes back at any moment of a run gets exactly what was not stored yet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.protocol.events import AssistantText, EventBody, Thinking, ToolUseUpdate
from jupyter_agentchat.providers.kimi.fill import StepText, Texts, fill, finished_texts, step_of
from jupyter_agentchat.providers.kimi.translate import Translator
from tests.goldens import read_recording, recordings

from .replaying import CWD, begun_run, frame_of

RECORDINGS = recordings("kimi")
NAMES = [path.stem for path in RECORDINGS]
Frames = list[dict[str, Any]]
Steps = list[tuple[int | None, tuple[EventBody, ...]]]


def _last_run(path: Path) -> tuple[str, Frames]:
    """The id and the events of a recording's last run."""
    frames = [frame_of(item) for item in read_recording(path) if item.dir == "out"]
    begins = [(index, run) for index, frame in enumerate(frames) if (run := begun_run(frame))]
    index, run_id = begins[-1]
    return run_id, frames[index:]


def _steps(run_id: str, frames: Frames) -> Steps:
    translator = Translator(run_id, CWD)
    steps: Steps = []
    for frame in frames:
        if bodies := translator.read(frame):
            steps.append((translator.position, bodies))
    return steps


def _texts(frames: Frames) -> Texts:
    """What each step had said by the end of `frames`."""
    texts: Texts = {}
    step = None
    for frame in frames:
        step = step_of(frame) or step
        payload = frame.get("payload") or {}
        if step is None or payload.get("agentId") != "main":
            continue
        thinking, text = texts.get(step, StepText("", ""))
        if frame["type"] == "thinking.delta":
            thinking += payload["delta"]
        elif frame["type"] == "assistant.delta":
            text += payload["delta"]
        texts[step] = StepText(thinking, text)
    return texts


def _said(steps: Steps, kind: type[AssistantText] | type[Thinking]) -> str:
    return "".join(
        body.delta or "" for _, bodies in steps for body in bodies if isinstance(body, kind)
    )


def _lasting(steps: Steps) -> list[EventBody]:
    """What is not a piece of something that a later body replaces."""
    return [
        body
        for _, bodies in steps
        for body in bodies
        if not getattr(body, "delta", None) and not isinstance(body, ToolUseUpdate)
    ]


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_at_every_moment_of_a_recorded_run_nothing_is_lost_or_doubled(path: Path) -> None:
    run_id, frames = _last_run(path)
    live = _steps(run_id, frames)
    kept = [frame for frame in frames if not frame.get("volatile")]
    for number in range(len(live) + 1):
        before = live[:number]
        stored = max((offset for offset, _ in before if offset is not None), default=0)
        again = _steps(run_id, fill(kept, _texts(frames), stored=stored))
        offsets = [offset for offset, _ in again if offset is not None]
        assert offsets == sorted(offsets)
        fresh = [(offset, bodies) for offset, bodies in again if (offset or 0) > stored]
        for kind in (AssistantText, Thinking):
            assert _said(before, kind) + _said(fresh, kind) == _said(live, kind)
        assert _lasting(before) + _lasting(fresh) == _lasting(live)


@pytest.mark.parametrize("path", RECORDINGS, ids=NAMES)
def test_what_goes_on_live_joins_what_was_put_back_in(path: Path) -> None:
    run_id, frames = _last_run(path)
    live = _steps(run_id, frames)
    for cut in range(0, len(frames), max(1, len(frames) // 12)):
        past, future = frames[:cut], frames[cut:]
        kept = [frame for frame in past if not frame.get("volatile")]
        # the snapshot may be younger than the place where the live events begin
        for ahead in (0, 3):
            texts = _texts(frames[: cut + ahead])
            again = _steps(run_id, [*fill(kept, texts), *future])
            for kind in (AssistantText, Thinking):
                assert _said(again, kind) == _said(live, kind)
            assert _lasting(again) == _lasting(live)


def test_finished_steps_are_read_from_a_transcript() -> None:
    frames = [
        {"kind": "thinking", "text": "Hm. "},
        {"kind": "text", "text": "One "},
        {"kind": "tool", "toolCallId": "c"},
        {"kind": "text", "text": "two"},
    ]
    turn = {
        "turnId": "t3",
        "steps": [
            {"ordinal": 1, "state": "completed", "frames": frames},
            {"ordinal": 2, "state": "completed", "frames": []},
            {"ordinal": 3, "state": "running", "frames": frames},
        ],
    }
    strange: list[Any] = [{"turnId": "x"}, 7, {"turnId": "t4", "steps": [None, {"ordinal": "1"}]}]
    texts = finished_texts({"items": [turn, *strange]})
    assert texts == {(3, 1): StepText("Hm. ", "One two")}
