"""Real small children: Python without site packages starts in some 15 ms."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.process.child import Child
from jupyter_agentchat.process.identity import ProcessIdentity, identify, is_alive
from jupyter_agentchat.process.ladder import Ladder
from jupyter_agentchat.process.launcher import Spawn
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.process.reaper import end_child
from jupyter_agentchat.process.spool import SpoolLauncher
from tests.unit.process.programs import Server, python_argv, shell_argv

QUICK = Ladder(0.05, 0.05, 2)


class Children:
    """Starts children in `directory` and stops them at the end of the block."""

    def __init__(self, directory: Path, launcher: Any) -> None:
        self.launcher = launcher
        self._directory = directory
        self._count = 0

    async def start(self, argv: Sequence[str], **fields: Any) -> Child:
        self._count += 1
        complete: dict[str, Any] = {
            "cwd": self._directory,
            "env": {"PATH": os.environ["PATH"]},
            "child_id": f"test-{os.getpid()}-{id(self)}-{self._count}",
        } | fields
        return await self.launcher.spawn(Spawn(argv=argv, **complete))

    async def python(self, code: str, *arguments: str, **fields: Any) -> Child:
        return await self.start(python_argv(code, *arguments), **fields)

    async def shell(self, code: str, **fields: Any) -> Child:
        return await self.start(shell_argv(code), **fields)


OpenChildren = Callable[..., contextlib.AbstractAsyncContextManager[Children]]


def opener(directory: Path, make_launcher: Callable[..., Any]) -> OpenChildren:
    @contextlib.asynccontextmanager
    async def open_children(**options: Any) -> AsyncIterator[Children]:
        opened = Children(directory, make_launcher(**options))
        try:
            yield opened
        finally:
            await opened.launcher.close(QUICK)

    return open_children


@pytest.fixture(params=["pipes", "spool"])
def children(tmp_path: Path, request: pytest.FixtureRequest) -> OpenChildren:
    """`async with children() as c: child = await c.python("print(1)")`, with each launcher."""
    if request.param == "pipes":
        return opener(tmp_path, LocalLauncher)
    return opener(tmp_path, partial(SpoolLauncher, tmp_path / "spool"))


@pytest.fixture
def piped_children(tmp_path: Path) -> OpenChildren:
    """The same with pipes only: for what is a matter of pipes."""
    return opener(tmp_path, LocalLauncher)


@pytest.fixture
def spooled_children(tmp_path: Path) -> OpenChildren:
    """The same with spool files only, below `spool`."""
    return opener(tmp_path, partial(SpoolLauncher, tmp_path / "spool"))


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


@pytest.fixture
def spool_root(tmp_path: Path) -> Iterator[Path]:
    """Where run directories are; whatever still runs of them ends with the test."""
    root = tmp_path / "spool"
    yield root

    async def end_all() -> None:
        await asyncio.gather(*(end_child(each.name, None, each, term_s=0) for each in left))

    left = list(root.iterdir()) if root.is_dir() else []
    if left:
        asyncio.run(end_all())


@pytest.fixture
def serve(spool_root: Path) -> Iterator[Callable[..., Server]]:
    """`serve(argv, **options)` starts a server that starts that agent; to be killed."""
    servers: list[Server] = []

    def begin(argv: Sequence[str], **options: Any) -> Server:
        servers.append(Server(spool_root, argv, **options))
        return servers[-1]

    yield begin
    for server in servers:
        if server.is_running:
            server.kill()
