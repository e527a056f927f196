"""When nothing can be stored the server lives, shows what it can, and says what to do."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from jupyter_agentchat.errors import StorageError
from jupyter_agentchat.store.base import Store
from jupyter_agentchat.store.conformance_samples import notice, prompt, record, run_of, started
from jupyter_agentchat.store.filesystem import beside
from jupyter_agentchat.store.migrations import PAGE_SIZE
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore, open_store

NOBODY = 65534


@contextmanager
def _as_plain_user() -> Iterator[None]:
    """Root may write everywhere: give that up for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that a plain user can reach (pytest's own is private), and owns."""
    folder = Path(tempfile.mkdtemp(prefix="agentchat-"))
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, -1)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700)
    shutil.rmtree(folder)


def _write_everything(store: Store) -> None:
    """Every kind of write is refused with the reason that health gives."""
    for call in (
        lambda: store.create_chat(record("new")),
        lambda: store.append("a", [notice()]),
        lambda: store.start_run(run_of("a", "r"), [prompt(), started()]),
        lambda: store.delete_chat("a", when="2026-01-01T00:00:00.000Z"),
        lambda: store.put_blob("a", b"x", "text/plain"),
        lambda: store.add_project("/p"),
    ):
        with pytest.raises(StorageError) as refused:
            call()
        assert refused.value.message == store.health.notice


@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
def test_a_read_only_directory_shows_its_chats_and_refuses_writes(
    reachable: Path, journal_mode: str
) -> None:
    data_dir = reachable / "data"
    with _as_plain_user():
        with closing(open_store(data_dir, journal_mode)) as store:  # type: ignore[arg-type]
            store.create_chat(record("a"))
            store.append("a", [notice(), notice()])
            epoch = store.epoch
        data_dir.chmod(0o500)
        (data_dir / FILE_NAME).chmod(0o400)
        # the owner could give itself the right again: a read-only mount could not
        with _no_chmod(), closing(open_store(data_dir, journal_mode)) as store:  # type: ignore[arg-type]
            assert not store.health.writable
            assert str(data_dir) in (store.health.notice or "")
            assert store.epoch == epoch
            assert len(store.events_after("a", 0).events) == 2
            assert [item.chat.id for item in store.list_chats()[0]] == ["a"]
            _write_everything(store)


