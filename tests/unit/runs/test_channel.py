"""A client's connection: frames in order, joined while they wait, bounded when nobody reads."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jupyter_agentchat.runs.channel import Channel


class Client:
    """A client whose reading can be held up."""

    def __init__(self, limit_bytes: int = 1_000_000) -> None:
        self.frames: list[dict[str, Any]] = []
        self.reads = asyncio.Event()
        self.gaps: list[str] = []
        self.channel = Channel(self._send, self._gap, limit_bytes=limit_bytes)

    async def _send(self, text: str) -> None:
        await self.reads.wait()
        self.frames.append(json.loads(text))

    def _gap(self, channel: Channel, chat_id: str) -> int:
        self.gaps.append(chat_id)
        return 99

    async def drain(self) -> None:
        self.reads.set()
        writer = asyncio.get_running_loop().create_task(self.channel.write())
        for _ in range(50):
            await asyncio.sleep(0)
        self.channel.close()
        await writer


def event(seq: int) -> str:
    return json.dumps({"seq": seq})


def test_events_that_wait_go_as_one_frame() -> None:
    async def scenario() -> None:
        client = Client()
        for seq in range(1, 11):
            client.channel.push_events("c", seq - 1, seq, [event(seq)])
        await client.drain()
        (frame,) = client.frames
        assert (frame["after"], frame["upto"]) == (0, 10)
        assert [item["seq"] for item in frame["events"]] == list(range(1, 11))

    asyncio.run(scenario())


def test_a_sync_stays_between_the_events_it_stood_between() -> None:
    async def scenario() -> None:
        client = Client()
        client.channel.push_events("c", 0, 1, [event(1)])
        client.channel.push('{"type":"sync"}', chat_id="c")
        client.channel.push_events("c", 1, 2, [event(2)])
        await client.drain()
        assert [frame["type"] for frame in client.frames] == ["events", "sync", "events"]

    asyncio.run(scenario())


def test_two_chats_are_never_mixed() -> None:
    async def scenario() -> None:
        client = Client()
        for seq in range(1, 5):
            client.channel.push_events("a", seq - 1, seq, [event(seq)])
            client.channel.push_events("b", seq - 1, seq, [event(seq)])
        await client.drain()
        assert [(f["chat_id"], f["after"], f["upto"]) for f in client.frames] == [
            ("a", 0, 4),
            ("b", 0, 4),
        ]

    asyncio.run(scenario())


def test_a_client_that_does_not_read_gets_one_gap_per_chat_and_costs_no_memory() -> None:
    async def scenario() -> None:
        client = Client(limit_bytes=10_000)
        for seq in range(1, 400):
            client.channel.push_events("c", seq - 1, seq, ["x" * 100])
            assert client.channel.pending_bytes <= 11_000
            if client.gaps:
                break  # the hub has ended the subscription: nothing more is pushed
        assert client.gaps == ["c"]
        await client.drain()
        assert client.frames == [{"type": "gap", "chat_id": "c", "last_seq": 99}]

    asyncio.run(scenario())


def test_a_client_that_vanishes_ends_its_writer_quietly() -> None:
    async def scenario() -> None:
        async def send(_text: str) -> None:
            raise ConnectionResetError

        channel = Channel(send)
        channel.push("{}")
        await asyncio.wait_for(channel.write(), 2)
        channel.push("{}")
        assert channel.pending_bytes == 0

    asyncio.run(scenario())
