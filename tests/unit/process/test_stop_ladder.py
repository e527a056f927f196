"""Stop: how a child is ended, and that nothing of it is left."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from typing import Any

from jupyter_agentchat.process.identity import ProcessIdentity, is_alive
from jupyter_agentchat.process.ladder import Exit, Ladder

Run = Callable[..., Any]
Watch = Callable[[int], ProcessIdentity]
Gone = Callable[[ProcessIdentity], bool]

PATIENT = Ladder(20, 20, 20)
QUICK = Ladder(0.05, 0.05, 5)

STUBBORN = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print(os.getpid())
    while True:
        time.sleep(60)
"""

# writes the pid of a process that is in another session, has no living parent of ours and goes on
DAEMON = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            print(os.getpid())
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            time.sleep(60)
        os._exit(0)
    os.wait()
    time.sleep(60)
"""

# its child is in another session and has cleaned its environment, but is still below it
DISGUISED = """
    import os, signal, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        code = "import os, time; print(os.getpid(), flush=True); time.sleep(60)"
        os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", code], {})
    time.sleep(60)
"""


async def first_pid(child: Any) -> int:
    return int((await anext(child.lines())).text)


def test_a_polite_child_ends_at_end_of_input_with_its_last_words(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("trap 'echo term' TERM; cat; echo bye; exit 6")
            await child.write("hello")
            assert await child.stop(PATIENT) == Exit(6, None)
            assert [frame.text async for frame in child.lines()] == ["hello", "bye"]

    run(scenario())


def test_term_comes_before_kill(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(
                """
                import signal, sys, time
                def leave(*_):
                    print("tidied up")
                    sys.exit(9)
                signal.signal(signal.SIGTERM, leave)
                print("up")
                while True:
                    time.sleep(60)
                """
            )
            assert (await anext(child.lines())).text == "up"
            assert await child.stop(Ladder(0.05, 20, 20)) == Exit(9, None)
            assert [frame.text async for frame in child.lines()] == ["tidied up"]

    run(scenario())


def test_a_child_that_ignores_term_is_killed_with_its_group(
    children: Any, run: Run, watch: Watch, gone: Gone
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("trap '' TERM; sleep 60 & echo $!; wait; sleep 60")
            sleeper = watch(await first_pid(child))
            assert await child.stop(QUICK) == Exit(None, signal.SIGKILL)
            assert gone(sleeper)

    run(scenario())


def test_a_daemon_that_left_the_session_is_found_by_its_marker(
    children: Any, run: Run, watch: Watch, gone: Gone
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(DAEMON)
            daemon = watch(await first_pid(child))
            assert await child.stop(QUICK) == Exit(None, signal.SIGKILL)
            assert gone(daemon)
            assert child.survivors == frozenset()

    run(scenario())


def test_a_descendant_without_marker_is_found_by_the_tree_noted_before_the_kill(
    children: Any, run: Run, watch: Watch, gone: Gone
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(DISGUISED)
            hidden = watch(await first_pid(child))
            assert await child.stop(QUICK) == Exit(None, signal.SIGKILL)
            assert gone(hidden)

    run(scenario())


def test_what_an_exited_child_left_behind_is_ended_also_when_it_ignores_term(
    children: Any, run: Run, watch: Watch, gone: Gone
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell(
                "(trap '' TERM; while :; do sleep 1; done) >/dev/null 2>&1 </dev/null & "
                "echo $!; read wait"
            )
            left = watch(await first_pid(child))
            await child.write("go")
            assert await child.wait_exit(5) == Exit(0, None)
            assert await child.wait_quiet(5)
            assert gone(left)

    run(scenario())


def test_the_children_of_others_are_left_alone(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            doomed = await c.python(STUBBORN)
            other = await c.start(("/bin/cat",))
            await first_pid(doomed)
            await doomed.stop(QUICK)
            assert is_alive(other.identity)
            await other.write("still here")
            assert (await anext(other.lines())).text == "still here"

    run(scenario())


def test_a_second_stop_makes_the_first_one_faster(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(STUBBORN)
            await first_pid(child)
            first = asyncio.create_task(child.stop(Ladder(600, 600, 20)))
            await asyncio.sleep(0.05)
            assert await child.stop(QUICK) == Exit(None, signal.SIGKILL)
            assert await first == Exit(None, signal.SIGKILL)

    run(scenario())


def test_a_cancelled_stop_still_ends_the_child(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(STUBBORN)
            await first_pid(child)
            stop = asyncio.create_task(child.stop(QUICK))
            await asyncio.sleep(0.01)
            stop.cancel()
            assert await child.wait_exit(5) == Exit(None, signal.SIGKILL)
            assert await child.wait_quiet(5)

    run(scenario())


def test_stopping_a_child_that_has_ended_gives_its_exit(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("exit 2")
            await child.wait_exit(5)
            assert await child.stop(PATIENT) == Exit(2, None)
            assert await child.stop(PATIENT) == Exit(2, None)

    run(scenario())


def test_a_child_without_input_is_not_waited_for_to_read_its_end(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("echo 1; sleep 60", stdin="null")
            await first_pid(child)
            assert await child.stop(Ladder(600, 5, 5)) == Exit(None, signal.SIGTERM)

    run(scenario())


def test_closing_the_launcher_stops_all_children_at_once(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            started = [await c.python(STUBBORN) for _ in range(4)]
            for child in started:
                await first_pid(child)
            await c.launcher.close(QUICK)
            assert not any(is_alive(child.identity) for child in started)
            assert c.launcher.children == []

    run(scenario())


def test_the_faster_of_two_ladders_wins_at_each_step() -> None:
    assert Ladder(10, 1, 5).hurried_by(Ladder(1, 5, 2)) == Ladder(1, 1, 2)
