"""A store of the version before opens after its migration; this one's is refused by the older.

`m001.sql` is what version m001 wrote: pinned, read and archived chats, a cut, trash, an open run.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_agentchat.errors import StorageError
from jupyter_agentchat.store.attention import needs_attention
from jupyter_agentchat.store.base import PersonMarks, Store
from jupyter_agentchat.store.conformance_samples import notice, prompt, queued, record
from jupyter_agentchat.store.filesystem import JournalMode, beside
from jupyter_agentchat.store.migrations import MIGRATIONS, PAGE_SIZE, check_version, migrate
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore, open_store

OLD = Path(__file__).with_name("m001.sql")


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """The directory of the older version."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection:
        connection.execute(f"PRAGMA page_size={PAGE_SIZE}")
        connection.isolation_level = None
        migrate(connection, MIGRATIONS[:1])
        connection.executescript(OLD.read_text())
    return folder


def _open(data_dir: Path, mode: JournalMode = "wal") -> SqliteStore:
    store = open_store(data_dir, mode)
    assert isinstance(store, SqliteStore)
    assert store.health.notice is None
    return store


def _found(store: Store, query: str) -> list[tuple[str, int]]:
    return sorted((h.chat_id, h.seq) for h in store.search(query, project_paths=None, limit=50))


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_everything_of_the_older_version_is_there(data_dir: Path, mode: JournalMode) -> None:
    with closing(_open(data_dir, mode)) as store:
        assert {item.chat.id for item in store.list_chats(username="guest")[0]} == {"a", "b", "d"}
        assert [item.chat.id for item in store.list_chats(username="owner", archived=True)[0]] == [
            "b"
        ]
        assert store.marks("a", "owner") == PersonMarks(read_seq=2, pinned=True)
        assert store.marks("a", "guest") == PersonMarks(read_seq=1)
        assert [event.seq for event in store.events_after("a", 0).events] == [1, 2, 5, 6, 8]
        assert len(store.events_after("d", 0).events) == 24
        assert store.trashed("c").chat.title == "In the trash"
        (run,) = store.open_runs()
        assert (run.run_id, run.request, run.context) == ("open", "", "")
        assert store.blob("a", "41105ca4f43e259d099db3766cbc5d8e") == (b"blob" * 10, "text/plain")
        store.enqueue(queued("a", "1"))
        assert store.append("a", [prompt()])[0].seq == 9
    with closing(_open(data_dir, mode)) as store:  # once is enough
        assert store.last_seq("a") == 9
        assert store.marks("a", "owner").pinned


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_older_events_are_indexed_step_by_step_and_the_newest_can_be_found_at_once(
    data_dir: Path, mode: JournalMode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_agentchat.store.search_index.EVENTS_PER_STEP", 5)
    monkeypatch.setattr("jupyter_agentchat.store.search_index.TEXTS_PER_STEP", 2)
    monkeypatch.setattr("jupyter_agentchat.store.sqlite_upkeep.INDEX_PAUSE_S", 0.001)
    with closing(_open(data_dir, mode)) as store:
        store.append("d", [prompt("brand new")])
        assert _found(store, "brand") == [("d", 25)]
        for _ in range(40):  # without a thread every search does a step
            store.search("nothing", project_paths=None, limit=1)
        if store.database.upkeep is not None:
            assert store.database.upkeep.idle.wait(10)
        assert store.database.rows("SELECT * FROM unindexed") == []
        assert _found(store, "cafe") == [("a", 1)]
        assert _found(store, "krakow") == [("a", 5)]
        assert _found(store, "maps/old.txt") == [("a", 6)]
        assert _found(store, "hidden") == []  # cut
        assert _found(store, "trash") == []
        assert _found(store, "old chat") == [("a", 0)]
        assert len(_found(store, "turn")) == 12
        store.restore_chat("c")
        assert _found(store, "trash") == [("c", 0), ("c", 1)]


def test_opening_an_older_store_reads_no_event(data_dir: Path) -> None:
    with closing(sqlite3.connect(data_dir / FILE_NAME)) as connection:
        connection.execute("UPDATE events SET body = 'not read', sum = 0")
        connection.commit()
    with closing(_open(data_dir, "delete")) as store:
        assert store.database.rows("SELECT count(*) FROM unindexed") == [(4,)]


def test_an_older_store_that_cannot_be_written_is_shown(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = (data_dir / FILE_NAME).read_bytes()

    def full(*_: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("jupyter_agentchat.store.sqlite_database.prepare_directory", full)
    with closing(open_store(data_dir)) as store:
        assert not store.health.writable
        assert store.marks("a", "owner").pinned
        assert [event.seq for event in store.events_after("a", 0).events] == [1, 2, 5, 6, 8]
        with pytest.raises(StorageError):
            store.append("a", [notice()])
    assert (data_dir / FILE_NAME).read_bytes() == before


def test_the_first_start_after_an_upgrade_opens_the_store(data_dir: Path, tmp_path: Path) -> None:
    assert needs_attention(data_dir, tmp_path / "served")


def test_the_older_version_refuses_this_store(data_dir: Path) -> None:
    with closing(_open(data_dir)) as store:
        store.create_chat(record("new"))
    refused = pytest.raises(StorageError, match=r"newer version .*m002_queue_marks_search")
    with closing(sqlite3.connect(data_dir / FILE_NAME)) as connection, refused:
        check_version(connection, MIGRATIONS[:1])


def test_a_newer_store_is_refused_and_not_touched(data_dir: Path) -> None:
    path = data_dir / FILE_NAME
    _open(data_dir).close()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(
            "INSERT INTO migrations (name, applied) VALUES ('m900_of_tomorrow', '2030')"
        )
        connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = path.read_bytes()
    with closing(open_store(data_dir)) as store:
        assert not store.health.writable
        assert "m900_of_tomorrow" in (store.health.notice or "")
        assert store.search("turn", project_paths=None, limit=5) == []
    assert path.read_bytes() == before
    left = {found.name for found in data_dir.iterdir() if found != path}
    assert left <= {beside(path, suffix).name for suffix in ("-wal", "-shm")}
