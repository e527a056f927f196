"""A native agent outlives its server: the next one reads on, and says again what may be lost."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited, ProviderError
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.events import Ask, AssistantText, Complete, EventBody
from jupyter_agentchat.protocol.resources import AskAnswer, RunRequest
from jupyter_agentchat.providers.base import AgentRun, ChildMark, RunContext, Step
from jupyter_agentchat.providers.native.adapter import NativeAdapter
from tests.unit.native.scenario_subject import make_agent, make_context, make_request
from tests.waiting import until


@dataclass
class Server:
    """One server's adapter, whose children outlive it."""

    launcher: SpoolLauncher
    adapter: NativeAdapter

    async def die(self) -> None:
        """It is gone, its agents are not."""
        await self.launcher.leave()
        await self.adapter.close()


@asynccontextmanager
async def servers(root: Path, *options: str) -> AsyncIterator[Callable[[], Server]]:
    """Makes one server after the other on `root`; afterwards no process is left."""
    made: list[Server] = []
    probes = LocalLauncher()

    def make() -> Server:
        launcher = SpoolLauncher(root / "spool")
        context = make_context(launcher, root, probe_launcher=probes)
        made.append(Server(launcher, NativeAdapter(context, make_agent(*options))))
        return made[-1]

    try:
        yield make
    finally:
        for server in made:
            await server.adapter.close()
            await server.launcher.close()
        await probes.close()
        assert list((root / "spool").iterdir()) == []


class Reader:
    """Reads a run's steps in the background."""

    def __init__(self, run: AgentRun) -> None:
        self.run = run
        self.steps: list[Step] = []
        self.failure: ProviderError | None = None
        self.task = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        try:
            async for step in self.run.steps():
                self.steps.append(step)
        except ProviderError as error:
            self.failure = error

    async def leave(self) -> None:
        self.task.cancel()
        await asyncio.wait({self.task})

    async def end(self) -> list[EventBody]:
        async with asyncio.timeout(15):
            await self.task
        return self.bodies

    @property
    def bodies(self) -> list[EventBody]:
        return [body for step in self.steps for body in step.bodies]

    def has(self, kind: type[EventBody]) -> bool:
        return any(isinstance(body, kind) for body in self.bodies)


def marked(marks: list[ChildMark]) -> RunContext:
    async def on_child(mark: ChildMark) -> None:
        marks.append(mark)

    return RunContext(trusted=True, first_session_id="id", on_child=on_child)


def text_of(bodies: list[EventBody]) -> str:
    finals = [body for body in bodies if isinstance(body, AssistantText) and body.final]
    return "|".join(body.text or "" for body in finals)


def play(
    root: Path,
    steps: list[Any],
    ready: Callable[[Reader], object],
    scenario: Callable[[Reader, Reader, RunRequest], Awaitable[None]],
    *,
    runs_before: int = 0,
) -> None:
    """Start a run, let its server die once `ready`, attach, and go on with `scenario`."""

    async def main() -> None:
        async with servers(root) as make:
            first, marks = make(), list[ChildMark]()
            for number in range(runs_before):
                request = make_request(root, "before", 100 + number)
                await Reader(await first.adapter.start(request, marked([]))).end()
            request = make_request(root, steps)
            before = Reader(await first.adapter.start(request, marked(marks)))
            await until(lambda: ready(before))
            await before.leave()
            await first.die()
            second = make()
            run = await second.adapter.attach(request, marked([]), marks[0])
            await scenario(before, Reader(run), request)

    asyncio.run(main())


@pytest.mark.parametrize("runs_before", [0, 2])
def test_the_same_lines_bring_the_same_steps_and_what_was_missed_follows(
    tmp_path: Path, runs_before: int
) -> None:
    steps = [{"think": "hm"}, {"say": "word " * 60, "chunks": 60, "rate": 100}, {"say": "end"}]

    async def scenario(before: Reader, after: Reader, _request: RunRequest) -> None:
        bodies = await after.end()
        assert after.steps[: len(before.steps)] == before.steps
        assert isinstance(bodies[-1], Complete)
        assert text_of(bodies) == "word " * 60 + "|end"

    play(tmp_path, steps, lambda r: r.has(AssistantText), scenario, runs_before=runs_before)


