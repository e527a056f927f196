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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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

    @property
    def ratio(self) -> float | None:
        return self.ours / self.floor if self.floor else None


def quantile(values: Sequence[float], q: float) -> float:
    """The q-quantile, nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(q * len(ordered)))]


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


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


@contextmanager
def jupyter_server(
    *, extension: bool = True, env: dict[str, str] | None = None, settings: Any = None
) -> Iterator[JupyterServer]:
    """A server of its own, with an empty HOME; ended at the end."""
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
            },
        }
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


def script(*steps: dict[str, Any]) -> str:
    """A prompt for the scenario agent."""
    return "scenario:" + json.dumps(list(steps))


async def next_frame(connection: WebSocketClientConnection, timeout_s: float = 60.0) -> str:
    """One text frame. Raises when the socket was closed."""
    text = await asyncio.wait_for(connection.read_message(), timeout_s)
    if not isinstance(text, str):
        raise TypeError("the socket was closed, or sent bytes")
    return text
