"""The input of a kept agent: whole lines, whatever their size and whatever it does with them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProviderTimeout
from jupyter_agentchat.process import fifo
from jupyter_agentchat.process.fifo import FifoWriter

Run = Callable[..., Any]


class Ends:
    """A FIFO, our writer, and the other end as the agent has it."""

    def __init__(self, directory: Path) -> None:
        self.path, self.mark = directory / "in", directory / "writing"
        os.mkfifo(self.path)
        self.closed = 0
        self.writer = FifoWriter(self.path, self.mark, on_closed=self._on_closed)
        self.reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def take(self, size: int) -> bytes:
        try:
            return os.read(self.reader, size)
        except BlockingIOError:
            return b""

    async def take_all(self, size: int) -> bytes:
        got = b""
        while len(got) < size:
            piece = self.take(100_000)
            got += piece
            await asyncio.sleep(0 if piece else 0.001)
        return got

    def close(self) -> None:
        self.writer.close()
        os.close(self.reader)

    def _on_closed(self) -> None:
        self.closed += 1


@pytest.fixture
def within(tmp_path: Path, run: Run) -> Iterator[Callable[..., None]]:
    def go(scenario: Callable[[Ends], Any]) -> None:
        async def bounded() -> None:
            ends = Ends(tmp_path)
            try:
                await scenario(ends)
            finally:
                ends.close()

        run(bounded())

    yield go


def test_a_line_that_fits_after_enlarging_is_there_at_once_and_needs_no_mark(within: Any) -> None:
    async def scenario(ends: Ends) -> None:
        line = b"x" * 900_000 + b"\n"
        assert ends.writer.write(line)
        assert ends.writer.pending_bytes == 0
        assert not ends.mark.exists()
        assert await ends.take_all(len(line)) == line

    within(scenario)


def test_a_line_waits_whole_until_there_is_room_for_all_of_it(within: Any) -> None:
    async def scenario(ends: Ends) -> None:
        first, second = b"1" * 1_000_000 + b"\n", b"2" * 500_000 + b"\n"
        ends.writer.write(first)
        ends.writer.write(second)
        assert ends.writer.pending_bytes == len(second)
        # there is room for some of it: nothing of it goes
        assert ends.take(200_000) == first[:200_000]
        await asyncio.sleep(0.06)
        assert ends.writer.pending_bytes == len(second)
        assert await ends.take_all(len(first) - 200_000 + len(second)) == first[200_000:] + second
        await ends.writer.drained()
        assert not ends.mark.exists()

    within(scenario)


@pytest.mark.parametrize("size", [1_100_000, 5_000_000])
def test_a_line_that_can_never_fit_goes_in_pieces_and_is_marked_meanwhile(
    within: Any, size: int
) -> None:
    async def scenario(ends: Ends) -> None:
        line = b"x" * size + b"\n"
        ends.writer.write(line)
        assert ends.mark.exists()
        assert 0 < ends.writer.pending_bytes < size
        assert await ends.take_all(len(line)) == line
        await ends.writer.drained()
        assert not ends.mark.exists()

    within(scenario)


def test_a_user_who_may_not_have_large_pipes_still_gets_long_lines(
    within: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fifo, "LARGEST_PIPE_BYTES", 64 * 1024)

    async def scenario(ends: Ends) -> None:
        line = b"x" * 300_000 + b"\n"
        ends.writer.write(line)
        assert ends.mark.exists()
        assert await ends.take_all(len(line)) == line
        await ends.writer.drained()
        assert not ends.mark.exists()

    within(scenario)


def test_many_lines_of_awkward_sizes_are_never_cut(within: Any) -> None:
    """Pages of a pipe that are half full are why its bytes do not say how much room there is."""

    async def scenario(ends: Ends) -> None:
        lines = [bytes([65 + n % 26]) * (2100 + 977 * (n % 9)) + b"\n" for n in range(400)]
        taking = asyncio.ensure_future(ends.take_all(sum(map(len, lines))))
        for line in lines:
            ends.writer.write(line)
            assert ends.writer.pending_bytes in (0, len(line))
            await ends.writer.drained()
            assert not ends.mark.exists()
        assert await taking == b"".join(lines)

    within(scenario)


def test_the_end_comes_behind_what_was_written(within: Any) -> None:
    async def scenario(ends: Ends) -> None:
        line = b"x" * 3_000_000 + b"\n"
        ends.writer.write(line)
        ends.writer.end()
        assert not ends.writer.write(b"late\n")
        assert ends.closed == 0
        assert await ends.take_all(len(line)) == line
        await ends.writer.drained()
        ends.writer.end()
        assert ends.closed == 1
        assert ends.take(1) == b""

    within(scenario)


def test_giving_up_in_the_middle_of_a_line_leaves_the_mark(within: Any) -> None:
    async def scenario(ends: Ends) -> None:
        ends.writer.write(b"x" * 3_000_000)
        ends.writer.close()
        await ends.writer.drained()
        assert ends.mark.exists()
        assert not ends.writer.is_open

    within(scenario)


def test_an_agent_that_does_not_read_gets_a_deadline_and_later_the_whole_line(
    spooled_children: Any, run: Run, tmp_path: Path
) -> None:
    async def scenario() -> None:
        async with spooled_children() as c:
            child = await c.python(
                """
                import os, sys, time
                while not os.path.exists("go"):
                    time.sleep(0.005)
                for line in sys.stdin.buffer:
                    print(len(line))
                """
            )
            for _ in range(3):
                with pytest.raises(ProviderTimeout):
                    await child.write("x" * 3_000_000, timeout_s=0.05)
            (tmp_path / "go").touch()
            await child.write("end")
            child.close_stdin()
            # the first one was on its way and came whole; the others were never sent
            assert [frame.text async for frame in child.lines()] == ["3000001", "4"]

    run(scenario())
