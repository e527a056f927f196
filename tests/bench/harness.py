"""What the benches share: servers in their own processes, a raw websocket client, quantiles.

Each bench returns rows; nothing asserts a time. A ratio compares two things of the same run.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClientConnection, websocket_connect

HERE = Path(__file__).parent
SCENARIO_AGENT = HERE.parent / "fakes" / "scenario_agent.py"
TOKEN = "bench"


@dataclass(frozen=True)
class Row:
    """One line of the table. `floor` is what the machine allows without our logic."""

    name: str
    ours: float
    floor: float | None
    unit: str
    goal: str
    n: int
    note: str = ""
    peer: str = ""
    """What the same costs elsewhere, measured before this project began (docs/performance.md)."""
    spread: dict[str, float] = field(default_factory=dict)

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None


def quantile(values: Sequence[float], q: float) -> float:
    """The q-quantile, nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float]) -> dict[str, float]:
    """p50, p95, p99 and max, for the JSON of a run."""
    if not values:
        return {}
    quantiles = {name: quantile(values, q) for name, q in (("p50", 0.5), ("p95", 0.95))}
    return {**quantiles, "p99": quantile(values, 0.99), "max": max(values)}


def cpu_s(pid: int) -> float:
    """Seconds on a core that the process has used, all threads, to the nanosecond."""
    total = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        total += int((task / "schedstat").read_text().split()[0])
    return total / 1e9


def rss_mb(pid: int) -> float:
    """Resident memory of one process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def written_mb(pid: int) -> float:
    """What the process sent towards the disk."""
    for line in Path(f"/proc/{pid}/io").read_text().splitlines():
        if line.startswith("write_bytes"):
            return int(line.split()[1]) / 1e6
    raise RuntimeError("no write_bytes")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class JupyterServer:
    """A running server with our extension."""

    port: int
    process: subprocess.Popen[bytes]
    home: Path

    def call(self, method: str, route: str, body: Any = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/agentchat/api/{route}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"token {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - our own URL
            return json.load(answer)

    async def connect(self) -> WebSocketClientConnection:
        connection = await websocket_connect(
            HTTPRequest(
                f"ws://127.0.0.1:{self.port}/agentchat/ws",
                headers={"Authorization": f"token {TOKEN}"},
            )
        )
        # as browsers do; else two small frames in a row wait 40 ms for the first one's ACK
        if connection.protocol is not None:
            connection.protocol.stream.set_nodelay(True)
        await connection.write_message(
            json.dumps({"type": "hello", "protocol": 1, "client": "script"})
        )
        return connection

    def new_chat(self, provider: str = "scenario") -> str:
        return str(self.call("POST", "chats", {"provider": provider})["id"])

    async def follow(self, chat_id: str, after_seq: int = 0) -> WebSocketClientConnection:
        """A connection that follows the chat."""
        connection = await self.connect()
        subscribe = {"type": "subscribe", "chat_id": chat_id, "after_seq": after_seq}
        await connection.write_message(json.dumps(subscribe))
        return connection

    def wait_idle(self, chat_id: str) -> None:
        while self.call("GET", f"chats/{chat_id}")["state"] != "idle":
            time.sleep(0.02)

    def prompt(self, chat_id: str, client_id: str, text: str) -> None:
        body = {"client_id": client_id, "text": text}
        self.call("POST", f"chats/{chat_id}/prompts", body)


@contextmanager
def jupyter_server(
    *,
    extension: bool = True,
    env: dict[str, str] | None = None,
    settings: Any = None,
    traits: dict[str, Any] | None = None,
    fill: Callable[[Path, Path], None] | None = None,
) -> Iterator[JupyterServer]:
    """A server of its own, with an empty HOME; ended at the end.

    `fill(data_dir, root)` puts something into the store before it starts.
    """
    with tempfile.TemporaryDirectory(prefix="agentchat-bench-") as name:
        home = Path(name)
        (home / "root").mkdir()
        scenario = {"kind": "native", "command": [sys.executable, str(SCENARIO_AGENT)]}
        config = {
            "ServerApp": {"jpserver_extensions": {"jupyter_agentchat": extension}},
            "AgentChatApp": {
                "data_dir": str(home / "data"),
                "allow_token_approvals": True,
                "provider_settings": {"scenario": scenario, **(settings or {})},
                **(traits or {}),
            },
        }
        if fill is not None:
            fill(home / "data", home / "root")
        (home / "config.json").write_text(json.dumps(config))
        port = free_port()
        with (home / "log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
                    *(f"--config={home / 'config.json'}", f"--ServerApp.root_dir={home / 'root'}"),
                    *("--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0"),
                    f"--IdentityProvider.token={TOKEN}",
                ],
                env={"PATH": os.environ["PATH"], "HOME": name, **(env or {})},
                stdout=log,
                stderr=log,
            )
        server = JupyterServer(port, process, home)
        try:
            wait_for(server, extension)
            yield server
        finally:
            process.terminate()
            process.wait(30)


def wait_for(server: JupyterServer, extension: bool) -> None:
    """Until it answers; raises with its log when it does not."""
    url = f"http://127.0.0.1:{server.port}/api/status?token={TOKEN}"
    for _ in range(800):
        try:
            urllib.request.urlopen(url, timeout=2).close()
        except OSError:
            if server.process.poll() is not None:
                break
            time.sleep(0.05)
        else:
            return
    raise RuntimeError((server.home / "log").read_text()[-2000:])


@contextmanager
def raw_agent(text: str) -> Iterator[IO[bytes]]:
    """The scenario agent alone, started by hand and given a prompt; its output, to be read."""
    request = {"chat_id": "c", "run_id": "r", "cwd": "/", "prompt": text}
    with subprocess.Popen(
        [sys.executable, str(SCENARIO_AGENT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"op": "run", "request": request}).encode() + b"\n")
        process.stdin.flush()
        try:
            yield process.stdout
        finally:
            process.kill()


def script(*steps: dict[str, Any]) -> str:
    """A prompt for the scenario agent."""
    return "scenario:" + json.dumps(list(steps))


async def next_frame(connection: WebSocketClientConnection, timeout_s: float = 60.0) -> str:
    """One text frame. Raises when the socket was closed."""
    text = await asyncio.wait_for(connection.read_message(), timeout_s)
    if not isinstance(text, str):
        raise TypeError("the socket was closed, or sent bytes")
    return text
