"""Starting children: what is refused, what they inherit, what is written down about them."""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import NotInstalled, SpawnFailed, StorageError
from jupyter_agentchat.process.environment import build_environment
from jupyter_agentchat.process.executable import find_executable
from jupyter_agentchat.process.identity import identify, is_alive
from jupyter_agentchat.process.ladder import Ladder
from jupyter_agentchat.process.reaper import ChildRecord

Run = Callable[..., Any]

CANARIES = {
    "JUPYTERHUB_API_TOKEN": "canary",
    "JUPYTERHUB_USER": "canary",
    "JPY_API_TOKEN": "canary",
    "JPY_PARENT_PID": "canary",
    "JUPYTER_TOKEN": "canary",
    "CONFIGPROXY_AUTH_TOKEN": "canary",
    "KERNEL_LAUNCH_TIMEOUT": "canary",
    "CLAUDECODE": "canary",
    "CLAUDE_CODE_MESSAGING_SOCKET": "canary",
    "OPENAI_API_KEY": "canary",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN": "canary",
    "SOME_SECRET_OF_THE_HOST": "canary",
}

# their markers are global: no other run of the tests may use them
KEPT, DUMPED = uuid.uuid4().hex, uuid.uuid4().hex

SHELL_OWN = ("PWD", "OLDPWD", "SHLVL", "_")

DUMP = """
    import json, os
    print(json.dumps({
        "environ": dict(os.environ),
        "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd")),
        "cmdline": open("/proc/self/cmdline").read(),
        "session": os.getsid(0) == os.getpid(),
        "cwd": os.getcwd(),
    }))
"""


class Ledger:
    """In memory, and a log of what was said to it."""

    def __init__(self) -> None:
        self.records: dict[str, ChildRecord] = {}
        self.said: list[ChildRecord] = []

    def record(self, record: ChildRecord) -> None:
        self.records[record.child_id] = record
        self.said.append(record)

    def forget(self, child_id: str) -> None:
        self.records.pop(child_id, None)

    def all(self) -> list[ChildRecord]:
        return list(self.records.values())


def test_a_child_sees_no_secret_of_the_server_and_no_open_file(
    children: Any, run: Run, tmp_path: Path
) -> None:
    assert len(CANARIES) == 12
    source = CANARIES | {"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"}

    async def scenario() -> dict[str, Any]:
        async with children() as c:
            with (tmp_path / "open").open("w") as file:
                os.set_inheritable(file.fileno(), True)
                env = build_environment(source, pass_names=("ANTHROPIC_*",))
                child = await c.python(DUMP, env=env, child_id=DUMPED)
                seen: dict[str, Any] = json.loads((await anext(child.lines())).text)
                return seen

    seen = run(scenario())
    assert "canary" not in json.dumps(seen)
    # a shell stands before an agent that is kept, and says where it is
    environ = {name: text for name, text in seen["environ"].items() if name not in SHELL_OWN}
    assert environ == {
        "PATH": os.environ["PATH"],
        "LC_ALL": "C.UTF-8",
        "AGENTCHAT_CHILD": DUMPED,
    }
    # 0, 1, 2, and the directory that the listing itself has open
    assert len(seen["fds"]) == 4
    assert seen["fds"][:3] == [0, 1, 2]
    assert seen["session"]
    assert seen["cwd"] == str(tmp_path)


@pytest.mark.parametrize(
    ("argv", "fields", "reason"),
    [
        (("cat",), {}, "absolute path"),
        (("./cat",), {}, "absolute path"),
        ((), {}, "absolute path"),
        (("/nonexistent/agent",), {}, "could not be started: No such file"),
        (("/bin/cat",), {"cwd": Path("/nonexistent")}, "does not exist"),
        (("/bin/cat",), {"cwd": Path("relative")}, "does not exist"),
        (("/bin/cat", "a\0b"), {}, "NUL"),
        (("/bin/cat",), {"env": {"A": "\0"}}, "NUL"),
        (("/bin/cat", "x" * 200_000), {}, "too large"),
        (("/bin/cat", *["x" * 100_000] * 100), {}, "too large"),
    ],
)
def test_a_start_that_cannot_work_is_refused_with_a_reason(
    children: Any, run: Run, argv: tuple[str, ...], fields: dict[str, Any], reason: str
) -> None:
    async def scenario() -> None:
        ledger = Ledger()
        async with children(ledger=ledger) as c:
            with pytest.raises(SpawnFailed, match=reason):
                await c.start(argv, **fields)
            assert ledger.records == {}
            assert c.launcher.children == []

    run(scenario())


