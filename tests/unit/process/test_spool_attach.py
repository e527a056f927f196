"""A server dies; the next one goes on with its agents as if nothing had happened."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ChildGone, ProcessExited
from jupyter_agentchat.process.framing import Line
from jupyter_agentchat.process.identity import identify, is_alive
from jupyter_agentchat.process.ladder import Exit, Ladder
from jupyter_agentchat.process.rundir import RunDirectory
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.process.sweep import find_leftovers
from tests.unit.process.programs import python_argv, shell_argv

Run = Callable[..., Any]
Serve = Callable[..., Any]

QUICK = Ladder(0.05, 0.05, 2)
CAT = ("/bin/cat",)


def wait_for(condition: Callable[[], bool], seconds: float = 5) -> bool:
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.005)
    return condition()


async def texts(child: Any) -> list[str]:
    return [frame.text async for frame in child.lines() if isinstance(frame, Line)]


def test_every_line_arrives_once_and_in_order_when_the_server_is_killed_in_mid_stream(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    count = 300
    server = serve(
        python_argv(
            f"""
            import time
            for number in range({count}):
                print(number)
                time.sleep(0.001)
            raise SystemExit(4)
            """
        )
    )
    seen = server.do("read 20")
    server.kill()

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root, linger_s=0)
        assert launcher.known(server.child_id)
        assert launcher.stale() == [server.child_id]
        child = await launcher.attach(server.child_id, offset=seen[-1][1])
        assert launcher.stale() == []
        frames = [frame async for frame in child.lines()]
        whole = [text for text, _ in seen] + [frame.text for frame in frames]
        assert whole == [str(number) for number in range(count)]
        assert frames[-1].end == sum(len(text) + 1 for text in whole) == child.position
        assert await child.wait_exit(5) == Exit(4, None)
        assert await child.wait_quiet(5)
        await launcher.close(QUICK)
        assert not server.directory.exists()

    run(scenario())


def test_an_agent_that_ended_while_no_server_was_there_tells_its_rest_and_its_exit(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(shell_argv("echo one; read x; echo $x; echo oops >&2; printf half; exit 3"))
    ((_, end),) = server.do("read 1")
    server.do("write two")
    server.kill()
    assert wait_for(lambda: RunDirectory(server.directory).exit() is not None)

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root)
        child = await launcher.attach(server.child_id, offset=end)
        assert child.exit == Exit(3, None)
        assert [frame.text async for frame in child.lines()] == ["two", "half"]
        assert child.stderr_tail() == "oops\n"
        with pytest.raises(ProcessExited):
            await child.write("three")
        assert await child.stop(QUICK) == Exit(3, None)
        await launcher.close(QUICK)

    run(scenario())


def test_prompts_and_the_end_of_input_work_after_the_take_over(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(CAT)
    server.do("write one")
    server.do("read 1")
    server.kill()

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root)
        child = await launcher.attach(server.child_id, offset=4)
        assert child.identity == identify(server.agent_pid)
        with pytest.raises(ChildGone):
            await launcher.attach(server.child_id)
        await child.write("two")
        assert await anext(child.lines()) == Line("two", 8)
        assert await child.stop(Ladder(10, 0, 0)) == Exit(0, None)
        assert find_leftovers(server.child_id, None) == set()
        await launcher.close(QUICK)

    run(scenario())


def test_an_agent_may_change_hands_again_and_again(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(CAT)
    server.kill()

    async def scenario() -> None:
        position = 0
        for number in range(3):
            launcher = SpoolLauncher(spool_root)
            child = await launcher.attach(server.child_id, offset=position)
            waiting = asyncio.ensure_future(texts(child))
            await asyncio.sleep(0)
            await child.write(f"{number}")
            while child.position == position:  # noqa: ASYNC110
                await asyncio.sleep(0.005)
            position = child.position
            await launcher.leave()
            with pytest.raises(ChildGone, match="goes on without it"):
                await waiting
            assert is_alive(child.identity)
        last = await SpoolLauncher(spool_root).attach(server.child_id)
        last.close_stdin()
        assert await texts(last) == ["0", "1", "2"]
        assert await last.wait_quiet(5)

    run(scenario())


def test_a_server_that_leaves_ends_cleanly_and_its_agent_goes_on(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(CAT)
    assert server.do("leave") == "left"
    assert server.end() == 0

    async def scenario() -> None:
        child = await SpoolLauncher(spool_root).attach(server.child_id)
        await child.write("still here")
        assert (await anext(child.lines())).text == "still here"
        await child.stop(QUICK)

    run(scenario())


@pytest.mark.parametrize(("sig", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, 137)])
def test_an_agent_whose_group_was_killed_without_a_server_left_word_of_it(
    serve: Serve, spool_root: Path, run: Run, sig: signal.Signals, code: int
) -> None:
    server = serve(("/bin/sleep", "60"))
    server.kill()
    os.killpg(server.agent_pid, sig)
    assert wait_for(lambda: RunDirectory(server.directory).exit() is not None)
    assert (server.directory / "exit").read_text() == f"{code}\n"
    assert wait_for(lambda: find_leftovers(server.child_id, None) == set())

    async def scenario() -> None:
        child = await SpoolLauncher(spool_root).attach(server.child_id)
        assert child.exit == Exit(None, sig)
        assert await child.wait_quiet(5)

    run(scenario())


READS_WHEN_TOLD = """
    import os, sys, time
    while not os.path.exists("go"):
        time.sleep(0.005)
    for line in sys.stdin.buffer:
        print(len(line) - 1)
