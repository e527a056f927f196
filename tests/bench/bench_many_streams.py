"""P2, P6, P11: ten chats at once; what an event costs the server; what its loop is kept from.

P6's floor is the bare pipe -> websocket server of P1. P11 is the round trip of a `ping` frame while
a run streams, against the same on a server that does nothing: what is added is the loop's block.
"""

from __future__ import annotations

import asyncio
import json
import time

from tests.bench.bench_stream import floor_latencies, floor_server
from tests.bench.harness import (
    JupyterServer,
    Row,
    cpu_s,
    jupyter_server,
    median,
    next_frame,
    quantile,
    script,
    spread,
)

CHATS, STAMPS, RATE = 10, 150, 50
FAST_STAMPS, FAST_RATE = 15_000, 5_000
PINGS = 1_500


async def latencies(server: JupyterServer, steps: str, times: int = 1) -> list[float]:
    """Milliseconds from the agent's clock to the client's, in `times` chats at once."""
    chats = [server.new_chat() for _ in range(times)]
    found: list[float] = []

    async def one(chat_id: str) -> None:
        connection = await server.follow(chat_id)
        prompt = {"type": "prompt", "chat_id": chat_id, "client_id": "1", "text": steps}
        await connection.write_message(json.dumps(prompt))
        while True:
            frame = json.loads(await next_frame(connection))
            at = time.monotonic_ns()
            for event in frame.get("events", []):
                if event["type"] == "assistant_text" and event.get("delta"):
                    found.extend((at - int(part)) / 1e6 for part in event["delta"].split())
                if event["type"] == "complete":
                    connection.close()
                    return

    await asyncio.gather(*(one(chat) for chat in chats))
    for chat in chats:
        await asyncio.to_thread(server.call, "DELETE", f"chats/{chat}")
    return found


async def pings(server: JupyterServer, count: int) -> list[float]:
    """Milliseconds of a round trip on an open socket."""
    connection = await server.connect()
    found = []
    for number in range(count):
        began = time.monotonic()
        await connection.write_message(json.dumps({"type": "ping", "request_id": str(number)}))
        while '"pong"' not in await next_frame(connection):
            pass
        found.append((time.monotonic() - began) * 1000)
        await asyncio.sleep(0.002)
    connection.close()
    return found


async def pings_beside_a_run(server: JupyterServer) -> list[float]:
    chat = server.new_chat()
    seconds = PINGS * 0.005
    steps = script({"stamp": int(seconds * RATE), "rate": RATE})
    await asyncio.to_thread(server.prompt, chat, "1", steps)
    found = await pings(server, PINGS)
    await asyncio.to_thread(server.call, "DELETE", f"chats/{chat}")
    return found


def run() -> list[Row]:
    """P2, P6 and P11."""
    rows = []
    slow, fast = script({"sleep": 1.0}, {"stamp": STAMPS, "rate": RATE}), FAST_STAMPS
    with floor_server() as port, jupyter_server(traits={"max_concurrent_runs": CHATS}) as server:
        asyncio.run(latencies(server, slow))  # the first run imports
        ten = [value for _ in range(3) for value in asyncio.run(latencies(server, slow, CHATS))]
        floor = [value for _ in range(3) for value in asyncio.run(floor_latencies(port))]
        name = f"P2 line -> frame, {CHATS} chats x {RATE}/s"
        for q, goal in ((0.5, "<= 3 ms"), (0.99, "<= 50 ms")):
            rows.append(
                Row(
                    f"{name}, p{q * 100:.0f}", quantile(ten, q), quantile(floor, q), "ms", goal,
                    len(ten), "floor: one stream, bare pipe", spread=spread(ten),
                )
            )  # fmt: skip
        for rate, count, goal in ((RATE, 500, "<= 600 us"), (FAST_RATE, fast, "<= 60 us")):
            costs = [cpu_per_event(server, rate, count) for _ in range(3)]
            rows.append(
                Row(f"P6 server CPU per event at {rate}/s", median(costs), None, "us", goal, count)
            )
        idle, beside = [], []
        for _ in range(3):
            idle += asyncio.run(pings(server, PINGS // 3))
            beside += asyncio.run(pings_beside_a_run(server))
        for q, goal in ((0.99, "+ <= 1 ms"), (0.999, "+ <= 10 ms")):
            rows.append(
                Row(
                    f"P11 ping beside a run, p{q * 100:g}", quantile(beside, q), quantile(idle, q),
                    "ms", goal, len(beside), "floor: idle server", spread=spread(beside),
                    peer="a chunk blocks 6.1-35 ms (long chats)",
                )
            )  # fmt: skip
    return rows


def cpu_per_event(server: JupyterServer, rate: int, count: int) -> float:
    """Microseconds of the server's process per line of the agent, one client following."""
    before = cpu_s(server.process.pid)
    asyncio.run(latencies(server, script({"stamp": count, "rate": rate})))
    return (cpu_s(server.process.pid) - before) * 1e6 / count
