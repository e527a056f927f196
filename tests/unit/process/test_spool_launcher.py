"""Kept agents in their own server: files, limits, room, and what is left behind: nothing."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, SpawnFailed, SpoolFull
from jupyter_agentchat.process import keeper, tail
from jupyter_agentchat.process.identity import ProcessIdentity, identify, is_alive
from jupyter_agentchat.process.keeper import spool_supported
from jupyter_agentchat.process.ladder import Exit, Ladder
from jupyter_agentchat.process.launcher import Spawn
from jupyter_agentchat.process.reaper import ChildRecord, reap
from jupyter_agentchat.process.rundir import RunDirectory
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.process.sweep import find_leftovers
from tests.unit.process.programs import python_argv
from tests.waiting import until

Run = Callable[..., Any]
Serve = Callable[..., Any]

QUICK = Ladder(0.05, 0.05, 2)
CAT = ("/bin/cat",)
DEAD_SERVER = ProcessIdentity(pid=2**22, start_time=1, boot_id="of another boot", pgid=2**22)


class Ledger:
    def __init__(self, *records: ChildRecord) -> None:
        self.records = {record.child_id: record for record in records}

    def record(self, record: ChildRecord) -> None:
        self.records[record.child_id] = record

    def forget(self, child_id: str) -> None:
        self.records.pop(child_id, None)

    def all(self) -> list[ChildRecord]:
        return list(self.records.values())


def own(name: str) -> str:
    """A child's id that no other run of the tests uses at this moment: its marker is global."""
    return f"{name}-{os.getpid()}"


async def texts(child: Any) -> list[str]:
    return [frame.text async for frame in child.lines()]


def test_this_machine_can_keep_agents_and_another_says_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert spool_supported(tmp_path / "spool") is None
    assert list((tmp_path / "spool").iterdir()) == []
    assert "cannot hold" in str(spool_supported(Path("/proc/nowhere")))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(os, "defpath", str(tmp_path))
    assert "setsid, sleep, rm must be installed" in str(spool_supported())
    monkeypatch.setattr("sys.platform", "darwin")
    assert "Linux only" in str(spool_supported())


