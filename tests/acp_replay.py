"""Replays recordings of ACP agents: what our translator makes of them, as the hub would see it."""

from __future__ import annotations

import json
from typing import Any

from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.providers.acp.translate import Translator, Turn
from jupyter_agentchat.providers.acp.wire import id_text, parse

Json = dict[str, Any]


def acp_runs(lines: list[tuple[str, str]]) -> list[list[EventBody]]:
    """One run for every prompt; `lines` are (direction from the agent's side, line).

    An answer to an ask, and a cancel, act as a person's do. What comes between runs is of none.
    """
    runs: list[list[EventBody]] = []
    reader: Translator | None = None
    for direction, line in lines:
        message = parse(line)
        if message is None:
            continue
        if direction == "in":
            reader = _told(message, reader, runs)
        elif reader is not None:
            runs[-1] += reader.read(message)
    return runs


def _told(
    message: Json, reader: Translator | None, runs: list[list[EventBody]]
) -> Translator | None:
    if message.get("method") == "session/prompt":
        runs.append([])
        run_id = f"r{len(runs)}"
        return Translator(Turn("acp", run_id, "/WORKSPACE", id_text(message), "ready:"))
    if reader is not None and message.get("method") == "session/cancel":
        reader.stopped = True
    elif reader is not None and "method" not in message:
        for ask_id, opened in list(reader.asks.items()):
            if opened.request_id == id_text(message):
                del reader.asks[ask_id]
                outcome = json.dumps(message.get("result"))
                if opened.decline is not None and f'"{opened.decline}"' in outcome:
                    reader.denied(opened)
    return reader
