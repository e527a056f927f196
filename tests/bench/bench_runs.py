"""P5, P20, P24: a run's wall time against the raw program, Stop, and five hundred runs in a row."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

from tests.bench.harness import (
    JupyterServer,
    Row,
    jupyter_server,
    median,
    next_frame,
    quantile,
    raw_agent,
    rss_mb,
    script,
    spread,
)

REPETITIONS = 5
RUNS = 500
STOPS = 20


def raw_wall_s(text: str) -> float:
    """The agent alone, from its start to its `complete`."""
    began = time.monotonic()
    with raw_agent(text) as output:
        while b'"complete"' not in output.readline():
            pass
        return time.monotonic() - began


async def our_wall_s(server: JupyterServer, text: str) -> float:
    """From the prompt frame to `complete` at the client, in a new chat."""
    chat = server.new_chat()
    connection = await server.follow(chat)
    began = time.monotonic()
    prompt = {"type": "prompt", "chat_id": chat, "client_id": "1", "text": text}
    await connection.write_message(json.dumps(prompt))
    while '"complete"' not in await next_frame(connection):
        pass
    took = time.monotonic() - began
    connection.close()
    server.call("DELETE", f"chats/{chat}")
    return took


async def stop_ms(server: JupyterServer, *steps: object) -> tuple[float, float]:
    """(until the page says `cancelling`, until the chat is free), from Stop."""
    chat = server.new_chat()
    connection = await server.follow(chat)
    prompt = {"type": "prompt", "chat_id": chat, "client_id": "1", "text": script(*steps)}  # type: ignore[arg-type]
    await connection.write_message(json.dumps(prompt))
    while '"session"' not in await next_frame(connection):
        pass
    await asyncio.sleep(0.1)
    began, heard = time.monotonic(), 0.0
    await connection.write_message(json.dumps({"type": "cancel", "chat_id": chat}))
    while True:
        frame = json.loads(await next_frame(connection))
        if frame["type"] != "sync":
            continue
        if frame["phase"] == "cancelling" or not frame["running"]:
            heard = heard or (time.monotonic() - began) * 1000
        if not frame["running"]:
            connection.close()
            server.call("DELETE", f"chats/{chat}")
            return heard, (time.monotonic() - began) * 1000


def soak(server: JupyterServer) -> list[Row]:
    """P24: many runs, many chats; nothing is to stay behind."""
    pid, steps = server.process.pid, script({"tool": {"output": "x" * 500}}, {"burst": 20})

    def some(count: int) -> None:
        for _ in range(count // 10):
            chat = server.new_chat()
            for number in range(10):
                server.prompt(chat, str(number), steps)
                server.wait_idle(chat)
            server.call("DELETE", f"chats/{chat}")
        time.sleep(2)

    some(100)  # caches fill, once
    memory, files, children = rss_mb(pid), open_files(pid), child_count(server)
    some(RUNS)
    return [
        Row(f"P24 memory after {RUNS} runs", rss_mb(pid) - memory, None, "MB", "<= 10 MB", RUNS),
        Row("P24 descriptors", open_files(pid) - files, None, "", "0", RUNS),
        Row("P24 processes", child_count(server) - children, None, "", "0", RUNS),
    ]


def open_files(pid: int) -> int:
    names = [os.readlink(entry) for entry in Path(f"/proc/{pid}/fd").iterdir()]  # noqa: PTH115 - may be gone
    return len([name for name in names if not name.startswith("socket:")])


def child_count(server: JupyterServer) -> int:
    mark, found = f"HOME={server.home}".encode(), 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found += mark in (entry / "environ").read_bytes().split(b"\0")
            except OSError:
                continue
    return found


def run() -> list[Row]:
    """P5, P20 and P24."""
    text = script({"say": "word " * 300, "chunks": 300, "rate": 150})
    with jupyter_server(traits={"idle_process_timeout": 1.0}) as server:
        asyncio.run(our_wall_s(server, "hello"))
        raw, ours = [], []
        for _ in range(REPETITIONS):
            raw.append(raw_wall_s(text) * 1000)
            ours.append(asyncio.run(our_wall_s(server, text)) * 1000)
        added = median(ours) - median(raw)
        rows = [
            Row(
                "P5 wall time of a run of 2 s", median(ours), median(raw), "ms", "+2 % + 50 ms",
                REPETITIONS, f"added {added:.0f} ms", spread=spread(ours),
            )
        ]  # fmt: skip
        polite = [asyncio.run(stop_ms(server, {"sleep": 60})) for _ in range(STOPS)]
        stubborn_steps = ("ignore_term", "ignore_cancel", {"fork": 60}, "hang")
        stubborn = [asyncio.run(stop_ms(server, *stubborn_steps)) for _ in range(3)]
        polite_ms = [free for _, free in polite]
        rows += [
            Row(
                "P20 Stop, polite agent: chat free, p95", quantile(polite_ms, 0.95), None, "ms",
                "<= 300 ms", STOPS, spread=spread(polite_ms),
            ),
            Row(
                "P20 Stop, stubborn agent: the page knows", max(heard for heard, _ in stubborn),
                None, "ms", "<= 1000 ms", len(stubborn), peer="clears no queue (jupyter-ai)",
            ),
            Row(
                "P20 Stop, stubborn agent: all dead", max(free for _, free in stubborn), None,
                "ms", "<= 5000 ms", len(stubborn),
            ),
        ]  # fmt: skip
        return rows + soak(server)
