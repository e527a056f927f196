"""Servers to break, and the figures of what they withstood. Everything here is marked `faults`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import missing
from tests.faults.figures import Figures
from tests.faults.servers import FaultServer, WarmServers, warm_servers

MakeServer = Callable[..., FaultServer]


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "faults: breaks things; `make faults` runs the long version")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.faults)
            item.add_marker(pytest.mark.timeout(600))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """For the report of `make faults`: which test passed, and which did not."""
    name = os.environ.get("PYTEST_FAULTS_REPORT")
    ended = report.when == "call" or report.outcome != "passed"
    if name and ended and "tests/faults/" in report.nodeid:
        line = {"test": report.nodeid.rpartition("::")[2], "outcome": report.outcome}
        with Path(name).open("a") as file:
            file.write(json.dumps(line) + "\n")


@pytest.fixture(scope="session")
def warm() -> Iterator[WarmServers]:
    with warm_servers() as servers:
        yield servers


@pytest.fixture
def make_server(tmp_path: Path, warm: WarmServers) -> Iterator[MakeServer]:
    """`make_server(**traits)` is a started server on a store of its own."""
    made: list[FaultServer] = []

    def make(*, start: bool = True, **options: Any) -> FaultServer:
        home = tmp_path / f"home{len(made)}"
        home.mkdir()
        server = FaultServer(home, warm, **options)
        made.append(server)
        if start:
            server.start()
        return server

    yield make
    for server in made:
        server.end_everything()


@pytest.fixture
def figures(request: pytest.FixtureRequest) -> Figures:
    return Figures(request.node.name)


@pytest.fixture
def small_disk() -> Iterator[Callable[[str], Path]]:
    """`small_disk("4m")` mounts a file system of that size; it needs the right to mount."""
    mounted: list[Path] = []

    def mount(size: str) -> Path:
        place = Path(tempfile.mkdtemp(prefix="agentchat-disk-"))
        command = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", str(place)]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            place.rmdir()
            missing("the right to mount", "run as root, in a container of its own", "REQUIRE_MOUNT")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", "--lazy", str(place)], check=True)
        shutil.rmtree(place)
