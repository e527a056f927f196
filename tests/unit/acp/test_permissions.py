"""Who answers an agent's asks, in which permission, and what the agent is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import AlreadyResolved
from jupyter_agentchat.protocol.events import Ask, AskResolved, Notice, ToolUseEnd
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.words import Permission
from jupyter_agentchat.providers.acp.agents import MODE_NAMES
from jupyter_agentchat.providers.acp.offers import Choice, Offers, mode_for
from jupyter_agentchat.providers.acp.presets import CODEX, GOOSE

from .scripted import (
    ALWAYS,
    MODES,
    ONCE,
    REJECT,
    SESSION,
    Json,
    Refusal,
    ScriptedAgent,
    ask,
    call_update,
    shell,
)
from .stage import Stage, acted, told

ALLOW = AskAnswer(decision="allow")
DENY = AskAnswer(decision="deny")
NO_MODES: Json = {"sessionId": SESSION}


def _asking(tool: Json, *options: Json) -> Any:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(ask(7, tool, *(options or (ONCE, REJECT))))
        elif "method" not in message:
            agent.say(call_update("t1", status="completed"))
            agent.end()

    return play


def _chosen(stage: Stage) -> str:
    outcome = stage.agent.replies()[7]["outcome"]
    return str(outcome.get("optionId", outcome["outcome"]))


def _edit(path: Path | str) -> Json:
    return {"toolCallId": "t1", "title": "edit", "kind": "edit", "locations": [{"path": str(path)}]}


RUN: Json = {"toolCallId": "t1", "title": "make it", "kind": "execute"}


@pytest.mark.parametrize(
    ("permission", "mode"),
    [("read_only", "plan"), ("accept_edits", "auto-edit"), ("full", "yolo")],
)
def test_a_permission_is_the_agents_own_mode_where_it_has_one(
    permission: Permission, mode: str, tmp_path: Path
) -> None:
    async def act(stage: Stage) -> None:
        await stage.say(permission=permission)
        assert [one["modeId"] for one in stage.agent.sent("session/set_mode")] == [mode]
        # and back, in the process that is open
        await stage.say(run_id="r2", permission="ask", provider_session_id=SESSION)
        assert stage.agent.sent("session/set_mode")[-1]["modeId"] == "default"

    acted(tmp_path, act, lambda agent, _message: agent.end())


def test_an_agent_that_starts_in_a_mode_of_its_own_choice_is_told_to_ask(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        modes = {**MODES, "currentModeId": "yolo"}
        stage.launcher.prepare = lambda agent: agent.answers.update(
            {"session/new": {"sessionId": SESSION, "modes": modes}}
        )
        await stage.say(permission="ask")
        assert stage.agent.sent("session/set_mode")[0]["modeId"] == "default"

    acted(tmp_path, act, lambda agent, _message: agent.end())


@pytest.mark.parametrize("has_modes", [True, False])
def test_full_without_a_mode_for_it_is_answered_by_us_and_said_once(
    has_modes: bool, tmp_path: Path
) -> None:
    def prepare(agent: ScriptedAgent) -> None:
        if has_modes:
            agent.answers["session/set_mode"] = Refusal(-32603, "untrusted folder")
        else:
            agent.answers["session/new"] = NO_MODES

    async def act(stage: Stage) -> None:
        stage.launcher.prepare = prepare
        bodies = await stage.say(permission="full")
        assert told(bodies, Ask) == []
        assert [one.code for one in told(bodies, Notice)] == ["allowed_automatically"]
        assert _chosen(stage) == "once"

    acted(tmp_path, act, _asking(RUN, ALWAYS, ONCE, REJECT))


def test_read_only_denies_what_could_change_something_and_asks_for_the_rest(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.prepare = lambda agent: agent.answers.update({"session/new": NO_MODES})
        bodies = await stage.say(permission="read_only")
        assert told(bodies, Ask) == []
        assert _chosen(stage) == "no"

    acted(tmp_path, act, _asking(RUN))

    async def reads(stage: Stage) -> None:
        bodies = await stage.say(answer=ALLOW, permission="read_only")
        assert len(told(bodies, Ask)) == 1
        assert _chosen(stage) == "once"

    acted(tmp_path, reads, _asking({**_edit(tmp_path / "a"), "kind": "read"}))


def test_accept_edits_lets_edits_in_the_project_pass_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "out").symlink_to("/etc")
    asks = {
        str(tmp_path / "a.txt"): 0,
        "/etc/passwd": 1,
        str(tmp_path / "out" / "passwd"): 1,
        str(tmp_path / ".." / "b"): 1,
    }
    for path, count in asks.items():

        async def act(stage: Stage, count: int = count) -> None:
            stage.launcher.prepare = lambda agent: agent.answers.update({"session/new": NO_MODES})
            bodies = await stage.say(answer=ALLOW, permission="accept_edits")
            assert len(told(bodies, Ask)) == count

        acted(tmp_path, act, _asking(_edit(path)))

    async def runs(stage: Stage) -> None:
        stage.launcher.prepare = lambda agent: agent.answers.update({"session/new": NO_MODES})
        assert len(told(await stage.say(answer=ALLOW, permission="accept_edits"), Ask)) == 1

    acted(tmp_path, runs, _asking(RUN))


def test_what_an_agent_still_asks_in_its_own_mode_for_edits_is_a_persons(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say(answer=ALLOW, permission="accept_edits")
        assert len(told(bodies, Ask)) == 1

    acted(tmp_path, act, _asking(_edit(tmp_path / "a.txt")))


@pytest.mark.parametrize("permission", ["ask", "full"])
def test_a_question_is_always_a_persons(permission: Permission, tmp_path: Path) -> None:
    options = (
        {"optionId": "q0_opt_0", "name": "Red", "kind": "allow_once"},
        {"optionId": "q0_opt_1", "name": "Blue", "kind": "allow_once"},
        {"optionId": "q0_skip", "name": "Skip", "kind": "reject_once"},
    )
    words = [{"type": "content", "content": {"type": "text", "text": "Which colour?"}}]
    tool = {"toolCallId": "t1", "title": "AskUserQuestion", "content": words}

    async def act(stage: Stage) -> None:
        answer = AskAnswer(decision="answered", answers={"q1": ["Blue"]})
        bodies = await stage.say(answer=answer, permission=permission)
        (asked,) = told(bodies, Ask)
        (question,) = asked.questions
        assert (asked.kind, question.question) == ("question", "Which colour?")
        assert [one.label for one in question.options] == ["Red", "Blue"]
        assert _chosen(stage) == "q0_opt_1"

    acted(tmp_path, act, _asking(tool, *options))

    async def declined(stage: Stage) -> None:
        await stage.say(answer=DENY, permission=permission)
        assert _chosen(stage) == "q0_skip"

    acted(tmp_path, declined, _asking(tool, *options))


def test_a_plan_names_the_permission_that_each_approval_leads_to(tmp_path: Path) -> None:
    options = (
        {"optionId": "bypassPermissions", "name": "Yes, and bypass", "kind": "allow_always"},
        {"optionId": "acceptEdits", "name": "Yes, accept edits", "kind": "allow_always"},
        {"optionId": "default", "name": "Yes, approve by hand", "kind": "allow_once"},
        {"optionId": "plan", "name": "No, keep planning", "kind": "reject_once"},
    )
    tool = {
        "toolCallId": "t1",
        "title": "Ready to code?",
        "kind": "switch_mode",
        "rawInput": {"plan": "1. do it"},
    }

    async def act(stage: Stage) -> None:
        answer = AskAnswer(decision="allow", option_id="acceptEdits")
        bodies = await stage.say(answer=answer, permission="read_only", mode="plan")
        (asked,) = told(bodies, Ask)
        assert (asked.kind, asked.plan) == ("plan", "1. do it")
        assert {one.id: one.leads_to for one in asked.options} == {
            "default": "ask",
            "bypassPermissions": "full",
            "acceptEdits": "accept_edits",
            "plan": None,
        }
        assert _chosen(stage) == "acceptEdits"

    acted(tmp_path, act, _asking(tool, *options))


def test_what_would_be_written_into_settings_is_not_offered(tmp_path: Path) -> None:
    lasting = (
        {"optionId": "proceed_always_project", "name": "Always in project", "kind": "allow_always"},
        {"optionId": "proceed_always_user", "name": "Always for user", "kind": "allow_always"},
    )

    async def act(stage: Stage) -> None:
        (asked,) = told(await stage.say(answer=ALLOW), Ask)
        assert [(one.id, one.scope) for one in asked.options] == [
            ("once", "once"),
            ("always", "chat"),
            ("no", "once"),
        ]

    acted(tmp_path, act, _asking(RUN, *lasting, ALWAYS, ONCE, REJECT))

    async def only_lasting(stage: Stage) -> None:
        (asked,) = told(await stage.say(answer=ALLOW), Ask)
        assert [one.decision for one in asked.options] == ["allow", "allow", "deny"]

    acted(tmp_path, only_lasting, _asking(RUN, *lasting, REJECT))


def test_a_denied_call_is_shown_as_denied_also_when_no_more_is_heard_of_it(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(ask(7, RUN))
        elif "method" not in message:
            agent.end()

    async def act(stage: Stage) -> None:
        (end,) = told(await stage.say(answer=DENY), ToolUseEnd)
        assert end.status == "denied"

    acted(tmp_path, act, play)


def test_an_ask_without_an_option_that_denies_is_cancelled_by_a_no(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await stage.say(answer=DENY)
        assert _chosen(stage) == "cancelled"

    acted(tmp_path, act, _asking(RUN, ONCE))


def test_stop_answers_every_open_ask_and_waits_for_the_end(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(ask(7, RUN), ask(8, {**RUN, "toolCallId": "t2"}))
        elif message.get("method") == "session/cancel":
            agent.end("end_turn")  # some say it like this

    async def act(stage: Stage) -> None:
        run = await stage.start()
        bodies = []
        async for step in run.steps():
            bodies += step.bodies
            if len(told(bodies, Ask)) == 2 and not stage.agent.sent("session/cancel"):
                await run.cancel()
        assert bodies[-1].outcome == "cancelled"
        assert stage.agent.replies()[7] == stage.agent.replies()[8]
        assert _chosen(stage) == "cancelled"

    acted(tmp_path, act, play)


def test_an_ask_that_is_over_without_an_answer_waits_for_nobody(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(shell(), ask(7, {"toolCallId": "t1"}), call_update("t1", status="failed"))
            agent.end()

    async def act(stage: Stage) -> None:
        run = await stage.start()
        bodies = await stage.follow(run)
        (resolved,) = told(bodies, AskResolved)
        assert resolved.decision == "withdrawn"
        with pytest.raises(AlreadyResolved):
            await run.answer(resolved.ask_id, ALLOW)

    acted(tmp_path, act, play)


def test_a_permission_is_lowered_in_mid_run_where_the_agent_follows(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        run = await stage.start(permission="full")
        assert await run.set_permission("read_only")
        assert stage.agent.sent("session/set_mode")[-1]["modeId"] == "plan"
        stage.agent.answers["session/set_mode"] = Refusal(-32603)
        assert not await run.set_permission("ask")
        stage.agent.end()
        await stage.follow(run)

    acted(tmp_path, act)


@pytest.mark.parametrize(
    ("names", "ids", "wanted"),
    [
        (
            MODE_NAMES,
            ("default", "acceptEdits", "plan", "bypassPermissions"),
            ("plan", "default", "acceptEdits", "bypassPermissions"),
        ),
        (
            MODE_NAMES,
            ("default", "autoEdit", "yolo", "plan"),
            ("plan", "default", "autoEdit", "yolo"),
        ),
        (MODE_NAMES, ("build", "plan"), ("plan", "build", None, None)),
        (
            CODEX.modes,
            ("read-only", "auto", "full-access"),
            ("read-only", None, "auto", "full-access"),
        ),
        (GOOSE.modes, ("auto", "approve", "chat"), ("chat", "approve", None, "auto")),
    ],
    ids=["claude", "gemini", "opencode", "codex", "goose"],
)
def test_the_agents_words_for_our_permissions(
    names: Any, ids: tuple[str, ...], wanted: tuple[str | None, ...]
) -> None:
    mode = Choice(tuple((one, one) for one in ids))
    permissions: tuple[Permission, ...] = ("read_only", "ask", "accept_edits", "full")
    assert tuple(mode_for(one, mode, names) for one in permissions) == wanted


def test_config_options_are_read_where_an_agent_has_no_method_of_its_own() -> None:
    options = [
        {
            "id": "mode",
            "category": "mode",
            "type": "select",
            "currentValue": "build",
            "options": [{"value": "build"}, {"value": "plan"}],
        },
        {
            "id": "m",
            "category": "model",
            "type": "select",
            "currentValue": "a",
            "options": [{"name": "Group", "options": [{"value": "a", "name": "A"}]}],
        },
        {
            "id": "e",
            "category": "thought_level",
            "type": "select",
            "currentValue": "low",
            "options": [{"value": "low"}, {"value": "high"}],
        },
        {"id": "x", "category": "other", "type": "boolean"},
    ]
    offers = Offers().with_answer({"configOptions": options})
    assert (offers.mode.ids, offers.mode.option) == (("build", "plan"), "mode")
    assert offers.model.values == (("a", "A"),)
    assert (offers.effort.ids, offers.effort.current) == (("low", "high"), "low")
    # another model may have no efforts at all
    assert offers.with_answer({"configOptions": options[:2]}).effort.ids == ()


def test_a_form_beside_a_permission_is_a_question_in_every_permission(tmp_path: Path) -> None:
    questions = [
        {
            "question": "Which colour?",
            "header": "Colour",
            "multiSelect": False,
            "options": [{"label": "Red", "description": "warm"}, {"label": "Blue"}],
        },
        {"question": "Which fruits?", "multiSelect": True, "options": [{"label": "Apple"}]},
    ]
    tool = {
        "toolCallId": "t1",
        "kind": "think",
        "rawInput": {"questions": questions},
        "_meta": {"toolName": "ask_user_question", "qwenQuestions": questions},
    }

    async def act(stage: Stage) -> None:
        answer = AskAnswer(decision="answered", answers={"q0": "Green", "q1": ["Apple", "Pear"]})
        (asked,) = told(await stage.say(answer=answer, permission="full"), Ask)
        assert (asked.kind, asked.options) == ("question", [])
        assert [(one.id, one.header, one.multi_select) for one in asked.questions] == [
            ("q0", "Colour", False),
            ("q1", "", True),
        ]
        assert _chosen(stage) == "once"
        assert stage.agent.replies()[7]["answers"] == {"0": "Green", "1": "Apple, Pear"}

    acted(tmp_path, act, _asking(tool))

    async def declined(stage: Stage) -> None:
        await stage.say(answer=DENY)
        assert _chosen(stage) == "no"

    acted(tmp_path, declined, _asking(tool))


def test_a_question_of_an_unknown_shape_is_never_answered_by_us(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say(answer=ALLOW, permission="full")
        assert len(told(bodies, Ask)) == 1

    acted(tmp_path, act, _asking({"toolCallId": "t1", "title": "AskUserQuestion", "kind": "other"}))
