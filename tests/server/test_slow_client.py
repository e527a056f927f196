"""A page that stops reading its socket costs the server little and the others nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from jupyter_agentchat.protocol.events import Notice
from jupyter_agentchat.runs.channel import PENDING_LIMIT_BYTES
from jupyter_agentchat.store.base import Draft

from .conftest import Rest, Socket

EVENT_BYTES = 200_000


async def test_a_stalled_page_gets_one_gap_and_catches_up(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]], extension: Any
) -> None:
    chat_id = await rest.new_chat()
    stalled, reader = await open_socket(), await open_socket()
    channels = list(extension.hub._channels)
    for socket in (stalled, reader):
        await socket.subscribe(chat_id)
    room = extension.hub._rooms[chat_id]
    most = 0
    # what the kernel and the client library buffer comes first, then our own limit
    for number in range(150):
        room.record([Draft(Notice(code="n", text=f"{number} " + "x" * EVENT_BYTES))])
        seq = number + 1
        await reader.until(lambda f: f["type"] == "events" and f["upto"] == seq)  # noqa: B023
        most = max(most, *(channel.pending_bytes for channel in channels))
    assert most < PENDING_LIMIT_BYTES + 2 * EVENT_BYTES
    assert len(room._channels) == 1  # the stalled one's subscription has ended
    assert [event["seq"] for event in reader.events(chat_id)] == list(range(1, 151))
    assert not [frame for frame in reader.frames if frame["type"] == "gap"]

    gap = await stalled.until(lambda f: f["type"] == "gap")
    assert gap["last_seq"] <= 150
    seen = stalled.events(chat_id)[-1]["seq"]
    page = await rest.ok("GET", f"chats/{chat_id}/events", after=str(seen), limit="2000")
    assert [event["seq"] for event in page["events"]] == list(range(seen + 1, 151))
    await stalled.subscribe(chat_id, 150)
    room.record([Draft(Notice(code="n", text="live again"))])
    frame = await stalled.until(lambda f: f["type"] == "events" and f["upto"] == 151)
    assert frame["after"] == 150
    assert len([frame for frame in stalled.frames if frame["type"] == "gap"]) == 1


async def test_more_missed_than_can_be_replayed_is_a_gap_at_once(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]], extension: Any
) -> None:
    chat_id = await rest.new_chat()
    extension.store.append(chat_id, [Draft(Notice(code="n", text=str(n))) for n in range(1_001)])
    socket = await open_socket()
    await socket.subscribe(chat_id, 0)
    assert (await socket.until(lambda f: f["type"] == "gap"))["last_seq"] == 1_001
    await socket.subscribe(chat_id, 1)
    frame = await socket.until(lambda f: f["type"] == "events")
    assert (frame["after"], frame["upto"], len(frame["events"])) == (1, 1_001, 1_000)


async def test_a_page_that_reads_nothing_at_all_is_hung_up_on(
    open_socket: Callable[[], Awaitable[Socket]], extension: Any
) -> None:
    deaf = await open_socket()
    (channel,) = extension.hub._channels
    text = '{"type":"pong","filler":"' + "x" * 1_000_000 + '"}'
    for _ in range(60):
        extension.hub.broadcast(lambda _name: text)
    assert channel.closed
    assert channel.pending_bytes == 0
    while await deaf.connection.read_message() is not None:
        pass
    assert deaf.connection.close_code == 1013
    again = await open_socket()
    assert (await again.ask(type="ping"))["type"] == "pong"
