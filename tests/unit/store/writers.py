"""Processes that write to a store and may be killed at any moment."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


class Writers:
    """The process that forks writers; lines come from whichever of them writes."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def start(self, chat_id: str, seed: int, count: int = 0) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{chat_id} {seed} {count}\n")
        self._process.stdin.flush()

    def line(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        text = self._process.stdout.readline()
        assert text, "the writer is gone"
        found: dict[str, Any] = json.loads(text)
        assert "failed" not in found, found["failed"]
        return found


@contextmanager
def writers_of(script: str, data_dir: Path) -> Iterator[Writers]:
    """The process of `script`, a module beside this one; it must end by itself."""
    with subprocess.Popen(
        [sys.executable, "-m", f"tests.unit.store.{script}", str(data_dir)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        yield Writers(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(timeout=10) == 0
