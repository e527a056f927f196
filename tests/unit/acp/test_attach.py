"""A run goes on in the next server: the same steps, and no prompt, answer or write done twice."""

from __future__ import annotations

from contextlib import aclosing
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Ask, AskResolved, AssistantText, Complete, EventBody
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.providers.acp.run import AcpRun
from tests.waiting import until

from .scripted import SESSION, Json, ScriptedAgent, ask, call_update, shell, text
from .stage import Stage, acted, told

ALLOW = AskAnswer(decision="allow", option_id="once")


async def _leave_at(run: AcpRun, kind: type[EventBody]) -> list[EventBody]:
    bodies: list[EventBody] = []
    async with aclosing(run.steps()) as steps:  # type: ignore[type-var]
        async for step in steps:
            bodies += step.bodies
            if told(bodies, kind):
                return bodies
    raise AssertionError("the moment never came")


def _half(agent: ScriptedAgent, message: Json) -> None:
    if message.get("method") == "session/prompt":
        agent.say(text("So "))


def test_the_steps_come_again_and_then_the_rest(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        seen = await _leave_at(await stage.start(), AssistantText)
        stage.agent.leave()
        run = await stage.attach()
        stage.agent.say(text("far."))
        stage.agent.end()
        bodies = await stage.follow(run)
        assert bodies[: len(seen)] == seen
        assert [one.text for one in told(bodies, AssistantText) if one.final] == ["So far."]
        assert told(bodies, Complete)[0].outcome == "completed"
        assert len(stage.agent.sent("session/prompt")) == 1
        # nothing is introduced again, and the next prompt goes into the same process
        assert len(stage.agent.sent("initialize")) == 1
        stage.launcher.agents[-1].play = lambda agent, _message: agent.end()
        before = len(stage.launcher.agents)
        await stage.say(run_id="r2", provider_session_id=SESSION)
        assert len(stage.launcher.agents) == before

    acted(tmp_path, act, _half)


def test_a_prompt_that_was_never_written_is_written_once(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await stage.say()
        stage.agent.leave()
        # noted for the next run, and then its server died
        stage.marks.append(type(stage.marks[-1])(stage.agent.child_id, stage.agent.position))
        run = await stage.attach("again", run_id="r2", provider_session_id=SESSION)
        bodies = await stage.follow(run)
        assert told(bodies, Complete)[0].outcome == "completed"
        prompts = [one["prompt"][0]["text"] for one in stage.agent.sent("session/prompt")]
        assert prompts == ["Do it", "again"]

    acted(tmp_path, act, lambda agent, message: "method" in message and agent.end())


def test_a_prompt_that_was_written_is_not_written_again(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        # the agent has said nothing of the turn yet: it thinks
        await stage.start()
        stage.agent.leave()
        run = await stage.attach()
        agent = stage.agent
        await until(lambda: not run._translator.replaying)
        agent.say(text("Late."))
        agent.end()
        await stage.follow(run)
        assert len(agent.sent("session/prompt")) == 1

    acted(tmp_path, act, lambda agent, message: None)


def test_an_open_ask_is_answered_by_the_next_server(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(shell(), ask(7, {"toolCallId": "t1"}))
        elif message.get("id") == 7:
            agent.say(call_update("t1", status="completed"))
            agent.end()

    async def act(stage: Stage) -> None:
        seen = await _leave_at(await stage.start(), Ask)
        stage.agent.leave()
        assert 7 not in stage.agent.replies(), "leaving is no answer"
        bodies = await stage.follow(await stage.attach(), ALLOW)
        assert told(bodies, Ask) == told(seen, Ask)
        assert stage.agent.replies()[7]["outcome"]["optionId"] == "once"

    acted(tmp_path, act, play)


def test_an_ask_that_the_server_before_answered_is_not_called_withdrawn(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(shell(), ask(7, {"toolCallId": "t1"}))
        elif message.get("id") == 7:
            agent.say(call_update("t1", status="completed"), text("Go"))

    async def act(stage: Stage) -> None:
        run = await stage.start()
        async with aclosing(run.steps()) as steps:  # type: ignore[type-var]
            async for step in steps:
                for body in step.bodies:
                    if isinstance(body, Ask):
                        await run.answer(body.ask_id, ALLOW)
                if any(isinstance(body, AssistantText) for body in step.bodies):
                    break
        stage.agent.leave()
        run = await stage.attach()
        stage.agent.end()
        assert told(await stage.follow(run), AskResolved) == []

    acted(tmp_path, act, play)


def test_a_file_that_an_agent_wrote_through_the_server_before_is_not_written_again(
    tmp_path: Path,
) -> None:
    notes = tmp_path / "notes.txt"

    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            params = {"sessionId": SESSION, "path": str(notes), "content": "the agent's"}
            agent.say({"id": 3, "method": "fs/write_text_file", "params": params})
        elif message.get("id") == 3:
            agent.say(text("Written."))

    async def act(stage: Stage) -> None:
        await _leave_at(await stage.start(), AssistantText)
        stage.agent.leave()
        notes.write_text("a person's")
        run = await stage.attach()
        await until(lambda: not run._translator.replaying)
        stage.agent.end()
        await stage.follow(run)
        assert notes.read_text() == "a person's"

    acted(tmp_path, act, play)


def test_a_run_whose_agent_died_meanwhile_is_told_to_its_end(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await _leave_at(await stage.start(), AssistantText)
        stage.agent.end()
        stage.agent.die(0)
        bodies = await stage.follow(await stage.attach())
        assert told(bodies, Complete)[0].outcome == "completed"

    acted(tmp_path, act, _half)


def test_a_lower_permission_is_not_promised_where_the_agents_modes_are_not_known(
    tmp_path: Path,
) -> None:
    async def act(stage: Stage) -> None:
        await _leave_at(await stage.start(permission="full"), AssistantText)
        stage.agent.leave()
        run = await stage.attach(permission="full")
        assert await run.set_permission("read_only") is False
        stage.agent.end()
        await stage.follow(run)
        # another permission needs a process that tells what it offers
        before = len(stage.launcher.agents)
        stage.launcher.play = lambda agent, _message: agent.end()
        await stage.say(run_id="r2", permission="ask", provider_session_id=SESSION)
        assert len(stage.launcher.agents) == before + 1

    acted(tmp_path, act, _half)


@pytest.mark.parametrize("session", [SESSION, None])
def test_a_first_prompt_that_never_arrived_begins_a_conversation(
    session: str | None, tmp_path: Path
) -> None:
    async def act(stage: Stage) -> None:
        await stage.say()
        stage.agent.leave()
        stage.marks.append(type(stage.marks[-1])(stage.agent.child_id, stage.agent.position))
        run = await stage.attach("again", run_id="r2", provider_session_id=session)
        await stage.follow(run)
        opened = 1 if session else 2
        assert len(stage.agent.sent("session/new")) == opened

    acted(tmp_path, act, lambda agent, message: "method" in message and agent.end())
