"""The tour's main loop: hello, then one run after the other until the input ends."""

from __future__ import annotations

import os
import sys
import time

from .._version import __version__
from .acts import Memory
from .menu import ScriptedFailureError, find_scene, say_no
from .script import guided_tour
from .stage import CancelledError, Stage
from .wire import Body, Prompt, Wire, parse_prompt

HELLO: Body = {
    "type": "hello",
    "name": "Tour",
    "version": __version__,
    "models": [{"id": "script", "name": "Script (no model)", "default": True}],
    "features": dict.fromkeys(("resume", "asks", "questions", "reasoning", "reattach"), True),
}


def main() -> int:
    """Speak the native agent protocol on stdin and stdout until the other side is done."""
    wire = Wire()
    memory = Memory()
    pace = _pace(os.environ.get("AGENTCHAT_TOUR_PACE", ""))
    begun: set[str] = set()
    try:
        wire.write(HELLO)
        while (op := wire.read(None)) is not None and op.get("op") != "close":
            if op.get("op") != "run":
                continue  # an answer or a cancel that came after its run
            prompt = parse_prompt(op)
            if prompt is None:
                sys.stderr.write("tour: a run request without chat_id, run_id or cwd was ignored\n")
            elif prompt.run_id not in begun:  # else the next server has written it again
                begun.add(prompt.run_id)
                _run(wire, prompt, memory, pace)
    except BrokenPipeError:
        return 1
    return 0


def _run(wire: Wire, prompt: Prompt, memory: Memory, pace: float) -> None:
    started = time.monotonic()
    stage = Stage(wire, prompt, pace=pace)
    session = {"provider": "tour", "provider_session_id": f"tour-{prompt.chat_id}"}
    stage.emit({"type": "session", **session})
    first = not (memory.met or prompt.resumed)
    memory.met = True
    scene = find_scene(prompt.text) or (guided_tour if first else say_no)
    outcome = "completed"
    try:
        stage.check()
        scene(stage, memory)
    except CancelledError:
        stage.finish_open()
        outcome = "cancelled"
    except ScriptedFailureError:
        stage.emit(_FAILURE)
        outcome = "failed"
    except OSError as error:
        stage.emit(_failure_of(error))
        outcome = "failed"
    # no model was used: tokens and cost are unknown, which is null and never 0
    stage.emit({"type": "usage"})
    stage.emit(
        {
            "type": "complete",
            "outcome": outcome,
            "cost_usd": None,
            "duration_ms": round((time.monotonic() - started) * 1000),
        }
    )


_FAILURE: Body = {
    "type": "error",
    "code": "provider_error",
    "message": "This error was asked for: the tour shows what a failed run looks like.",
    "hint": "Send another message; the chat goes on from here.",
}


def _failure_of(error: OSError) -> Body:
    return {
        "type": "error",
        "code": "provider_error",
        "message": f"The tour could not go on: {error.strerror or error}.",
        "hint": "Check that this folder still exists and can be read, then send `tour`.",
    }


def _pace(text: str) -> float:
    """AGENTCHAT_TOUR_PACE: what pauses are multiplied by, 0 to 10; anything else is 1."""
    try:
        return min(max(float(text), 0.0), 10.0)
    except ValueError:
        return 1.0
