"""P7, P8: fifty clients on ten streams, and one client that stops reading.

The clients are bare sockets that only count bytes, but for one that reads the clock in the events:
at this rate clients that parse would be what is measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import time

from tests.bench.bench_many_streams import latencies
from tests.bench.harness import (
    TOKEN,
    JupyterServer,
    Row,
    cpu_s,
    jupyter_server,
    next_frame,
    quantile,
    rss_mb,
    script,
    spread,
)

CLIENTS, CHATS, RATE, SECONDS = 50, 10, 50, 8
UNREAD_BYTES, CHUNK = 160_000_000, 32_768


def masked(text: str) -> bytes:
    """A websocket frame of a client, with a mask of zeros."""
    data = text.encode()
    size = (
        struct.pack("!BB", 0x81, 0x80 | len(data))
        if len(data) < 126
        else struct.pack("!BBH", 0x81, 0xFE, len(data))
    )
    return size + bytes(4) + data


class Counting(asyncio.Protocol):
    """A client that reads, counts and forgets."""

    def __init__(self) -> None:
        self.received = 0
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += len(data)


async def counting(server: JupyterServer, chats: list[str]) -> Counting:
    """A client that follows these chats."""
    loop = asyncio.get_running_loop()
    _, client = await loop.create_connection(Counting, "127.0.0.1", server.port)
    assert client.transport is not None
    client.transport.write(
        f"GET /agentchat/ws HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nUpgrade: websocket\r\n"
        "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Sec-WebSocket-Version: 13\r\nAuthorization: token {TOKEN}\r\n\r\n".encode()
    )
    while client.received < 100:  # noqa: ASYNC110 - a bench's client, not the product
        await asyncio.sleep(0.01)
    hello = {"type": "hello", "protocol": 1, "client": "script"}
    follow = [{"type": "subscribe", "chat_id": chat, "after_seq": 0} for chat in chats]
    client.transport.write(b"".join(masked(json.dumps(frame)) for frame in [hello, *follow]))
    return client


async def fan_out(server: JupyterServer, clients: int) -> tuple[list[float], float, float]:
    """(latencies of one that looks, share of a core, MB sent) while ten chats stream."""
    chats = [server.new_chat() for _ in range(CHATS)]
    others = [await counting(server, chats) for _ in range(clients - 1)]
    watch = await server.connect()
    for chat in chats:
        frame = {"type": "subscribe", "chat_id": chat, "after_seq": 0}
        await watch.write_message(json.dumps(frame))
    steps = script({"sleep": 2.0}, {"stamp": SECONDS * RATE, "rate": RATE})
    for chat in chats:
        await asyncio.to_thread(server.prompt, chat, "1", steps)
    found: list[float] = []
    ended, before, began = 0, 0.0, 0.0
    while ended < CHATS:
        frame = json.loads(await next_frame(watch))
        at = time.monotonic_ns()
        for event in frame.get("events", []):
            if event["type"] == "assistant_text" and event.get("delta"):
                if not began:
                    began, before = time.monotonic(), cpu_s(server.process.pid)
                found += [(at - int(part)) / 1e6 for part in event["delta"].split()]
            ended += event["type"] == "complete"
    share = (cpu_s(server.process.pid) - before) / (time.monotonic() - began)
    watch.close()
    for client in others:
        assert client.transport is not None
        client.transport.close()
    for chat in chats:
        await asyncio.to_thread(server.call, "DELETE", f"chats/{chat}")
    return found, share, sum(client.received for client in others) / 1e6


async def stalled(server: JupyterServer, *, reads: bool) -> tuple[float, list[float]]:
    """(MB that the server grew, latencies beside) while 160 MB come for a client."""
    chat = server.new_chat()
    client = await counting(server, [chat])
    await asyncio.sleep(0.2)
    assert client.transport is not None
    if not reads:
        client.transport.pause_reading()
    before = rss_mb(server.process.pid)
    flood = script({"flood": UNREAD_BYTES, "chunk": CHUNK, "rate": 400})
    await asyncio.to_thread(server.prompt, chat, "1", flood)
    beside = await latencies(server, script({"stamp": 500, "rate": RATE}))
    await asyncio.to_thread(server.wait_idle, chat)
    grown = rss_mb(server.process.pid) - before
    client.transport.close()
    await asyncio.to_thread(server.call, "DELETE", f"chats/{chat}")
    return grown, beside


def run() -> list[Row]:
    """P7 and P8."""
    with jupyter_server(traits={"max_concurrent_runs": CHATS + 2}) as server:
        asyncio.run(latencies(server, script({"stamp": 3, "rate": 50})))
        alone, one_share, _ = asyncio.run(fan_out(server, 1))
        many, share, sent = asyncio.run(fan_out(server, CLIENTS))
        asyncio.run(stalled(server, reads=True))
        _, reading = asyncio.run(stalled(server, reads=True))
        grown, beside = asyncio.run(stalled(server, reads=False))
    name = f"P7 {CHATS} chats x {RATE}/s to {CLIENTS} clients"
    p99, beside_p99 = quantile(many, 0.99), quantile(beside, 0.99)
    return [
        Row(
            f"{name}, p99", p99, quantile(alone, 0.99), "ms", "<= 40 ms", len(many),
            f"floor: one client; {sent:.0f} MB sent", peer="naive 278 ms", spread=spread(many),
        ),
        Row(
            f"{name}, share of a core", 100 * share, 100 * one_share, "%", "<= 25 %", CLIENTS,
            f"floor: one client; {os.cpu_count()} cores", peer="naive 33 %",
        ),
        Row("P8 memory for a client that stopped reading", grown, None, "MB", "<= 20 MB", 1,
            f"{UNREAD_BYTES // 10**6} MB unread", peer="naive +243 MB"),
        Row("P8 the others' p99 beside it", beside_p99, quantile(reading, 0.99), "ms", "<= 2x",
            len(beside), "floor: the same while it reads", spread=spread(beside)),
    ]  # fmt: skip
