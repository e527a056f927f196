"""P22: what the extension adds to a server's start: import and load, in fresh interpreters."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from tests.bench.harness import Row, median

REPETITIONS = 7

IMPORT = """
import time
import jupyter_server.serverapp  # what a server has anyway
began = time.perf_counter()
import jupyter_agentchat.extension
print((time.perf_counter() - began) * 1000)
"""

LOAD = """
import sys, tempfile, time
from jupyter_server.serverapp import ServerApp
app = ServerApp(open_browser=False, allow_root=True, port=0)
app.initialize(argv=[], find_extensions=False)
began = time.perf_counter()
from jupyter_agentchat.extension import AgentChatApp
extension = AgentChatApp()
extension.data_dir = tempfile.mkdtemp()
extension._link_jupyter_server_extension(app)
extension.initialize()
print((time.perf_counter() - began) * 1000)
"""


def measure(code: str) -> float:
    """Milliseconds that a fresh interpreter prints."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env=environment, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    return float(done.stdout.strip().splitlines()[-1])


def run() -> list[Row]:
    """Import alone, and import with loading into a server."""
    time.sleep(0)
    imported = [measure(IMPORT) for _ in range(REPETITIONS)]
    loaded = [measure(LOAD) for _ in range(REPETITIONS)]
    return [
        Row("P22 import of the extension", median(imported), None, "ms", "", len(imported)),
        Row("P22 import + load", median(loaded), None, "ms", "<= 150 ms", len(loaded)),
    ]