def test_a_file_that_is_no_program_is_refused(children: Any, run: Run, tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("no shebang")
    (tmp_path / "broken").write_bytes(b"\x7fELF")
    (tmp_path / "broken").chmod(0o755)

    async def scenario() -> None:
        async with children() as c:
            for name in ("plain", "broken"):
                with pytest.raises(SpawnFailed, match="could not be started") as caught:
                    await c.start((str(tmp_path / name),))
                assert caught.value.hint

    run(scenario())


@pytest.mark.parametrize("child_id", ["", "a b", "a=b", "é", "x" * 65, "a\n"])
def test_a_child_id_that_could_break_the_marker_is_refused(
    children: Any, run: Run, child_id: str
) -> None:
    async def scenario() -> None:
        async with children() as c:
            with pytest.raises(ValueError, match="not a child id"):
                await c.start(("/bin/cat",), child_id=child_id)

    run(scenario())


def test_a_child_is_on_record_from_before_its_start_until_nothing_is_left(
    children: Any, run: Run
) -> None:
    async def scenario() -> None:
        ledger = Ledger()
        async with children(ledger=ledger) as c:
            child = await c.start(("/bin/cat",), child_id=KEPT)
            owner = identify(os.getpid())
            assert [replace(record, directory="") for record in ledger.said] == [
                ChildRecord(KEPT, "/bin/cat", None, owner),
                ChildRecord(KEPT, "/bin/cat", child.identity, owner),
            ]
            with pytest.raises(SpawnFailed, match="running already"):
                await c.start(("/bin/cat",), child_id=KEPT)
            assert ledger.records[KEPT].identity == child.identity
            child.close_stdin()
            assert await child.wait_quiet(5)
            assert ledger.records == {}

    run(scenario())


def test_a_child_that_cannot_be_recorded_does_not_live_on(children: Any, run: Run) -> None:
    class FullDisk(Ledger):
        def record(self, record: ChildRecord) -> None:
            super().record(record)
            if record.identity is not None:
                raise StorageError("The disk is full.")

    async def scenario() -> None:
        ledger = FullDisk()
        async with children(ledger=ledger) as c:
            with pytest.raises(StorageError):
                await c.start(("/bin/cat",))
            identity = ledger.said[-1].identity
            assert identity is not None
            assert not is_alive(identity)

    run(scenario())


def test_too_many_starts_at_once_wait_for_the_first_ones(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children(parallel_starts=2) as c:
            silent = [await c.start(("/bin/cat",)) for _ in range(2)]
            third = asyncio.create_task(c.start(("/bin/cat",)))
            await asyncio.sleep(0.05)
            assert not third.done()
            await silent[0].write("up")  # its first output ends its start
            assert (await third).exit is None

    run(scenario())


def test_no_child_starts_once_the_launcher_is_closed(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            await c.launcher.close(Ladder(0, 0, 1))
            with pytest.raises(SpawnFailed, match="stopping"):
                await c.start(("/bin/cat",))

    run(scenario())


def test_a_start_cancelled_while_it_waits_leaves_no_child(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children(parallel_starts=1) as c:
            await c.start(("/bin/cat",))
            waiting = asyncio.create_task(c.start(("/bin/cat",)))
            await asyncio.sleep(0.01)
            waiting.cancel()
            await asyncio.wait({waiting})
            assert len(c.launcher.children) == 1

    run(scenario())


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_a_program_is_found_on_the_path_in_order(tmp_path: Path) -> None:
    first, second = program(tmp_path / "a/agent"), program(tmp_path / "b/agent")
    (tmp_path / "c/agent").mkdir(parents=True)
    path = f"{tmp_path}/c:{first.parent}:{second.parent}"
    assert find_executable("agent", path) == first
    assert find_executable(str(second), path) == second
    first.chmod(0o644)
    assert find_executable("agent", path) == second


def test_a_program_planted_in_the_project_is_never_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    program(project / "bin/agent")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "agent").symlink_to(project / "bin/agent")
    (tmp_path / "alias").symlink_to(project / "bin")
    monkeypatch.chdir(project / "bin")
    for path in (f"{project}/bin", f"{outside}", f"{tmp_path}/alias", ".", "", "bin:", "::"):
        with pytest.raises(NotInstalled, match="agent was not found"):
            find_executable("agent", path, not_below=[project])
    for name in ("./agent", "bin/agent", str(project / "bin/agent"), "", "a\0b", "/a\0b"):
        with pytest.raises(NotInstalled):
            find_executable(name, "", not_below=[project])


def test_a_project_that_is_the_home_directory_hides_no_installed_program(tmp_path: Path) -> None:
    agent = program(tmp_path / "home/.local/bin/agent")
    home = tmp_path / "home"
    for project in (home, tmp_path):
        assert find_executable("agent", str(agent.parent), not_below=[project], home=home) == agent
    with pytest.raises(NotInstalled):
        find_executable("agent", str(agent.parent), not_below=[home / ".local"], home=home)
