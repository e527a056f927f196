"""Plays the recordings of the real Kimi Code through the translator."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.providers.kimi.translate import Translator
from tests.goldens import Recorded, Runs

CWD = "/WORKSPACE"


def frame_of(item: Recorded) -> dict[str, Any]:
    """The event, or the request of ours, in a line."""
    value = json.loads(item.line)
    return value if isinstance(value, dict) else {}


def kimi_runs(recorded: Iterable[Recorded]) -> Runs:
    """Every prompt of ours begins a run; answers of ours take their asks out, as a run does."""
    runs: Runs = []
    translator: Translator | None = None
    for item in recorded:
        message = frame_of(item)
        if item.dir == "in":
            answered = message["path"].rsplit("/", 1)[-1].removesuffix(":dismiss")
            if translator is not None and message["code"] in (0, 40909):
                translator.asks.pop(answered, None)
            continue
        if run_id := begun_run(message):
            translator = Translator(run_id, CWD, context_window=128_000)
            runs.append([])
        if translator is not None:
            runs[-1] += translator.read(message)
    return runs


def begun_run(message: dict[str, Any]) -> str | None:
    """The id of the run that an event begins."""
    named = str((message.get("payload") or {}).get("promptId") or "")
    run_id = named.removeprefix("agentchat-")
    begins = message.get("type") == "prompt.submitted" and run_id != named
    return run_id if begins and "-" not in run_id else None


def texts_of(bodies: Iterable[EventBody]) -> list[EventBody]:
    """`bodies` as they read once streamed: neighbouring pieces of an item are one."""
    joined: list[EventBody] = []
    for body in bodies:
        last = joined[-1] if joined else None
        delta = getattr(body, "delta", None)
        same = getattr(last, "item_id", "") == getattr(body, "item_id", None)
        before = getattr(last, "delta", None)
        if last is not None and delta and before and same and last.type == body.type:
            joined[-1] = body.model_copy(update={"delta": before + delta})
        else:
            joined.append(body)
    return joined
