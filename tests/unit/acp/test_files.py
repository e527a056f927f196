"""The agent's `fs/` methods reach the project, and nothing else."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.process.jsonrpc import Incoming, RpcError
from jupyter_agentchat.providers.acp.files import Files

from .scripted import Json, ScriptedAgent
from .stage import Stage, acted


def _write(files: Files, path: Path | str, content: str = "new") -> Any:
    params = {"sessionId": "s", "path": str(path), "content": content}
    return asyncio.run(files.write(Incoming("fs/write_text_file", params, 1, 0)))


def _read(files: Files, path: Path | str, **more: int) -> str:
    params = {"sessionId": "s", "path": str(path), **more}
    return str(asyncio.run(files.read(Incoming("fs/read_text_file", params, 1, 0)))["content"])


def test_a_file_is_written_whole_with_its_rights(tmp_path: Path) -> None:
    script = tmp_path / "a.sh"
    script.write_text("old")
    script.chmod(0o750)
    _write(Files(tmp_path), script)
    assert (script.read_text(), script.stat().st_mode & 0o777) == ("new", 0o750)
    _write(Files(tmp_path), tmp_path / "deep" / "er" / "b.txt", "ü")
    assert (tmp_path / "deep" / "er" / "b.txt").read_text("utf-8") == "ü"
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == ["a.sh", "b.txt"]


@pytest.mark.parametrize("how", ["outside", "dots", "link", "linked folder", "relative", "root"])
def test_nothing_outside_of_the_project_is_touched(how: str, tmp_path: Path) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    secret = other / "secret"
    secret.write_text("secret")
    (project / "link").symlink_to(secret)
    (project / "folder").symlink_to(other)
    path = {
        "outside": secret,
        "dots": f"{project}/../other/secret",
        "link": project / "link",
        "linked folder": project / "folder" / "secret",
        "relative": "a.txt",
        "root": project,
    }[how]
    files = Files(project)
    for act in (_write, _read):
        with pytest.raises(RpcError):
            act(files, path)
    assert secret.read_text() == "secret"


def test_a_range_of_lines_is_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("one\ntwo\nthree\n")
    assert _read(Files(tmp_path), tmp_path / "a", line=2, limit=1) == "two\n"
    assert _read(Files(tmp_path), tmp_path / "a", line=2) == "two\nthree\n"
    with pytest.raises(RpcError) as caught:
        _read(Files(tmp_path), tmp_path / "none")
    assert caught.value.rpc_code == -32002


def test_a_read_only_chat_writes_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    files.writable = False
    with pytest.raises(RpcError, match="read-only"):
        _write(files, tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_an_agent_that_writes_through_us_unasked_is_served(tmp_path: Path) -> None:
    def play(agent: ScriptedAgent, message: Json) -> None:
        if message.get("method") == "session/prompt":
            params = {"sessionId": "s-1", "path": f"{tmp_path}/a.txt", "content": "written"}
            agent.say({"id": 3, "method": "fs/write_text_file", "params": params})
            agent.say({"id": 4, "method": "terminal/create", "params": {}})
        elif message.get("id") == 3:
            agent.end()

    async def act(stage: Stage) -> None:
        await stage.say()
        assert (tmp_path / "a.txt").read_text() == "written"
        sent = stage.agent.sent("initialize")[0]["clientCapabilities"]
        assert sent == {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
        assert stage.agent.replies()[4]["code"] == -32601

    acted(tmp_path, act, play)
