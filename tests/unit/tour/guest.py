"""Somebody who takes the tour: prompts, answers, and a look at what came of them."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.events import (
    Ask,
    EventBody,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.protocol.tools import Diff, TextBlock
from jupyter_agentchat.providers.base import AdapterContext, AgentRun
from jupyter_agentchat.providers.conformance import Played, play
from jupyter_agentchat.providers.native.tour import TourAdapter
from jupyter_agentchat.providers.settings import ProviderSettings

README = "# Rides\n\nRides by hour. Rides are counted.\n"


@dataclass
class Person:
    """Answers asks: `decisions` in turn for permissions, `answers` for the form."""

    decisions: list[str] = field(default_factory=lambda: ["allow_chat"])
    answers: dict[str, list[str] | str] = field(
        default_factory=lambda: {
            "reason": ["Analysing data"],
            "keep": ["The files I found", "What to try next"],
        }
    )
    before: Callable[[Ask], None] = lambda ask: None

    async def __call__(self, run: AgentRun, body: EventBody) -> None:
        if not isinstance(body, Ask):
            return
        self.before(body)
        if body.kind == "question":
            kind = "answered" if self.answers else "deny"
            given: dict[str, Any] = {"decision": kind, "answers": self.answers}
        else:
            option = self.decisions.pop(0)
            word = "deny" if option == "deny" else "allow"
            given = {"decision": word, "option_id": option}
        await run.answer(body.ask_id, AskAnswer.model_validate(given))


Turn = tuple[str, Callable[[AgentRun, EventBody], Awaitable[None]] | None]


def talk(folder: Path, *turns: Turn, **changes: Any) -> list[Played]:
    """Several prompts in one chat with one tour."""

    async def main() -> list[Played]:
        launcher = LocalLauncher()
        context = AdapterContext(
            launcher=launcher,
            environment={**os.environ, "AGENTCHAT_TOUR_PACE": "0"},
            settings=ProviderSettings(),
            scratch=folder.parent,
        )
        adapter = TourAdapter(context)
        played = []
        for number, (prompt, react) in enumerate(turns):
            given = {"chat_id": "chat", "run_id": f"run{number}", "cwd": str(folder)}
            request = RunRequest.model_validate(given | {"prompt": prompt} | changes)
            played.append(await play(adapter, request, react))
        await adapter.close()
        await launcher.close()
        return played

    return asyncio.run(main())


def take_tour(folder: Path, person: Person | None = None, **changes: Any) -> Played:
    return talk(folder, ("show me around", person or Person()), **changes)[0]


def output_of(end: ToolUseEnd) -> str:
    return "".join(block.text for block in end.output if isinstance(block, TextBlock))


def tools(played: Played) -> dict[str, tuple[ToolUseStart, ToolUseEnd]]:
    """Tool calls by the agent's name for them."""
    ends = {end.tool_id: end for end in played.of(ToolUseEnd)}
    return {start.name: (start, ends[start.tool_id]) for start in played.of(ToolUseStart)}


def apply_patch(old: str, patch: str) -> str:
    """The text that a unified patch of one hunk makes of `old`."""
    header, *hunk = [line for line in patch.splitlines(True) if line[:3] not in ("---", "+++")]
    start = int(re.split(r"[-, ]", header)[2])
    lines, at, new = old.splitlines(True), max(start - 1, 0), []
    new += lines[:at]
    for line in hunk:
        if line[0] in " -":
            assert lines[at] == line[1:]
            at += 1
        if line[0] in " +":
            new.append(line[1:])
    return "".join(new + lines[at:])


def assert_patch_fits(diff: Diff) -> None:
    assert diff.patch is not None
    assert apply_patch(diff.old or "", diff.patch) == diff.new
    lines = diff.patch.splitlines()
    assert diff.added == sum(line.startswith("+") for line in lines) - 1
    assert diff.removed == sum(line.startswith("-") for line in lines) - 1
