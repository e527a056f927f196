"""What agents do differently, one test for each: the adapter must make one chat of all of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import AuthRequired, ProtocolError, SessionRejected, TooOld
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Complete,
    Error,
    Notice,
    Plan,
    Session,
    System,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from jupyter_agentchat.protocol.resources import AskAnswer

from .scripted import (
    CAPABILITIES,
    MODES,
    ONCE,
    REJECT,
    SESSION,
    Json,
    Refusal,
    ScriptedAgent,
    ask,
    call,
    call_update,
    shell,
    text,
    thought,
    update,
)
from .stage import AGENT, Stage, acted, told

ALLOW = AskAnswer(decision="allow")


def _saying(*messages: Json) -> Any:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(*messages)
            agent.end()

    return play


def _asking(*messages: Json) -> Any:
    """Plays `messages`, which end with an ask; its answer ends the turn."""

    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(*messages)
        elif "method" not in message:
            agent.end()

    return play


# ---- resume, load, fork


def _with(stage: Stage, **answers: Any) -> None:
    def prepare(agent: ScriptedAgent) -> None:
        capabilities = answers.pop("capabilities", None)
        if capabilities is not None:
            whole = {"protocolVersion": 1, "agentCapabilities": {**CAPABILITIES, **capabilities}}
            agent.answers["initialize"] = whole
        agent.history = answers.pop("history", agent.history)
        agent.answers |= {f"session/{name}": answer for name, answer in answers.items()}

    stage.launcher.prepare = prepare


def test_a_loaded_conversation_shows_its_past_to_nobody(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say(provider_session_id=SESSION)
        assert [body.text for body in told(bodies, AssistantText) if body.final] == ["New."]
        assert stage.agent.sent("session/load")[0]["sessionId"] == SESSION

    acted(tmp_path, act, _saying(text("New.")))


def test_a_load_that_silently_begins_anew_is_a_refusal(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        _with(stage, history=[])
        with pytest.raises(SessionRejected, match="does not know this conversation"):
            await stage.say(provider_session_id="s-gone")
        assert stage.agent.sent("session/prompt") == []
        assert stage.agent.exit is not None

    acted(tmp_path, act)


@pytest.mark.parametrize("code", [-32603, -32602, -32002])
def test_a_refused_load_is_a_refused_resume(code: int, tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        _with(stage, load=Refusal(code, "No previous sessions found"))
        with pytest.raises(SessionRejected) as caught:
            await stage.say(provider_session_id="s-gone")
        assert caught.value.reason == "No previous sessions found"

    acted(tmp_path, act)


def test_a_load_that_was_announced_and_is_unknown_falls_back_on_resume(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        resume = {"sessionCapabilities": {"resume": {}}}
        _with(stage, capabilities=resume, load=Refusal(-32601), resume={"modes": MODES})
        bodies = await stage.say(provider_session_id=SESSION)
        assert told(bodies, Complete)[0].outcome == "completed"

    acted(tmp_path, act, _saying(text("New.")))


def test_a_resume_that_was_announced_and_is_unknown_is_a_refusal(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        capabilities = {"loadSession": False, "sessionCapabilities": {"resume": {}}}
        _with(stage, capabilities=capabilities)
        with pytest.raises(SessionRejected):
            await stage.say(provider_session_id=SESSION)

    acted(tmp_path, act)


def test_a_fork_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        _with(stage, capabilities={"sessionCapabilities": {"fork": {}}}, fork={"sessionId": "s-2"})
        assert stage.adapter.forker is None
        bodies = await stage.say(provider_session_id=SESSION, fork=True)
        assert told(bodies, Session)[0].provider_session_id == "s-2"
        assert stage.adapter.forker is not None

    acted(tmp_path, act, _saying(update("agent_message_chunk", "s-2", content={"text": "New."})))


def test_a_fork_that_was_announced_and_is_refused_is_not_offered_again(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        _with(stage, capabilities={"sessionCapabilities": {"fork": {}}})
        await stage.say()
        assert stage.adapter.forker is not None
        with pytest.raises(SessionRejected):
            await stage.say(chat_id="branch", provider_session_id=SESSION, fork=True)
        assert stage.adapter.forker is None

    acted(tmp_path, act, _saying(text("x")))


def test_a_second_prompt_goes_into_the_same_process(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await stage.say()
        await stage.say(run_id="r2", provider_session_id=SESSION)
        assert len(stage.launcher.agents) == 1
        assert stage.agent.sent("session/load") == []

    acted(tmp_path, act, _saying(text("x")))


def test_an_agent_that_does_not_know_our_question_is_prompted_all_the_same(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await stage.say()
        methods = [one.get("method") for one in stage.agent.heard]
        assert methods[-3:] == ["_agentchat/ready", "_agentchat/ready", "session/prompt"]

    acted(tmp_path, act, _saying(text("x")))


# ---- tools


def test_an_update_of_an_unknown_call_is_its_start(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say()
        (start,), (end,) = told(bodies, ToolUseStart), told(bodies, ToolUseEnd)
        assert (start.tool_id, start.kind, end.status) == ("r:t1", "edit", "completed")

    path = f"{tmp_path}/a.txt"
    diff = {"type": "diff", "path": path, "oldText": "a\n", "newText": "b\n"}
    end = call_update("t1", status="completed", kind="edit", title="a.txt", content=[diff])
    acted(tmp_path, act, _saying(end))


def test_a_call_that_begins_with_its_ask_is_filled_from_it(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say(answer=ALLOW)
        (start,), (asked,) = told(bodies, ToolUseStart), told(bodies, Ask)
        assert (start.kind, start.input.command) == ("shell", "touch a")
        assert (asked.tool_id, asked.title) == (start.tool_id, "Run a command")

    tool = {"toolCallId": "t1", "title": "touch a", "kind": "execute"}
    acted(tmp_path, act, _asking(ask(0, tool)))


def test_a_call_is_shown_once_its_arguments_are_there(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        starts = told(await stage.say(), ToolUseStart)
        assert [(one.name, one.kind, one.input.command) for one in starts] == [
            ("Bash", "shell", "ls")
        ]

    piece = {"type": "content", "content": {"type": "text", "text": '{"command": "l'}}
    whole = {"type": "content", "content": {"type": "text", "text": '{"command": "ls"}'}}
    acted(
        tmp_path,
        act,
        _saying(
            call("1:c", title="Bash", kind="execute", status="pending", content=[piece]),
            call_update("1:c", status="in_progress", content=[whole]),
            call_update("1:c", status="completed", rawOutput="a"),
        ),
    )


def test_a_diff_that_stands_on_the_ask_alone_is_kept_for_the_end(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say(answer=ALLOW)
        (asked,), (end,) = told(bodies, Ask), told(bodies, ToolUseEnd)
        assert asked.diffs == end.diffs
        assert (end.diffs[0].path, end.diffs[0].added) == ("a.txt", 1)

    path = f"{tmp_path}/a.txt"
    diff = {"type": "diff", "path": path, "oldText": None, "newText": "new\n"}
    tool = {"toolCallId": "t1", "title": path, "kind": "edit", "content": [diff]}

    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(call("t1", title="write", kind="edit", status="pending", rawInput={}))
            agent.say(ask(0, tool))
        elif "method" not in message:
            agent.say(call_update("t1", status="completed", title=path))
            agent.end()

    acted(tmp_path, act, play)


def test_a_command_that_fails_is_a_failed_call_with_its_exit_code(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        (end,) = told(await stage.say(), ToolUseEnd)
        assert (end.status, end.exit_code) == ("failed", 3)
        assert end.output[0].text == "out\n"

    raw = {"output": "out\n", "metadata": {"exit": 3}}
    acted(tmp_path, act, _saying(shell(), call_update("t1", status="completed", rawOutput=raw)))


def test_calls_of_a_helper_hang_below_its_call_and_its_words_are_not_the_answer(
    tmp_path: Path,
) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say()
        starts = told(bodies, ToolUseStart)
        assert [one.parent_tool_id for one in starts] == [None, "r:a1"]
        assert starts[0].kind == "subagent"
        assert [one.text for one in told(bodies, AssistantText) if one.final] == ["Done."]

    meta = {"parentToolCallId": "a1"}
    helper = {"description": "Child job", "subagent_type": "general"}
    acted(
        tmp_path,
        act,
        _saying(
            call("a1", title="Agent", kind="other", status="in_progress", rawInput=helper),
            text("I am the child.", _meta=meta),
            shell("c1", _meta=meta),
            call_update("c1", status="completed"),
            call_update("a1", status="completed"),
            text("Done."),
        ),
    )


def test_tool_ids_of_two_runs_never_meet(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        first = told(await stage.say(), ToolUseStart)[0].tool_id
        again = await stage.say(run_id="r2", provider_session_id=SESSION)
        assert told(again, ToolUseStart)[0].tool_id != first

    acted(tmp_path, act, _saying(shell(), call_update("t1", status="completed")))


# ---- usage, plan, modes, text


@pytest.mark.parametrize(
    ("messages", "result", "wanted"),
    [
        # opencode: in the answer; input without what came from the cache
        (
            (),
            {
                "usage": {
                    "inputTokens": 167,
                    "outputTokens": 15,
                    "totalTokens": 197,
                    "thoughtTokens": 5,
                    "cachedReadTokens": 10,
                }
            },
            {
                "input_tokens": 167,
                "output_tokens": 15,
                "reasoning_tokens": 5,
                "cache_read_tokens": 10,
            },
        ),
        # Gemini CLI
        (
            (),
            {"_meta": {"quota": {"token_count": {"input_tokens": 100, "output_tokens": 20}}}},
            {"input_tokens": 100, "output_tokens": 20},
        ),
        # Qwen Code: behind each call of the model; its input counts the cache as well
        (
            (
                text(
                    "",
                    _meta={
                        "usage": {
                            "inputTokens": 293,
                            "outputTokens": 20,
                            "totalTokens": 313,
                            "cachedReadTokens": 10,
                        }
                    },
                ),
                text(
                    "",
                    _meta={
                        "usage": {
                            "inputTokens": 7,
                            "outputTokens": 1,
                            "totalTokens": 8,
                            "cachedReadTokens": 0,
                        }
                    },
                ),
            ),
            {},
            {"input_tokens": 290, "output_tokens": 21, "cache_read_tokens": 10},
        ),
        # Kimi Code: the context only
        (
            (update("usage_update", used=339, size=128000),),
            {},
            {"context_used": 339, "context_window": 128000},
        ),
        ((), {}, None),
    ],
    ids=["opencode", "gemini", "qwen", "kimi", "none"],
)
def test_usage_is_read_wherever_an_agent_tells_it(
    messages: tuple[Json, ...], result: Json, wanted: Json | None, tmp_path: Path
) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        agent.say(*messages)
        agent.end(**result)

    async def act(stage: Stage) -> None:
        bodies = await stage.say()
        complete = bodies[-1]
        assert isinstance(complete, Complete)
        assert complete.usage == (None if wanted is None else Usage(**wanted))
        assert (told(bodies, Usage) or [None])[-1] == complete.usage

    acted(tmp_path, act, play)


def test_an_agent_of_plain_text_gets_no_empty_chrome(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        _with(stage, capabilities={"loadSession": False}, new={"sessionId": SESSION})
        bodies = await stage.say()
        assert [body.type for body in bodies] == [
            "session",
            "assistant_text",
            "assistant_text",
            "assistant_text",
            "complete",
        ]
        complete = bodies[-1]
        assert isinstance(complete, Complete)
        assert (complete.usage, complete.cost_usd) == (None, None)

    acted(tmp_path, act, _saying(text("Only "), text("text.")))


def test_a_plan_update_is_a_checklist(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        (plan,) = told(await stage.say(), Plan)
        assert [(one.text, one.status) for one in plan.entries] == [
            ("one", "in_progress"),
            ("two", "pending"),
        ]

    entries = [
        {"content": "one", "status": "in_progress", "priority": "high"},
        {"content": "two", "status": "strange"},
    ]
    acted(tmp_path, act, _saying(update("plan", entries=entries)))


def test_modes_and_titles_that_change_are_told(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        systems = told(await stage.say(), System)
        assert [(one.subtype, one.data) for one in systems] == [
            ("title", {"title": "A chat"}),
            ("permission_mode", {"mode": "plan"}),
        ]

    acted(
        tmp_path,
        act,
        _saying(
            update("session_info_update", title="A chat"),
            update("current_mode_update", currentModeId="plan"),
            update("current_mode_update", currentModeId="plan"),
        ),
    )


def test_each_whole_thought_stands_on_its_own_line(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        finals = [one for one in await stage.say() if one.type == "thinking" and one.final]
        assert [one.text for one in finals] == ["**One**\nfirst\n\n**Two**\nsecond"]

    acted(tmp_path, act, _saying(thought("**One**\nfirst"), thought("**Two**\nsecond")))


def test_what_an_agent_says_between_two_runs_belongs_to_neither(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        await stage.say()
        stage.agent.say(text("A background task has ended."))
        bodies = await stage.say(run_id="r2", provider_session_id=SESSION)
        assert [one.text for one in told(bodies, AssistantText) if one.final] == ["x"]

    acted(tmp_path, act, _saying(text("x")))


def test_another_conversation_of_the_agents_is_not_shown(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        assert [one.text for one in told(await stage.say(), AssistantText) if one.final] == ["x"]

    other = update("agent_message_chunk", "s-child", content={"type": "text", "text": "child"})
    acted(tmp_path, act, _saying(other, text("x")))


def test_an_ask_of_a_child_conversation_is_shown(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say(answer=ALLOW)
        assert len(told(bodies, Ask)) == 1
        assert stage.agent.replies()[5] == {"outcome": {"outcome": "selected", "optionId": "once"}}

    tool = {"toolCallId": "c1", "title": "ls", "kind": "execute"}
    acted(tmp_path, act, _asking(ask(5, tool, ONCE, REJECT, session="s-child")))


# ---- errors and starts


@pytest.mark.parametrize(
    ("code", "message", "data", "wanted", "shown"),
    [
        (-32000, "Authentication required", None, "provider_signed_out", "Authentication required"),
        (-32603, "Internal error", {"details": "401 no"}, "provider_signed_out", "401 no"),
        (401, '{"error": {"message": "bad key"}}', None, "provider_signed_out", "bad key"),
        (
            -32603,
            "Internal error: failure 429",
            {"service": "s"},
            "provider_rate_limited",
            "failure 429",
        ),
        (
            -32603,
            "x",
            {"details": "This model's maximum context length is 8192"},
            "context_overflow",
            "This model's maximum context length is 8192",
        ),
        (
            -32603,
            "x",
            {"details": "fetch failed ECONNREFUSED"},
            "network",
            "fetch failed ECONNREFUSED",
        ),
        (-32603, "It broke.", None, "provider_error", "It broke."),
    ],
    ids=["kimi", "qwen", "gemini", "opencode", "overflow", "network", "other"],
)
def test_a_failed_turn_says_why(
    code: int, message: str, data: Json | None, wanted: str, shown: str, tmp_path: Path
) -> None:
    def play(agent: ScriptedAgent, prompt: Json) -> None:
        agent.say(text("So f"))
        agent.fail(code, message, data)

    async def act(stage: Stage) -> None:
        bodies = await stage.say()
        (error,) = told(bodies, Error)
        assert (error.code, error.message) == (wanted, shown)
        assert bodies[-1].type == "complete"
        assert any(one.final and one.text == "So f" for one in told(bodies, AssistantText))
        if wanted == "provider_signed_out":
            assert error.hint == "agent login"

    acted(tmp_path, act, play)


@pytest.mark.parametrize("reason", ["max_tokens", "max_turn_requests", "refusal"])
def test_a_turn_that_was_cut_short_is_not_called_complete(reason: str, tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        bodies = await stage.say()
        assert told(bodies, Complete)[0].outcome == "failed"
        assert told(bodies, Error)

    acted(tmp_path, act, lambda agent, _message: agent.end(reason))


def test_nobody_signed_in_is_said_with_the_next_command(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        _with(stage, new=Refusal(-32000, "Authentication required"))
        with pytest.raises(AuthRequired) as caught:
            await stage.say()
        assert caught.value.hint == "agent login"
        provider = await stage.adapter.probe()
        assert (provider.state, provider.sign_in_hint) == ("signed_out", "agent login")

    acted(tmp_path, act)


def test_another_version_of_the_protocol_is_refused(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.prepare = lambda agent: agent.answers.update(
            initialize={"protocolVersion": 2}
        )
        with pytest.raises(ProtocolError, match="version 2"):
            await stage.say()

    acted(tmp_path, act)


def test_an_old_version_is_shown_as_too_old(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        info = {"agentInfo": {"name": "a", "version": "0.9.2"}}
        stage.launcher.prepare = lambda agent: agent.answers.update(
            initialize={"protocolVersion": 1, **info}
        )
        with pytest.raises(TooOld):
            await stage.say()
        assert (await stage.adapter.probe()).state == "too_old"

    acted(tmp_path, act, agent=replace(AGENT, min_version="0.10.0"))


def test_the_watch_on_silence_speaks_once_and_stop_still_works(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            agent.say(shell("t1", "subagent"))  # and never the ask of its child
        elif message.get("method") == "session/cancel":
            agent.end("cancelled")

    async def act(stage: Stage) -> None:
        run = await stage.start()
        notices: list[Notice] = []
        async for step in run.steps():
            new = [body for body in step.bodies if isinstance(body, Notice)]
            notices += new
            if new:
                assert step.offset is None
                await run.cancel()
            outcome = [body.outcome for body in step.bodies if isinstance(body, Complete)]
        assert [one.code for one in notices] == ["agent_silent"]
        assert outcome == ["cancelled"]

    acted(tmp_path, act, play, replace(AGENT, silence_s=0.05))
