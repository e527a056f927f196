"""The index of the search costs a delta nothing, and never stands in the way of what is stored."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_agentchat.errors import Unsupported
from jupyter_agentchat.store import search_index
from jupyter_agentchat.store.base import Store
from jupyter_agentchat.store.conformance_samples import (
    delta,
    final,
    notice,
    prompt,
    record,
    run_of,
)
from jupyter_agentchat.store.filesystem import beside
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore, open_store
from jupyter_agentchat.store.words import MAX_INDEXED


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(_open(tmp_path)) as opened:
        opened.create_chat(record("a", title="Known"))
        yield opened


def _open(tmp_path: Path) -> SqliteStore:
    store = open_store(tmp_path / "data", "wal")
    assert isinstance(store, SqliteStore)
    return store


def _found(store: Store, query: str) -> list[tuple[str, int]]:
    return sorted((h.chat_id, h.seq) for h in store.search(query, project_paths=None, limit=50))


def _break(store: SqliteStore) -> None:
    """Damage that SQLite's check of the file does not see."""
    store.database.rows("UPDATE search_data SET block = x'ffffffffffffffffffffffff'")


def test_only_what_is_searched_is_indexed(store: SqliteStore) -> None:
    store.append("a", [prompt("one"), delta("i"), notice("no"), final("i", "two", (2, 2))])
    assert store.database.rows("SELECT seq, words FROM texts ORDER BY seq") == [
        (0, "known"),
        (1, "one"),
        (4, "two"),
    ]


def test_a_huge_text_is_indexed_up_to_its_limit(store: SqliteStore) -> None:
    store.append("a", [prompt("first " + "x " * MAX_INDEXED + "last")])
    assert _found(store, "first") == [("a", 1)]
    assert _found(store, "last") == []


@pytest.mark.parametrize("write", ["append", "start_run", "save_chat", "create_chat", "copy"])
def test_a_damaged_index_is_made_anew_and_nothing_is_refused(
    store: SqliteStore, tmp_path: Path, write: str
) -> None:
    store.append("a", [prompt("before")])
    _break(store)
    store.close()
    with closing(_open(tmp_path)) as store:
        match write:
            case "append":
                store.append("a", [prompt("during")])
            case "start_run":
                store.start_run(run_of("a", "r"), [prompt("during")])
            case "save_chat":
                store.save_chat(store.chat("a").with_chat(title="During"))
            case "create_chat":
                store.create_chat(record("b", title="during"))
            case "copy":
                assert store.copy_events("a", record("b", title="during"), 1) == 1
        upkeep = store.database.upkeep
        assert upkeep is not None
        upkeep.index()
        assert upkeep.idle.wait(10)
        assert len(_found(store, "during")) == 1
        assert ("a", 1) in _found(store, "before")
        assert store.last_seq("a") == (2 if write in ("append", "start_run") else 1)
        assert store.health.notice is None


def test_a_search_in_a_damaged_index_is_no_error(store: SqliteStore, tmp_path: Path) -> None:
    store.append("a", [prompt("before")])
    _break(store)
    store.close()
    with closing(_open(tmp_path)) as store:
        store.search("before", project_paths=None, limit=5)
        upkeep = store.database.upkeep
        assert upkeep is not None
        assert upkeep.idle.wait(10)
        assert _found(store, "before") == [("a", 1)]


def test_without_fts5_everything_works_but_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(search_index, "CREATE", "CREATE VIRTUAL TABLE search USING fts5x(words)")
        with closing(_open(tmp_path)) as store:
            assert store.health.writable
            store.create_chat(record("a", title="Known"))
            store.append("a", [prompt("before")])
            store.save_chat(store.chat("a").with_chat(title="Other"))
            store.copy_events("a", record("b"), 1)
            store.delete_chat("b", when="2020-01-01T00:00:00.000Z")
            assert store.purge_trash("2021-01-01T00:00:00.000Z") == ["b"]
            with pytest.raises(Unsupported):
                store.search("before", project_paths=None, limit=5)
    with closing(_open(tmp_path)) as store:  # another SQLite: what is missing is indexed
        upkeep = store.database.upkeep
        assert upkeep is not None
        assert upkeep.idle.wait(10)
        assert _found(store, "before") == [("a", 1)]
        assert _found(store, "other") == [("a", 0)]


def test_words_cut_by_other_rules_are_indexed_anew(
    store: SqliteStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.append("a", [prompt("before")])
    store.close()
    monkeypatch.setattr(search_index, "KEPT_AS", "fts5 other rules")
    with closing(_open(tmp_path)) as store:
        upkeep = store.database.upkeep
        assert upkeep is not None
        assert upkeep.idle.wait(10)
        assert _found(store, "before") == [("a", 1)]


def test_a_purged_chat_leaves_no_byte_of_its_texts(store: SqliteStore, tmp_path: Path) -> None:
    secret = "xylophonequartz"
    store.create_chat(record("gone", title=secret))
    store.append("gone", [prompt(f"{secret} {number} " + "long " * 90) for number in range(40)])
    store.save_draft("gone", "owner", secret, "[]", 0)
    store.delete_chat("gone", when="2020-01-01T00:00:00.000Z")
    path = tmp_path / "data" / FILE_NAME
    store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    assert secret.encode() in path.read_bytes()
    assert store.purge_trash("2021-01-01T00:00:00.000Z") == ["gone"]
    upkeep = store.database.upkeep
    assert upkeep is not None
    assert upkeep.idle.wait(10)
    store.close()
    assert not beside(path, "-wal").exists()
    assert secret.encode() not in path.read_bytes()


def test_every_table_with_rows_of_a_chat_is_purged(store: SqliteStore) -> None:
    from jupyter_agentchat.store.sqlite_trash import BELONGING

    with closing(sqlite3.connect(store.database.path)) as connection:
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        found = {
            name
            for (name,) in tables.fetchall()
            if "chat_id" in {row[1] for row in connection.execute(f"PRAGMA table_info({name})")}
        }
    assert found - {"children"} == set(BELONGING)  # a process is ended first, then forgotten
