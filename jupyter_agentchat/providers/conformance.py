"""What every adapter owes: scenarios that drive an `Adapter` directly and judge its steps.

A provider's tests bring a `Subject` (how to make the adapter, which prompt makes the agent do what)
and run each of SCENARIOS with it; `ConformanceError` says what does not hold. Needs no test
framework, so that adapters in other packages can use it.

    @pytest.mark.parametrize("name", SCENARIOS)
    def test_conformance(name): asyncio.run(run_scenario(name, subject))
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar, cast

from ..errors import ProcessExited, ProviderError, SessionRejected
from ..protocol.events import (
    Ask,
    AskResolved,
    AssistantText,
    Complete,
    Error,
    EventBody,
    Notice,
    Session,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
)
from ..protocol.resources import AskAnswer, RunRequest
from .base import Adapter, AgentRun, RunContext, Step

DEADLINE_S = 20.0
FREE_S = 1.0
"""A chat is free this long after its agent crashed, at most."""

Body = TypeVar("Body")


class ConformanceError(AssertionError):
    """A promise that an adapter did not keep."""


class Subject(Protocol):
    """A provider under test, made anew for each scenario."""

    async def open(self, scenario: str) -> Adapter:
        """Make the adapter, and prepare what stands behind it for this scenario."""
        ...

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        """The request for a turn (from 0) of the scenario; None: this agent owes it not.

        All turns are of one chat, each with a `run_id` of its own. The prompts must bring:
        `hello` streamed text · `tool_ok` a tool call · `tool_failed` one that fails · `permission`
        an ask for a tool, then some text · `withdrawn` an ask that the agent withdraws · `cancel`
        text without end, in turn 1 an answer · `huge_line` a line of 2 MB · `torn` half a last
        line, then exit · `crash` exit by error with words on stderr, in turn 1 an answer ·
        `resume_refused` a resume of an id that the agent does not know, in turn 1 the same prompt
        with `transcript` and no id · `unknown` a message of a type that we do not know.
        """
        ...

    async def close(self) -> None:
        """Take down what `open` made."""
        ...


@dataclass(slots=True)
class Played:
    """What one run brought."""

    bodies: list[EventBody] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    failure: ProviderError | None = None
    seconds_after_last: float = 0.0

    def of(self, kind: type[Body]) -> list[Body]:
        """The bodies of one type, in order."""
        return [cast(Body, body) for body in self.bodies if isinstance(body, kind)]

    @property
    def outcome(self) -> str:
        """How it ended: the `complete`'s word, or `raised`."""
        ends = self.of(Complete)
        return ends[-1].outcome if ends else "raised"

    @property
    def text(self) -> str:
        """The answer as a person reads it: finals replace their deltas."""
        items: dict[str, str] = {}
        for body in self.of(AssistantText):
            seen = items.get(body.item_id, "")
            items[body.item_id] = (body.text or "") if body.final else seen + (body.delta or "")
        return "".join(items.values())


Reaction = Callable[[AgentRun, EventBody], Awaitable[None]]


async def play(adapter: Adapter, request: RunRequest, react: Reaction | None = None) -> Played:
    """Run `request` to its end, calling `react` with each body; judges what holds for every run."""
    played = Played()
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(DEADLINE_S):
        context = RunContext(trusted=True, first_session_id="5f0c7a52-0000-4000-8000-000000000000")
        last = loop.time()
        try:
            run = await adapter.start(request, context)
            steps = run.steps()
            try:
                async for step in steps:
                    last = loop.time()
                    await _take(played, step, run, react)
            finally:
                if isinstance(steps, AsyncGenerator):
                    await steps.aclose()
        except ProviderError as error:
            played.failure = error
        played.seconds_after_last = loop.time() - last
    judge(played)
    return played


async def _take(played: Played, step: Step, run: AgentRun, react: Reaction | None) -> None:
    played.bodies.extend(step.bodies)
    if step.offset is not None:
        played.offsets.append(step.offset)
    if react is not None:
        for body in step.bodies:
            await react(run, body)


def must(holds: object, message: str) -> None:
    """Raise ConformanceError with `message` unless `holds`."""
    if not holds:
        raise ConformanceError(message)


