"""What a person notices of an agent's process: it is warm, it dies, it ignores them."""

from __future__ import annotations

import asyncio
import itertools
import os
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import (
    NotInstalled,
    ProcessExited,
    ProtocolError,
    ProviderTimeout,
    SpawnFailed,
)
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Error,
    EventBody,
    Notice,
    ResumeRefused,
    Session,
)
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.base import AgentRun, RunContext
from jupyter_agentchat.providers.conformance import Played, play
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.unit.native.scenario_subject import make_agent, make_request, open_adapter

CONTEXT = RunContext(trusted=True, first_session_id="id")
PID = [{"say": "{pid}", "chunks": 1}]


def run(main: Coroutine[Any, Any, None]) -> None:
    asyncio.run(main)


def pid_of(played: Played) -> int:
    return int(played.text)


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        for _ in itertools.takewhile(lambda _: not holds(), itertools.count()):
            await asyncio.sleep(0.01)


def environment_of(pid: int) -> list[bytes]:
    return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")


def is_alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


def test_a_plain_prompt_is_answered_with_one_stable_session(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            first = await play(adapter, make_request(tmp_path, "good day"))
            again = await play(adapter, make_request(tmp_path, "again", 1))
        assert first.text == "You said: good day"
        sessions = {body.provider_session_id for body in (first.of(Session) + again.of(Session))}
        assert sessions == {"scenario-chat"}

    run(main())


def test_the_process_is_kept_between_the_runs_of_a_chat_and_no_other(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            first = await play(adapter, make_request(tmp_path, PID))
            second = await play(adapter, make_request(tmp_path, PID, 1))
            other = await play(adapter, make_request(tmp_path, PID, chat_id="other"))
            assert pid_of(first) == pid_of(second) != pid_of(other)
            await adapter.close_chat("chat")
            assert not is_alive(pid_of(first))
            assert is_alive(pid_of(other))
            await adapter.close_chat("chat")
        assert not is_alive(pid_of(other))

    run(main())


def test_an_idle_process_is_ended_and_the_next_prompt_starts_another(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path, idle_timeout_s=0.05) as adapter:
            first = await play(adapter, make_request(tmp_path, PID))
            await until(lambda: not adapter._children)
            assert not is_alive(pid_of(first))
            second = await play(adapter, make_request(tmp_path, PID, 1))
            assert pid_of(second) != pid_of(first)

    run(main())


def test_a_process_that_died_while_idle_is_replaced_without_a_word(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            first = await play(adapter, make_request(tmp_path, PID))
            os.kill(pid_of(first), 9)
            await until(lambda: not adapter._children)
            second = await play(adapter, make_request(tmp_path, PID, 1))
            assert second.outcome == "completed"
            assert pid_of(second) != pid_of(first)
            assert not second.of(Notice)

    run(main())


def test_another_folder_gets_another_process(tmp_path: Path) -> None:
    async def main() -> None:
        (tmp_path / "there").mkdir()
        async with open_adapter(tmp_path) as adapter:
            first = await play(adapter, make_request(tmp_path, PID))
            second = await play(adapter, make_request(tmp_path / "there", PID, 1))
            assert pid_of(second) != pid_of(first)
            assert not is_alive(pid_of(first))

    run(main())


def test_what_an_agent_says_between_runs_is_not_part_of_the_next(tmp_path: Path) -> None:
    unasked = {"type": "assistant_text", "item_id": "late", "delta": "late"}

    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            late = [
                {"say": "one"},
                {"complete": "completed", "then": [unasked, {"type": "complete"}]},
            ]
            first = await play(adapter, make_request(tmp_path, late))
            second = await play(adapter, make_request(tmp_path, [{"say": "two"}], 1))
            assert (first.text, second.text) == ("one", "two")

    run(main())


def test_a_crash_tells_code_and_last_words_without_secrets(tmp_path: Path) -> None:
    async def main() -> None:
        words = "token=abcdef0123456789 Traceback: it broke"
        async with open_adapter(tmp_path) as adapter:
            steps = [{"say": "so far"}, {"stderr": words}, {"exit": 3}]
            played = await play(adapter, make_request(tmp_path, steps))
            killed = await play(adapter, make_request(tmp_path, [{"die": 9}], 1))
        assert played.text == "so far"
        assert isinstance(played.failure, ProcessExited)
        assert played.failure.exit_code == 3
        assert "it broke" in played.failure.stderr_tail
        assert "abcdef0123456789" not in played.failure.stderr_tail
        assert isinstance(killed.failure, ProcessExited)
        assert killed.failure.signal == 9

    run(main())


def test_an_exit_without_a_result_is_a_failure_too(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            played = await play(adapter, make_request(tmp_path, [{"exit": 0}]))
        assert isinstance(played.failure, ProcessExited)
        assert played.failure.exit_code == 0

    run(main())


def test_a_grandchild_that_holds_the_output_does_not_hold_the_run(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            steps = [{"fork": 60}, {"say": "bye"}, {"exit": 1}]
            played = await play(adapter, make_request(tmp_path, steps))
        assert isinstance(played.failure, ProcessExited)

    run(main())


@pytest.mark.parametrize(
    "stubborn",
    [
        ["ignore_cancel", {"say": "a" * 9000, "chunks": 9000, "rate": 50}],
        ["ignore_term", "ignore_cancel", {"say": "a" * 9000, "chunks": 9000, "rate": 50}],
        [{"say": "a", "final": False}, "hang"],
        ["ignore_term", {"say": "a", "final": False}, "hang"],
        [{"daemon": 60}, "ignore_term", {"say": "a", "final": False}, "hang"],
    ],
    ids=["no-cancel", "no-term", "hang", "hang-no-term", "daemon"],
)
def test_stop_ends_an_agent_that_will_not_listen(tmp_path: Path, stubborn: list[Any]) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            played = await play(adapter, make_request(tmp_path, stubborn), stop_at_text)
            assert played.outcome == "cancelled"
            assert played.text
            again = await play(adapter, make_request(tmp_path, PID, 1))
            assert again.outcome == "completed"

    async def stop_at_text(agent_run: AgentRun, body: EventBody) -> None:
        if isinstance(body, AssistantText):
            await agent_run.cancel()
            await agent_run.cancel()

    run(main())


def test_a_second_stop_does_not_wait_for_politeness(tmp_path: Path) -> None:
    async def main() -> None:
        async def stop(agent_run: AgentRun, body: EventBody) -> None:
            if isinstance(body, AssistantText):
                await agent_run.cancel()
                await agent_run.cancel(force=True)

        agent = make_agent(cancel_s=300.0)
        async with open_adapter(tmp_path, agent) as adapter:
            steps = ["ignore_cancel", {"say": "a" * 9000, "chunks": 9000, "rate": 50}]
            played = await play(adapter, make_request(tmp_path, steps), stop)
            assert played.outcome == "cancelled"

    run(main())


def test_an_agent_that_heeds_stop_stays_warm(tmp_path: Path) -> None:
    async def main() -> None:
        async def stop(agent_run: AgentRun, body: EventBody) -> None:
            if isinstance(body, AssistantText):
                await agent_run.cancel()

        async with open_adapter(tmp_path) as adapter:
            first = await play(adapter, make_request(tmp_path, PID))
            long = [{"say": "a" * 9000, "chunks": 9000, "rate": 50}]
            stopped = await play(adapter, make_request(tmp_path, long, 1), stop)
            third = await play(adapter, make_request(tmp_path, PID, 2))
            assert stopped.outcome == "cancelled"
            assert pid_of(third) == pid_of(first)

    run(main())


def test_a_waiting_ask_can_be_cancelled(tmp_path: Path) -> None:
    async def main() -> None:
        async def stop(agent_run: AgentRun, body: EventBody) -> None:
            if isinstance(body, Ask):
                await agent_run.cancel()

        async with open_adapter(tmp_path) as adapter:
            played = await play(adapter, make_request(tmp_path, [{"ask": {}}]), stop)
            assert played.outcome == "cancelled"

    run(main())


def test_answers_to_a_question_reach_the_agent(tmp_path: Path) -> None:
    async def main() -> None:
        async def reply(agent_run: AgentRun, body: EventBody) -> None:
            if isinstance(body, Ask):
                answers: dict[str, list[str] | str] = {"colour": ["Blue", "none of these"]}
                given = AskAnswer(decision="answered", answers=answers)
                await agent_run.answer("some other ask", given)
                await agent_run.answer(body.ask_id, given)

        async with open_adapter(tmp_path) as adapter:
            steps = [{"question": {}}, {"say": "{answer}"}]
            played = await play(adapter, make_request(tmp_path, steps), reply)
            assert played.text == '{"colour": ["Blue", "none of these"]}'

    run(main())


def test_a_message_can_be_steered_into_the_run(tmp_path: Path) -> None:
    async def main() -> None:
        async def steer(agent_run: AgentRun, body: EventBody) -> None:
            if isinstance(body, AssistantText) and body.text == "first ":
                assert await agent_run.steer("steered ", [])

        async with open_adapter(tmp_path) as adapter:
            steps = [{"say": "first "}, {"sleep": 0.3}, {"say": "last"}]
            played = await play(adapter, make_request(tmp_path, steps), steer)
            assert played.text == "first steered last"

    run(main())


def test_a_refused_resume_with_which_the_agent_deals_itself_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        refused = {"type": "resume_refused", "provider_session_id": "old", "reason": "gone"}
        steps = [{"emit": refused}, {"session": "new"}, {"say": "fresh"}]
        async with open_adapter(tmp_path) as adapter:
            request = make_request(tmp_path, steps, provider_session_id="old")
            played = await play(adapter, request)
        assert played.outcome == "completed"
        assert played.of(ResumeRefused)[0].provider == "scenario"
        assert played.text == "fresh"

    run(main())


def test_an_error_of_the_agents_own_explains_its_exit(tmp_path: Path) -> None:
    async def main() -> None:
        error = {"type": "error", "code": "model_not_found", "message": "no such model"}
        async with open_adapter(tmp_path) as adapter:
            steps = [{"emit": error}, {"stderr": "last words"}, {"exit": 4}]
            played = await play(adapter, make_request(tmp_path, steps))
        assert played.outcome == "failed"
        assert played.of(Error)[0].code == "model_not_found"
        assert played.of(Error)[0].detail["exit_code"] == 4
        assert "last words" in played.of(Error)[0].detail["stderr_tail"]

    run(main())


@pytest.mark.parametrize(
    ("hello", "error"), [("none", ProviderTimeout), ("bad", ProtocolError)], ids=["none", "bad"]
)
def test_a_program_that_is_no_agent_is_named_and_leaves_nothing(
    tmp_path: Path, hello: str, error: type[Exception]
) -> None:
    async def main() -> None:
        agent = make_agent("--hello", hello, hello_s=0.3)
        async with open_adapter(tmp_path, agent) as adapter:
            with pytest.raises(error):
                await adapter.start(make_request(tmp_path, PID), CONTEXT)
            assert adapter._children == {}

    run(main())


def test_a_start_that_is_cancelled_leaves_no_process(tmp_path: Path) -> None:
    async def main() -> None:
        agent = make_agent("--hello", "none")
        async with open_adapter(tmp_path, agent) as adapter:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.3):
                    await adapter.start(make_request(tmp_path, PID), CONTEXT)
            launcher = adapter._context.launcher
            assert launcher.children == []  # type: ignore[attr-defined]

    run(main())


def test_a_missing_program_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        agent = make_agent(argv=("no-such-agent-program",), install_hint="get it")
        async with open_adapter(tmp_path, agent) as adapter:
            provider = await adapter.probe()
            assert (provider.state, provider.available) == ("missing", False)
            assert provider.install_hint == "get it"
            with pytest.raises(NotInstalled):
                await adapter.start(make_request(tmp_path, PID), CONTEXT)

    run(main())


def test_a_folder_that_is_gone_says_so(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            with pytest.raises(SpawnFailed):
                await adapter.start(make_request(tmp_path / "gone", PID), CONTEXT)

    run(main())


def test_a_program_in_the_project_is_not_run_by_its_bare_name(tmp_path: Path) -> None:
    async def main() -> None:
        trap = tmp_path / "project" / "trap-agent"
        trap.parent.mkdir()
        trap.write_text("#!/bin/sh\n")
        trap.chmod(0o755)
        environment = {"PATH": f"{trap.parent}:{os.environ['PATH']}", "HOME": str(tmp_path / "me")}
        agent = make_agent(argv=("trap-agent",))
        async with open_adapter(tmp_path, agent, environment=environment) as adapter:
            with pytest.raises(NotInstalled):
                await adapter.start(make_request(trap.parent, PID), CONTEXT)

    run(main())


def test_a_probe_reads_the_hello_and_leaves_no_process(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            provider = await adapter.probe()
            assert (provider.state, provider.version) == ("ready", "1.0")
            assert provider.features.steer
            assert adapter._context.launcher.children == []  # type: ignore[attr-defined]

    run(main())


def test_an_admins_command_and_environment_replace_ours(tmp_path: Path) -> None:
    async def main() -> None:
        settings = ProviderSettings(command=make_agent().argv, env={"COLOUR": "blue"})
        async with open_adapter(
            tmp_path, make_agent(argv=("no-such-program",)), settings=settings
        ) as adapter:
            played = await play(adapter, make_request(tmp_path, PID))
            assert b"COLOUR=blue" in environment_of(pid_of(played))

    run(main())


def test_a_flood_of_tiny_deltas_arrives_whole(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            played = await play(adapter, make_request(tmp_path, [{"burst": 20_000}]))
            assert played.text == "x" * 20_000
            assert len(played.of(AssistantText)) == 20_001
            assert played.offsets == sorted(set(played.offsets))

    run(main())


def test_closing_while_a_run_is_on_ends_it(tmp_path: Path) -> None:
    async def main() -> None:
        async with open_adapter(tmp_path) as adapter:
            request = make_request(tmp_path, [{"say": "a", "final": False}, "hang"])
            playing = asyncio.create_task(play(adapter, request))
            await until(lambda: "chat" in adapter._children)
            await adapter.close()
            played = await playing
            assert isinstance(played.failure, ProcessExited)

    run(main())
