"""Browsers and tokens, lesser rights, logins that end: each request and each socket is asked."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from jupyter_server.auth import Authorizer
from tornado.httpclient import HTTPClientError

from jupyter_agentchat.handlers import socket as socket_module
from jupyter_agentchat.handlers.routes import ROUTES, handler_class

from .conftest import Browser, Rest, Socket, script

Open = Callable[..., Awaitable[Socket]]


def writes(chat_id: str) -> list[tuple[str, str]]:
    """(method, address) of everything that is not a GET, from the routes themselves."""
    found = []
    for pattern, module, name in ROUTES:
        if not pattern.startswith("/agentchat/api"):
            continue
        handler = handler_class(module, name)
        address = re.sub(r"\(\[\^?.*?\]\{1,\d+\}\)", chat_id, pattern).removeprefix("/agentchat/")
        for method in ("post", "put", "patch", "delete"):
            if method in vars(handler):
                found.append((method.upper(), address))
    return found


async def test_a_forged_request_of_another_page_changes_nothing(
    browser: Browser, rest: Rest
) -> None:
    chat_id = await rest.new_chat(title="before")
    walked = writes(chat_id)
    assert len(walked) >= 9
    for method, address in walked:
        status, _ = await browser.call(method, address, {"title": "x"}, X_XSRFToken=None)
        assert status == 403, (method, address)
        status, _ = await browser.call(
            method, address, {"title": "x"}, Origin="http://evil.example"
        )
        assert status in (403, 404), (method, address)
    chat = await rest.ok("GET", f"chats/{chat_id}")
    assert (chat["title"], chat["last_seq"]) == ("before", 0)
    status, _ = await browser.call("PATCH", f"api/chats/{chat_id}", {"title": "after"})
    assert status == 200


async def test_another_site_cannot_read_with_the_browsers_cookie(
    browser: Browser, rest: Rest, extension: Any
) -> None:
    chat_id = await rest.new_chat()
    blob_id = extension.store.put_blob(chat_id, b"<script>secret</script>", "text/html")
    address = f"api/chats/{chat_id}/blobs/{blob_id}"
    for headers in (
        {"X_XSRFToken": None},
        {"X_XSRFToken": None, "Referer": "http://evil.example/"},
        {"Origin": "http://evil.example"},
    ):
        status, body = await browser.call("GET", address, **headers)
        assert status in (403, 404), headers
        assert b"secret" not in body
    assert await browser.call("GET", address) == (200, b"<script>secret</script>")


async def test_a_blob_is_never_rendered_in_our_origin(
    rest: Rest, extension: Any, jp_fetch: Callable[..., Awaitable[Any]]
) -> None:
    chat_id = await rest.new_chat()
    for mime, shown in (
        ("text/html", "application/octet-stream"),
        ("image/svg+xml;base64", "application/octet-stream"),
        ("text/plain; charset=utf-8", "text/plain"),
        ("application/json", "application/json"),
    ):
        blob_id = extension.store.put_blob(chat_id, f"<b>{mime}".encode(), mime)
        answer = await jp_fetch("agentchat", "api", "chats", chat_id, "blobs", blob_id)
        assert answer.headers["Content-Type"].split(";")[0] == shown
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Content-Disposition"].startswith("attachment")
        assert "sandbox" in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1"])
async def test_a_browsers_socket_of_another_site_is_refused(
    browser: Browser, raw_socket: Open, origin: str
) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await raw_socket(headers={**browser.socket_headers, "Origin": origin})
    assert refused.value.code == 403
    own = f"http://{browser.socket_headers['Host']}"
    socket = await raw_socket(headers={**browser.socket_headers, "Origin": own})
    assert (await socket.read())["type"] == "welcome"


class TestApprovals:
    """The default: only a browser session approves."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"allow_token_approvals": False}

    async def test_a_browser_approves_over_rest_and_over_its_socket(
        self, browser: Browser, rest: Rest, raw_socket: Open
    ) -> None:
        chat_id = await rest.new_chat()
        socket = await raw_socket(headers=browser.socket_headers)
        await socket.ask(type="hello", protocol=1, client="panel")
        await socket.subscribe(chat_id)
        for client_id in ("1", "2"):
            text = script({"ask": {"title": "May I?"}, "allow": [], "deny": []})
            await socket.ask(type="prompt", chat_id=chat_id, client_id=client_id, text=text)
            ask_id = (await socket.until_sync(phase="waiting"))["asks"][0]["ask_id"]
            if client_id == "1":
                answer = await socket.ask(
                    type="answer", chat_id=chat_id, ask_id=ask_id, decision="allow"
                )
                assert answer["type"] == "ack"
            else:
                status, _ = await browser.call(
                    "POST", f"api/chats/{chat_id}/asks/{ask_id}", {"decision": "allow"}
                )
                assert status == 200
            await socket.until_sync(running=False)
        status, body = await browser.call("PATCH", f"api/chats/{chat_id}", {"mode": "full_auto"})
        assert (status, json.loads(body)["effective_permission"]) == (200, "full")


# ---- a login that ends ---------------------------------------------------------------------------


async def test_a_socket_goes_on_while_its_login_holds(
    open_socket: Open, rest: Rest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "IDENTITY_HOLDS_S", -1.0)
    monkeypatch.setattr(socket_module, "RECHECK_S", 0.01)
    chat_id, socket = await rest.new_chat(), await open_socket()
    for _ in range(3):
        answer = await socket.ask(type="cancel", chat_id=chat_id)
        assert (answer["type"], answer["result"]) == ("ack", {"running": False})
        await asyncio.sleep(0.03)
    assert (await socket.ask(type="ping"))["type"] == "pong"


