"""Stop, crashes and the end of the server with the real Codex: nothing hangs, nothing stays."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from jupyter_agentchat.errors import ProcessExited
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    EventBody,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from tests.agents.codex_agent import Chat, Place, open_chat, watch
from tests.waiting import until


def _is_text(body: EventBody) -> bool:
    return isinstance(body, AssistantText)


def test_stop_in_an_answer_keeps_what_was_said_and_the_next_prompt_runs(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.stop_at(await chat.start("slow"), _is_text)
            assert told.complete.outcome == "cancelled"
            assert told.all(AssistantText)[0].delta
            assert (await chat.say("echo on")).texts == ["echo on"]
            assert len(chat.launcher.children) == 1

    asyncio.run(talk())


def test_stop_in_a_command_ends_the_command(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            run = await chat.start("run echo $$ > pid; exec sleep 60", permission="accept_edits")
            told = await chat.stop_at(run, lambda body: isinstance(body, ToolUseStart))
            assert told.complete.outcome == "cancelled"
            # the call's end is left to the hub: Codex never closes it, or says that it failed
            assert {end.status for end in told.all(ToolUseEnd)} <= {"failed", "cancelled"}

    asyncio.run(talk())


def test_stop_while_a_person_is_asked_ends_the_run(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            run = await chat.start("run touch made")
            told = await chat.stop_at(run, lambda body: isinstance(body, Ask))
            assert told.complete.outcome == "cancelled"
            assert not (codex_place.project / "made").exists()
            assert (await chat.say("echo on")).texts == ["echo on"]

    asyncio.run(talk())


def test_stop_while_the_model_server_says_nothing_ends_the_run(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            run = await chat.start("error hang")
            stopping = asyncio.create_task(run.cancel())
            told = await chat.follow(run)
            await stopping
            assert told.complete.outcome == "cancelled"

    asyncio.run(talk())


def test_a_model_server_that_cannot_be_reached_fails_the_turn(codex_place: Place) -> None:
    codex_place.configure()
    text = codex_place.config.read_text()
    unreachable = text.replace(codex_place.fake.url, "http://127.0.0.1:9/v1")
    codex_place.config.write_text(unreachable)

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("say hello")
            assert told.error.code == "network"
            assert told.complete.outcome == "failed"
            assert [one.code for one in told.notices].count("retrying") <= 1

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("fault", "code"),
    [
        ("500", "provider_error"),
        ("503", "provider_overloaded"),
        ("429", "provider_rate_limited"),
        ("usage", "provider_rate_limited"),
        ("401", "provider_signed_out"),
        ("404", "model_not_found"),
        ("context", "context_overflow"),
        ("400", "provider_error"),
    ],
)
def test_an_error_of_the_model_is_told_once_with_the_next_step(
    fault: str, code: str, codex_place: Place
) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say(f"error {fault}")
            assert told.error.code == code
            assert told.error.hint
            assert not told.error.message.startswith("{")
            assert told.complete.outcome == "failed"

    asyncio.run(talk())


def test_a_crash_ends_every_chats_run_and_all_go_on_in_a_new_process(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            other = chat.other("chat-2")
            await asyncio.gather(chat.say("echo one"), other.say("echo two"))
            runs = [await chat.start("slow"), await other.start("slow")]
            pid = chat.pid
            await watch(runs[0], _is_text)
            os.kill(pid, signal.SIGKILL)
            with pytest.raises(ProcessExited):
                await other.follow(runs[1])
            ours, theirs = await asyncio.gather(chat.say("recall"), other.say("recall"))
            assert "echo one" in ours.texts[0]
            assert "echo two" in theirs.texts[0]
            assert chat.pid != pid

    asyncio.run(talk())


def test_a_run_that_nobody_follows_any_more_is_stopped_by_the_next_prompt(
    codex_place: Place,
) -> None:
    """Codex would put the prompt into the running turn without a word."""

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo one")
            await watch(await chat.start("slow"), _is_text)
            told = await chat.say("echo two")
            assert told.texts == ["echo two"]
            assert told.complete.outcome == "completed"

    asyncio.run(talk())


def test_after_the_end_nothing_is_left_and_nothing_had_listened(codex_place: Place) -> None:
    async def talk() -> None:
        launcher = LocalLauncher()
        adapter = CodexAdapter(codex_place.context(launcher))
        chat = Chat(adapter, launcher, codex_place)
        run = await chat.start("run sleep 60", permission="accept_edits")
        await watch(run, lambda body: isinstance(body, ToolUseStart))
        family = _family(chat.pid)
        assert len(family) > 1
        assert not _listening(family)
        await adapter.close()
        await launcher.close()
        await until(lambda: not any(Path(f"/proc/{pid}").exists() for pid in family))

    asyncio.run(talk())


def test_an_idle_process_ends_and_is_started_again_when_needed(codex_place: Place) -> None:
    codex_place.idle_timeout_s = 0.05

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            await chat.say("echo one")
            await until(lambda: not chat.launcher.children)
            told = await chat.say("recall")
            assert told.texts == ["You said: echo one | recall"]

    asyncio.run(talk())


def _family(pid: int) -> set[int]:
    """A process and all below it."""
    found, seen = {pid}, {0}
    while found - seen:
        seen = set(found)
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if parent in found:
                found.add(int(stat.parent.name))
    return found


def _listening(pids: set[int]) -> set[str]:
    """The listening TCP sockets that these processes hold."""
    inodes = {
        line.split()[9]
        for name in ("tcp", "tcp6")
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]
        if line.split()[3] == "0A"
    }
    held = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                held.add(str(link.readlink()).removeprefix("socket:[").rstrip("]"))
            except OSError:
                continue
    return inodes & held
