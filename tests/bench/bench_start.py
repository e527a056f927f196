"""P22: what the extension adds to a server's start, and to the first request that needs it.

Each in fresh interpreters, beside the import of the bare server in the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from tests.bench.harness import Row, median

REPETITIONS = 7

IMPORT = """
import time
start = time.perf_counter()
import jupyter_server.serverapp  # what a server has anyway: the floor
began = time.perf_counter()
import jupyter_agentchat.extension
print((began - start) * 1000, (time.perf_counter() - began) * 1000)
"""

LOAD = """
import sys, tempfile, time
start = time.perf_counter()
from jupyter_server.serverapp import ServerApp
imported = time.perf_counter()
app = ServerApp(open_browser=False, allow_root=True, port=0)
app.initialize(argv=[], find_extensions=False)
began = time.perf_counter()
from jupyter_agentchat.extension import AgentChatApp
extension = AgentChatApp()
extension.data_dir = tempfile.mkdtemp()
extension._link_jupyter_server_extension(app)
extension.initialize()
print((imported - start) * 1000, (time.perf_counter() - began) * 1000)
"""

FIRST_REQUEST = LOAD.replace(
    "print(",
    """began = time.perf_counter()
extension.assemble()
from jupyter_agentchat.handlers.routes import ROUTES, handler_class
for _pattern, module, name in ROUTES:
    handler_class(module, name)
print(""",
)


def measure(code: str) -> tuple[float, float]:
    """(import of the bare server, ours) in milliseconds, in a fresh interpreter."""
    with tempfile.TemporaryDirectory() as home:
        environment = {"PATH": os.environ["PATH"], "HOME": home}
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code],
            env=environment, capture_output=True, text=True, check=True, timeout=60,
        )  # fmt: skip
    floor, ours = done.stdout.strip().splitlines()[-1].split()
    return float(floor), float(ours)


def run() -> list[Row]:
    """Import alone, import with loading into a server, and what the first request pays once."""
    rows = []
    for name, code, goal in (
        ("P22 import of the extension", IMPORT, ""),
        ("P22 import + load", LOAD, "<= 150 ms"),
        ("P22 first request, once", FIRST_REQUEST, ""),
    ):
        pairs = [measure(code) for _ in range(REPETITIONS)]
        floor, ours = (median([pair[at] for pair in pairs]) for at in (0, 1))
        rows.append(
            Row(name, ours, floor, "ms", goal, len(pairs), "floor: the bare server's import")
        )
    return rows