def test_nobody_else_can_read_what_an_agent_says_or_write_to_it(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            await c.start(CAT, child_id=own("private"))
            directory = tmp_path / own("spool/private")
            for path in (directory.parent, directory):
                assert stat.S_IMODE(path.stat().st_mode) == 0o700
            for name in ("in", "out", "err", "owner", "alive"):
                assert stat.S_IMODE((directory / name).stat().st_mode) & 0o077 == 0

    run(scenario())


def test_an_agent_can_be_interrupted_like_in_a_terminal(spooled_children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            child = await c.shell("grep SigIgn /proc/self/status; grep -v x /proc/self/stat")
            ignored = int((await anext(child.lines())).text.split()[1], 16)
            for sig in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
                assert not ignored & 1 << (sig - 1)
            other = await c.shell("echo up; exec sleep 60")
            await anext(other.lines())
            other.signal(signal.SIGINT)
            assert await other.wait_exit(5) == Exit(None, signal.SIGINT)

    run(scenario())


def test_a_quiet_server_wakes_up_for_nothing_and_keeps_no_file(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    def descriptors() -> int:
        return sum(1 for _ in Path("/proc/self/fd").iterdir())

    async def scenario() -> None:
        before = descriptors()
        async with spooled_children(linger_s=0) as c:
            for _ in range(3):
                child = await c.start(CAT)
                await child.write("hello")
                child.close_stdin()
                assert await texts(child) == ["hello"]
                assert await child.wait_quiet(5)
            await until(lambda: len(asyncio.all_tasks()) == 1)
            assert list((tmp_path / "spool").iterdir()) == []
            assert descriptors() <= before + 1  # where the kernel tells of changes
        assert descriptors() <= before

    run(scenario())


def test_what_was_said_stays_readable_until_it_was_read(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children(linger_s=0) as c:
            child = await c.shell("echo one; echo two", child_id=own("unread"))
            assert await child.wait_quiet(5)
            await asyncio.sleep(0.6)
            assert await texts(child) == ["one", "two"]
            await until(lambda: not (tmp_path / own("spool/unread")).exists())
            dropped = await c.shell("echo three", child_id=own("dropped"))
            assert await dropped.wait_quiet(5)
            del dropped
            await until(lambda: not (tmp_path / own("spool/dropped")).exists())

    run(scenario())


def test_a_directory_stays_for_a_moment_after_the_last_line_unless_all_is_stored(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children(linger_s=600) as c:
            for name in ("stored", "shown"):
                child = await c.shell("echo one", child_id=own(name))
                assert await texts(child) == ["one"]
                assert await child.wait_quiet(5)
                if name == "stored":
                    child.settle(child.position)
            await until(lambda: not (tmp_path / own("spool/stored")).exists())
            assert (tmp_path / own("spool/shown")).exists()
        assert not (tmp_path / own("spool/shown")).exists()

    run(scenario())


def test_lines_arrive_also_where_the_kernel_tells_of_no_change(
    spooled_children: Any, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> Any:
        raise OSError

    monkeypatch.setattr(tail, "_libc", refuse)

    async def scenario() -> None:
        async with spooled_children() as c:
            child = await c.start(CAT)
            lines = child.lines()
            for text in ("one", "two"):
                await child.write(text)
                assert (await anext(lines)).text == text
            child.close_stdin()
            assert await child.wait_exit(5) == Exit(0, None)

    run(scenario())


def test_the_space_of_what_is_stored_is_freed_and_offsets_stay(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            child = await c.python(
                """
                import sys
                for _ in range(40):
                    print("x" * 99_999)
                for line in sys.stdin:
                    print(line, end="")
                """,
                child_id=own("punched"),
            )
            lines = child.lines()
            for _ in range(40):
                assert len((await anext(lines)).text) == 99_999
            out = tmp_path / own("spool/punched") / "out"
            before = out.stat().st_blocks
            assert child.position == 4_000_000
            child.settle(child.position)
            assert out.stat().st_blocks < before / 4
            assert out.stat().st_size == 4_000_000
            await child.write("next")
            frame = await anext(lines)
            assert (frame.text, frame.end) == ("next", 4_000_005)
            await c.launcher.leave()
            other = SpoolLauncher(tmp_path / "spool")
            with pytest.raises(ChildGone, match="not there from 0"):
                await other.attach(own("punched"))
            taken = await other.attach(own("punched"), offset=4_000_000)
            assert (await anext(taken.lines())).text == "next"
            await other.close(QUICK)

    run(scenario())


def test_an_agent_that_floods_its_spool_is_ended_and_the_error_says_why(
    spooled_children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with spooled_children(spool_limit_bytes=2_000_000) as c:
            child = await c.shell("exec yes flooding")
            said = set(await texts(child))
            assert all("flooding".startswith(text) for text in said)
            error = await child.failure()
            assert isinstance(error, SpoolFull)
            assert error.event_code == "storage"
            assert "output wait" in error.message
            assert await child.wait_quiet(8)
            assert not is_alive(child.identity)

    run(scenario())


@pytest.fixture
def small_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file system of 300 kB; where none may be mounted, one that is said to be that small."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(disk)]
    try:
        mounted = subprocess.run(mount, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        monkeypatch.setattr(
            RunDirectory,
            "free_bytes",
            lambda self: 300_000 - self.out.stat().st_size if self.out.exists() else 300_000,
        )
    yield disk
    if mounted:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def test_an_agent_whose_disk_is_full_is_ended_and_what_it_said_before_is_kept(
    small_disk: Path, run: Run
) -> None:
    async def scenario() -> None:
        launcher = SpoolLauncher(small_disk / "spool", reserve_bytes=100_000)
        code = "for _ in range(40): print('x' * 9998); time.sleep(0.002)"
        argv = python_argv(f"import time\n{code}\ntime.sleep(60)")
        child = await launcher.spawn(Spawn(argv, small_disk, {}, own("filler")))
        whole = [len(text) for text in await texts(child)]
        assert whole[:20] == [9998] * 20
        error = await child.failure()
        assert (type(error), error.event_code) == (SpoolFull, "storage")
        assert "disk" in error.message
        assert await child.wait_quiet(8)
        await launcher.close(QUICK)

    run(scenario())


def test_no_agent_is_started_when_there_is_no_room_for_what_it_says(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children(reserve_bytes=1 << 62) as c:
            with pytest.raises(SpawnFailed, match="No space left"):
                await c.start(CAT)
            assert list((tmp_path / "spool").iterdir()) == []

    run(scenario())


def test_two_starts_of_one_child_do_not_take_each_others_directory(
    spooled_children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with spooled_children(parallel_starts=4) as c:
            starts = [c.start(CAT, child_id=own("twice")) for _ in range(3)]
            answers = await asyncio.gather(*starts, return_exceptions=True)
            assert sum(isinstance(answer, SpawnFailed) for answer in answers) == 2
            (child,) = c.launcher.children
            await child.write("fine")
            assert (await anext(child.lines())).text == "fine"

    run(scenario())


def test_a_start_cancelled_in_the_middle_leaves_no_process_and_no_directory(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            for pause in (0, 0.001, 0.002):
                start = asyncio.ensure_future(c.start(CAT, child_id=own("half-started")))
                await asyncio.sleep(pause)
                start.cancel()
                await asyncio.wait({start})
                if not start.cancelled():
                    await start.result().stop(QUICK)
                assert find_leftovers(own("half-started"), None) == set()
                await until(lambda: not c.launcher.children)
                await c.launcher.discard(own("half-started"))
            assert list((tmp_path / "spool").iterdir()) == []

    run(scenario())


def test_directories_of_dead_servers_are_found_and_those_of_living_ones_left_alone(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    living, dead = serve(CAT), serve(CAT)
    dead.kill()
    (spool_root / own("never-finished")).mkdir()
    (spool_root / "not a child").mkdir()
    agent = identify(dead.agent_pid)
    assert agent is not None

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root)
        assert launcher.stale() == sorted([dead.child_id, own("never-finished")])
        for child_id in launcher.stale():
            assert await launcher.discard(child_id, term_s=0.3) == frozenset()
        assert launcher.stale() == []
        assert await launcher.discard(living.child_id) == frozenset()
        await launcher.close()

    run(scenario())
    assert not is_alive(agent)
    assert find_leftovers(dead.child_id, None) == set()
    living.do("write on")
    assert living.do("read 1") == [["on", 3]]
    assert (spool_root / "not a child").exists()


def test_the_reaper_ends_agent_keeper_and_holder_and_clears_up(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    noted, unnoted, taken = serve(CAT), serve(CAT), serve(CAT)
    for server in (noted, unnoted, taken):
        server.kill()

    def record(server: Any) -> ChildRecord:
        identity = identify(server.agent_pid)
        return ChildRecord(server.child_id, CAT[0], identity, DEAD_SERVER, str(server.directory))

    # the second one's server died before it could note who the agent is
    ledger = Ledger(record(noted), replace(record(unnoted), identity=None), record(taken))
    agents = [identify(each.agent_pid) for each in (noted, unnoted)]

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root, ledger=ledger)
        child = await launcher.attach(taken.child_id)
        assert ledger.records[taken.child_id] == replace(record(taken), owner=identify(os.getpid()))
        owner = RunDirectory(taken.directory).owner()
        assert owner is not None
        assert owner.process == identify(os.getpid())
        reaped = await reap(ledger, term_s=0.3)
        assert sorted(each.record.child_id for each in reaped) == sorted(
            [noted.child_id, unnoted.child_id]
        )
        assert list(ledger.records) == [taken.child_id]
        for agent in agents:
            assert agent is not None
            assert not is_alive(agent)
        for server in (noted, unnoted):
            assert find_leftovers(server.child_id, None) == set()
            assert not server.directory.exists()
        await child.write("spared")
        assert (await anext(child.lines())).text == "spared"
        await launcher.close(QUICK)
        assert ledger.records == {}

    run(scenario())


def test_the_reaper_removes_nothing_that_is_no_run_directory(run: Run, tmp_path: Path) -> None:
    for name in ("precious", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "out").write_text("not ours")
    (tmp_path / "other/notes").write_text("not ours")
    ledger = Ledger(
        ChildRecord("child", "/bin/cat", None, DEAD_SERVER, str(tmp_path / "precious")),
        ChildRecord("other", "/bin/cat", None, DEAD_SERVER, str(tmp_path / "other")),
    )
    run(reap(ledger, term_s=0))
    assert (tmp_path / "precious/out").exists()
    assert (tmp_path / "other/notes").exists()


def test_closing_while_an_agent_starts_leaves_none(
    spooled_children: Any, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity = RunDirectory.identity
    slow = [True]  # the machine: a keeper needs long to start its agent
    monkeypatch.setattr(
        RunDirectory,
        "identity",
        lambda self, role: None if slow[0] and role == "pid" else identity(self, role),
    )

    async def scenario() -> None:
        for end in ("close", "leave"):
            slow[0] = True
            async with spooled_children() as c:
                start = asyncio.ensure_future(c.start(CAT, child_id=own("late")))
                await until((tmp_path / own("spool/late") / "out").exists)
                ending = asyncio.ensure_future(getattr(c.launcher, end)())
                await asyncio.sleep(0.05)
                slow[0] = False
                await ending
                with pytest.raises(SpawnFailed, match="stopping"):
                    await start
            assert find_leftovers(own("late"), None) == set()
            assert list((tmp_path / "spool").iterdir()) == []

    run(scenario())


@pytest.fixture
def slow_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine on which the agent gets its session only when this file is there."""
    tools, gate = tmp_path / "tools", tmp_path / "gate"
    tools.mkdir()
    for tool in ("sleep", "rm"):
        (tools / tool).symlink_to(str(shutil.which(tool)))
    waits = f"while [ ! -e {gate} ]; do sleep 0.01; done"
    (tools / "setsid").write_text(f'#!/bin/sh\n{waits}\nexec {shutil.which("setsid")} "$@"\n')
    (tools / "setsid").chmod(0o755)
    monkeypatch.setattr(keeper, "_tools_path", lambda: str(tools))
    return gate


def test_an_agent_that_was_just_started_can_be_signalled_with_all_it_starts(
    spooled_children: Any, run: Run, tmp_path: Path, slow_session: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            start = asyncio.ensure_future(c.start(CAT, child_id=own("new")))
            directory = RunDirectory(tmp_path / own("spool/new"))
            await until(lambda: directory.identity("pid") is not None)
            await asyncio.wait({start}, timeout=0.05)
            assert not start.done()  # its group would be the keeper's
            await asyncio.to_thread(slow_session.touch)
            child = await start
            assert os.getsid(child.identity.pid) == os.getpgid(child.identity.pid)
            assert os.getsid(child.identity.pid) == child.identity.pid
            child.signal(signal.SIGKILL)
            assert await child.wait_exit(5) == Exit(None, signal.SIGKILL)

    run(scenario())


def test_a_start_that_is_cancelled_before_the_agent_has_its_session_leaves_nothing(
    spooled_children: Any, run: Run, tmp_path: Path, slow_session: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            start = asyncio.ensure_future(c.start(CAT, child_id=own("gone")))
            directory = RunDirectory(tmp_path / own("spool/gone"))
            await until(lambda: directory.identity("pid") is not None)
            start.cancel()
            with pytest.raises(asyncio.CancelledError):
                await start
            assert find_leftovers(own("gone"), None) == set()
            assert list((tmp_path / "spool").iterdir()) == []

    run(scenario())


def test_a_line_of_many_megabytes_leaves_the_loop_to_others(
    spooled_children: Any, run: Run
) -> None:
    program = "import sys; sys.stdout.write('A' * 20_000_000 + chr(10)); sys.stdout.flush()"

    async def scenario() -> None:
        async with spooled_children() as c:
            child = await c.start(python_argv(program))
            await child.wait_exit(20)  # now all of it lies ready
            turns = 0

            async def others() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            counting = asyncio.get_running_loop().create_task(others())
            frames = [frame async for frame in child.lines()]
            counting.cancel()
            assert len(frames) == 1
            assert turns >= 19  # one for each megabyte

    run(scenario())