"""


def test_a_server_killed_while_it_writes_a_long_line_leaves_all_of_it_or_nothing(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    chance = random.Random(7)
    servers = [serve(python_argv(READS_WHEN_TOLD)) for _ in range(6)]
    for server in servers:
        server.do("begin 600000")
        time.sleep(chance.uniform(0, 0.002))
        server.kill()

    async def finish(child_id: str) -> list[str]:
        child = await SpoolLauncher(spool_root).attach(child_id)
        await child.write("end")
        child.close_stdin()
        return await texts(child)

    async def scenario() -> None:
        (spool_root.parent / "go").touch()
        for lengths in await asyncio.gather(*(finish(each.child_id) for each in servers)):
            assert lengths in (["600000", "3"], ["3"])

    run(scenario())


def test_an_agent_with_half_a_line_in_its_input_is_not_taken_over_but_ended(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(python_argv(READS_WHEN_TOLD))
    agent = identify(server.agent_pid)
    assert agent is not None
    server.do("begin 3000000")
    assert wait_for((server.directory / "writing").exists)
    server.kill()

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root)
        with pytest.raises(ChildGone, match="Half a line"):
            await launcher.attach(server.child_id)
        assert is_alive(agent)
        assert await launcher.discard(server.child_id) == frozenset()
        assert not is_alive(agent)
        assert find_leftovers(server.child_id, None) == set()
        assert not server.directory.exists()

    run(scenario())


def test_the_keeper_killed_alone_costs_nothing_but_the_exit_code(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(CAT)
    server.kill()
    keeper = RunDirectory(server.directory).identity("keeper")
    assert keeper is not None
    os.kill(keeper.pid, signal.SIGKILL)

    async def scenario() -> None:
        child = await SpoolLauncher(spool_root).attach(server.child_id)
        await child.write("on")
        assert (await anext(child.lines())).text == "on"
        child.close_stdin()
        assert await child.wait_exit(5) == Exit(None, None)
        assert await child.wait_quiet(5)
        assert child.survivors == frozenset()
        assert find_leftovers(server.child_id, None) == set()

    run(scenario())


def test_the_holder_killed_alone_ends_the_input_with_the_server_only(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(CAT)
    holder = RunDirectory(server.directory).identity("holder")
    assert holder is not None
    os.kill(holder.pid, signal.SIGKILL)
    server.do("write one")
    assert server.do("read 1") == [["one", 4]]
    server.kill()
    assert wait_for(lambda: RunDirectory(server.directory).exit() == Exit(0, None))

    async def scenario() -> None:
        child = await SpoolLauncher(spool_root).attach(server.child_id)
        assert await texts(child) == ["one"]
        assert await child.wait_quiet(5)

    run(scenario())


def test_a_child_that_is_not_of_this_boot_or_host_or_not_there_is_gone(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(CAT)
    server.kill()
    path = server.directory / "owner"
    owner = json.loads(path.read_text())

    async def scenario() -> None:
        launcher = SpoolLauncher(spool_root)
        for change in ({"boot_id": "of another boot"}, {"host": "another-host"}):
            path.write_text(json.dumps(owner | change))
            with pytest.raises(ChildGone, match="another host or before a reboot"):
                await launcher.attach(server.child_id)
        # another host's are not ours to touch
        assert launcher.stale() == []
        await launcher.discard(server.child_id, term_s=0)
        assert launcher.known(server.child_id)
        for damaged in ("", "[]", "{}", '{"host": 1'):
            path.write_text(damaged)
            with pytest.raises(ChildGone, match="Nothing is left"):
                await launcher.attach(server.child_id)
        with pytest.raises(ChildGone, match="Nothing is left"):
            await launcher.attach("never-was")
        assert not launcher.known("never-was")
        assert not launcher.known("../spool")
        path.write_text(json.dumps(owner))
        with pytest.raises(ChildGone, match="not there from 9 on"):
            await launcher.attach(server.child_id, offset=9)
        await launcher.discard(server.child_id, term_s=0)

    run(scenario())


def test_a_zombie_is_a_dead_agent_and_half_an_exit_file_says_nothing(
    spool_root: Path, run: Run
) -> None:
    child_id = f"zombie-{os.getpid()}"
    zombie = subprocess.Popen(["/bin/true"])
    try:
        assert wait_for(lambda: not is_alive(identify(zombie.pid)))  # type: ignore[arg-type]
        directory = RunDirectory(spool_root / child_id)
        for descriptor in directory.make(identify(os.getpid())):
            os.close(descriptor)
        stat = Path(f"/proc/{zombie.pid}/stat").read_text()
        for name in ("pid", "keeper", "holder"):
            (directory.path / name).write_text(stat)
        (directory.path / "exit").write_text("13")
        directory.out.write_text("last\n")

        async def scenario() -> None:
            child = await SpoolLauncher(spool_root).attach(child_id)
            assert await child.wait_exit(5) == Exit(None, None)
            assert await texts(child) == ["last"]
            assert await child.wait_quiet(5)

        run(scenario())
    finally:
        zombie.wait()


def test_an_agent_nobody_looks_after_is_ended_and_that_is_known(
    serve: Serve, spool_root: Path, run: Run
) -> None:
    server = serve(
        python_argv("import time; print('up'); time.sleep(60)"),
        unattended_max_s=0.3,
        unattended_tick_s=0.1,
    )
    server.do("read 1")
    server.kill()
    assert wait_for(lambda: RunDirectory(server.directory).exit() == Exit(None, signal.SIGTERM))
    assert wait_for(lambda: find_leftovers(server.child_id, None) == set(), 8)

    async def scenario() -> None:
        child = await SpoolLauncher(spool_root).attach(server.child_id)
        assert await texts(child) == ["up"]
        assert child.exit == Exit(None, signal.SIGTERM)
        assert await child.wait_quiet(5)

    run(scenario())


def command_line(pid: int) -> str:
    return Path(f"/proc/{pid}/cmdline").read_text()


@pytest.mark.parametrize(
    ("unattended_max_s", "tick_s", "ticks"),
    [(0.0, "2", "2"), (4.0, "2", "2"), (60.0, "15", "4"), (3600.0, "30", "120")],
)
def test_a_short_time_without_a_server_is_kept_to(
    spooled_children: Any,
    spool_root: Path,
    run: Run,
    unattended_max_s: float,
    tick_s: str,
    ticks: str,
) -> None:
    async def scenario() -> None:
        async with spooled_children(unattended_max_s=unattended_max_s) as c:
            child = await c.start(CAT)
            keeper = RunDirectory(spool_root / child.child_id).identity("keeper")
            assert keeper is not None
            line = (await asyncio.to_thread(command_line, keeper.pid)).split("\0")
            assert line[6:8] == [ticks, tick_s]

    run(scenario())


def test_an_agent_with_a_server_is_not_ended_however_long_it_is_idle(
    spooled_children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with spooled_children(unattended_max_s=1.5, unattended_tick_s=0.3) as c:
            child = await c.start(CAT)
            assert await child.wait_exit(2.5) is None
            await child.write("here")
            assert (await anext(child.lines())).text == "here"

    run(scenario())
