"""P1, P9: an agent's line to the client's frame, and the bytes of a streamed answer.

P1: the agent writes its monotonic clock into each delta; the client compares on arrival. The floor
is the same agent behind a bare pipe -> websocket server, runs interleaved.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tornado.websocket import websocket_connect

from tests.bench.harness import (
    HERE,
    SCENARIO_AGENT,
    JupyterServer,
    Row,
    free_port,
    jupyter_server,
    median,
    next_frame,
    quantile,
    script,
)

REPETITIONS = 5
STAMPS, RATE = 150, 50
CHUNKS, CHUNK_RATE = 5_000, 400


@contextmanager
def floor_server() -> Iterator[int]:
    """The floor's server; yields its port."""
    port = free_port()
    agent = [sys.executable, str(SCENARIO_AGENT)]
    command = [sys.executable, str(HERE / "floor_server.py"), str(port), *agent]
    process = subprocess.Popen(command)
    try:
        time.sleep(1.0)
        yield port
    finally:
        process.terminate()
        process.wait(10)


async def floor_latencies(port: int) -> list[float]:
    """Milliseconds from the agent's clock to the client's, through the floor."""
    connection = await websocket_connect(f"ws://127.0.0.1:{port}/ws")
    request = {"chat_id": "c", "run_id": "r", "cwd": "/", "prompt": stamps()}
    await connection.write_message(json.dumps({"op": "run", "request": request}))
    latencies: list[float] = []
    while True:
        body = json.loads(await next_frame(connection))
        at = time.monotonic_ns()
        if body["type"] == "complete":
            connection.close()
            return latencies
        if body.get("delta"):
            latencies.append((at - int(body["delta"])) / 1e6)


def stamps() -> str:
    return script({"stamp": STAMPS, "rate": RATE})


async def our_latencies(server: JupyterServer) -> list[float]:
    """The same through the product: stored, then published."""
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    connection = await server.connect()
    subscribe = {"type": "subscribe", "chat_id": chat_id, "after_seq": 0}
    await connection.write_message(json.dumps(subscribe))
    prompt = {"type": "prompt", "chat_id": chat_id, "client_id": "1", "text": stamps()}
    await connection.write_message(json.dumps(prompt))
    latencies: list[float] = []
    while True:
        frame = json.loads(await next_frame(connection))
        at = time.monotonic_ns()
        for event in frame.get("events", []):
            if event.get("delta"):
                latencies += [(at - int(part)) / 1e6 for part in event["delta"].split()]
            if event["type"] == "complete":
                connection.close()
                return latencies


async def answer_bytes(server: JupyterServer) -> tuple[int, int, int]:
    """(bytes of all frames, frames, characters) of a 100 KB answer in 5,000 chunks."""
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    connection = await server.connect()
    subscribe = {"type": "subscribe", "chat_id": chat_id, "after_seq": 0}
    await connection.write_message(json.dumps(subscribe))
    text = "twenty characters..." * CHUNKS
    steps = script({"say": text, "chunks": CHUNKS, "rate": CHUNK_RATE})
    prompt = {"chat_id": chat_id, "client_id": "1", "text": steps}
    await connection.write_message(json.dumps({"type": "prompt", **prompt}))
    size = frames = 0
    while True:
        raw = await next_frame(connection)
        frame = json.loads(raw)
        events = frame.get("events", [])
        # the prompt holds the text here (it drives the agent): not part of the answer
        if not any(event["type"] == "user" for event in events):
            size, frames = size + len(raw.encode()), frames + 1
        if any(event["type"] == "complete" for event in events):
            connection.close()
            return size, frames, len(text)


def run() -> list[Row]:
    """P1 and P9."""
    ours_p50, floor_p50, ours_p99, floor_p99 = [], [], [], []
    with floor_server() as port, jupyter_server() as server:
        for _ in range(REPETITIONS):
            floor, ours = asyncio.run(floor_latencies(port)), asyncio.run(our_latencies(server))
            floor_p50.append(median(floor))
            ours_p50.append(median(ours))
            floor_p99.append(quantile(floor, 0.99))
            ours_p99.append(quantile(ours, 0.99))
        size, frames, characters = asyncio.run(answer_bytes(server))
    n = REPETITIONS * STAMPS
    return [
        Row(
            "P1 line -> frame, p50", median(ours_p50), median(floor_p50), "ms", "<= 3x", n,
            peer="kernel websocket 1.8-5.0 ms",
        ),
        Row(
            "P1 line -> frame, p99", median(ours_p99), median(floor_p99), "ms", "<= 15 ms", n,
            peer="kernel websocket 38-44 ms",
        ),
        Row(
            f"P9 wire, 100 KB in {CHUNKS} chunks at {CHUNK_RATE}/s",
            size / 1e6,
            characters / 1e6,
            "MB",
            "<= 1 MB",
            1,
            f"{frames} frames",
            peer="jupyterlab_chat 250 MB",
        ),
    ]  # fmt: skip
