"""MCP servers that are handed over: by whom they are seen, and where they are not written."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProviderError
from jupyter_agentchat.protocol.words import Permission
from jupyter_agentchat.providers.claude.launch import fixed_settings
from jupyter_agentchat.providers.claude.mcp import ConfigFiles, handed_over
from jupyter_agentchat.providers.claude.replies import decide
from tests.waiting import until

from .scripted import init, result
from .stage import OLD, Play, Stage
from .test_launch import make_request

FOREIGN = {"command": "python3", "args": ["-m", "demo"], "env": {"TOKEN": "canary"}}
OURS = {"type": "http", "url": "http://127.0.0.1:1/mcp", "headers": {"Authorization": "canary"}}
BOTH = {"demo": FOREIGN, "agentchat": OURS}


def file_of(argv: list[str]) -> Path:
    (path,) = [arg.partition("=")[2] for arg in argv if arg.startswith("--mcp-config=")]
    return Path(path)


def test_they_stand_in_a_file_of_ours_while_the_agent_starts(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.answers_control = False
        run = await stage.start(mcp_servers=BOTH)
        path = file_of(stage.cli.argv)
        assert json.loads(path.read_text()) == {"mcpServers": BOTH}
        assert path.stat().st_mode & 0o777 == 0o600
        assert path.parent.stat().st_mode & 0o777 == 0o700
        assert "canary" not in " ".join(stage.cli.argv)
        assert "canary" not in repr(fixed_settings(make_request(mcp_servers=BOTH), **_ANY))
        (asked,) = [line for line in stage.cli.heard if line["type"] == "control_request"]
        inner = {"subtype": "success", "request_id": asked["request_id"]}
        stage.cli.say({"type": "control_response", "response": inner})
        await until(lambda: not path.exists())
        stage.cli.say(init(), result())
        await stage.follow(run)

    play(act)


_ANY: dict[str, Any] = {"trusted": True, "may_bypass": False}


def test_a_process_that_never_got_ready_leaves_no_file(play: Play) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.answers_control = False
        run = await stage.start(mcp_servers=BOTH)
        path = file_of(stage.cli.argv)
        stage.cli.die(1, "no luck")
        with pytest.raises(ProviderError):
            await stage.follow(run)
        assert not path.exists()

    play(act)


def test_other_servers_need_another_process(play: Play) -> None:
    async def act(stage: Stage) -> None:
        for number, servers in enumerate([BOTH, BOTH, {"demo": FOREIGN}, {}]):
            session = OLD if number else None
            run = await stage.start(
                run_id=f"r{number}", mcp_servers=servers, provider_session_id=session
            )
            stage.cli.say(init(OLD), result(session_id=OLD))
            await stage.follow(run)
        assert len(stage.launcher.handles) == 3
        assert not any(arg.startswith("--mcp-config") for arg in stage.cli.argv)

    play(act)


@pytest.mark.parametrize(
    ("permission", "expected"),
    [
        ("read_only", {"agentchat"}),
        ("ask", {"agentchat", "demo"}),
        ("accept_edits", {"agentchat", "demo"}),
        ("full", {"agentchat", "demo"}),
    ],
)
def test_read_only_gets_our_server_only(permission: Permission, expected: set[str]) -> None:
    assert set(json.loads(handed_over(BOTH, permission))["mcpServers"]) == expected
    assert handed_over({"demo": FOREIGN}, "read_only") == ""
    assert handed_over({}, permission) == ""


@pytest.mark.parametrize("bad", [{"demo": 7}, {"a b": FOREIGN}, {"--x": FOREIGN}, {"": FOREIGN}])
def test_a_server_that_cannot_be_one_is_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(ProviderError):
        handed_over(bad, "ask")


def test_our_tools_ask_by_themselves_and_others_by_the_table(play: Play) -> None:
    ours = {"tool_name": "mcp__agentchat__edit_cell", "input": {}}
    foreign = {"tool_name": "mcp__demo__add", "input": {}}
    similar = {"tool_name": "mcp__agentchat_evil__add", "input": {}}
    decided = {
        permission: [decide(one, permission) for one in (ours, foreign, similar)]
        for permission in ("read_only", "ask", "accept_edits", "full")
    }
    assert decided == {
        "read_only": ["allow", "deny", "deny"],
        "ask": ["allow", "ask", "ask"],
        "accept_edits": ["allow", "ask", "ask"],
        "full": ["allow", "allow", "allow"],
    }

    async def act(stage: Stage) -> None:
        await stage.start(mcp_servers=BOTH)
        assert "--allowedTools=mcp__agentchat" in stage.cli.argv
        await stage.start(chat_id="other", mcp_servers={"demo": FOREIGN})
        assert not any(arg.startswith("--allowedTools") for arg in stage.cli.argv)

    play(act)


def test_what_a_server_left_that_died_in_a_start_is_swept(tmp_path: Path) -> None:
    files = ConfigFiles(tmp_path)
    old, new = files.write("old", "{}"), files.write("new", "{}")
    os.utime(old, (1, 1))
    files.write("newest", "{}")
    assert (old.exists(), new.exists()) == (False, True)
    files.remove("new")
    files.remove("new")
    assert not new.exists()
