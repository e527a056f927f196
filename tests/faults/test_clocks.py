"""R12, R20: the wall clock jumps, and the culler asks how long ago something happened."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.request
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.faults import oracle
from tests.faults.client import Client, wait_for
from tests.faults.clock import ClockShift
from tests.faults.conftest import MakeServer
from tests.faults.figures import Figures
from tests.faults.servers import FaultServer
from tests.server.conftest import script
from tests.server.jupyter_process import TOKEN

HOUR_S = 3_600.0


@pytest.fixture
def clock(tmp_path: Path) -> Iterator[ClockShift]:
    yield ClockShift(tmp_path / "clock")


@pytest.fixture
def server(make_server: MakeServer, clock: ClockShift, tmp_path: Path) -> FaultServer:
    return make_server(clock=tmp_path / "clock")


def test_r12_a_clock_that_jumps_an_hour_changes_neither_order_nor_durations(
    server: FaultServer, clock: ClockShift
) -> None:
    chat = server.new_chat()
    for number, jump in enumerate((HOUR_S, -HOUR_S, 25 * HOUR_S, 0.0)):
        began = time.monotonic()
        steps = script({"say": "before and after " * 10, "chunks": 60, "rate": 100}, {"tool": {}})
        run_id = server.prompt(chat, str(number), steps)["run_id"]
        while not any(e["type"] == "assistant_text" for e in server.events(chat)[-6:]):
            time.sleep(0.01)
        clock.seconds = jump
        server.wait_idle(chat)
        elapsed_ms = (time.monotonic() - began) * 1000
        events = server.all_events(chat)
        assert oracle.log_faults(events) == []
        assert events[-1]["outcome"] == "completed"
        assert 0 <= events[-1]["duration_ms"] <= elapsed_ms
        journal, _ = oracle.journal_of(server.journals, run_id)
        assert not oracle.journal_faults(journal, events, run_id, whole=True, tail_may_miss=False)
    times = [event["time"] for event in server.all_events(chat)]
    assert times != sorted(times), "the clock did not jump: this test shows nothing"


def test_r12_a_lease_does_not_run_out_by_the_wall_clock(
    server: FaultServer, clock: ClockShift, make_server: MakeServer, tmp_path: Path
) -> None:
    chat = server.new_chat()
    run_id = server.prompt(chat, "1", script({"say": "x" * 400, "chunks": 400, "rate": 200}))
    clock.seconds = 24 * HOUR_S
    second = make_server(start=False, data_dir=server.data_dir, clock=tmp_path / "clock")
    second.root = server.root
    second.start()
    second.call("GET", "chats")
    server.wait_idle(chat)
    events = server.all_events(chat)
    assert events[-1]["outcome"] == "completed"
    assert events[-1]["run_id"] == run_id["run_id"]
    assert [event["type"] for event in events].count("complete") == 1


def idle_s(server: FaultServer, clock: ClockShift) -> float:
    """What a culler sees: seconds since the server's last activity."""
    url = f"http://127.0.0.1:{server.port}/api/status?token={TOKEN}"
    with urllib.request.urlopen(url, timeout=10) as answer:
        last = datetime.fromisoformat(json.load(answer)["last_activity"])
    return datetime.now(UTC).timestamp() + clock.seconds - last.timestamp()


def test_r20_a_run_that_nobody_watches_keeps_its_server_from_being_culled(
    server: FaultServer, clock: ClockShift, figures: Figures
) -> None:
    chat = server.new_chat()
    server.prompt(chat, "1", script({"say": "x" * 600, "chunks": 600, "rate": 100}))
    while not any(e["type"] == "assistant_text" for e in server.events(chat)):
        time.sleep(0.02)
    clock.seconds = HOUR_S
    deadline = time.monotonic() + 4
    while (age := idle_s(server, clock)) > 60 and time.monotonic() < deadline:
        time.sleep(0.05)
    figures.note("R20", "idle time of a server with a run, as the culler sees it", age, "s", 60)
    assert age <= 60


def test_r20_without_a_run_the_server_goes_stale_even_with_a_page_open(
    server: FaultServer, clock: ClockShift
) -> None:
    chat = server.new_chat()
    server.prompt(chat, "1", "hello")
    server.wait_idle(chat)

    async def with_a_page() -> float:
        page = Client(server, chat)
        page.start()
        assert await wait_for(lambda: page.sync, 10)
        clock.seconds = 2 * HOUR_S
        await asyncio.sleep(0.3)
        idle = await asyncio.to_thread(idle_s, server, clock)
        await page.close()
        return idle

    assert asyncio.run(with_a_page()) > HOUR_S
