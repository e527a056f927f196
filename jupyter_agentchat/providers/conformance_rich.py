"""What an adapter owes for what its agent can do beside talking: the scenarios of its `features`.

Beside `conformance` and `conformance_durable`, in the same way. A gap that an agent really has is
declared in its `features`; `check_gap` fails for one that is left out in silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import Final, Protocol, cast

from ..errors import ProviderError
from ..protocol.events import Ask, AskResolved, AssistantText, EventBody, ToolUseEnd, ToolUseStart
from ..protocol.resources import AskAnswer, ProviderFeatures, RunRequest
from ..protocol.tools import JsonBlock, TextBlock
from .base import Adapter, AgentRun, ChildMark, RunContext, Scope
from .conformance import DEADLINE_S, Played, Subject, judge, must, play

HUGE_BYTES: Final = 100_000
_SESSIONS: Final = (
    "5f0c7a52-0000-4000-8000-000000000002",
    "5f0c7a52-0000-4000-8000-000000000003",
)


class RichSubject(Subject, Protocol):
    """A provider under test, with prompts for what it can do.

    The prompts of `request` must bring: `two_chats` in turn 0 and, in another chat, in turn 1 an
    answer that repeats the prompt · `huge_output` a tool call with at least HUGE_BYTES of output,
    then some text · `question` a question with options, then text that repeats the chosen label ·
    `image` (with an image among the attachments) text with the word `image` if the model got one ·
    `mcp` (with `mcp_servers`) a call of that server's tool, with output · `child_killed` text that
    streams for about a second, in turn 1 an answer.
    """

    async def kill_child(self) -> None:
        """SIGKILL to the process that runs the agent."""
        ...


async def two_chats(adapter: Adapter, subject: RichSubject) -> None:
    """1: two chats at once see nothing of each other; an agent of scope SERVER has one process."""
    requests = [_request(subject, "two_chats", turn) for turn in (0, 1)]
    must(requests[0].chat_id != requests[1].chat_id, "the subject gave one chat twice")
    marks: list[ChildMark] = []

    async def on_child(mark: ChildMark) -> None:
        marks.append(mark)

    async def one(request: RunRequest, session_id: str) -> Played:
        return await _follow(adapter, request, RunContext(True, session_id, on_child=on_child))

    results = await asyncio.gather(*map(one, requests, _SESSIONS))
    for played, request, other in zip(results, requests, reversed(requests), strict=True):
        must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
        must(request.prompt in played.text, f"{request.prompt!r} was not answered in its chat")
        must(other.prompt not in played.text, "one chat's words stand in the other")
    children = {mark.child_id for mark in marks}
    if adapter.scope is Scope.SERVER:
        must(len(children) == 1, f"two chats have {len(children)} processes")


async def huge_output(adapter: Adapter, subject: RichSubject) -> None:
    """2: much output of a tool is kept, or cut by the agent itself, and the run goes on."""
    played = await play(adapter, _request(subject, "huge_output"))
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    ends = played.of(ToolUseEnd)
    must(ends and ends[0].status == "completed", "the call did not end well")
    must(any(_text_of(end) for end in ends), "nothing of the output came")
    must(played.text.strip(), "no text behind it")


async def question(adapter: Adapter, subject: RichSubject) -> None:
    """3: the agent's question is a question, and the answer that was chosen reaches it."""
    chosen: list[str] = []

    async def choose(run: AgentRun, body: EventBody) -> None:
        if isinstance(body, Ask) and body.kind == "question":
            must(body.questions, "a question without a question")
            answers: dict[str, list[str] | str] = {}
            for one in body.questions:
                must(one.options, "the options are missing")
                answers[one.id] = [one.options[0].label]
                chosen.append(one.options[0].label)
            await run.answer(body.ask_id, AskAnswer(decision="answered", answers=answers))
        elif isinstance(body, Ask):
            option = next(option for option in body.options if option.decision == "allow")
            await run.answer(body.ask_id, AskAnswer(decision="allow", option_id=option.id))

    played = await play(adapter, _request(subject, "question"), choose)
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    must(chosen, "no question was put")
    must(all(label in played.text for label in chosen), "the answer did not reach the agent")
    withdrawn = {one.ask_id for one in played.of(AskResolved) if one.decision == "withdrawn"}
    must(not withdrawn, "an answered question was withdrawn")


async def image(adapter: Adapter, subject: RichSubject) -> None:
    """4: an image that is attached reaches the model as one."""
    request = _request(subject, "image")
    must(any(one.kind == "image" for one in request.attachments), "the subject attached no image")
    played = await play(adapter, request)
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    must("image" in played.text, "the model got no image")


