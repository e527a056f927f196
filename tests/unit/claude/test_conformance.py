"""The promises every adapter owes, over a Claude Code CLI that the test plays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.process.framing import Torn
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AdapterContext
from jupyter_agentchat.providers.claude.adapter import ClaudeAdapter
from jupyter_agentchat.providers.conformance import SCENARIOS, run_scenario
from jupyter_agentchat.providers.settings import ProviderSettings

from .scripted import (
    Json,
    ScriptedHandle,
    ScriptedLauncher,
    assistant,
    can_use_tool,
    event,
    init,
    result,
    tool_result,
)

SESSION = "5f0c7a52-0000-4000-8000-000000000000"
FORGOTTEN = "00000000-0000-4000-8000-000000000009"


def _text(message_id: str, text: str) -> list[Json]:
    delta = {"type": "text_delta", "text": text[:2]}
    return [
        event("message_start", message={"id": message_id}),
        event("content_block_start", index=0, content_block={"type": "text"}),
        event("content_block_delta", index=0, delta=delta),
        assistant(message_id, {"type": "text", "text": text}),
    ]


def _bash(tool_id: str) -> Json:
    call = {"type": "tool_use", "id": tool_id, "name": "Bash", "input": {"command": "make"}}
    return assistant("m1", call)


def _failed(tool_id: str) -> Json:
    line = tool_result(tool_id, "Exit code 2\nno rule")
    line["message"]["content"][0]["is_error"] = True
    return line


def act(cli: ScriptedHandle, message: Json) -> None:
    """What the CLI does with one message; the prompt is the scenario's name."""
    if message["type"] == "control_response":
        denied = message["response"]["response"]["behavior"] == "deny"
        end = _failed("t1") if denied else tool_result("t1", "made")
        cli.say(end, *_text("m2", "Done."), result())
    elif message["type"] == "control_request":
        if message["request"]["subtype"] == "interrupt":
            aborted = result(is_error=True, terminal_reason="aborted_streaming")
            cli.say(assistant("m1", {"type": "text", "text": "So f"}), aborted)
    elif f"--resume={FORGOTTEN}" in cli.argv:
        cli.die(1, f"No conversation found with session ID: {FORGOTTEN}")
    else:
        _scenario(cli, str(message["message"]["content"]))


def _scenario(cli: ScriptedHandle, prompt: str) -> None:
    cli.say(init(SESSION))
    match prompt:
        case "tool_ok":
            cli.say(_bash("t1"), tool_result("t1", "made"))
        case "tool_failed":
            cli.say(_bash("t1"), _failed("t1"))
        case "permission":
            cli.say(_bash("t1"), can_use_tool("q1", "Bash", {"command": "make"}, tool_use_id="t1"))
            return
        case "withdrawn":
            cli.say(_bash("t1"), can_use_tool("q1", "Bash", {"command": "make"}, tool_use_id="t1"))
            cli.say({"type": "control_cancel_request", "request_id": "q1"}, tool_result("t1", ""))
        case "cancel":
            cli.say(*_text("m1", "So far")[:3])
            return
        case "huge_line":
            cli.say(*_text("m1", "x" * 2_000_000))
        case "torn":
            cli.put(Torn('{"type":"assistant","message":{"content":[{"text":"torn', 999))
            cli.die(0)
            return
        case "crash":
            cli.die(3, "out of luck")
            return
        case "unknown":
            cli.say({"type": "from_the_future"}, assistant("m1", {"type": "hologram"}))
        case _:
            cli.say(*_text("m1", "Here is the answer."))
    cli.say(result())


class ClaudeSubject:
    """A `conformance.Subject` over scripted CLIs."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def open(self, scenario: str) -> ClaudeAdapter:
        program = self._directory / "claude"
        program.write_text("#!/bin/sh\n")
        program.chmod(0o700)
        launcher = ScriptedLauncher()
        launcher.act = act
        context = AdapterContext(
            launcher=launcher,
            environment={},
            settings=ProviderSettings(command=(str(program),)),
            scratch=self._directory,
        )
        return ClaudeAdapter(context)

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        session = SESSION if turn else None
        if scenario == "resume_refused":
            session = None if turn else FORGOTTEN
        return RunRequest(
            chat_id="c",
            run_id=f"r{turn}",
            prompt=scenario if turn == 0 else "answer",
            cwd=str(self._directory),
            provider_session_id=session,
        )

    async def close(self) -> None:
        pass


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_claude_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, ClaudeSubject(tmp_path))) is True
