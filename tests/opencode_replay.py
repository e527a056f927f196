"""Replays recordings of opencode: every prompt begins a run, with a translator of its own.

The lines are those of `feed`. What was sent stands between them: `{"run", "session"}` a prompt (its
message's id was made that of this run), `{"answer"}` an ask's id.
"""

from __future__ import annotations

import json
from typing import Protocol

from jupyter_agentchat.protocol.events import EventBody
from jupyter_agentchat.providers.opencode.translate import Translator, Turn
from jupyter_agentchat.providers.opencode.wire import parse


class Item(Protocol):
    """One line of a recording; `dir` is from the agent's side."""

    @property
    def dir(self) -> str: ...

    @property
    def line(self) -> str: ...


def opencode_runs(recorded: list[Item]) -> list[list[EventBody]]:
    """The runs of a recording; each ends where its translator says that it is over."""
    runs: list[list[EventBody]] = []
    translator: Translator | None = None
    over, run_id = True, ""
    for item in recorded:
        sent = json.loads(item.line) if item.dir == "in" else {}
        if "run" in sent:
            run_id = sent["run"]
            turn = Turn(run_id, "/WORKSPACE", session=sent["session"], servers=("fakemcp",))
            translator, over = Translator(turn), False
            runs.append([])
        elif "answer" in sent and translator is not None:
            translator.pending.open.pop(sent["answer"], None)
        elif item.dir == "out" and translator is not None and not over:
            message = parse(item.line)
            if message is not None:
                runs[-1] += translator.read(message)
                over = translator.over
                runs[-1] += translator.end() if over else ()
    if translator is not None and translator.in_doubt:
        # what a run does then: it asks, and hears that nothing goes on
        runs[-1] += translator.read({"got": f"{run_id}:status", "status": 200, "body": {}})
        runs[-1] += translator.end() if translator.over else ()
    return runs
