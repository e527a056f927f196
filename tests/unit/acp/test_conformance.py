"""The promises every adapter owes, over an ACP agent that the test plays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.process.framing import Torn
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.acp.adapter import AcpAdapter
from jupyter_agentchat.providers.conformance import SCENARIOS, run_scenario

from .scripted import (
    Json,
    Refusal,
    ScriptedAgent,
    ScriptedLauncher,
    ask,
    call_update,
    last_text,
    shell,
    text,
    thought,
    update,
)
from .stage import AGENT, context_of

FORGOTTEN = "s-forgotten"


def play(agent: ScriptedAgent, message: Json) -> None:
    """What the agent does with a prompt (the scenario's name), an answer or a cancel."""
    if message.get("method") == "session/cancel":
        agent.end("cancelled")
    elif "method" not in message:
        denied = message["result"]["outcome"].get("optionId") != "once"
        agent.say(call_update("t1", status="failed" if denied else "completed"), text("Done."))
        agent.end()
    else:
        _scenario(agent, last_text(message))


def _scenario(agent: ScriptedAgent, prompt: str) -> None:
    match prompt:
        case "tool_ok":
            agent.say(shell(), call_update("t1", status="completed", rawOutput="made"))
        case "tool_failed":
            agent.say(shell(), call_update("t1", status="failed", rawOutput="no rule"))
        case "permission":
            agent.say(shell(), ask(7, {"toolCallId": "t1", "kind": "execute"}))
            return
        case "withdrawn":
            agent.say(shell(), ask(7, {"toolCallId": "t1", "kind": "execute"}))
            agent.say({"method": "$/cancel_request", "params": {"requestId": 7}})
        case "cancel":
            agent.say(text("So f"))
            return
        case "huge_line":
            agent.say(text("x" * 2_000_000))
        case "torn":
            agent.put(Torn('{"jsonrpc":"2.0","method":"session/upda', agent._end + 39))
            agent.die(0)
            return
        case "crash":
            agent.die(3, "out of luck")
            return
        case "unknown":
            agent.say(update("from_the_future"), update("from_the_future"))
        case _:
            agent.say(thought("Hm."), text("Here is "), text("the answer."))
    agent.end()


def _forgets(agent: ScriptedAgent) -> None:
    agent.answers["session/load"] = Refusal(-32002, "Resource not found")


class AcpSubject:
    """A `conformance.Subject` over scripted agents."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def open(self, scenario: str) -> AcpAdapter:
        launcher = ScriptedLauncher()
        launcher.play = play
        launcher.prepare = _forgets if scenario == "resume_refused" else None
        return AcpAdapter(context_of(launcher, self._directory), AGENT)

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        session = "s-1" if turn else None
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
def test_the_acp_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, AcpSubject(tmp_path))) is True
