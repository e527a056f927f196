"""What a server that died left running is ended at the next start, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from jupyter_agentchat.process.identity import (
    ProcessIdentity,
    boot_id,
    identify,
    identify_leader,
    is_alive,
    list_stats,
    read_stat,
    send_signal,
)
from jupyter_agentchat.process.reaper import ChildRecord, reap
from jupyter_agentchat.process.sweep import find_leftovers

Run = Callable[..., Any]
Watch = Callable[[int], ProcessIdentity]
Gone = Callable[[ProcessIdentity], bool]

DEAD_SERVER = ProcessIdentity(pid=2**22, start_time=1, boot_id="of another boot", pgid=2**22)

# prints the pid of a descendant that has left group and session
FAMILY = """
import os, signal, sys, time
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        print(os.getpid(), flush=True)
        time.sleep(60)
    os._exit(0)
os.wait()
time.sleep(60)
"""


class Ledger:
    def __init__(self, *records: ChildRecord) -> None:
        self.records = {record.child_id: record for record in records}

    def record(self, record: ChildRecord) -> None:
        self.records[record.child_id] = record

    def forget(self, child_id: str) -> None:
        self.records.pop(child_id, None)

    def all(self) -> list[ChildRecord]:
        return list(self.records.values())


class Orphan:
    """A process such as a dead server leaves: own session, marked, with a daemon of its own."""

    def __init__(self, *arguments: str) -> None:
        self.child_id = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", FAMILY, *arguments],
            env={"AGENTCHAT_CHILD": self.child_id},
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        daemon = identify(int(self.process.stdout.readline()))
        leader = identify(self.process.pid)
        assert daemon is not None
        assert leader is not None
        self.daemon, self.leader = daemon, leader

    def record(self, **changes: Any) -> ChildRecord:
        return replace(
            ChildRecord(self.child_id, sys.executable, self.leader, DEAD_SERVER), **changes
        )

    def end(self) -> None:
        send_signal(self.daemon, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.fixture
def orphan() -> Iterator[Callable[..., Orphan]]:
    made: list[Orphan] = []

    def make(*arguments: str) -> Orphan:
        made.append(Orphan(*arguments))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_an_orphan_and_what_it_started_are_gone_after_the_next_start(
    orphan: Callable[..., Orphan], run: Run
) -> None:
    polite, stubborn = orphan(), orphan("stubborn")
    ledger = Ledger(polite.record(), stubborn.record())
    reaped = run(reap(ledger, term_s=0.1))
    for one in (polite, stubborn):
        assert not is_alive(one.leader)
        assert not is_alive(one.daemon)
    assert all(each.was_alive and not each.survivors for each in reaped)
    assert polite.process.wait(5) == -signal.SIGTERM  # TERM was enough: no KILL
    assert stubborn.process.wait(5) == -signal.SIGKILL
    assert ledger.records == {}


def test_a_pid_that_was_used_again_is_never_signalled(
    orphan: Callable[..., Orphan], run: Run
) -> None:
    bystander = orphan()
    others = (
        replace(bystander.leader, start_time=bystander.leader.start_time - 1),
        replace(bystander.leader, start_time=bystander.leader.start_time + 1),
        replace(bystander.leader, boot_id="of another boot"),
        replace(bystander.leader, start_time=0),
    )
    for number, identity in enumerate(others):
        ledger = Ledger(bystander.record(child_id=f"other-{number}", identity=identity))
        (reaped,) = run(reap(ledger, term_s=0.05))
        assert not reaped.was_alive
        assert ledger.records == {}
        assert not send_signal(identity, signal.SIGKILL)
    time.sleep(0.05)
    assert is_alive(bystander.leader)
    assert is_alive(bystander.daemon)


def test_children_of_a_living_server_are_left_alone(
    orphan: Callable[..., Orphan], run: Run
) -> None:
    child = orphan()
    record = child.record(owner=identify(os.getpid()))
    ledger = Ledger(record)
    assert run(reap(ledger, term_s=0.05)) == []
    assert is_alive(child.leader)
    assert ledger.all() == [record]


def test_a_child_whose_server_died_before_it_noted_the_pid_is_found_by_its_marker(
    orphan: Callable[..., Orphan], run: Run
) -> None:
    child = orphan()
    ledger = Ledger(child.record(identity=None))
    run(reap(ledger, term_s=0.5))
    assert not is_alive(child.leader)
    assert not is_alive(child.daemon)
    assert ledger.records == {}


def test_a_daemon_is_found_after_its_leader_is_gone(
    orphan: Callable[..., Orphan], run: Run
) -> None:
    child = orphan()
    child.process.kill()
    child.process.wait()
    (reaped,) = run(reap(Ledger(child.record()), term_s=0.5))
    assert not reaped.was_alive
    assert not is_alive(child.daemon)


def test_a_zombie_counts_as_dead(orphan: Callable[..., Orphan], gone: Gone) -> None:
    child = orphan()
    os.kill(child.process.pid, signal.SIGKILL)  # and nobody reaps it
    assert gone(child.leader)
    stat = read_stat(child.process.pid)
    assert stat is not None
    assert (stat.state, stat.start_time) == ("Z", child.leader.start_time)


def test_a_child_nothing_is_known_of_matches_no_process_at_all() -> None:
    # kernel threads and pid 1 of many containers are of "group 0"
    for leader in (None, identify_leader(2**22), ProcessIdentity(0, 0, boot_id(), 0)):
        assert find_leftovers("nobody-has-this-id", leader) == set()


def test_neither_this_process_nor_what_is_above_it_is_ever_swept() -> None:
    above = {1, os.getpid(), os.getppid()}
    for pid in above:
        stat = read_stat(pid)
        assert stat is not None
        leader = ProcessIdentity(pid, stat.start_time, boot_id(), pid)
        # only listed, nothing is signalled
        found = find_leftovers("nobody-has-this-id", leader, [leader], spare_leader=False)
        assert above.isdisjoint(identity.pid for identity in found)


def test_pid_1_is_never_signalled() -> None:
    first = identify(1)
    assert first is not None
    assert not send_signal(first, signal.SIGCONT)


def test_a_process_name_with_spaces_and_parentheses_is_read_right() -> None:
    process = subprocess.Popen(
        [
            sys.executable,
            *("-I", "-S", "-c"),
            "open('/proc/self/comm', 'w').write(') Z 1 (x y'); print(); input()",
        ],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        process.stdout.readline()
        stat = read_stat(process.pid)
        assert stat is not None
        assert (stat.ppid, stat.alive) == (os.getpid(), True)
        process.communicate(b"\n")


def test_the_list_of_processes_holds_this_one() -> None:
    own = next(stat for stat in list_stats() if stat.pid == os.getpid())
    assert own.start_time == read_stat(os.getpid()).start_time  # type: ignore[union-attr]
    assert is_alive(identify(os.getpid()))  # type: ignore[arg-type]
