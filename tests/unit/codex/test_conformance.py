"""The promises every adapter owes, over an app server that the test plays."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.process.framing import Torn
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.codex.adapter import CodexAdapter
from jupyter_agentchat.providers.conformance import SCENARIOS, run_scenario

from .scripted import Json, ScriptedApp, ScriptedLauncher
from .stage import context_of

FORGOTTEN = "01a22f12-0000-7000-8000-e929255a787b"
APPROVAL = "item/commandExecution/requestApproval"


def act(app: ScriptedApp, message: Json) -> bool:
    """What it does with one message; the prompt is the scenario's name."""
    if "method" not in message:
        denied = message["result"]["decision"] != "accept"
        app.tell("serverRequest/resolved", "thread-1", requestId=message["id"])
        app.command("thread-1", "turn-1", over=True, status="declined" if denied else "completed")
        app.text("thread-1", "turn-1", "Done.")
        app.finish("thread-1", "turn-1")
        return True
    if message["method"] == "thread/resume" and message["params"]["threadId"] == FORGOTTEN:
        app.refuse(message, f"no rollout found for thread id {FORGOTTEN}")
        return True
    if message["method"] == "turn/start":
        return _scenario(app, message, message["params"]["input"][-1]["text"])
    return False


def _scenario(app: ScriptedApp, message: Json, prompt: str) -> bool:
    if prompt == "answer":
        return False
    thread_id, turn_id = app.begin(message)
    match prompt:
        case "tool_ok" | "tool_failed":
            app.command(thread_id, turn_id, over=False)
            failed = {"status": "failed", "exitCode": 2} if prompt == "tool_failed" else {}
            app.command(thread_id, turn_id, over=True, **failed)
        case "permission" | "withdrawn":
            app.command(thread_id, turn_id, over=False)
            asked = {"threadId": thread_id, "turnId": turn_id, "itemId": "call_1"}
            app.say({"method": APPROVAL, "id": 0, "params": {**asked, "command": "make all"}})
            if prompt == "permission":
                return True
            app.tell("serverRequest/resolved", thread_id, requestId=0)
        case "cancel":
            delta = {"turnId": turn_id, "itemId": "msg_1", "delta": "So far"}
            app.tell("item/agentMessage/delta", thread_id, **delta)
            return True
        case "huge_line":
            app.text(thread_id, turn_id, "x" * 2_000_000)
        case "torn":
            app.put(Torn('{"method":"item/agentMessage/delta","params":{"delta":"torn', 1 << 30))
            app.die(0)
            return True
        case "crash":
            app.die(3, "out of luck")
            return True
        case "unknown":
            app.tell("hologram/shown", thread_id, turnId=turn_id)
            app.tell("hologram/shown", thread_id, turnId=turn_id)
            item = {"type": "hologram", "id": "h1", "size": 3}
            app.tell("item/started", thread_id, turnId=turn_id, item=item)
            app.tell("item/completed", thread_id, turnId=turn_id, item=item)
        case _:
            app.text(thread_id, turn_id, "Here is the answer.")
    app.finish(thread_id, turn_id)
    return True


class CodexSubject:
    """A `conformance.Subject` over scripted app servers."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def open(self, scenario: str) -> CodexAdapter:
        return CodexAdapter(context_of(ScriptedLauncher(act), self._directory))

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        session = FORGOTTEN if scenario == "resume_refused" and not turn else None
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
def test_the_codex_adapter_passes(name: str, tmp_path: Path) -> None:
    assert asyncio.run(run_scenario(name, CodexSubject(tmp_path))) is True
