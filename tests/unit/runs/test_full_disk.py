"""A full disk ends the run in a way that can be told, loses nothing that was shown, and heals."""

from __future__ import annotations

import asyncio
import json

import pytest

from jupyter_agentchat.errors import StorageError
from jupyter_agentchat.protocol.events import Ask, ToolUseEnd, ToolUseStart
from jupyter_agentchat.protocol.tools import OtherInput
from jupyter_agentchat.runs.channel import Channel
from jupyter_agentchat.runs.hooks import HubHooks
from tests.waiting import until

from .staged import DONE, SESSION, Stage, on_stage, say

TOOL = ToolUseStart(tool_id="t", name="Bash", input=OtherInput())


def test_a_prompt_that_cannot_be_stored_is_refused_and_starts_nothing() -> None:
    async def scenario(stage: Stage) -> None:
        stage.store.full = True
        with pytest.raises(StorageError):
            stage.start()
        assert stage.hub.state("c") == "idle"
        assert stage.log() == []

    assert on_stage(scenario).adapter.requests == []


def test_a_disk_that_is_full_for_a_moment_fails_the_run_and_says_so() -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(SESSION, say("kept"), TOOL)
        await until(lambda: len(stage.log()) == 5)
        append = stage.store.append
        calls = []

        def fail_once(*args: object, **options: object) -> object:
            if not calls:
                calls.append(1)
                raise StorageError("The disk is full.")
            return append(*args, **options)  # type: ignore[arg-type]

        stage.store.append = fail_once  # type: ignore[method-assign, assignment]
        run.emit(say("lost"), ToolUseEnd(tool_id="t"), Ask(ask_id="q", kind="question", title="?"))
        await stage.until_idle()
        # the agent is stopped: it would work on where nobody can see it
        assert (run.cancels, run.closed, stage.adapter.closed_chats) == ([True], True, ["c"])

    stage = on_stage(scenario)
    assert stage.outcomes() == ["failed"]
    log = stage.log()
    assert log[-2]["code"] == "storage"
    assert [e["text"] for e in log if e["type"] == "assistant_text"] == ["kept"]
    assert [e["status"] for e in log if e["type"] == "tool_use_end"] == ["failed"]


def test_a_disk_that_stays_full_frees_the_chat_and_the_next_prompt_closes_the_run() -> None:
    frames: list[dict[str, object]] = []

    async def scenario(stage: Stage) -> None:
        async def send(text: str) -> None:
            frames.append(json.loads(text))

        channel = Channel(send, stage.hub.unsubscribe)
        writer = asyncio.get_running_loop().create_task(channel.write())
        stage.hub.add_client(channel, "owner")
        stage.hub.subscribe(channel, "c", 0, None)
        run = stage.start()
        run.emit(SESSION, say("kept"), TOOL)
        await until(lambda: len(stage.log()) == 5)
        stage.store.full = True
        run.end(say("lost"), DONE)
        await stage.until_idle()
        assert not [told for told in stage.told if told[0] == "finished"]
        with pytest.raises(StorageError):
            stage.start()
        stage.store.full = False
        stage.adapter.runs.clear()
        stage.start().end(SESSION, DONE)
        await stage.until_idle()
        stage.hub.remove_client(channel)
        await writer

    stage = on_stage(scenario)
    assert stage.outcomes() == ["interrupted", "completed"]
    assert len([told for told in stage.told if told[0] == "finished"]) == 2
    # who followed all the time has no gap
    upto = 0
    for frame in frames:
        if frame["type"] == "events":
            assert frame["after"] == upto
            upto = int(str(frame["upto"]))
    assert upto == stage.log()[-1]["seq"]


def test_a_fault_of_the_layer_above_does_not_keep_a_run_from_ending() -> None:
    async def scenario(stage: Stage) -> None:
        def broken(*_facts: object) -> None:
            raise KeyError("a fault of ours")

        stage.hub.connect(HubHooks(broken, broken, broken, broken))
        stage.start().end(SESSION, say("x"), DONE)
        await stage.until_idle()

    assert on_stage(scenario).outcomes() == ["completed"]


def test_a_disk_with_room_again_closes_the_run_for_whoever_looks_on() -> None:
    async def scenario(stage: Stage) -> None:
        run = stage.start()
        run.emit(SESSION, say("kept"))
        await until(lambda: any(event["type"] == "assistant_text" for event in stage.log()))
        stage.store.full = True
        run.end(DONE)
        await stage.until_idle()
        stage.hub.look()  # still full
        assert stage.log()[-1]["type"] == "assistant_text"
        stage.store.full = False
        stage.hub.look()
        assert stage.outcomes() == ["interrupted"]
        stage.hub.look()
        assert stage.outcomes() == ["interrupted"]

    on_stage(scenario)
