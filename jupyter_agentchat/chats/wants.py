"""What an agent wants, in a few words, for the chat list. Pure.

Only a pointer to the ask: what is approved is shown whole on the ask's own card.
"""

from __future__ import annotations

from typing import Final

from ..protocol.events import Ask
from ..protocol.resources import Wants
from ..protocol.tools import McpInput, ToolInput

SUBJECT_CHARS: Final = 120
_SUBJECTS: Final = ("command", "path", "url", "query", "description")


def wants_of(ask: Ask) -> Wants:
    """The ask's kind, tool and subject; the ask's title stands in for a subject that is missing."""
    if ask.kind == "plan":
        return Wants(kind="plan")
    if ask.kind == "question":
        asked = next((one.question for one in ask.questions), "")
        return Wants(kind="question", subject=_short(asked or ask.title))
    tool = ask.input.kind if ask.input is not None else None
    return Wants(kind="permission", tool=tool, subject=_short(_subject(ask.input) or ask.title))


def _subject(given: ToolInput | None) -> str:
    if given is None:
        return ""
    if isinstance(given, McpInput):
        return f"{given.server}: {given.tool}"
    fields = given.model_dump()
    return next((str(fields[name]) for name in _SUBJECTS if fields.get(name)), "")


def _short(text: str) -> str:
    """On one line, cut between code points; a cut is seen."""
    line = " ".join(text[: SUBJECT_CHARS * 8].split())
    return line if len(line) <= SUBJECT_CHARS else f"{line[: SUBJECT_CHARS - 1]}…"
