"""The native adapter with the scenario agent behind it, for tests that use real processes."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.ladder import Ladder
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import RunRequest
from jupyter_agentchat.providers.base import AdapterContext
from jupyter_agentchat.providers.native.adapter import NativeAdapter
from jupyter_agentchat.providers.native.launch import NativeAgent
from jupyter_agentchat.providers.settings import ProviderSettings

AGENT = Path(__file__).parents[2] / "fakes" / "scenario_agent.py"
QUICK = Ladder(0.3, 0.3, 2.0)


def make_agent(*arguments: str, **changes: Any) -> NativeAgent:
    """The scenario agent as data; quick to lose patience."""
    argv = (sys.executable, "-S", "-E", str(AGENT), *arguments)
    given: dict[str, Any] = {"id": "scenario", "name": "Scenario", "argv": argv}
    return NativeAgent(**given | {"ladder": QUICK, "cancel_s": 0.3} | changes)


def make_request(cwd: Path, steps: Sequence[Any] | str, run: int = 0, **changes: Any) -> RunRequest:
    """A request whose prompt is the script."""
    prompt = steps if isinstance(steps, str) else "scenario:" + json.dumps(steps)
    given = {"chat_id": "chat", "run_id": f"run{run}", "prompt": prompt, "cwd": str(cwd)}
    return RunRequest.model_validate(given | changes)


def make_context(launcher: LocalLauncher, scratch: Path, **changes: Any) -> AdapterContext:
    """What the registry would hand over."""
    given: dict[str, Any] = {"environment": dict(os.environ), "settings": ProviderSettings()}
    return AdapterContext(launcher=launcher, scratch=scratch, **given | changes)


@asynccontextmanager
async def open_adapter(
    scratch: Path, agent: NativeAgent | None = None, **changes: Any
) -> AsyncIterator[NativeAdapter]:
    """The adapter and its launcher; afterwards no process is left."""
    launcher = LocalLauncher()
    adapter = NativeAdapter(make_context(launcher, scratch, **changes), agent or make_agent())
    try:
        yield adapter
    finally:
        await adapter.close()
        assert launcher.children == []
        await launcher.close()


SAY: list[Any] = [{"say": "Here is the answer.", "chunks": 4}]

SCRIPTS: dict[str, list[list[Any]]] = {
    "hello": [[{"think": "let me see"}, *SAY, {"usage": {"input_tokens": 3}}]],
    "tool_ok": [[{"tool": {"kind": "read", "input": {"path": "a.py"}, "output": "x = 1"}}, *SAY]],
    "tool_failed": [[{"tool": {"status": "failed", "output": "no", "exit_code": 1}}, *SAY]],
    "permission": [[{"ask": {"title": "Run it?"}, "deny": [{"say": "not then"}]}, *SAY]],
    "withdrawn": [[{"ask": {}, "withdraw_after": 0.05}]],
    "cancel": [[{"say": "on and on " * 500, "chunks": 5000, "rate": 100}], SAY],
    "huge_line": [[{"huge_line": 2_000_000}]],
    "torn": [[*SAY, "torn"]],
    "crash": [[*SAY, {"stderr": "Traceback: it broke"}, {"exit": 7}], SAY],
    "resume_refused": [["resume_refused", *SAY], ["resume_refused", *SAY]],
    "unknown": [["unknown_type", "unknown_type", *SAY]],
}


@dataclass
class ScenarioSubject:
    """`conformance.Subject` of the native adapter."""

    folder: Path
    launcher: LocalLauncher = field(init=False)

    async def open(self, scenario: str) -> NativeAdapter:
        self.launcher = LocalLauncher()
        return NativeAdapter(make_context(self.launcher, self.folder), make_agent())

    def request(self, scenario: str, turn: int) -> RunRequest | None:
        changes: dict[str, str] = {}
        if scenario == "resume_refused":
            changes = {"transcript": "..."} if turn else {"provider_session_id": "gone"}
        return make_request(self.folder, SCRIPTS[scenario][turn], turn, **changes)

    async def close(self) -> None:
        assert self.launcher.children == []
        await self.launcher.close()
