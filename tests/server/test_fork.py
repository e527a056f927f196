"""Forks over REST: a new chat on every page, and a parent that nobody has touched."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from tests.server.conftest import Rest


async def fingerprint(rest: Rest, chat_id: str) -> str:
    """A hash of a chat's events, cut ones too, and of its metadata."""
    page = await rest.ok("GET", f"chats/{chat_id}/events", include="cut", limit="2000")
    chat = await rest.ok("GET", f"chats/{chat_id}")
    return hashlib.sha256(json.dumps([page["events"], chat]).encode()).hexdigest()


async def run(rest: Rest, chat_id: str, client_id: str, *steps: Any) -> None:
    body = {"client_id": client_id, "text": f"{client_id} scenario: {json.dumps(steps)}"}
    await rest.ok("POST", f"chats/{chat_id}/prompts", body)
    await rest.until_idle(chat_id)


async def test_a_fork_goes_its_own_way(rest: Rest, open_socket: Any) -> None:
    socket = await open_socket()
    parent = await rest.new_chat(title="Work")
    await run(rest, parent, "one", {"say": "first answer"})
    await run(rest, parent, "two", {"say": "second answer"})
    before = await fingerprint(rest, parent)
    fork = await rest.ok("POST", f"chats/{parent}/fork")
    assert fork["title"] == "Work (fork)"
    await socket.until(lambda f: f["type"] == "chat" and f["chat"]["id"] == fork["id"])
    events, own = await rest.events(parent), await rest.events(fork["id"])
    assert fork["parent"] == {"chat_id": parent, "seq": events[-1]["seq"]}
    assert own[-1]["type"] == "forked"
    assert [e["seq"] for e in own] == sorted({e["seq"] for e in own})
    left_out = {"chat_id", "seq", "first_seq"}
    assert [{key: e[key] for key in e.keys() - left_out} for e in own[:-1]] == [
        {key: e[key] for key in e.keys() - left_out} for e in events
    ]
    await run(rest, fork["id"], "three", {"say": "{transcript}"})
    told = [e["text"] for e in await rest.events(fork["id"]) if e["type"] == "assistant_text"][-1]
    assert "second answer" in told
    assert await fingerprint(rest, parent) == before


async def test_from_any_message(rest: Rest) -> None:
    parent = await rest.new_chat()
    await run(rest, parent, "one", {"say": "first answer"})
    seq = (await rest.events(parent))[-1]["seq"]
    await run(rest, parent, "two", {"say": "second answer"})
    fork = await rest.ok("POST", f"chats/{parent}/fork", {"after_seq": seq})
    said = [e["text"] for e in await rest.events(fork["id"]) if e["type"] == "assistant_text"]
    assert said == ["first answer"]
    status, answer = await rest.call("POST", f"chats/{parent}/fork", {"after_seq": 99_999})
    assert (status, answer["error"]["code"]) == (400, "bad_request")
    status, _ = await rest.call("POST", f"chats/{'0' * 16}/fork")
    assert status == 404


async def test_while_the_parent_runs(rest: Rest) -> None:
    parent = await rest.new_chat()
    await run(rest, parent, "one", {"say": "first answer"})
    text = f"scenario: {json.dumps([{'say': 'going on'}, {'sleep': 60}])}"
    await rest.ok("POST", f"chats/{parent}/prompts", {"client_id": "x", "text": text})
    fork = await rest.ok("POST", f"chats/{parent}/fork")
    said = [e.get("text") for e in await rest.events(fork["id"]) if e["type"] == "assistant_text"]
    assert (said, fork["state"]) == (["first answer"], "idle")
    await run(rest, fork["id"], "two", {"say": "in the fork"})
    assert (await rest.ok("GET", f"chats/{parent}"))["state"] == "running"
    await rest.ok("POST", f"chats/{parent}/cancel")
    await rest.until_idle(parent)


@pytest.mark.parametrize("settings", [{"allow_token_approvals": False}])
async def test_a_token_forks_at_code_and_ask_and_a_browser_as_it_was(
    rest: Rest, browser: Any
) -> None:
    parent = await rest.new_chat()
    status, _ = await browser.call("PATCH", f"api/chats/{parent}", {"permission": "accept_edits"})
    assert status == 200
    fork = await rest.ok("POST", f"chats/{parent}/fork")
    assert (fork["mode"], fork["permission"]) == ("code", "ask")
    status, body = await browser.call("POST", f"api/chats/{parent}/fork")
    assert status == 201
    assert json.loads(body)["permission"] == "accept_edits"
