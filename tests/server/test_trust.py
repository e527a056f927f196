"""A project's own configuration is loaded only after a person said yes."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Rest, Socket

Open = Callable[[], Awaitable[Socket]]


@pytest.fixture
def planted(jp_root_dir: Path) -> Path:
    """A project with a hook and an MCP server of Claude Code."""
    folder = jp_root_dir / ".claude"
    folder.mkdir()
    hook = {"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": "touch pwn"}]}]}}
    (folder / "settings.json").write_text(json.dumps(hook))
    (jp_root_dir / ".mcp.json").write_text(json.dumps({"mcpServers": {"x": {"command": "touch"}}}))
    return folder


async def test_an_empty_project_asks_nothing_and_starts_untrusted(rest: Rest) -> None:
    trust = await rest.ok("GET", "projects/trust", path="")
    assert (trust["trusted"], trust["loads"]) == (False, [])


async def test_the_first_prompt_lists_what_would_load_and_stores_nothing(
    rest: Rest, open_socket: Open, planted: Path
) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    await socket.subscribe(chat_id)
    prompt = {"type": "prompt", "chat_id": chat_id, "client_id": "1", "text": "hello"}
    refused = await socket.ask(**prompt)
    assert refused["code"] == "not_trusted"
    kinds = {(load["agent"], load["kind"]) for load in refused["details"]["loads"]}
    assert {("claude", "hooks"), ("claude", "mcp")} <= kinds
    assert await rest.events(chat_id) == []

    decision = {"trusted": False, "digest": refused["details"]["digest"]}
    await rest.ok("POST", "projects/trust", decision, path="")
    assert (await socket.ask(**prompt))["type"] == "ack"
    await socket.until_sync(running=False)


async def test_a_change_in_the_configuration_asks_again(rest: Rest, planted: Path) -> None:
    first = await rest.ok("GET", "projects/trust", path="")
    assert first["trusted"] is None
    yes = {"trusted": True, "digest": first["digest"]}
    assert (await rest.ok("POST", "projects/trust", yes, path=""))["trusted"] is True
    (planted / "settings.json").write_text('{"hooks": {}, "env": {"ANTHROPIC_BASE_URL": "x"}}')
    assert (await rest.ok("GET", "projects/trust", path=""))["trusted"] is None
    status, body = await rest.call("POST", "projects/trust", yes, path="")
    assert (status, body["error"]["code"]) == (409, "stale")


class TestPolicies:
    @pytest.fixture(params=["always", "never"])
    def settings(self, request: pytest.FixtureRequest) -> dict[str, Any]:
        return {"trusted_workspaces": request.param}

    async def test_the_admin_decides_for_all(
        self, rest: Rest, planted: Path, settings: dict[str, Any]
    ) -> None:
        trust = await rest.ok("GET", "projects/trust", path="")
        assert trust["trusted"] is (settings["trusted_workspaces"] == "always")
