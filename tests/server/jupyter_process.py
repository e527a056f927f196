"""A real Jupyter server in a process of its own, and a look at processes, for tests that kill."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.server.conftest import SCENARIO_AGENT

TOKEN = "restart-test"


class JupyterProcess:
    """`python -m jupyter_server` with our extension, in its own environment."""

    def __init__(
        self,
        home: Path,
        providers: dict[str, Any] | None = None,
        traits: dict[str, Any] | None = None,
        environment: dict[str, str] | None = None,
    ) -> None:
        """`home` may be shared: servers on one home work on one store."""
        self.home = home
        self.environment = environment or {}
        self.providers = providers or {}
        self.traits = traits or {}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.log = home / f"server-{self.port}.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> float:
        """Start, wait until it answers; returns the monotonic time when it first did."""
        root = self.home / "root"
        root.mkdir(exist_ok=True)
        provider = {
            "scenario": {"kind": "native", "command": [sys.executable, str(SCENARIO_AGENT)]}
        }
        config = self.home / f"config-{self.port}.json"
        config.write_text(
            json.dumps(
                {
                    "ServerApp": {"jpserver_extensions": {"jupyter_agentchat": True}},
                    "AgentChatApp": {
                        "data_dir": str(self.home / "data"),
                        "provider_settings": {**provider, **self.providers},
                        "allow_token_approvals": True,
                        **self.traits,
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
                env={"PATH": os.environ["PATH"], "HOME": str(self.home), **self.environment},
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

    def refused(self, method: str, route: str, body: Any = None) -> tuple[int, dict[str, Any]]:
        """`(status, body)` of a call that must fail."""
        try:
            answer = self.call(method, route, body)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)
        raise AssertionError(answer)

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

    def prompt(self, chat_id: str, text: str, client_id: str = "1") -> str:
        """Start a run; returns its id."""
        body = {"client_id": client_id, "text": text}
        return str(self.call("POST", f"chats/{chat_id}/prompts", body)["run_id"])

    def until(self, chat_id: str, wanted: Callable[[list[dict[str, Any]]], object]) -> None:
        """Wait until the chat's stored events are `wanted`."""
        deadline = time.monotonic() + 30
        while not wanted(events := self.events(chat_id)):
            assert time.monotonic() < deadline, events[-5:]
            time.sleep(0.05)

    def agents(self) -> list[int]:
        """Living scenario agents of this home, without those that keep them."""
        found = processes_with(f"{sys.executable}\0{SCENARIO_AGENT}", begins=True)
        return [pid for pid in found if environment_of(pid, self.home) and alive(pid)]

    def end_agents(self) -> None:
        """Whatever a failed test has left of them."""
        for pid in processes_with(str(SCENARIO_AGENT)):
            if environment_of(pid, self.home):
                os.kill(pid, signal.SIGKILL)

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


def processes_with(marker: str, *, begins: bool = False) -> list[int]:
    """Processes whose command line names `marker`, or begins with it (NUL between arguments)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if (line.startswith(marker) if begins else marker in line) and int(
                entry.name
            ) != os.getpid():
                found.append(int(entry.name))
    return found


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
