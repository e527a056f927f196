"""Finds and ends what a child leaves behind: its group, its tree, and what carries its marker.

A program that forks twice, starts a new session *and* cleans its environment escapes; nothing
short of a cgroup finds it then.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from .identity import (
    ProcessIdentity,
    ProcessStat,
    boot_id,
    has_proc,
    identity_of,
    is_alive,
    list_stats,
    send_signal,
)

MARKER = "AGENTCHAT_CHILD"
"""Environment variable with the child's id, set for every child and inherited by all it starts."""

_POLL_S = 0.01
_log = logging.getLogger(__name__)


def find_leftovers(
    child_id: str,
    leader: ProcessIdentity | None,
    known: Iterable[ProcessIdentity] = (),
    *,
    headless_group: bool = True,
    spare_leader: bool = True,
) -> set[ProcessIdentity]:
    """Living processes of the child, `leader` itself only on demand; never this process and its
    ancestors.

    They are of its group, below it in the process tree, carry its marker, or are in `known` and
    still the same. With `headless_group` false a group whose leader is gone does not count: right
    for a child of long ago, whose group number may have been used again.
    Blocking (reads /proc of every process): call it in a thread.
    """
    stats = {stat.pid: stat for stat in list_stats()}
    spared = _with_ancestors(stats, os.getpid())
    if leader is not None and spare_leader:
        spared.add(leader.pid)
    tree, group = _reach(stats, leader, headless_group)
    marker = f"{MARKER}={child_id}".encode()
    found = {identity for identity in known if is_alive(identity)}
    for stat in stats.values():
        if stat.alive and (stat.pid in tree or stat.pgid == group or _is_marked(stat.pid, marker)):
            found.add(identity_of(stat))
    return {identity for identity in found if identity.pid not in spared}


async def sweep(
    child_id: str,
    leader: ProcessIdentity | None,
    *,
    known: Iterable[ProcessIdentity] = (),
    headless_group: bool = True,
    spare_leader: bool = True,
    term_s: float,
    kill_s: float = 1.0,
) -> set[ProcessIdentity]:
    """End what the child left: TERM, after `term_s` seconds KILL; returns what still lives then.

    `term_s` 0 goes straight to KILL (for after a KILL of the leader). Looks again after each
    step, since what is being ended may fork. Without /proc only the group is signalled, and that
    only with `headless_group`. Cancelling stops between two looks and leaves the rest alive.
    """
    if not has_proc():
        if leader and headless_group:
            await _end_group_unseen(leader.pgid, term_s)
        return set()

    targets = tuple(known)

    def look() -> set[ProcessIdentity]:
        return find_leftovers(
            child_id,
            leader,
            targets,
            headless_group=headless_group,
            spare_leader=spare_leader,
        )

    left = await asyncio.to_thread(look)
    if left:
        _log.info("child=%s: ending %s process(es) it left behind", child_id, len(left))
    if left and term_s > 0:
        left = await _end(left, look, signal.SIGTERM, term_s)
    if left:
        left = await _end(left, look, signal.SIGKILL, kill_s)
    if left:
        pids = sorted(identity.pid for identity in left)
        _log.warning("child=%s: processes %s survived SIGKILL", child_id, pids)
    return left


async def _end(
    left: set[ProcessIdentity],
    look: Callable[[], set[ProcessIdentity]],
    sig: signal.Signals,
    timeout_s: float,
) -> set[ProcessIdentity]:
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_s
    told: set[ProcessIdentity] = set()
    while left and loop.time() < deadline:
        for identity in left - told:
            send_signal(identity, sig)
        told |= left
        await asyncio.sleep(_POLL_S)
        left = {identity for identity in left if is_alive(identity)}
        if not left:
            left = await asyncio.to_thread(look)
    return left


async def _end_group_unseen(pgid: int, term_s: float) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if term_s > 0:
            os.killpg(pgid, signal.SIGTERM)
            await asyncio.sleep(term_s)
        os.killpg(pgid, signal.SIGKILL)


def _reach(
    stats: Mapping[int, ProcessStat], leader: ProcessIdentity | None, headless_group: bool
) -> tuple[set[int], int | None]:
    """Pids below `leader` (itself included), and the number of its group where that is certain."""
    if leader is None or not leader.start_time or leader.boot_id != boot_id():
        return set(), None
    # every child of ours leads its group; 0 is no group at all, kernel threads and what was
    # started outside our namespace carry it
    group = leader.pgid if leader.pgid == leader.pid > 1 else None
    head = stats.get(leader.pid)
    if head is None:
        return set(), group if headless_group else None
    if head.start_time != leader.start_time:
        # the kernel gives a number to no new process while a group of that number has members:
        # somebody else with that pid means that our group is empty
        return set(), None
    return _tree(stats, leader.pid), group


def _with_ancestors(stats: Mapping[int, ProcessStat], pid: int) -> set[int]:
    """`pid` and those above it: a server below the child that it reaps must not saw off its branch,
    and pid 1 is above everybody."""
    line = {0, 1}
    while pid not in line:
        line.add(pid)
        stat = stats.get(pid)
        pid = stat.ppid if stat else 0
    return line


def _tree(stats: Mapping[int, ProcessStat], top: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for stat in stats.values():
        children.setdefault(stat.ppid, []).append(stat.pid)
    below: set[int] = set()
    todo = [top]
    while todo:
        pid = todo.pop()
        if pid not in below:
            below.add(pid)
            todo += children.get(pid, [])
    return below


def _is_marked(pid: int, marker: bytes) -> bool:
    try:
        environ = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:  # gone, or another user's
        return False
    return marker in environ.split(b"\0")
