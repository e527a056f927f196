"""What reaches the real Claude Code CLI: of the project without trust, of the server never."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from jupyter_agentchat.protocol.tools import TextBlock
from tests.agents.claude_agent import Place, allow, open_chat

CANARIES = [
    "JUPYTERHUB_API_TOKEN",
    "JPY_API_TOKEN",
    "JUPYTER_TOKEN",
    "CONFIGPROXY_AUTH_TOKEN",
    "KERNEL_ID",
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "MY_CANARY",
]


def test_an_untrusted_project_starts_nothing_of_its_own(place: Place) -> None:
    marks = place.home / "marks"
    marks.mkdir()
    _plant(place.project, marks)

    async def talk(trusted: bool) -> set[str]:
        async with open_chat(place, trusted=trusted) as chat:
            loads = {load.kind for load in chat.adapter.loads(place.project, place.project)}
            assert {"hooks", "mcp", "instructions", "settings"} <= loads
            await chat.say("say hello")
            return {path.name for path in marks.iterdir()}

    assert asyncio.run(talk(trusted=False)) == set()
    assert "PLANTED INSTRUCTION" not in str(place.fake.calls[-1].body)
    # and so the test can fail: trusted, all of it is loaded
    assert asyncio.run(talk(trusted=True)) == {"hook", "mcp"}
    assert "PLANTED INSTRUCTION" in str(place.fake.calls[-1].body)


def test_no_token_of_the_server_reaches_the_agents_shell(place: Place) -> None:
    place.env.update(dict.fromkeys(CANARIES, "canary"))
    place.env.update({"CONDA_PREFIX": "/opt/conda", "VIRTUAL_ENV": "/opt/venv"})

    async def talk() -> None:
        async with open_chat(place) as chat:
            told = await chat.say("env names", allow())
            (block,) = told.ends[0].output
            assert isinstance(block, TextBlock)
            names = set(block.text.split())
            assert {"HOME", "PATH", "CONDA_PREFIX", "VIRTUAL_ENV"} <= names
            assert not set(CANARIES) & names
            argv = _arguments(chat.pid)
            assert "env names" not in argv
            assert "sk-fake" not in argv

    asyncio.run(talk())


def _arguments(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


def _plant(project: Path, marks: Path) -> None:
    """A hook and a server that leave a mark when they are started."""
    hook = {"type": "command", "command": f"touch {marks}/hook"}
    settings = {"hooks": {"SessionStart": [{"hooks": [hook]}]}}
    code = f"open({str(marks / 'mcp')!r}, 'w').close()"
    server = {"command": sys.executable, "args": ["-c", code]}
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text(json.dumps(settings))
    (project / ".mcp.json").write_text(json.dumps({"mcpServers": {"planted": server}}))
    (project / "CLAUDE.md").write_text("PLANTED INSTRUCTION\n")
