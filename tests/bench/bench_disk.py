"""P10: bytes towards the disk for a streamed answer of 100 KB. The agent's own spool is extra."""

from __future__ import annotations

import asyncio
import os

from tests.bench.bench_stream import CHUNKS, answer_bytes
from tests.bench.harness import Row, jupyter_server, written_mb

REPETITIONS = 3


def run() -> list[Row]:
    """P10."""
    found, text = [], 0
    with jupyter_server() as server:
        server.wait_idle(server.new_chat())
        for _ in range(REPETITIONS):
            os.sync()
            before = written_mb(server.process.pid)
            _, _, text = asyncio.run(answer_bytes(server))
            found.append(written_mb(server.process.pid) - before)
    return [
        Row(
            f"P10 written for 100 KB in {CHUNKS} chunks", sorted(found)[1], text / 1e6, "MB",
            "<= 8 MB", REPETITIONS, peer="jupyterlab_chat 250-5400 MB",
        )
    ]  # fmt: skip
