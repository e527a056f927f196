"""What the store does per operation, counted: these numbers stand for time."""

from __future__ import annotations

import re
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from jupyter_agentchat.store import sqlite_database
from jupyter_agentchat.store.base import Lease
from jupyter_agentchat.store.conformance_samples import (
    delta,
    notice,
    prompt,
    record,
    run_of,
    started,
)
from jupyter_agentchat.store.filesystem import beside
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore, open_store

LEASE = Lease("here", 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(open_store(tmp_path / "data", "wal")) as opened:
        assert isinstance(opened, SqliteStore)
        opened.create_chat(record("a"))
        opened.start_run(run_of("a", "r", LEASE), [prompt(), started()])
        yield opened


@contextmanager
def _statements(store: SqliteStore) -> Iterator[list[str]]:
    seen: list[str] = []
    store.database.connection.set_trace_callback(seen.append)
    yield seen
    store.database.connection.set_trace_callback(None)


def _log_frames(store: SqliteStore) -> int:
    """Pages in the write-ahead log."""
    return int(store.database.rows("PRAGMA wal_checkpoint(NOOP)")[0][1])


def test_a_streamed_delta_costs_five_statements_and_no_scan(store: SqliteStore) -> None:
    with _statements(store) as seen:
        store.append("a", [delta("i")], run_id="r", lease=LEASE)
    verbs = [statement.split()[0] for statement in seen]
    assert verbs == ["BEGIN", "SELECT", "SELECT", "INSERT", "COMMIT"]
    for statement in seen:
        plan = _plan(store, statement)
        assert "SCAN" not in plan, statement
        assert "count(" not in statement.lower()


def test_twenty_deltas_together_cost_one_transaction(store: SqliteStore) -> None:
    with _statements(store) as seen:
        store.append("a", [delta("i")] * 20, run_id="r", lease=LEASE)
    assert [s.split()[0] for s in seen].count("COMMIT") == 1
    assert len(seen) == 24


def test_a_streamed_delta_writes_one_page(store: SqliteStore) -> None:
    store.append("a", [delta("i")], run_id="r", lease=LEASE)
    path = beside(store.database.path, "-wal")
    before = path.stat().st_size
    store.append("a", [delta("i")], run_id="r", lease=LEASE)
    assert path.stat().st_size - before == sqlite_database.PAGE_SIZE + 24


def test_the_list_of_chats_reads_no_event_and_asks_once(store: SqliteStore) -> None:
    for number in range(50):
        store.create_chat(record(f"chat-{number}"))
    with _statements(store) as seen:
        assert len(store.list_chats(query="", project_path=None)[0]) == 51
    assert len(seen) == 1
    assert "events" not in seen[0]


def test_pages_are_found_by_key_in_a_long_chat(store: SqliteStore) -> None:
    store.append("a", [notice() for _ in range(500)])
    for read in (
        lambda: store.events_after("a", 250, limit=10),
        lambda: store.events_before("a", 250, limit=10),
        lambda: store.turns_before("a", None, turns=2),
        lambda: store.last_seq("a"),
    ):
        with _statements(store) as seen:
            read()
        assert len(seen) <= 7
        for statement in seen:
            plan = _plan(store, statement)
            assert "SCAN" not in plan, statement
            assert "TEMP B-TREE" not in plan, statement


def _plan(store: SqliteStore, statement: str) -> str:
    if statement.split()[0] in ("BEGIN", "COMMIT", "ROLLBACK", "PRAGMA"):
        return ""
    rows = store.database.rows(f"EXPLAIN QUERY PLAN {re.sub(r'[?]1', '0', statement)}")
    # a row without a table, as in SELECT 1, is a scan of one constant row
    return "\n".join(row[3] for row in rows if "CONSTANT ROW" not in row[3])


def test_only_what_a_person_was_promised_is_forced_to_disk(store: SqliteStore) -> None:
    with _statements(store) as seen:
        store.append("a", [delta("i")])
    assert not any("synchronous" in statement for statement in seen)
    with _statements(store) as seen:
        store.append("a", [notice()], durable=True)
    assert seen[0] == "PRAGMA synchronous=FULL"
    assert store.database.rows("PRAGMA synchronous") == [(1,)]  # NORMAL again


def test_the_log_is_carried_into_the_file_while_the_server_runs(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "COMMITS_PER_CHECKPOINT", 5)
    path = store.database.path
    before = path.stat().st_size
    store.append("a", [notice("x" * 1000) for _ in range(50)])
    for _ in range(5):
        store.append("a", [notice()])
    upkeep = store.database.upkeep
    assert upkeep is not None
    assert upkeep.idle.wait(10)
    assert path.stat().st_size > before


def test_a_closed_store_leaves_no_thread_and_one_file(tmp_path: Path) -> None:
    store = open_store(tmp_path / "data", "wal")
    assert isinstance(store, SqliteStore)
    store.create_chat(record("a"))
    assert not _threads()  # none before there is something to do
    store.database.checkpoint()
    assert _threads()
    store.close()
    assert not _threads()
    assert [found.name for found in (tmp_path / "data").iterdir()] == [FILE_NAME]


def _threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "agentchat-store"]


def test_another_program_that_holds_the_lock_delays_but_does_not_break(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.database.connection.execute("PRAGMA busy_timeout=20")
    with closing(sqlite3.connect(store.database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Exception, match="locked by another program"):
            store.append("a", [notice()])
        assert store.last_seq("a") == 2  # reading goes on
        other.execute("ROLLBACK")
    assert store.append("a", [notice()])[0].seq == 3
