"""Programs that the tests start: small agents, and servers that are killed."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def python_argv(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-u", "-c", textwrap.dedent(code), *arguments)


def shell_argv(code: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", textwrap.dedent(code))


class Server:
    """A server process with one child of its own; see `doomed_server.py`."""

    def __init__(self, root: Path, argv: Sequence[str], **options: Any) -> None:
        self.child_id = uuid.uuid4().hex
        self.directory = root / self.child_id
        program = Path(__file__).with_name("doomed_server.py")
        self._process = subprocess.Popen(
            [sys.executable, program, root, self.child_id, json.dumps(options), *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.agent_pid: int = self._answer()

    def do(self, command: str) -> Any:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        return self._answer()

    def kill(self) -> None:
        """As the kernel does when memory is short; nothing can be tidied up."""
        self._process.kill()
        self.end()

    def end(self) -> int:
        self._process.stdin.close()  # type: ignore[union-attr]
        self._process.stdout.close()  # type: ignore[union-attr]
        return self._process.wait(10)

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None