def judge(played: Played) -> None:
    """What holds for every run, however it went; raises ConformanceError."""
    must(played.offsets == sorted(played.offsets), "the offsets behind lines go back")
    ends, errors = played.of(Complete), played.of(Error)
    must(len(ends) + bool(played.failure) == 1, f"{len(ends)} completes, failure {played.failure}")
    if ends:
        must(played.bodies[-1] is ends[0], "something stands behind complete")
        must(ends[0].outcome != "interrupted", "interrupted is the server's word, not an agent's")
        must(bool(errors) == (ends[0].outcome == "failed"), "error exactly when failed")
    _judge_items(played)
    starts = {start.tool_id for start in played.of(ToolUseStart)}
    for end, count in Counter(end.tool_id for end in played.of(ToolUseEnd)).items():
        must(end in starts, f"tool {end} ends without a start")
        must(count == 1, f"tool {end} ends {count} times")
    asked = Counter(ask.ask_id for ask in played.of(Ask))
    must(all(count == 1 for count in asked.values()), "the same ask twice")
    for resolved in played.of(AskResolved):
        must(resolved.ask_id in asked, "an ask was resolved that was never put")


def _judge_items(played: Played) -> None:
    deltas: dict[tuple[str, str], str] = {}
    final: set[tuple[str, str]] = set()
    for body in played.bodies:
        if not isinstance(body, AssistantText | Thinking):
            continue
        key = (body.type, body.item_id)
        must(key not in final, f"item {body.item_id} goes on behind its final")
        if body.final:
            final.add(key)
            said = deltas.get(key, "")
            must(
                (body.text or "").startswith(said.rstrip()[:200]), "a final contradicts its deltas"
            )
        else:
            deltas[key] = deltas.get(key, "") + (body.delta or "")


async def hello(adapter: Adapter, subject: Subject) -> None:
    """1: deltas, then finals; a session; one complete; our own prompt is not shown as an answer."""
    played = await play(adapter, _request(subject, "hello"))
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    must(played.text.strip(), "no answer text")
    must(any(body.delta for body in played.of(AssistantText)), "the text did not stream")
    sessions = played.of(Session)
    must(sessions and sessions[0].provider == adapter.id, "no session of this provider")


async def tool_ok(adapter: Adapter, subject: Subject) -> None:
    """2a: start before end, one id, typed input, not an error."""
    played = await play(adapter, _request(subject, "tool_ok"))
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    starts, ends = played.of(ToolUseStart), played.of(ToolUseEnd)
    must(starts and ends, "no tool call was shown")
    must(starts[0].kind != "other", f"{starts[0].name} was not recognised")
    must(starts[0].input.kind == starts[0].kind, "the input is of another kind than the call")
    must({end.status for end in ends} == {"completed"}, "a good call is not shown as completed")
    must(not any(end.is_error for end in ends), "a good call is shown as an error")


async def tool_failed(adapter: Adapter, subject: Subject) -> None:
    """2b: a failing call is an error of the call, not of the run."""
    played = await play(adapter, _request(subject, "tool_failed"))
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    failed = [end for end in played.of(ToolUseEnd) if end.status == "failed"]
    must(failed and all(end.is_error for end in failed), "the failure is not shown on its call")


async def permission_granted(adapter: Adapter, subject: Subject) -> None:
    """3a: one ask with options, the run waits, an allow lets the call go on."""
    played = await _answered(adapter, subject, "allow")
    must(played.text.strip(), "no text behind the answer")
    ends = played.of(ToolUseEnd)
    must(not any(end.status in ("denied", "cancelled") for end in ends), "it was not let through")


async def permission_denied(adapter: Adapter, subject: Subject) -> None:
    """3b: a deny reaches the agent and the run goes on to its end."""
    played = await _answered(adapter, subject, "deny")
    ends = [end for end in played.of(ToolUseEnd) if end.tool_id == played.of(Ask)[0].tool_id]
    must(all(end.status != "completed" for end in ends), "the denied call is shown as completed")


async def permission_withdrawn(adapter: Adapter, subject: Subject) -> None:
    """3c: an ask that the agent takes back is closed."""
    played = await play(adapter, _request(subject, "withdrawn"))
    asks, resolved = played.of(Ask), played.of(AskResolved)
    must(asks and resolved, "the ask was not withdrawn")
    must({one.decision for one in resolved} == {"withdrawn"}, "an adapter answers nothing itself")


async def _answered(adapter: Adapter, subject: Subject, decision: str) -> Played:
    async def answer(run: AgentRun, body: EventBody) -> None:
        if not isinstance(body, Ask):
            return
        must(body.kind == "permission", f"an ask of kind {body.kind}")
        fit = [option for option in body.options if option.decision == decision]
        must(fit, f"no option to {decision}")
        given = {"decision": decision, "option_id": fit[0].id}
        await run.answer(body.ask_id, AskAnswer.model_validate(given))

    played = await play(adapter, _request(subject, "permission"), answer)
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    must(len(played.of(Ask)) == 1, f"{len(played.of(Ask))} asks instead of one")
    return played