async def mcp(adapter: Adapter, subject: RichSubject) -> None:
    """5: an MCP server that is handed over is there, and its calls are shown as such."""
    request = _request(subject, "mcp")
    must(request.mcp_servers, "the subject handed no server over")

    async def allow(run: AgentRun, body: EventBody) -> None:
        if isinstance(body, Ask):
            option = next(option for option in body.options if option.decision == "allow")
            await run.answer(body.ask_id, AskAnswer(decision="allow", option_id=option.id))

    played = await play(adapter, request, allow)
    must(played.outcome == "completed", f"ended {played.outcome}: {played.failure}")
    calls = [start for start in played.of(ToolUseStart) if start.kind == "mcp"]
    must(calls, "no call of an MCP tool was shown")
    ends = {end.tool_id: end for end in played.of(ToolUseEnd)}
    end = ends.get(calls[0].tool_id)
    must(end is not None and end.status == "completed", "the call did not end well")
    must(end is not None and _text_of(end), "its output is missing")


async def child_killed(adapter: Adapter, subject: RichSubject) -> None:
    """6: a process that is killed in mid-turn ends the run with a word; the next prompt works."""
    killed: list[bool] = []

    async def kill(_run: AgentRun, body: EventBody) -> None:
        if isinstance(body, AssistantText) and not killed:
            killed.append(True)
            await subject.kill_child()

    played = await play(adapter, _request(subject, "child_killed"), kill)
    must(killed, "the text did not stream")
    must(isinstance(played.failure, ProviderError), f"ended {played.outcome} without a word")
    again = await play(adapter, _request(subject, "child_killed", 1))
    must(again.outcome == "completed", f"the next prompt ended {again.outcome}: {again.failure}")


RICH_SCENARIOS: Final[dict[str, Callable[[Adapter, RichSubject], Awaitable[None]]]] = {
    "two_chats": two_chats,
    "huge_output": huge_output,
    "question": question,
    "image": image,
    "mcp": mcp,
    "child_killed": child_killed,
}
"""The subject's word -> the check."""

FEATURE_OF: Final[dict[str, Callable[[ProviderFeatures], bool]]] = {
    "permission_granted": lambda features: features.asks,
    "permission_denied": lambda features: features.asks,
    "permission_withdrawn": lambda features: features.asks,
    "resume_refused": lambda features: features.resume,
    "question": lambda features: features.questions,
    "image": lambda features: features.images,
    "mcp": lambda features: features.mcp is not None,
    "attach": lambda features: features.reattach,
    "attach_ask": lambda features: features.reattach and features.asks,
    "attach_over": lambda features: features.reattach,
    "resend": lambda features: features.reattach,
    "steer": lambda features: features.steer,
    "rewind": lambda features: features.rewind == "native",
    "fork": lambda features: features.fork == "native",
}
"""Scenario of any of the suites -> whether an agent with these features owes it; others always."""


def check_gap(name: str, features: ProviderFeatures) -> None:
    """For a scenario that a subject leaves out. Raises ConformanceError where the agent owes it."""
    owes = FEATURE_OF.get(name)
    must(owes is not None, f"{name} is owed by every agent")
    if owes is not None:
        must(not owes(features), f"{name} is left out, but the agent says that it can do it")


async def run_rich_scenario(name: str, subject: RichSubject) -> bool:
    """Run one scenario; False when the subject does not owe it (see `check_gap`).

    Raises ConformanceError. The adapter is closed at the end, whatever happened.
    """
    if subject.request(name, 0) is None:
        return False
    try:
        adapter = await subject.open(name)
        try:
            async with asyncio.timeout(2 * DEADLINE_S):
                await RICH_SCENARIOS[name](adapter, subject)
        finally:
            async with asyncio.timeout(DEADLINE_S):
                await adapter.close()
    finally:
        await subject.close()
    return True


async def _follow(adapter: Adapter, request: RunRequest, context: RunContext) -> Played:
    played = Played()
    try:
        run = await adapter.start(request, context)
        async with aclosing(run.steps()) as steps:  # type: ignore[type-var]
            async for step in steps:
                played.bodies.extend(step.bodies)
                if step.offset is not None:
                    played.offsets.append(step.offset)
    except ProviderError as error:
        played.failure = error
    judge(played)
    return played


def _text_of(end: ToolUseEnd) -> str:
    texts = [block.text for block in end.output if isinstance(block, TextBlock)]
    texts += [str(block.value) for block in end.output if isinstance(block, JsonBlock)]
    return "".join(texts).strip()


def _request(subject: RichSubject, word: str, turn: int = 0) -> RunRequest:
    request = subject.request(word, turn)
    must(request, f"the subject has no turn {turn} for {word}")
    return cast(RunRequest, request)