async def test_after_the_token_has_changed_an_open_socket_does_nothing_any_more(
    open_socket: Open, rest: Rest, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "IDENTITY_HOLDS_S", -1.0)
    chat_id, socket = await rest.new_chat(), await open_socket()
    before, jp_serverapp.identity_provider.token = jp_serverapp.identity_provider.token, "another"
    await socket.send(type="prompt", chat_id=chat_id, client_id="1", text="hello")
    while (text := await asyncio.wait_for(socket.connection.read_message(), 10)) is not None:
        assert json.loads(text)["type"] in ("refused", "chat")
    assert socket.connection.close_code == 4403
    jp_serverapp.identity_provider.token = before
    assert await rest.events(chat_id) == []


async def test_after_a_logout_an_open_socket_is_closed_by_itself(
    browser: Browser, raw_socket: Open, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_module, "RECHECK_S", 0.02)
    socket = await raw_socket(headers=browser.socket_headers)
    assert (await socket.read())["type"] == "welcome"
    # what a changed password does to all cookies
    monkeypatch.setitem(jp_serverapp.web_app.settings, "cookie_secret", b"another secret")
    assert await asyncio.wait_for(socket.connection.read_message(), 10) is None
    assert socket.connection.close_code == 4403


# ---- lesser rights -------------------------------------------------------------------------------


class ReadOnlyAuthorizer(Authorizer):
    """Lets everybody look and keep chats in order, and nobody run an agent."""

    refused = ("execute",)

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        return resource != "agentchat" or action not in self.refused


async def test_who_may_only_look_can_run_nothing_and_approve_nothing(
    rest: Rest, open_socket: Open, jp_serverapp: Any
) -> None:
    chat_id, socket = await rest.new_chat(), await open_socket()
    await socket.subscribe(chat_id)
    text = script({"ask": {"title": "May I?"}, "allow": [], "deny": []})
    await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text=text)
    ask_id = (await socket.until_sync(phase="waiting"))["asks"][0]["ask_id"]
    before = jp_serverapp.authorizer
    jp_serverapp.web_app.settings["authorizer"] = ReadOnlyAuthorizer(parent=jp_serverapp)

    path = f"chats/{chat_id}"
    for method, route, body in (
        ("POST", f"{path}/prompts", {"client_id": "2", "text": "hi"}),
        ("POST", f"{path}/cancel", {}),
        ("POST", f"{path}/asks/{ask_id}", {"decision": "deny"}),
        ("PATCH", path, {"permission": "full"}),
        ("PATCH", path, {"mode": "full_auto"}),
        ("POST", "chats", {"provider": "tour", "permission": "full"}),
        ("POST", "projects/trust", {"trusted": False, "digest": "x"}),
    ):
        status, answer = await rest.call(method, route, body)
        assert (status, answer["error"]["code"]) == (403, "forbidden"), (method, route)
    for frame in (
        {"type": "prompt", "client_id": "2", "text": "hi"},
        {"type": "cancel"},
        {"type": "answer", "ask_id": ask_id, "decision": "deny"},
    ):
        refused = await socket.ask(chat_id=chat_id, **frame)
        assert (refused["type"], refused["code"]) == ("refused", "forbidden"), frame

    assert (await rest.ok("GET", path))["state"] == "waiting"
    assert (await rest.ok("PATCH", path, {"title": "renamed"}))["title"] == "renamed"
    assert len(await rest.events(chat_id)) == 4
    assert (await socket.ask(type="read", chat_id=chat_id, seq=4))["type"] == "ack"
    jp_serverapp.web_app.settings["authorizer"] = before
    await rest.ok("POST", f"{path}/asks/{ask_id}", {"decision": "deny"})
    await socket.until_sync(running=False)


class TestStrictServer:
    """The same doors with Jupyter's own net below them: nothing here relied on the default."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: dict[str, Any]) -> dict[str, Any]:
        jp_server_config["ServerApp"]["allow_unauthenticated_access"] = False
        return jp_server_config

    async def test_a_chat_works(self, rest: Rest, open_socket: Open) -> None:
        socket, chat_id = await open_socket(), await rest.new_chat()
        await socket.subscribe(chat_id)
        await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text="hello")
        await socket.until_sync(running=False)
        assert (await rest.call("GET", "nothing"))[0] == 404

    async def test_nobody_else_gets_in(
        self, http_server_client: Any, jp_base_url: str, raw_socket: Open
    ) -> None:
        for method in ("GET", "POST", "PATCH", "DELETE"):
            for address in ("status", "chats", "chats/x", "chats/x/events", "nothing"):
                with pytest.raises(HTTPClientError) as refused:
                    await http_server_client.fetch(
                        f"{jp_base_url}agentchat/api/{address}",
                        method=method,
                        body=None if method in ("GET", "DELETE") else "{}",
                        follow_redirects=False,
                    )
                assert refused.value.code in (403, 405), (method, address)
        with pytest.raises(HTTPClientError) as closed:
            await raw_socket(headers={"Authorization": ""})
        assert closed.value.code == 403


async def test_a_server_without_any_login_keeps_its_sockets(
    raw_socket: Open, rest: Rest, jp_serverapp: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = await rest.new_chat()
    monkeypatch.setattr(socket_module, "IDENTITY_HOLDS_S", -1.0)
    jp_serverapp.identity_provider.token = ""
    socket = await raw_socket(headers={"Authorization": ""})
    await socket.ask(type="hello", protocol=1, client="script")
    for _ in range(2):
        assert (await socket.ask(type="cancel", chat_id=chat_id))["type"] == "ack"