async def cancel(adapter: Adapter, subject: Subject) -> None:
    """4: what was said stays, no error, and the next prompt runs."""

    async def stop(run: AgentRun, body: EventBody) -> None:
        if isinstance(body, AssistantText):
            await run.cancel()

    played = await play(adapter, _request(subject, "cancel"), stop)
    must(played.outcome == "cancelled", f"ended {played.outcome}: {played.failure}")
    must(played.text, "the partial text is lost")
    again = await play(adapter, _request(subject, "cancel", 1))
    must(again.outcome == "completed", f"the next prompt ended {again.outcome}: {again.failure}")


async def huge_line(adapter: Adapter, subject: Subject) -> None:
    """5: two megabytes on one line arrive whole."""
    played = await play(adapter, _request(subject, "huge_line"))
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    size = max(len(body.model_dump_json()) for body in played.bodies)
    must(size >= 2_000_000, f"the largest body has {size} characters only")


async def torn_line(adapter: Adapter, subject: Subject) -> None:
    """6: half a line is not a message, and the run fails."""
    played = await play(adapter, _request(subject, "torn"))
    must(played.failure or played.outcome == "failed", f"ended {played.outcome}")
    must("torn" not in played.text, "text was made of half a line")


async def crash(adapter: Adapter, subject: Subject) -> None:
    """7: how it ended and its last words are told, the chat is free at once and goes on."""
    played = await play(adapter, _request(subject, "crash"))
    failure = played.failure
    must(isinstance(failure, ProcessExited), f"not seen as a crash: {failure}")
    if isinstance(failure, ProcessExited):
        must(failure.exit_code or failure.signal, "neither exit code nor signal")
        must(failure.stderr_tail, "its words on stderr are lost")
    must(played.seconds_after_last <= FREE_S, f"free only {played.seconds_after_last:.1f} s later")
    again = await play(adapter, _request(subject, "crash", 1))
    must(again.outcome == "completed", f"the next prompt ended {again.outcome}: {again.failure}")


async def resume_refused(adapter: Adapter, subject: Subject) -> None:
    """8: a refused resume is told apart from a failure, and the fresh start works."""
    first = _request(subject, "resume_refused")
    played = await play(adapter, first)
    failure = played.failure
    must(isinstance(failure, SessionRejected), f"not seen as a refused resume: {failure}")
    if isinstance(failure, SessionRejected):
        must(failure.provider_session_id == first.provider_session_id, "another id was refused")
    must(not played.of(AssistantText), "it had answered already")
    again = await play(adapter, _request(subject, "resume_refused", 1))
    must(again.outcome == "completed", f"the fresh start ended {again.outcome}: {again.failure}")


async def unknown_type(adapter: Adapter, subject: Subject) -> None:
    """10: what we do not know is named once and harms nothing."""
    played = await play(adapter, _request(subject, "unknown"))
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    texts = Counter(notice.text for notice in played.of(Notice))
    generic = [start for start in played.of(ToolUseStart) if start.kind == "other"]
    must(texts or generic, "an unknown message left no trace")
    must(all(count == 1 for count in texts.values()), "the same warning twice")


def _request(subject: Subject, scenario: str, turn: int = 0) -> RunRequest:
    request = subject.request(scenario, turn)
    if request is None:
        raise ConformanceError(f"the subject has no turn {turn} for {scenario}")
    return request


SCENARIOS: dict[str, tuple[str, Callable[[Adapter, Subject], Awaitable[None]]]] = {
    "hello": ("hello", hello),
    "tool_ok": ("tool_ok", tool_ok),
    "tool_failed": ("tool_failed", tool_failed),
    "permission_granted": ("permission", permission_granted),
    "permission_denied": ("permission", permission_denied),
    "permission_withdrawn": ("withdrawn", permission_withdrawn),
    "cancel": ("cancel", cancel),
    "huge_line": ("huge_line", huge_line),
    "torn_line": ("torn", torn_line),
    "crash": ("crash", crash),
    "resume_refused": ("resume_refused", resume_refused),
    "unknown_type": ("unknown", unknown_type),
}
"""Name -> (the subject's word for it, the check). Forks and more stand in `conformance_durable`."""


async def run_scenario(name: str, subject: Subject) -> bool:
    """Run one scenario; False when the subject does not owe it. Raises ConformanceError.

    The adapter is closed at the end, within its deadline, whatever happened.
    """
    word, check = SCENARIOS[name]
    if subject.request(word, 0) is None:
        return False
    try:
        adapter = await subject.open(word)
        try:
            await check(adapter, subject)
        finally:
            async with asyncio.timeout(DEADLINE_S):
                await adapter.close()
    finally:
        await subject.close()
    return True
