"""What an adapter owes beyond one run in one server: another server, steering, rewind, fork.

Beside `conformance`, in the same way. A subject of these scenarios can also replace its server:
the launcher leaves its children, and a new adapter stands on a new launcher over the same files.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Final, Protocol, cast

from ..protocol.events import Ask, AssistantText, Complete, EventBody, Session, ToolUseEnd
from ..protocol.resources import AskAnswer, RunRequest
from .base import Adapter, AgentRun, ChildMark, RunContext, Step
from .conformance import DEADLINE_S, Played, Subject, judge, must

_FIRST_SESSION: Final = "5f0c7a52-0000-4000-8000-000000000000"
_BRANCH_SESSION: Final = "5f0c7a52-0000-4000-8000-000000000001"


class DurableSubject(Subject, Protocol):
    """A provider under test, over a launcher whose children outlive it.

    The prompts of `request` must bring: `attach` text that streams for about a second, then the
    end · `attach_ask` an ask for a tool, then some text · `attach_over` and `resend` a short text,
    in turn 1 another · `steer` as `attach`, and turn 1 a prompt that is answered with its own text
    · `rewind` in turns 0 and 1 any text, in turn 2 an answer that repeats every prompt that the
    agent knows · `fork` as `rewind`, turn 1 in another chat with `fork` of turn 0's conversation,
    turn 2 in the first chat again.
    """

    async def replaced(self) -> Adapter:
        """The server is gone without a word to its agents: the adapter of the next one."""
        ...


@dataclass(slots=True)
class Begun:
    """A run that its server left, or saw to its end: `mark` is what the hub has stored."""

    request: RunRequest
    played: Played
    mark: ChildMark


Reaction = Callable[[AgentRun, EventBody], Awaitable[None]]
Moment = Callable[[EventBody], bool]


def _never(_body: EventBody) -> bool:
    return False


async def begin(
    adapter: Adapter,
    request: RunRequest,
    *,
    leave_at: Moment = _never,
    react: Reaction | None = None,
    first_session_id: str = _FIRST_SESSION,
) -> Begun:
    """Start a run and follow it up to a moment, or to its end; steps count as stored."""
    marks: list[ChildMark] = []

    async def on_child(mark: ChildMark) -> None:
        marks.append(mark)

    context = RunContext(True, first_session_id, on_child=on_child)
    run = await adapter.start(request, context)
    must(marks, "the adapter did not say which child has the run before it sent the prompt")
    played = await _follow(run, leave_at, react)
    stored = max(played.offsets, default=0)
    must(all(offset > marks[-1].first for offset in played.offsets), "a line before the first")
    return Begun(request, played, replace(marks[-1], stored=stored))


async def take_over(adapter: Adapter, begun: Begun, react: Reaction | None = None) -> Played:
    """What the next server sees of a run, from its beginning to its end."""
    context = RunContext(True, _FIRST_SESSION)
    played = await _follow(await adapter.attach(begun.request, context, begun.mark), _never, react)
    judge(played)
    return played


async def _follow(run: AgentRun, leave_at: Moment, react: Reaction | None) -> Played:
    played = Played()
    steps = cast(AsyncGenerator[Step, None], run.steps())
    async with aclosing(steps):
        async for step in steps:
            played.bodies.extend(step.bodies)
            if step.offset is not None:
                played.offsets.append(step.offset)
            for body in step.bodies:
                if react is not None:
                    await react(run, body)
            if any(leave_at(body) for body in step.bodies):
                return played
    judge(played)
    return played


def _is_text(body: EventBody) -> bool:
    return isinstance(body, AssistantText)


async def attach(adapter: Adapter, subject: DurableSubject) -> None:
    """1: the same steps again from the first, then the rest, to the one end."""
    begun = await begin(adapter, _request(subject, "attach"), leave_at=_is_text)
    must(not begun.played.of(Complete), "the text did not stream")
    again = await take_over(await subject.replaced(), begun)
    seen = len(begun.played.bodies)
    must(again.bodies[:seen] == begun.played.bodies, "the steps are not those of the first server")
    must(again.offsets[: len(begun.played.offsets)] == begun.played.offsets, "other offsets")
    must(again.outcome == "completed", f"ended {again.outcome}")
    must(len(again.bodies) > seen, "nothing came behind what was stored")


async def attach_ask(adapter: Adapter, subject: DurableSubject) -> None:
    """2: an open ask is there again under its id, and its answer counts."""

    async def allow(run: AgentRun, body: EventBody) -> None:
        if isinstance(body, Ask):
            option = next(option for option in body.options if option.decision == "allow")
            await run.answer(body.ask_id, AskAnswer(decision="allow", option_id=option.id))

    request = _request(subject, "attach_ask")
    begun = await begin(adapter, request, leave_at=lambda body: isinstance(body, Ask))
    must(len(begun.played.of(Ask)) == 1, "there was not one ask")
    again = await take_over(await subject.replaced(), begun, allow)
    must(again.of(Ask) == begun.played.of(Ask), "it is another ask")
    must(again.outcome == "completed", f"ended {again.outcome}")
    must(again.text.strip(), "no text behind the answer")
    ends = {end.status for end in again.of(ToolUseEnd)}
    must(not ends & {"denied", "cancelled"}, "it was not let through")


async def attach_over(adapter: Adapter, subject: DurableSubject) -> None:
    """3: a run that had ended is told again, the same, and not run again."""
    begun = await begin(adapter, _request(subject, "attach_over"))
    begun.mark = replace(begun.mark, stored=0)
    other = await subject.replaced()
    again = await take_over(other, begun)
    must(again.bodies == begun.played.bodies, "it is told otherwise")
    await _goes_on(other, subject, "attach_over", begun)


async def resend(adapter: Adapter, subject: DurableSubject) -> None:
    """4: a prompt that was noted and never written is written by the next server."""
    first = await begin(adapter, _request(subject, "resend"))
    position = max(first.played.offsets)
    request = _with_session(_request(subject, "resend", 1), first.played)
    begun = Begun(request, Played(), ChildMark(first.mark.child_id, position))
    again = await take_over(await subject.replaced(), begun)
    must(again.outcome == "completed", f"ended {again.outcome}")
    must(again.text.strip(), "the prompt was not answered")


async def steer(adapter: Adapter, subject: DurableSubject) -> None:
    """5: what is put into the running turn is answered in the same run."""
    words = _request(subject, "steer", 1).prompt
    taken: list[bool] = []

    async def put_in(run: AgentRun, body: EventBody) -> None:
        if _is_text(body) and not taken:
            must(run.can_steer, "it cannot be steered while it answers")
            taken.append(await run.steer(words, []))

    begun = await begin(adapter, _request(subject, "steer"), react=put_in)
    must(taken == [True], "the message was not taken")
    must(begun.played.outcome == "completed", f"ended {begun.played.outcome}")
    must(words in begun.played.text, "the message was not answered in its run")
    must(begun.played.text.count(words) == 1, "the message was answered twice")


async def rewind(adapter: Adapter, subject: DurableSubject) -> None:
    """6: the agent forgets the runs that are cut, and nothing else."""
    first = await begin(adapter, _request(subject, "rewind"))
    second = await begin(adapter, _with_session(_request(subject, "rewind", 1), first.played))
    third = _with_session(_request(subject, "rewind", 2), first.played)
    rewinder = adapter.rewinder
    must(rewinder, "it rewinds by transcript only")
    if rewinder is not None:
        context = RunContext(True, _FIRST_SESSION)
        must(await rewinder.rewind(third, context, [second.request.run_id]), "it did not rewind")
    recalled = (await begin(adapter, third)).played
    must(first.request.prompt in recalled.text, "it forgot what was kept")
    must(second.request.prompt not in recalled.text, "it still knows what was cut")


async def fork(adapter: Adapter, subject: DurableSubject) -> None:
    """7: the branch knows the past, and the parent nothing of the branch."""
    first = await begin(adapter, _request(subject, "fork"))
    must(adapter.forker, "it forks by transcript only")
    request = _with_session(_request(subject, "fork", 1), first.played)
    branch = await begin(adapter, request, first_session_id=_BRANCH_SESSION)
    sessions = {body.provider_session_id for body in branch.played.of(Session)}
    must(len(sessions) == 1, "the branch has no conversation of its own")
    must(request.provider_session_id not in sessions, "the branch goes on in its parent")
    third = _with_session(_request(subject, "fork", 2), first.played)
    recalled = (await begin(adapter, third)).played
    must(first.request.prompt in recalled.text, "the parent lost its past")
    must(branch.request.prompt not in recalled.text, "the branch wrote into its parent")


async def _goes_on(adapter: Adapter, subject: DurableSubject, word: str, begun: Begun) -> None:
    request = _with_session(_request(subject, word, 1), begun.played)
    again = await begin(adapter, request)
    must(again.played.outcome == "completed", f"the next prompt ended {again.played.outcome}")
    must(again.mark.child_id == begun.mark.child_id, "the process was not used again")


def _with_session(request: RunRequest, played: Played) -> RunRequest:
    sessions = played.of(Session)
    must(sessions, "no session was told")
    return request.model_copy(update={"provider_session_id": sessions[-1].provider_session_id})


def _request(subject: DurableSubject, word: str, turn: int = 0) -> RunRequest:
    request = subject.request(word, turn)
    must(request, f"the subject has no turn {turn} for {word}")
    return cast(RunRequest, request)


DURABLE_SCENARIOS: Final[dict[str, Callable[[Adapter, DurableSubject], Awaitable[None]]]] = {
    "attach": attach,
    "attach_ask": attach_ask,
    "attach_over": attach_over,
    "resend": resend,
    "steer": steer,
    "rewind": rewind,
    "fork": fork,
}
"""The subject's word -> the check."""


async def run_durable_scenario(name: str, subject: DurableSubject) -> bool:
    """Run one scenario; False when the subject does not owe it. Raises ConformanceError.

    The adapter of the last server is closed at the end; those of servers that are gone are not.
    """
    if subject.request(name, 0) is None:
        return False
    current: list[Adapter] = []
    tracked = _Tracked(subject, current)
    try:
        current.append(await subject.open(name))
        try:
            async with asyncio.timeout(DEADLINE_S):
                await DURABLE_SCENARIOS[name](current[0], tracked)
        finally:
            async with asyncio.timeout(DEADLINE_S):
                await current[-1].close()
    finally:
        await subject.close()
    return True


class _Tracked:
    """A subject, and the adapter of its newest server."""

    def __init__(self, subject: DurableSubject, current: list[Adapter]) -> None:
        self._subject = subject
        self._current = current

    async def open(self, scenario: str) -> Adapter:
        return await self._subject.open(scenario)

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        return self._subject.request(scenario, turn)

    async def replaced(self) -> Adapter:
        self._current.append(await self._subject.replaced())
        return self._current[-1]

    async def close(self) -> None:
        await self._subject.close()
