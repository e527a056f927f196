"""Bad frames get a clear refusal, change nothing, and never break the socket."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest

from .conftest import Rest, Socket

Open = Callable[[], Awaitable[Socket]]


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        ("", "bad_request"),
        ("{", "bad_request"),
        ("42", "bad_request"),
        ("[]", "bad_request"),
        ('{"type": "wibble"}', "bad_request"),
        ('{"type": "subscribe"}', "bad_request"),
        ('{"type": "subscribe", "chat_id": "x", "after_seq": "0"}', "bad_request"),
        ('{"type": "subscribe", "chat_id": "x", "after_seq": -1}', "bad_request"),
        ('{"type": "subscribe", "chat_id": "nobody", "after_seq": 0}', "not_found"),
        ('{"type": "ping", "more": 1}', "bad_request"),
        ('{"type": "prompt", "chat_id": "x", "client_id": "1", "text": "\\ud800"}', "bad_request"),
        ('{"type": "prompt", "chat_id": "x", "client_id": "1", "text": "a\\u0000"}', "bad_request"),
        ('{"type": "prompt", "chat_id": "nobody", "client_id": "1", "text": "a"}', "not_found"),
        ('{"type": "cancel", "chat_id": "nobody"}', "not_found"),
        ('{"type": "answer", "chat_id": "nobody", "ask_id": "a", "decision": "deny"}', "not_found"),
        ('{"type": "read", "chat_id": "nobody", "seq": 1}', "not_found"),
        ('{"type": "prompt", "chat_id": "x", "user": "root", "text": "a"}', "bad_request"),
        ("[" * 100_000, "bad_request"),
        (json.dumps({"type": "ping", "x": "y" * 5_000_000}), "too_large"),
    ],
    ids=lambda value: value[:60] if isinstance(value, str) else None,
)
async def test_a_bad_frame_is_refused_and_the_socket_stays(
    open_socket: Open, raw: str, code: str
) -> None:
    socket = await open_socket()
    await socket.connection.write_message(raw)
    refused = await socket.until(lambda f: f["type"] == "refused")
    assert refused["code"] == code
    assert refused["message"]
    assert (await socket.ask(type="ping"))["type"] == "pong"


async def test_a_binary_frame_is_refused(open_socket: Open) -> None:
    socket = await open_socket()
    await socket.connection.write_message(b"\x00\x01", binary=True)
    refused = await socket.until(lambda f: f["type"] == "refused")
    assert refused["code"] == "bad_request"
    assert (await socket.ask(type="ping"))["type"] == "pong"


async def test_hello_comes_first_and_an_old_page_is_told_to_reload(
    raw_socket: Open, rest: Rest
) -> None:
    chat_id = await rest.new_chat()
    socket = await raw_socket()
    welcome = await socket.read()
    assert (welcome["type"], welcome["protocol"]) == ("welcome", 1)
    early = await socket.ask(type="subscribe", chat_id=chat_id, after_seq=0)
    assert (early["type"], early["code"]) == ("refused", "bad_request")
    old = await socket.ask(type="hello", protocol=99, client="panel")
    assert (old["type"], old["code"]) == ("refused", "unsupported")
    assert (await socket.ask(type="hello", protocol=1, client="panel"))["type"] == "ack"


async def test_refused_frames_store_nothing(open_socket: Open, rest: Rest) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    for frame in (
        {"type": "prompt", "chat_id": chat_id, "client_id": "1", "text": "   "},
        {"type": "prompt", "chat_id": chat_id, "client_id": "1", "text": "a", "delivery": "steer"},
        {"type": "answer", "chat_id": chat_id, "ask_id": "none", "decision": "deny"},
    ):
        assert (await socket.ask(**frame))["type"] == "refused", frame
    assert await rest.events(chat_id) == []
    assert (await rest.ok("GET", f"chats/{chat_id}"))["state"] == "idle"


async def test_an_idle_cancel_says_so(open_socket: Open, rest: Rest) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    answer = await socket.ask(type="cancel", chat_id=chat_id)
    assert answer["result"] == {"running": False}
    assert await rest.ok("POST", f"chats/{chat_id}/cancel") == {"running": False}
