""" "Allow for this chat" holds for the chat, whatever becomes of the agent's process."""

from __future__ import annotations

import asyncio
from typing import Any

from jupyter_agentchat.protocol.resources import AskAnswer
from tests.waiting import until

from .scripted import Json, can_use_tool, init, result
from .stage import OLD, Play, Stage


def touch(request_id: str, name: str = "a.txt") -> Json:
    """The CLI asks for leave to make a file, and offers a rule."""
    rule = {"toolName": "Bash", "ruleContent": f"touch {name}"}
    suggestion = {"type": "addRules", "rules": [rule], "behavior": "allow"}
    return can_use_tool(
        request_id,
        "Bash",
        {"command": f"touch {name}"},
        permission_suggestions=[{**suggestion, "destination": "localSettings"}],
    )


async def answered(stage: Stage, option: str | None, *asked: Json, **how: Any) -> list[str]:
    """The asks of a run that reached the person, who chose `option`; each is answered."""
    run = await stage.start(**how)
    stage.cli.say(init(OLD), *asked)
    asks: list[str] = []

    async def follow() -> None:
        async for step in run.steps():
            for body in step.bodies:
                if body.type == "ask":
                    asks.append(body.ask_id)
                    decision = "deny" if option is None else "allow"
                    await run.answer(
                        body.ask_id,
                        AskAnswer.model_validate({"decision": decision, "option_id": option}),
                    )

    following = asyncio.create_task(follow())
    ids = [one["request_id"] for one in asked]
    await until(lambda: all(one in stage.cli.replies() for one in ids))
    stage.cli.say(result(session_id=OLD))
    await following
    return asks


def test_it_holds_in_the_chats_next_process(play: Play) -> None:
    async def act(stage: Stage) -> None:
        assert await answered(stage, "allow_chat", touch("q1")) == ["q1"]
        given = stage.cli.replies()["q1"]["response"]["updatedPermissions"]
        await stage.adapter.close_chat("c")
        how = {"run_id": "r2", "provider_session_id": OLD}
        assert await answered(stage, None, touch("q2"), touch("q3", "b.txt"), **how) == ["q3"]
        assert len(stage.launcher.handles) == 2
        reply = stage.cli.replies()["q2"]["response"]
        assert reply["behavior"] == "allow"
        assert reply["updatedPermissions"] == given

    play(act)


def test_it_holds_for_one_chat_and_not_after_allow_once(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await answered(stage, "allow_once", touch("q1"))
        await answered(stage, "allow_chat", touch("q2"), chat_id="other")
        await stage.adapter.close_chat("c")
        how = {"run_id": "r2", "provider_session_id": OLD}
        assert await answered(stage, None, touch("q3"), **how) == ["q3"]

    play(act)


def test_a_process_that_knows_the_rule_and_asks_all_the_same_is_not_answered_by_us(
    play: Play,
) -> None:
    async def act(stage: Stage) -> None:
        await answered(stage, "allow_chat", touch("q1"))
        how = {"run_id": "r2", "provider_session_id": OLD}
        assert await answered(stage, None, touch("q2"), **how) == ["q2"]
        await stage.adapter.close_chat("c")
        careful = touch("q3")
        careful["request"]["decision_reason_type"] = "safetyCheck"
        how = {"run_id": "r3", "provider_session_id": OLD}
        assert await answered(stage, None, careful, touch("q4"), touch("q5"), **how) == ["q3", "q5"]

    play(act)


def test_it_never_lifts_read_only(play: Play) -> None:
    async def act(stage: Stage) -> None:
        await answered(stage, "allow_chat", touch("q1"))
        how = {"run_id": "r2", "provider_session_id": OLD, "permission": "read_only"}
        assert await answered(stage, None, touch("q2"), **how) == []
        assert stage.cli.replies()["q2"]["response"]["behavior"] == "deny"

    play(act)
