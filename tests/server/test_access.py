"""Nobody gets in without signing in, and no bearer token approves anything."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from jupyter_agentchat.handlers.routes import ROUTES

from .conftest import Rest, Socket, script


def addresses() -> list[str]:
    """One concrete address for each route that the extension registers."""
    patterns = [pattern for pattern, *_ in ROUTES]
    concrete = [re.sub(r"\(\[.*?\]\{1,\d+\}\)", "x", pattern) for pattern in patterns]
    return [address.replace(".*", "nothing") for address in concrete]


async def test_every_route_refuses_callers_without_a_token(
    extension: Any, http_server_client: Any, jp_base_url: str
) -> None:
    walked = addresses()
    assert len(walked) == len(set(walked)) >= 15
    for address in walked:
        assert "(" not in address, address
        for method in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            body = None if method in ("GET", "DELETE") else "{}"
            with pytest.raises(HTTPClientError) as refused:
                await http_server_client.fetch(
                    jp_base_url.rstrip("/") + address,
                    method=method,
                    body=body,
                    follow_redirects=False,
                    allow_nonstandard_methods=True,
                )
            if refused.value.code == 405:
                continue  # a method that the route does not have at all
            assert refused.value.code == 403, (method, address, refused.value.code)


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Origin": "null"}])
async def test_the_socket_refuses_callers_without_a_token(
    jp_ws_fetch: Callable[..., Awaitable[Any]], headers: dict[str, str]
) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await jp_ws_fetch("agentchat", "ws", headers={"Authorization": "", **headers})
    assert refused.value.code == 403


async def test_an_unknown_address_is_a_json_404(rest: Rest) -> None:
    status, body = await rest.call("GET", "nothing/here")
    assert (status, body["error"]["code"]) == (404, "not_found")


class TestTokens:
    """With the default settings a token may look and prompt, but never approve."""

    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {"allow_token_approvals": False}

    async def test_a_token_cannot_allow_but_can_deny(
        self, rest: Rest, open_socket: Callable[[], Awaitable[Socket]]
    ) -> None:
        socket, chat_id = await open_socket(), await rest.new_chat()
        await socket.subscribe(chat_id)
        prompt = script({"ask": {"title": "May I?"}, "allow": [{"say": "yes"}], "deny": []})
        await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text=prompt)
        sync = await socket.until_sync(phase="waiting")
        ask_id = sync["asks"][0]["ask_id"]
        path = f"chats/{chat_id}/asks/{ask_id}"

        status, body = await rest.call("POST", path, {"decision": "allow"})
        assert (status, body["error"]["code"]) == (403, "forbidden")
        refused = await socket.ask(type="answer", chat_id=chat_id, ask_id=ask_id, decision="allow")
        assert (refused["type"], refused["code"]) == ("refused", "forbidden")
        assert len((await rest.ok("GET", f"chats/{chat_id}/asks"))["asks"]) == 1

        await rest.ok("POST", path, {"decision": "deny"})
        await socket.until_sync(running=False)

    async def test_a_token_cannot_raise_what_an_agent_may_do(self, rest: Rest) -> None:
        status, _ = await rest.call("POST", "chats", {"provider": "tour", "permission": "full"})
        assert status == 403
        status, _ = await rest.call("POST", "chats", {"provider": "tour", "mode": "full_auto"})
        assert status == 403
        chat_id = await rest.new_chat()
        for raised in ({"permission": "accept_edits"}, {"mode": "full_auto"}):
            status, _ = await rest.call("PATCH", f"chats/{chat_id}", raised)
            assert status == 403, raised
        lowered = await rest.ok("PATCH", f"chats/{chat_id}", {"permission": "read_only"})
        assert lowered["effective_permission"] == "read_only"

    async def test_a_token_cannot_trust_a_project_but_can_distrust_it(self, rest: Rest) -> None:
        digest = (await rest.ok("GET", "projects/trust", path=""))["digest"]
        status, _ = await rest.call(
            "POST", "projects/trust", {"trusted": True, "digest": digest}, path=""
        )
        assert status == 403
        await rest.ok("POST", "projects/trust", {"trusted": False, "digest": digest}, path="")


async def test_bearer_secrets_never_reach_the_log(
    rest: Rest, caplog: pytest.LogCaptureFixture, jp_serverapp: Any
) -> None:
    caplog.set_level("DEBUG")
    chat_id = await rest.new_chat()
    await rest.call("POST", f"chats/{chat_id}/prompts", {"client_id": "c", "text": 7})
    await asyncio.sleep(0)
    written = "\n".join(
        record.getMessage() for record in caplog.records if "agentchat" in record.name
    )
    assert jp_serverapp.identity_provider.token not in written