def test_a_prompt_that_never_arrived_is_said_again_and_runs_once(tmp_path: Path) -> None:
    async def main() -> None:
        async with servers(tmp_path) as make:
            first, marks = make(), list[ChildMark]()

            async def killed(mark: ChildMark) -> None:
                marks.append(mark)
                raise asyncio.CancelledError  # the row is stored, the prompt is not written

            warm = await Reader(
                await first.adapter.start(make_request(tmp_path, "warm up", 7), marked([]))
            ).end()
            assert text_of(warm) == "You said: warm up"
            request = make_request(tmp_path, [{"say": "{prompt}", "chunks": 1}])
            context = RunContext(trusted=True, first_session_id="id", on_child=killed)
            # the agent must not be ended by the failed start: as when its server is killed there
            first.adapter._abandon = _nothing  # type: ignore[method-assign]
            with pytest.raises(asyncio.CancelledError):
                await first.adapter.start(request, context)
            await first.die()
            second = make()
            reader = Reader(await second.adapter.attach(request, marked([]), marks[0]))
            await until(lambda: reader.has(AssistantText))
            # and a third server, which cannot know that it has arrived
            await reader.leave()
            await second.die()
            third = make()
            bodies = await Reader(await third.adapter.attach(request, marked([]), marks[0])).end()
            assert text_of(bodies) == request.prompt
            assert [type(body) for body in bodies].count(Complete) == 1

    asyncio.run(main())


def test_a_program_that_could_run_a_prompt_twice_is_not_told_it_again(tmp_path: Path) -> None:
    async def main() -> None:
        async with servers(tmp_path, "--hello", "plain") as make:
            first, marks = make(), list[ChildMark]()
            request = make_request(tmp_path, [{"sleep": 60}, {"say": "twice?"}])
            reader = Reader(await first.adapter.start(request, marked(marks)))
            await reader.leave()
            await first.die()
            with pytest.raises(ChildGone):  # it has not said anything yet: nobody knows
                await make().adapter.attach(request, marked([]), marks[0])

    asyncio.run(main())


async def _nothing(_child: object) -> None:
    return None


def test_an_answer_a_message_and_stop_reach_the_agent_of_the_server_before(tmp_path: Path) -> None:
    steps = [{"ask": {}}, {"say": "{answer}"}, {"say": "on " * 900, "chunks": 900, "rate": 50}]

    async def scenario(_before: Reader, after: Reader, _request: RunRequest) -> None:
        await until(lambda: after.has(Ask))
        (ask,) = [body for body in after.bodies if isinstance(body, Ask)]
        given = AskAnswer(decision="allow", option_id="allow_once")
        await after.run.answer(ask.ask_id, given)
        await after.run.answer(ask.ask_id, given)  # once more: ignored
        await until(lambda: text_of(after.bodies) == '"allow"')
        await until(lambda: after.run.can_steer)  # its hello stood before the run
        assert await after.run.steer("and hurry", [])
        await until(lambda: "and hurry" in text_of(after.bodies))
        await after.run.cancel()
        bodies = await after.end()
        assert bodies[-1] == Complete(outcome="cancelled")

    play(tmp_path, steps, lambda r: r.has(Ask), scenario)


def test_what_an_agent_said_before_it_died_alone_is_read_and_how_it_died(tmp_path: Path) -> None:
    steps = [
        {"say": "a", "chunks": 1},
        {"sleep": 0.4},
        {"say": "b"},
        {"stderr": "ouch"},
        {"exit": 7},
    ]

    async def scenario(_before: Reader, after: Reader, _request: RunRequest) -> None:
        bodies = await after.end()
        assert text_of(bodies) == "a|b"
        failure = after.failure
        assert isinstance(failure, ProcessExited)
        assert (failure.exit_code, failure.stderr_tail) == (7, "ouch")

    play(tmp_path, steps, lambda r: r.has(AssistantText), scenario)


def test_a_child_without_a_trace_is_gone(tmp_path: Path) -> None:
    async def main() -> None:
        async with servers(tmp_path) as make:
            (tmp_path / "spool").mkdir()
            request = make_request(tmp_path, "hello")
            with pytest.raises(ChildGone):
                await make().adapter.attach(request, marked([]), ChildMark("nobody", 0))
        local = LocalLauncher()
        adapter = NativeAdapter(make_context(local, tmp_path), make_agent())
        with pytest.raises(ChildGone):
            await adapter.attach(request, marked([]), ChildMark("nobody", 0))
        assert not (await adapter.probe()).features.reattach
        await adapter.close()
        await local.close()

    asyncio.run(main())
