"""Messages into a running turn, over a CLI that the test plays."""

from __future__ import annotations

import asyncio

from jupyter_agentchat.providers.claude.prompts import prompt_uuid
from jupyter_agentchat.providers.claude.run import ClaudeRun
from jupyter_agentchat.providers.claude.translate import steer_uuid
from tests.waiting import until

from .scripted import assistant, init, result
from .stage import HELLO, Play, Stage
from .test_commands import answered, life

PROMPT = prompt_uuid("r")
FIRST = steer_uuid(PROMPT, 0)
MORE = assistant("m2", {"type": "text", "text": "More."})


async def _started(stage: Stage) -> ClaudeRun:
    run = await stage.start()
    stage.cli.say(life(PROMPT, "queued"), life(PROMPT, "started"), init(), HELLO)
    await until(lambda: run.can_steer)
    return run


def test_a_message_is_sent_under_a_uuid_of_its_own(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await _started(stage)
        assert await run.steer("And this", [])
        sent = stage.cli.heard[-1]
        assert (sent["type"], sent["uuid"]) == ("user", FIRST)
        assert sent["message"] == {"role": "user", "content": "And this"}
        stage.cli.say(life(FIRST, "queued"), answered(PROMPT), life(PROMPT, "completed"))
        stage.cli.say(life(FIRST, "started"), init(), MORE, answered(FIRST))
        kinds = await stage.follow(run)
        assert kinds == ["session", "assistant_text", "assistant_text", "complete"]
        assert not run.can_steer
        assert not await run.steer("Too late", [])
        assert stage.cli.heard[-1] == sent

    play(act)


def test_a_result_that_crosses_the_message_is_not_the_end(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await _started(stage)
        following = asyncio.create_task(stage.follow(run))
        assert await run.steer("And this", [])
        # the CLI had not read the message when it wrote this
        stage.cli.say(answered(PROMPT), life(PROMPT, "completed"))
        await until(lambda: run._translator._results)
        assert not following.done()
        assert run.can_steer
        stage.cli.say(life(FIRST, "queued"), life(FIRST, "started"), MORE, answered(FIRST))
        assert (await following)[-1] == "complete"

    play(act)


def test_a_cli_that_does_not_say_what_becomes_of_messages_is_not_steered(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start()
        stage.cli.say(init(), HELLO)
        await anext(run.steps())
        assert not run.can_steer
        assert not await run.steer("And this", [])
        assert [line["type"] for line in stage.cli.heard].count("user") == 1

    play(act)


def test_nothing_is_steered_into_a_run_that_is_being_stopped(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await _started(stage)
        stopping = asyncio.create_task(run.cancel())
        await until(lambda: stage.cli.requests("interrupt"))
        assert not await run.steer("And this", [])
        stage.cli.say(result(terminal_reason="aborted_streaming", is_error=True))
        await stopping
        assert (await stage.follow(run))[-1] == "complete"

    play(act)


def test_a_message_that_the_cli_drops_at_once_does_not_hold_the_run(play: Play) -> None:
    async def act(stage: Stage) -> None:
        run = await _started(stage)
        assert await run.steer("And this", [])
        stage.cli.say(life(FIRST, "discarded"), answered(PROMPT))
        kinds = await stage.follow(run)
        assert kinds == ["session", "assistant_text", "notice", "complete"]

    play(act)
