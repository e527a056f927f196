"""P4: what we add to the time until an agent's first event: paired runs, raw and through a server.

Raw: the program is started and told the prompt by hand; ours: the prompt goes over the websocket.
Both end at the first delta of the answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import tempfile
import time
import uuid
from pathlib import Path

from tests.bench.harness import (
    JupyterServer,
    Row,
    jupyter_server,
    median,
    next_frame,
    raw_agent,
    script,
)
from tests.fakes.fake_anthropic import FakeAnthropic

REPETITIONS = 9
CLI = next(Path(".clis").resolve().glob("claude*/claude_agent_sdk/_bundled/claude"), None)


async def ours(server: JupyterServer, provider: str, text: str) -> float:
    """Milliseconds from the prompt frame to the first delta, in a new chat (a new process)."""
    chat_id = server.call("POST", "chats", {"provider": provider})["id"]
    connection = await server.connect()
    subscribe = {"type": "subscribe", "chat_id": chat_id, "after_seq": 0}
    await connection.write_message(json.dumps(subscribe))
    while '"sync"' not in await next_frame(connection):
        pass
    began = time.monotonic()
    prompt = {"type": "prompt", "chat_id": chat_id, "client_id": "1", "text": text}
    await connection.write_message(json.dumps(prompt))
    first = 0.0
    while True:
        frame = json.loads(await next_frame(connection))
        for event in frame.get("events", []):
            if event["type"] == "assistant_text" and not first:
                first = (time.monotonic() - began) * 1000
            if event["type"] == "complete":
                connection.close()
                server.call("DELETE", f"chats/{chat_id}")
                return first


def raw_native(text: str) -> float:
    """The scenario agent, started by hand."""
    began = time.monotonic()
    with raw_agent(text) as output:
        for line in output:
            if b'"delta"' in line or b'"final"' in line:
                return (time.monotonic() - began) * 1000
    raise RuntimeError("the agent said nothing")


def raw_claude(environment: dict[str, str], text: str) -> float:
    """The real CLI with the same flags, started by hand."""
    line = {"type": "user", "uuid": str(uuid.uuid4()), "message": {"role": "user", "content": text}}
    began = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as cwd,
        subprocess.Popen(
            [
                *(str(CLI), "-p", "--output-format", "stream-json", "--verbose"),
                *("--include-partial-messages", "--input-format", "stream-json"),
                *("--permission-prompt-tool", "stdio", f"--session-id={uuid.uuid4()}"),
                "--setting-sources=user",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd=cwd,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(line).encode() + b"\n")
        process.stdin.flush()
        for output in process.stdout:
            if b"text_delta" in output:
                first = (time.monotonic() - began) * 1000
                process.stdin.close()
                process.wait(20)
                return first
    raise RuntimeError("the CLI said nothing")


def row(name: str, mine: list[float], raw: list[float]) -> Row:
    added = median(mine) - median(raw)
    share = 100 * added / median(raw)
    note = f"added {added:.1f} ms = {share:.0f} %"
    return Row(name, median(mine), median(raw), "ms", "+10 ms or 10 %", len(mine), note)


def run() -> list[Row]:
    """P4 with the scenario agent, and with Claude Code where it is installed (`make agents`)."""
    text = script({"say": "hello", "chunks": 3, "rate": 30})
    rows = []
    with jupyter_server() as server:
        asyncio.run(ours(server, "scenario", text))  # the first run imports: reported apart
        mine, raw = [], []
        for _ in range(REPETITIONS):
            raw.append(raw_native(text))
            mine.append(asyncio.run(ours(server, "scenario", text)))
    rows.append(row("P4 first event, scenario agent", mine, raw))
    if CLI is None:
        return [*rows, Row("P4 Claude Code: not installed (make agents)", 0, None, "", "", 0)]
    with FakeAnthropic() as fake, tempfile.TemporaryDirectory() as home:
        switches = ("DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING")
        fakes = {
            "ANTHROPIC_BASE_URL": fake.url,
            "ANTHROPIC_API_KEY": "sk-fake",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "ENABLE_TOOL_SEARCH": "false",
            **dict.fromkeys(switches, "1"),
        }
        environment = {"PATH": os.environ["PATH"], "HOME": home, "LANG": "C.UTF-8", **fakes}
        settings = {"claude": {"command": [str(CLI)], "env": fakes}}
        with jupyter_server(settings=settings, env=fakes) as server:
            asyncio.run(ours(server, "claude", "say hello"))
            raw_claude(environment, "say hello")
            mine, raw = [], []
            for _ in range(REPETITIONS):
                raw.append(raw_claude(environment, "say hello"))
                mine.append(asyncio.run(ours(server, "claude", "say hello")))
    rows.append(row("P4 first event, Claude Code", mine, raw))
    return rows
