"""Real small children: Python without site packages starts in some 15 ms."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.process.child import LocalChild
from jupyter_agentchat.process.identity import ProcessIdentity, identify, is_alive
from jupyter_agentchat.process.ladder import Ladder
from jupyter_agentchat.process.launcher import Spawn
from jupyter_agentchat.process.local import LocalLauncher

QUICK = Ladder(0.05, 0.05, 2)


def python_argv(code: str, *arguments: str) -> tuple[str, ...]:
    return (sys.executable, "-I", "-S", "-u", "-c", textwrap.dedent(code), *arguments)


def shell_argv(code: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", textwrap.dedent(code))


class Children:
    """Starts children in `directory` and stops them at the end of the block."""

    def __init__(self, directory: Path, **options: Any) -> None:
        self.launcher = LocalLauncher(**options)
        self._directory = directory
        self._count = 0

    async def start(self, argv: Sequence[str], **fields: Any) -> LocalChild:
        self._count += 1
        complete: dict[str, Any] = {
            "cwd": self._directory,
            "env": {"PATH": os.environ["PATH"]},
            "child_id": f"test-{os.getpid()}-{id(self)}-{self._count}",
        } | fields
        return await self.launcher.spawn(Spawn(argv=argv, **complete))

    async def python(self, code: str, *arguments: str, **fields: Any) -> LocalChild:
        return await self.start(python_argv(code, *arguments), **fields)

    async def shell(self, code: str, **fields: Any) -> LocalChild:
        return await self.start(shell_argv(code), **fields)


OpenChildren = Callable[..., contextlib.AbstractAsyncContextManager[Children]]


@pytest.fixture
def children(tmp_path: Path) -> OpenChildren:
    """`async with children() as c: child = await c.python("print(1)")`."""

    @contextlib.asynccontextmanager
    async def open_children(**options: Any) -> AsyncIterator[Children]:
        opened = Children(tmp_path, **options)
        try:
            yield opened
        finally:
            await opened.launcher.close(QUICK)

    return open_children


@pytest.fixture
def watch() -> Iterator[Callable[[int], ProcessIdentity]]:
    """`watch(pid)` gives its identity, and ends it with the test if the code did not."""
    watched: list[ProcessIdentity] = []

    def begin(pid: int) -> ProcessIdentity:
        identity = identify(pid)
        assert identity is not None, f"process {pid} is gone already"
        watched.append(identity)
        return identity

    yield begin
    for identity in watched:
        if is_alive(identity):
            os.kill(identity.pid, signal.SIGKILL)


@pytest.fixture
def gone() -> Callable[[ProcessIdentity], bool]:
    """Whether the process ends within two seconds; to be asserted."""

    def ends(identity: ProcessIdentity) -> bool:
        deadline = time.monotonic() + 2
        while is_alive(identity) and time.monotonic() < deadline:
            time.sleep(0.005)
        return not is_alive(identity)

    return ends


@pytest.fixture
def run() -> Callable[..., Any]:
    """`asyncio.run` with a deadline that names the hang instead of ending the whole session."""

    def run_in_time(coroutine: Any, seconds: float = 20) -> Any:
        async def bounded() -> Any:
            async with asyncio.timeout(seconds):
                return await coroutine

        return asyncio.run(bounded())

    return run_in_time
