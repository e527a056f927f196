"""Words for what happened to a process, as errors and notices. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from ...errors import ProcessExited, ProviderError
from ...protocol.events import EventBody, Notice
from .inbox import Lost
from .translate import Translator
from .unhosted import LeftBehind


def explained(failure: ProviderError, *, began: bool) -> ProviderError:
    """Why a process ended, in its own last words when it did not even start."""
    if not isinstance(failure, ProcessExited) or began or not failure.stderr_tail.strip():
        return failure
    return ProcessExited(
        f"Claude Code did not start: {failure.stderr_tail.strip().splitlines()[-1]}",
        exit_code=failure.exit_code,
        signal=failure.signal,
        stderr_tail=failure.stderr_tail,
        hint="Run `claude` once in a terminal in this folder to see what is wrong.",
    )


def told_before(left: LeftBehind, translator: Translator) -> Iterator[tuple[EventBody, ...]]:
    """What the chat's process before this one did unasked, and what was ended with it."""
    if left.works:
        yield (ended_work(left.works),)
    for message in left.messages:
        if bodies := translator.read(message):
            yield bodies


def ended_work(works: list[str]) -> Notice:
    """A process that was ended takes its background work with it: a person should know."""
    names = "; ".join(work or "unnamed work" for work in works)
    text = f"Claude Code was started anew, which ended its work in the background: {names}."
    return Notice(level="warning", code="background_ended", text=text)


def lost_line(item: Lost) -> Notice:
    """A line above the limit of the framer is gone."""
    text = f"A message of {item.size} bytes was too long and was left out."
    return Notice(level="warning", code="line_too_long", text=text)
