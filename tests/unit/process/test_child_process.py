"""A child on pipes: what arrives, what is seen of its end, and what it cannot do to us."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProcessExited, ProviderTimeout
from jupyter_agentchat.process.child import Child
from jupyter_agentchat.process.framing import Line, Oversize, Torn
from jupyter_agentchat.process.identity import ProcessIdentity
from jupyter_agentchat.process.ladder import Exit

Run = Callable[..., Any]


async def texts(child: Child) -> list[str]:
    return [frame.text async for frame in child.lines() if isinstance(frame, Line)]


async def filled_bytes(child: Child) -> int:
    """How much is buffered once no more arrives."""
    before = -1
    while (now := child._streams.buffered_bytes) != before or not now:
        before = now
        await asyncio.sleep(0.1)
    return now


def test_lines_arrive_with_their_offsets_and_the_exit_code_is_known(
    children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("echo one; echo; printf torn; exit 3")
            frames = [frame async for frame in child.lines()]
            assert frames == [Line("one", 4), Line("", 5), Torn("torn", 9)]
            assert await child.wait_exit(5) == Exit(3, None)
            assert child.exit == Exit(3, None)

    run(scenario())


def test_death_by_a_signal_is_told_from_an_exit_code(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("kill -KILL $$")
            assert await child.wait_exit(5) == Exit(None, signal.SIGKILL)

    run(scenario())


def test_what_is_written_comes_back_whole_also_when_two_write_at_once(
    children: Any, run: Run
) -> None:
    lines = [letter * 300_000 for letter in "abc"] + ["naïve 🎉", ""]

    async def scenario() -> None:
        async with children() as c:
            child = await c.start(("/bin/cat",))
            writes = asyncio.gather(*(child.write(line) for line in lines))
            reader = child.lines()
            got = [(await anext(reader)).text for _ in lines]
            await writes
            assert sorted(got) == sorted(lines)
            child.close_stdin()
            assert [frame async for frame in reader] == []
            assert await child.wait_exit(5) == Exit(0, None)

    run(scenario())


def test_a_line_with_a_newline_inside_is_refused(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.start(("/bin/cat",))
            with pytest.raises(ValueError, match="newline"):
                await child.write('{"a": 1}\n{"b": 2}')

    run(scenario())


def test_a_reader_that_leaves_loses_nothing_for_the_next(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.start(("/bin/cat",))
            waiting = asyncio.create_task(anext(child.lines()))
            await asyncio.sleep(0)
            with pytest.raises(RuntimeError, match="reader already"):
                await anext(child.lines())
            waiting.cancel()
            await asyncio.wait({waiting})
            await child.write("one")
            await child.write("two")
            async for frame in child.lines():
                assert frame == Line("one", 4)
                break
            child.close_stdin()
            assert await texts(child) == ["two"]

    run(scenario())


def test_exit_is_seen_while_a_grandchild_holds_the_pipe(
    children: Any,
    run: Run,
    watch: Callable[[int], ProcessIdentity],
    gone: Callable[[ProcessIdentity], bool],
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("sleep 60 & echo $!; read wait; exit 7")
            reader = child.lines()
            sleeper = watch(int((await anext(reader)).text))
            await child.write("go")
            assert await child.wait_exit(5) == Exit(7, None)
            assert not await child.wait_quiet(0)  # the output has not ended: the other fact
            assert [frame async for frame in reader] == []
            assert await child.wait_quiet(5)
            assert gone(sleeper)
            assert child.survivors == frozenset()

    run(scenario())


def test_a_flood_on_stderr_does_not_block_the_child_and_its_end_is_kept(
    children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(
                """
                import sys
                for _ in range(80):
                    sys.stderr.write("x" * 65535 + "\\n")
                sys.stderr.write("Error: bad key sk-ant-abcdefghijklmnop\\nlast words\\n")
                print("done")
                """
            )
            assert await texts(child) == ["done"]
            assert await child.wait_quiet(5)
            tail = child.stderr_tail()
            assert tail.endswith("last words\n")
            assert "abcdefghijklmnop" not in tail
            assert len(tail) <= 4096

    run(scenario())


def test_a_stalled_consumer_stops_the_child_and_bounds_our_memory(
    piped_children: Any, run: Run
) -> None:
    limit, count = 256 * 1024, 400

    async def scenario() -> None:
        async with piped_children(buffer_limit_bytes=limit) as c:
            child = await c.python(
                f"""
                import sys
                for number in range({count}):
                    sys.stdout.write(f"{{number:06}}" + "y" * 50_000 + "\\n")
                    sys.stderr.write(f"{{number}}\\n")
                """
            )
            assert limit < await filled_bytes(child) <= limit + 512 * 1024
            assert child.exit is None
            assert len(await texts(child)) == count
            assert await child.wait_exit(5) == Exit(0, None)

    run(scenario())


def test_exit_is_seen_and_the_rest_kept_while_the_consumer_is_stalled(
    piped_children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with piped_children(buffer_limit_bytes=64 * 1024) as c:
            child = await c.python("while True: print('y' * 1000)")
            assert await filled_bytes(child) > 64 * 1024
            child.signal(signal.SIGKILL)
            assert await child.wait_exit(5) == Exit(None, signal.SIGKILL)
            assert await child.wait_quiet(5)
            got = await texts(child)
            assert len(got) * 1001 > 64 * 1024
            assert set(got) == {"y" * 1000}

    run(scenario())


def test_a_line_above_the_cap_becomes_a_marker_and_the_run_goes_on(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python(
                """
                import sys
                for _ in range(50):
                    sys.stdout.write("A" * 1_000_000)
                sys.stdout.write("\\nafter\\n")
                """
            )
            frames = [frame async for frame in child.lines()]
            assert frames == [
                Oversize(50_000_001, 50_000_000, "A" * 512),
                Line("after", 50_000_007),
            ]

    run(scenario())


def test_a_flood_of_tiny_lines_leaves_the_loop_to_others(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.python("import sys; sys.stdout.write('1\\n' * 200_000)")
            turns = 0

            async def others() -> None:
                nonlocal turns
                while True:
                    turns += 1
                    await asyncio.sleep(0)

            other = asyncio.create_task(others())
            count = len(await texts(child))
            other.cancel()
            assert count == 200_000
            assert turns >= count // 64

    run(scenario())


def test_writing_to_a_dead_child_says_how_it_died(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("echo 'no such session, token=abcdef123' >&2; exit 4")
            await child.wait_exit(5)
            with pytest.raises(ProcessExited) as caught:
                await child.write("hello")
            assert (caught.value.exit_code, caught.value.signal) == (4, None)
            assert caught.value.stderr_tail == "no such session, token=[redacted]\n"

    run(scenario())


def test_writing_to_a_child_that_dies_under_it_says_so(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("head -c 1 >/dev/null; exit 5")
            with pytest.raises(ProcessExited) as caught:
                await child.write("x" * 5_000_000)
            assert caught.value.exit_code == 5

    run(scenario())


def test_writing_to_a_child_that_does_not_read_ends_with_a_deadline_and_piles_nothing_up(
    piped_children: Any, run: Run
) -> None:
    async def scenario() -> None:
        async with piped_children() as c:
            child = await c.shell("trap '' TERM; echo up; sleep 60")
            await anext(child.lines())
            for _ in range(3):
                with pytest.raises(ProviderTimeout):
                    await child.write("x" * 1_000_000, timeout_s=0.05)
            pipe = child._streams._transport.get_pipe_transport(0)
            assert pipe.get_write_buffer_size() <= 1_000_001

    run(scenario())


def test_writing_after_the_input_was_ended_is_refused(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("cat >/dev/null; echo eof; sleep 60")
            child.close_stdin()
            child.close_stdin()
            assert (await anext(child.lines())).text == "eof"
            with pytest.raises(ProcessExited, match="input of the agent was closed"):
                await child.write("late")

    run(scenario())


def test_a_child_without_input_reads_end_of_file(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.start(("/bin/cat",), stdin="null")
            assert await child.wait_exit(5) == Exit(0, None)

    run(scenario())


def test_the_trace_keeps_what_went_over_the_wires(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            child = await c.shell("read line; echo got $line; echo oops >&2")
            await child.write("ping")
            await texts(child)
            await child.wait_quiet(5)
            kept = {(item.dir, item.line) for item in child.trace.lines()}
            assert kept == {("in", "ping"), ("out", "got ping"), ("err", "oops")}

    run(scenario())


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_no_descriptor_and_no_process_is_left_after_many_children(children: Any, run: Run) -> None:
    async def scenario() -> None:
        async with children() as c:
            await texts(await c.shell("echo warm"))
            before = open_descriptors()
            for _ in range(10):
                child = await c.shell("echo hello; exit 1")
                assert await texts(child) == ["hello"]
                assert await child.wait_quiet(5)
            assert c.launcher.children == []
            assert open_descriptors() <= before

    run(scenario())
