"""A real server process is killed in mid-run; the next one on the same store tells the truth."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .conftest import SCENARIO_AGENT, script

TOKEN = "restart-test"


class Server:
    """`python -m jupyter_server` with our extension, in its own environment."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.log = home / "server.log"
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start, wait until it answers; returns the monotonic time when it first did."""
        root = self.home / "root"
        root.mkdir(exist_ok=True)
        provider = {
            "scenario": {"kind": "native", "command": [sys.executable, str(SCENARIO_AGENT)]}
        }
        config = self.home / "config.json"
        config.write_text(
            json.dumps(
                {
                    "ServerApp": {"jpserver_extensions": {"jupyter_agentchat": True}},
                    "AgentChatApp": {
                        "data_dir": str(self.home / "data"),
                        "provider_settings": provider,
                        "allow_token_approvals": True,
                    },
                }
            )
        )
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [
                    sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root",
                    f"--config={config}", f"--ServerApp.root_dir={root}", "--ip=127.0.0.1",
                    f"--port={self.port}", "--ServerApp.port_retries=0",
                    f"--IdentityProvider.token={TOKEN}",
                ],
                env={"PATH": os.environ["PATH"], "HOME": str(self.home)},
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        deadline = time.monotonic() + 40
        while time.monotonic() < deadline:
            try:
                self.call("GET", "status")
            except OSError:
                if self.process.poll() is not None:
                    break
                time.sleep(0.05)
            else:
                return time.monotonic()
        raise AssertionError(self.log.read_text()[-3000:])

    def call(self, method: str, route: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/agentchat/api/{route}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=15) as answer:  # noqa: S310 - our own http URL
            return json.load(answer)

    def events(self, chat_id: str) -> list[dict[str, Any]]:
        return list(self.call("GET", f"chats/{chat_id}/events?limit=2000")["events"])

    def wait_idle(self, chat_id: str) -> None:
        deadline = time.monotonic() + 20
        while self.call("GET", f"chats/{chat_id}")["state"] != "idle":
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def kill(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
                raise


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    one = Server(tmp_path)
    try:
        yield one
    finally:
        one.stop()


def processes_with(marker: str) -> list[int]:
    """Processes whose command line names `marker`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if marker in line and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


@pytest.mark.timeout(120)
def test_a_killed_server_loses_nothing_and_leaves_no_chat_stuck(server: Server) -> None:
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    journal = server.home / "journal"
    prompt = script(
        {"tool": {"kind": "shell", "name": "Bash", "input": {"command": "ls"}, "output": "a"}},
        {"say": "word " * 400, "chunks": 400, "rate": 200},
        {"say": "never reached"},
    )
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": prompt})
    while len(server.events(chat_id)) < 9:
        time.sleep(0.02)
    seen = server.events(chat_id)
    server.kill()

    server.start()
    stored = server.events(chat_id)  # at once: recovery is part of loading
    kinds = [event["type"] for event in stored]
    assert kinds.count("complete") == 1
    assert stored[-1]["outcome"] == "interrupted"
    assert "error" not in kinds
    seen_text = "".join(event.get("delta") or "" for event in seen)
    (final,) = [event for event in stored if event["type"] == "assistant_text"]
    assert seen_text
    assert final["text"].startswith(seen_text)
    kept = {event["seq"] for event in stored}
    assert {e["seq"] for e in seen if e["type"] != "assistant_text"} <= kept
    assert server.call("GET", f"chats/{chat_id}")["state"] == "idle"
    assert not journal.exists()

    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "2", "text": "and now?"})
    server.wait_idle(chat_id)
    assert server.events(chat_id)[-1]["outcome"] == "completed"


@pytest.mark.timeout(120)
def test_a_killed_servers_agent_does_not_survive_the_next_start(server: Server) -> None:
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    marker = "61.5077"
    prompt = script("ignore_term", {"fork": float(marker)}, "hang")
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": prompt})
    (first,) = [e["run_id"] for e in server.events(chat_id) if e["type"] == "run_started"]
    while not any(e["type"] == "session" for e in server.events(chat_id)):
        time.sleep(0.02)
    agents = [
        pid for pid in processes_with(str(SCENARIO_AGENT)) if environment_of(pid, server.home)
    ]
    assert agents, first
    server.kill()
    server.start()
    deadline = time.monotonic() + 15
    while any(alive(pid) for pid in agents):
        assert time.monotonic() < deadline, "an agent outlived its server and the next start"
        time.sleep(0.05)


@pytest.mark.timeout(120)
def test_a_clean_stop_ends_the_run_as_interrupted_and_takes_the_agent_along(
    server: Server,
) -> None:
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": script("hang")})
    while len(server.events(chat_id)) < 2:
        time.sleep(0.02)
    agents = [
        pid for pid in processes_with(str(SCENARIO_AGENT)) if environment_of(pid, server.home)
    ]
    server.stop()
    assert not any(alive(pid) for pid in agents)
    server.start()
    assert [e["outcome"] for e in server.events(chat_id) if e["type"] == "complete"] == [
        "interrupted"
    ]


def environment_of(pid: int, home: Path) -> bool:
    """Whether the process belongs to the server with this HOME."""
    try:
        return f"HOME={home}".encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def alive(pid: int) -> bool:
    """Zombies are dead."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False
