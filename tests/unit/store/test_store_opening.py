"""Opening the same store again, upgraded, moved, replaced, on other file systems."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_agentchat.errors import NotFound, StorageError
from jupyter_agentchat.store.conformance_samples import notice, prompt, record
from jupyter_agentchat.store.filesystem import choose_journal_mode, filesystem_type
from jupyter_agentchat.store.migrations import MIGRATIONS, check_version, migrate
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore, open_store

MOUNTS = """\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
30 22 0:40 / /home rw - nfs4 server:/home rw
31 30 0:41 / /home/with\\040space rw - tmpfs tmpfs rw
32 22 0:42 / /scratch rw - ext4 /dev/sdb rw
33 22 0:43 / /scratch rw - fuse.sshfs host:/ rw
34 22 0:44 / /new rw - inventedfs x rw
"""


def _open(data_dir: Path) -> SqliteStore:
    store = open_store(data_dir)
    assert isinstance(store, SqliteStore)
    return store


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with closing(_open(tmp_path / "data")) as store:
        store.create_chat(record("a", title="Kept"))
        events = store.append("a", [prompt(), notice()], durable=True)
        epoch = store.epoch
    with closing(_open(tmp_path / "data")) as store:
        assert store.health.writable
        assert store.health.notice is None
        assert store.epoch == epoch
        assert store.events_after("a", 0).events == tuple(events)
        assert store.chat("a").chat.title == "Kept"


def test_two_servers_see_each_others_events_at_once(tmp_path: Path) -> None:
    with closing(_open(tmp_path / "data")) as one, closing(_open(tmp_path / "data")) as two:
        one.create_chat(record("a"))
        assert one.epoch == two.epoch
        assert [store.append("a", [notice()])[0].seq for store in (one, two, one)] == [1, 2, 3]
        assert one.events_after("a", 0) == two.events_after("a", 0)


def test_a_restored_copy_is_another_store_to_its_clients(tmp_path: Path) -> None:
    with closing(_open(tmp_path / "data")) as store:
        store.create_chat(record("a"))
        epoch = store.epoch
    shutil.copytree(tmp_path / "data", tmp_path / "backup")
    with closing(_open(tmp_path / "backup")) as store:
        assert store.epoch != epoch
        restored = store.epoch
        assert store.last_seq("a") == 0
    with closing(_open(tmp_path / "backup")) as store:
        assert store.epoch == restored


def test_a_store_that_is_removed_under_a_running_server_is_noticed(tmp_path: Path) -> None:
    with closing(_open(tmp_path / "data")) as store:
        store.create_chat(record("a"))
        epoch = store.epoch
        shutil.rmtree(tmp_path / "data")
        with pytest.raises(NotFound):
            store.append("a", [notice()])
        assert store.epoch != epoch
        assert "replaced or removed" in (store.health.notice or "")
        store.create_chat(record("b"))
    with closing(_open(tmp_path / "data")) as store:
        assert store.last_seq("b") == 0


def test_a_closed_store_is_not_made_anew_by_a_late_call(tmp_path: Path) -> None:
    store = _open(tmp_path / "data")
    store.close()
    shutil.rmtree(tmp_path / "data")
    with pytest.raises(StorageError, match="stopping"):
        store.list_chats()
    assert not (tmp_path / "data").exists()


def test_an_older_store_is_upgraded_in_place(tmp_path: Path) -> None:
    def m900_colours(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE chats ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'")

    with closing(_open(tmp_path / "data")) as store:
        store.create_chat(record("a", title="Old"))
    path = tmp_path / "data" / FILE_NAME
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert check_version(connection, [*MIGRATIONS, m900_colours]) == [m900_colours]
        migrate(connection, [*MIGRATIONS, m900_colours])
        assert check_version(connection, [*MIGRATIONS, m900_colours]) == []
        old = connection.execute("SELECT id, colour FROM chats").fetchall()
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, [*MIGRATIONS, m900_colours])
        names = connection.execute("SELECT name FROM migrations ORDER BY number").fetchall()
    assert old == [("a", "red")]
    assert names == [(m.__name__,) for m in (*MIGRATIONS, m900_colours)]


def test_an_upgrade_that_fails_changes_nothing(tmp_path: Path) -> None:
    def m900_broken(connection: sqlite3.Connection) -> None:
        connection.execute("ALTER TABLE chats ADD COLUMN colour TEXT")
        connection.execute("INSERT INTO nowhere VALUES (1)")

    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection)
        before = connection.execute("SELECT sql FROM sqlite_master").fetchall()
        with pytest.raises(sqlite3.OperationalError):
            migrate(connection, [*MIGRATIONS, m900_broken])
        assert connection.execute("SELECT sql FROM sqlite_master").fetchall() == before


@pytest.mark.parametrize(
    ("directory", "kind", "mode"),
    [
        ("/data", "ext4", "wal"),
        ("/home/me/data", "nfs4", "delete"),
        ("/home/with space/data", "tmpfs", "wal"),
        ("/homework", "ext4", "wal"),
        ("/scratch/data", "fuse.sshfs", "delete"),
        ("/new/data", "inventedfs", "delete"),
    ],
)
def test_network_and_unknown_file_systems_get_the_careful_journal(
    tmp_path: Path, directory: str, kind: str, mode: str
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text(MOUNTS)
    assert filesystem_type(Path(directory), mounts) == kind
    assert choose_journal_mode("auto", Path(directory), mounts) == mode
    assert choose_journal_mode("wal", Path(directory), mounts) == "wal"
    assert choose_journal_mode("auto", Path(directory), tmp_path / "missing") == "delete"


@pytest.mark.parametrize("mode", ["wal", "delete"])
def test_the_chosen_journal_is_in_use_and_can_be_changed(tmp_path: Path, mode: str) -> None:
    open_store(tmp_path / "data", "delete" if mode == "wal" else "wal").close()
    with closing(open_store(tmp_path / "data", mode)) as store:  # type: ignore[arg-type]
        assert isinstance(store, SqliteStore)
        assert store.database.rows("PRAGMA journal_mode") == [(mode,)]
        full = 1 if mode == "wal" else 2  # NORMAL is not enough without a write-ahead log
        assert store.database.rows("PRAGMA synchronous") == [(full,)]