@contextmanager
def _no_chmod() -> Iterator[None]:
    def refuse(path: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted", str(path))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "chmod", refuse)
        yield


def test_a_directory_that_cannot_be_made_gives_an_empty_store_with_a_reason(
    reachable: Path,
) -> None:
    with _as_plain_user():
        (reachable / "closed").mkdir()
        (reachable / "closed").chmod(0o500)
        with closing(open_store(reachable / "closed" / "data")) as store:
            assert not store.health.writable
            assert "cannot be written" in (store.health.notice or "")
            assert store.list_chats() == ([], None)
            assert store.epoch
            _write_everything(store)


def test_a_file_in_place_of_the_directory_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("mine")
    with closing(open_store(tmp_path / "data")) as store:
        assert not store.health.writable
        assert store.list_chats() == ([], None)
    assert (tmp_path / "data").read_text() == "mine"


def test_a_full_disk_loses_nothing_and_works_again_with_space(tmp_path: Path) -> None:
    with closing(open_store(tmp_path / "data")) as store:
        assert isinstance(store, SqliteStore)
        store.create_chat(record("a"))
        store.start_run(run_of("a", "r"), [prompt(), started()])
        connection = store.database.connection
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count={pages + 4}")
        acknowledged = list(store.events_after("a", 0).events)
        with pytest.raises(StorageError, match="no space left"):
            while True:
                acknowledged += store.append("a", [notice("x" * 500)], run_id="r", offset=1)
        with pytest.raises(StorageError, match="free some"):
            store.append("a", [notice("x" * 9000)], durable=True, run_id="r", outcome="failed")
        assert store.events_after("a", 0).events == tuple(acknowledged)
        assert [run.run_id for run in store.open_runs()] == ["r"]
        assert store.database.rows("PRAGMA quick_check") == [("ok",)]
        assert store.health.writable  # space may come back at any time
        connection.execute("PRAGMA max_page_count=1000000")
        again = store.append("a", [notice("x" * 9000)], run_id="r", outcome="failed")
        assert again[0].seq == acknowledged[-1].seq + 1
        assert store.open_runs() == []


def test_a_store_of_a_newer_version_is_refused_undamaged(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with closing(open_store(data_dir)) as store:
        store.create_chat(record("a"))
    path = data_dir / FILE_NAME
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO migrations (name, applied) VALUES ('m999_future', 'now')")
    before = path.read_bytes()
    with closing(open_store(data_dir)) as store:
        assert not store.health.writable
        assert "newer version" in (store.health.notice or "")
        assert "m999_future" in (store.health.notice or "")
        assert store.list_chats() == ([], None)
        _write_everything(store)
    assert path.read_bytes() == before
    assert [found.name for found in data_dir.iterdir()] == [FILE_NAME]


def test_a_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    with closing(sqlite3.connect(data_dir / FILE_NAME)) as connection, connection:
        connection.execute("CREATE TABLE recipes (name TEXT)")
    before = (data_dir / FILE_NAME).read_bytes()
    with closing(open_store(data_dir)) as store:
        assert not store.health.writable
        assert "not a chat store" in (store.health.notice or "")
    assert (data_dir / FILE_NAME).read_bytes() == before


def test_a_link_in_place_of_the_database_is_refused(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir(mode=0o700)
    target = tmp_path / "elsewhere"
    target.write_bytes(b"")
    (data_dir / FILE_NAME).symlink_to(target)
    with closing(open_store(data_dir)) as store:
        assert not store.health.writable
    assert target.read_bytes() == b""


@pytest.mark.parametrize("umask", [0o000, 0o077, 0o277])
def test_directory_and_files_are_private_whatever_the_umask(tmp_path: Path, umask: int) -> None:
    data_dir = tmp_path / "data"
    before = os.umask(umask)
    try:
        with closing(open_store(data_dir, "wal")) as store:
            store.create_chat(record("a"))
            modes = {found.name: stat.S_IMODE(found.stat().st_mode) for found in data_dir.iterdir()}
    finally:
        os.umask(before)
    assert stat.S_IMODE(data_dir.stat().st_mode) == 0o700
    assert modes == {FILE_NAME + suffix: 0o600 for suffix in ("", "-wal", "-shm")}


def test_a_store_that_was_open_to_others_is_made_private(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    open_store(data_dir).close()
    data_dir.chmod(0o755)
    (data_dir / FILE_NAME).chmod(0o644)
    with closing(open_store(data_dir, "wal")) as store:
        store.create_chat(record("a"))
        found = [data_dir, data_dir / FILE_NAME, beside(data_dir / FILE_NAME, "-wal")]
        assert [oct(stat.S_IMODE(path.stat().st_mode)) for path in found] == [
            "0o700",
            "0o600",
            "0o600",
        ]


def test_a_damaged_store_that_cannot_be_rebuilt_is_still_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data_dir = tmp_path / "data"
    with closing(open_store(data_dir)) as store:
        store.create_chat(record("a"))
        store.append("a", [notice("x" * 100) for _ in range(200)])
    path = data_dir / FILE_NAME
    data = bytearray(path.read_bytes())
    leaf = data.rindex(b"x" * 100) // PAGE_SIZE * PAGE_SIZE
    data[leaf : leaf + PAGE_SIZE] = b"\x55" * PAGE_SIZE
    path.write_bytes(data)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jupyter_agentchat.store.recovery.salvage", full)
    with closing(open_store(data_dir)) as store:
        assert not store.health.writable
        assert "no space left" in (store.health.notice or "")
        assert store.list_chats()[0][0].chat.last_seq == 200
        with pytest.raises(StorageError):
            store.events_before("a", None)
    assert path.read_bytes() == data


def test_a_store_that_the_server_would_hand_out_as_files_is_not_opened(tmp_path: Path) -> None:
    for name, writable in (("data", False), (".hidden/data", True)):
        with closing(open_store(tmp_path / name, served_root=tmp_path)) as store:
            assert store.health.writable is writable
            if not writable:
                assert "hidden folder" in (store.health.notice or "")
                assert store.list_chats() == ([], None)
                _write_everything(store)
        assert (tmp_path / name).exists() is writable
    with closing(open_store(tmp_path / "a" / "data", served_root=tmp_path / "b")) as store:
        assert store.health.writable
