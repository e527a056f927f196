"""A damaged database is kept, what can be read of it goes on, and the person is told."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from random import Random

import pytest

from jupyter_agentchat.errors import NotFound, StorageError
from jupyter_agentchat.store import sqlite_database
from jupyter_agentchat.store.base import DraftRecord, PersonMarks, Store, StoredEvent, TrustRecord
from jupyter_agentchat.store.conformance_samples import notice, prompt, queued, record, run_of
from jupyter_agentchat.store.filesystem import beside
from jupyter_agentchat.store.keyed_rows import queue_row
from jupyter_agentchat.store.migrations import PAGE_SIZE
from jupyter_agentchat.store.salvage import KEYS
from jupyter_agentchat.store.sqlite import FILE_NAME, SqliteStore, open_store

CHATS = ("a", "b", "c")
QUEUED = [f"q{number}" for number in range(12) if number not in (3, 5)]
OURS = {"event_damaged", "events_lost"}
"""Notices that stand for what is no longer there."""


@pytest.fixture(scope="module")
def pristine(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of three chats."""
    data_dir = tmp_path_factory.mktemp("pristine") / "data"
    with closing(open_store(data_dir)) as store:
        for chat_id in CHATS:
            store.create_chat(record(chat_id, title=f"Chat {chat_id}", project_path="/p"))
            for turn in range(40):
                text = f"{chat_id}{turn} " + "long " * (turn * 10)
                store.append(chat_id, [prompt(text, f"{turn}"), notice(text)], run_id="r")
        store.start_run(run_of("a", "open"), [prompt()])
        store.save_trust(TrustRecord("owner", "/p", "d", True, "2026-01-01T00:00:00.000Z"))
        store.put_blob("b", b"blob" * 5000, "text/plain")
        store.save_selection("owner", {"provider": "tour"})
        store.remember_prompt("c", "owner", "old", {"run_id": "gone"})
        for number in range(12):
            store.enqueue(queued("b", f"q{number}", f"wait {number} " + "long " * number * 20))
        store.unqueue("b", "q3")
        store.start_run(run_of("b", "from-queue"), [prompt("wait 5")], queued="q5")
        store.append("b", [notice()], run_id="from-queue", outcome="completed")
        store.save_draft("c", "owner", "first", "[]", 0)
        store.save_draft("c", "owner", "typed and not sent", "[]", 1)
        store.save_marks("c", "owner", PersonMarks(read_seq=7, pinned=True))
    return data_dir


@pytest.fixture
def data_dir(pristine: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(pristine, tmp_path / "data"))


def _events(store: Store, chat_id: str) -> list[StoredEvent]:
    return list(store.events_after(chat_id, 0, limit=10_000).events)


def _open(data_dir: Path) -> SqliteStore:
    store = open_store(data_dir)
    assert isinstance(store, SqliteStore)
    return store


def _aside(data_dir: Path) -> list[Path]:
    return sorted(data_dir.glob(f"{FILE_NAME}.corrupt-*Z"))


def _is_ours(event: StoredEvent) -> bool:
    return any(f'"{code}"' in event.body_json for code in OURS)


def _patch(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def _leaf_of(path: Path, needle: bytes) -> int:
    """Offset of the page that alone holds `needle`, an event of chat b (others hold old copies)."""
    data, scratch = path.read_bytes(), path.with_name("scratch")
    for start in range(0, len(data), PAGE_SIZE):
        if needle not in data[start : start + PAGE_SIZE]:
            continue
        scratch.write_bytes(data)
        _patch(scratch, start, b"\x55" * PAGE_SIZE)
        readable = {chat_id: _is_readable(scratch, chat_id) for chat_id in CHATS}
        scratch.unlink()
        if readable == {"a": True, "b": False, "c": True}:
            return start
    raise AssertionError(f"{needle!r} is nowhere alone")


def _is_readable(path: Path, chat_id: str) -> bool:
    with closing(sqlite3.connect(path)) as connection:
        try:
            connection.execute("SELECT body FROM events WHERE chat_id = ?", (chat_id,)).fetchall()
        except sqlite3.DatabaseError:
            return False
    return True


def _overwrite_with_text(path: Path) -> None:
    path.write_bytes(b"this is not a database\n" * 500)


def _overwrite_header(path: Path) -> None:
    _patch(path, 0, b"\xff" * 100)


def _cut_in_the_middle(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _zero_the_tail(path: Path) -> None:
    size = path.stat().st_size
    _patch(path, size * 2 // 3, b"\0" * (size - size * 2 // 3))


def _break_one_page(path: Path) -> None:
    _patch(path, _leaf_of(path, b"b20 long"), b"\x55" * PAGE_SIZE)


@pytest.mark.parametrize(
    "damage",
    [_overwrite_with_text, _overwrite_header, _cut_in_the_middle, _zero_the_tail, _break_one_page],
    ids=lambda damage: damage.__name__.strip("_"),
)
def test_a_damaged_file_is_kept_and_the_store_works(
    damage: Callable[[Path], None], data_dir: Path, pristine: Path
) -> None:
    with closing(_open(pristine)) as store:
        epoch = store.epoch
        original = {chat_id: _events(store, chat_id) for chat_id in CHATS}
    path = data_dir / FILE_NAME
    damage(path)
    evidence = path.read_bytes()
    with closing(_open(data_dir)) as store:
        (kept,) = _aside(data_dir)
        assert kept.read_bytes() == evidence
        assert store.health.writable
        assert str(kept) in (store.health.notice or "")
        assert store.epoch != epoch
        for shown in store.list_chats()[0]:
            for event in _events(store, shown.chat.id):
                assert event in original[shown.chat.id] or _is_ours(event)
        store.create_chat(record("new"))
        assert store.append("new", [prompt()])[0].seq == 1
    with closing(_open(data_dir)) as store:
        assert store.health.notice is None  # said once, by the server that found it
        assert store.last_seq("new") == 1


def test_a_ruined_header_costs_nothing(data_dir: Path, pristine: Path) -> None:
    with closing(_open(pristine)) as store:
        original = {chat_id: _events(store, chat_id) for chat_id in CHATS}
    _overwrite_header(data_dir / FILE_NAME)
    with closing(_open(data_dir)) as store:
        assert {chat_id: _events(store, chat_id) for chat_id in CHATS} == original
        assert store.chat("b").chat.title == "Chat b"
        assert [run.run_id for run in store.open_runs()] == ["open"]
        assert store.trust("owner", "/p") is not None
        assert store.projects() == [("/p", 3)]
        assert store.selection("owner") == {"provider": "tour"}
        assert store.find_prompt("c", "owner", "old") == {"run_id": "gone"}
        assert store.turns_before("a", None, turns=2).first_seq == 79
        _expect_what_persons_typed(store)


def _expect_what_persons_typed(store: Store) -> None:
    assert [item.id for item in store.queue("b")] == QUEUED
    assert store.queue("b")[-1].text.startswith("wait 11 long")
    assert store.queue_pause("b") == "restarted"  # an item may be an older copy: a person looks
    assert store.draft("c", "owner") == DraftRecord("typed and not sent", "[]", 2)
    assert store.marks("c", "owner") == PersonMarks(read_seq=7, pinned=True)


def test_what_persons_typed_is_found_on_its_pages_when_no_tree_leads_there(data_dir: Path) -> None:
    path = data_dir / FILE_NAME
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema=ON")
        for table in ("queue", "drafts", "marks"):
            connection.execute("DELETE FROM sqlite_master WHERE name = ?", (table,))
        connection.commit()
    _overwrite_header(path)
    with closing(_open(data_dir)) as store:
        _expect_what_persons_typed(store)


def test_an_older_copy_of_a_prompt_that_has_run_does_not_wait_again(data_dir: Path) -> None:
    with sqlite3.connect(data_dir / FILE_NAME) as connection:
        stale = queue_row(queued("b", "q5"), 99)
        connection.execute("INSERT INTO queue VALUES (?, ?, ?, ?, ?)", stale)
    connection.close()
    _overwrite_header(data_dir / FILE_NAME)
    with closing(_open(data_dir)) as store:
        assert [item.id for item in store.queue("b")] == QUEUED


def test_a_queued_prompt_with_a_flipped_bit_is_never_sent(data_dir: Path) -> None:
    path = data_dir / FILE_NAME
    data = bytearray(path.read_bytes())
    at = 0
    while (at := data.find(b"wait 7 long", at)) >= 0:
        data[at] ^= 1
        at += 1
    path.write_bytes(data)
    with closing(_open(data_dir)) as store:
        assert [item.id for item in store.queue("b")] == [name for name in QUEUED if name != "q7"]
        with pytest.raises(NotFound):
            store.start_run(run_of("b", "again"), [prompt()], queued="q7")


def test_damage_in_one_chat_leaves_the_others_whole_and_shows_the_hole(
    data_dir: Path, pristine: Path
) -> None:
    with closing(_open(pristine)) as store:
        original = {chat_id: _events(store, chat_id) for chat_id in CHATS}
    _break_one_page(data_dir / FILE_NAME)
    with closing(_open(data_dir)) as store:
        assert _events(store, "a") == original["a"]
        assert _events(store, "c") == original["c"]
        found = _events(store, "b")
        assert found[0] == original["b"][0]  # before the hole
        assert original["b"][-1] in found  # and behind it
        assert len(found) < len(original["b"])
        assert "of this chat were lost" in found[-1].body_json
        assert found[-1].seq > original["b"][-1].seq


def test_a_chat_whose_settings_are_lost_keeps_its_events(data_dir: Path) -> None:
    path = data_dir / FILE_NAME
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM chats WHERE id = 'b'")
    connection.close()
    _overwrite_header(path)
    with closing(_open(data_dir)) as store:
        found = store.chat("b")
        assert (found.chat.title, found.chat.owner) == ("Recovered chat", "owner")
        assert len(_events(store, "b")) == 83
        assert "Title and settings" in _events(store, "b")[-1].body_json


@pytest.mark.parametrize("seed", range(30))
def test_a_random_damage_never_shows_an_event_that_was_not_stored(
    seed: int, data_dir: Path, pristine: Path
) -> None:
    with closing(_open(pristine)) as store:
        original = {chat_id: _events(store, chat_id) for chat_id in CHATS}
    random, path = Random(seed), data_dir / FILE_NAME
    size = path.stat().st_size
    for _ in range(random.choice([1, 1, 8])):
        _patch(path, random.randrange(size), random.randbytes(random.choice([1, 1, 40])))
    evidence = path.read_bytes()
    with closing(_open(data_dir)) as store:
        assert {item.id for item in store.queue("b")} <= {*QUEUED, "q3"}  # never what has run
        for chat_id in CHATS:
            try:
                found = _events(store, chat_id)
            except StorageError:  # found while reading: rebuilt, and said
                found = _events(store, chat_id)
            assert all(event in original[chat_id] or _is_ours(event) for event in found)
            assert found, f"chat {chat_id} is empty"
        assert store.health.writable
        store.append("a", [prompt()])
    for kept in _aside(data_dir)[:1]:
        assert kept.read_bytes() == evidence


def test_a_flipped_bit_in_a_text_is_said_in_its_place(data_dir: Path) -> None:
    path = data_dir / FILE_NAME
    leaf = _leaf_of(path, b"b20 long")
    _patch(path, path.read_bytes().index(b"b20 long", leaf) + 3, b"\xff")
    with closing(_open(data_dir)) as store:
        found = _events(store, "b")
        assert [event.seq for event in found] == list(range(1, 83))
        damaged = [event for event in found if _is_ours(event)]
        assert len(damaged) == 1
        assert damaged[0].body() is not None


def test_damage_found_while_reading_is_rebuilt_in_the_running_server(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "is_sound", lambda _: True)  # not seen at opening
    _break_one_page(data_dir / FILE_NAME)
    with closing(_open(data_dir)) as store:
        epoch = store.epoch
        with pytest.raises(StorageError, match="kept as"):
            _events(store, "b")
        assert len(_aside(data_dir)) == 1
        assert store.epoch != epoch
        assert len(_events(store, "a")) == 81
        store.append("b", [prompt()])


def test_a_large_file_is_checked_in_the_background(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "INLINE_CHECK_BYTES", 0)
    _break_one_page(data_dir / FILE_NAME)
    with closing(_open(data_dir)) as store:
        upkeep = store.database.upkeep
        assert upkeep is not None
        assert upkeep.idle.wait(10)
        assert len(_events(store, "a")) == 81
        assert "was damaged" in (store.health.notice or "")
        assert len(_aside(data_dir)) == 1


def test_a_log_without_its_database_is_kept_and_not_played_into_a_new_one(tmp_path: Path) -> None:
    data_dir, copy = tmp_path / "data", tmp_path / "copy"
    with closing(_open(data_dir)) as store:
        store.create_chat(record("a"))
        shutil.copytree(data_dir, copy)  # as a killed server leaves it
    (copy / FILE_NAME).unlink()
    log = beside(copy / FILE_NAME, "-wal").read_bytes()
    assert log
    with closing(_open(copy)) as store:
        assert store.list_chats() == ([], None)
        (kept,) = copy.glob(f"{FILE_NAME}.corrupt-*Z-wal")
        assert kept.read_bytes() == log


def test_what_only_the_log_holds_is_saved_when_the_file_was_emptied(tmp_path: Path) -> None:
    data_dir, copy = tmp_path / "data", tmp_path / "copy"
    with closing(_open(data_dir)) as store:
        store.create_chat(record("a"))
        store.append("a", [prompt(), notice()])
        shutil.copytree(data_dir, copy)
    (copy / FILE_NAME).write_bytes(b"")
    with closing(_open(copy)) as store:
        assert "was damaged" in (store.health.notice or "")
        assert len(_events(store, "a")) == 2
        assert len(list(copy.glob(f"{FILE_NAME}.corrupt-*Z-wal"))) == 1


def test_a_second_damage_does_not_overwrite_the_first(data_dir: Path) -> None:
    path = data_dir / FILE_NAME
    for text in (b"first", b"second"):
        path.write_bytes(text * 1000)
        open_store(data_dir).close()
    kept = [found.read_bytes()[:5] for found in data_dir.glob(f"{FILE_NAME}.corrupt-*")]
    assert sorted(kept) == [b"first", b"secon"]


def test_every_table_is_salvaged_or_derived(data_dir: Path) -> None:
    derived = {"meta", "migrations", "events", "turns", "cuts", "queue_pauses"}
    with closing(_open(data_dir)) as store:
        rows = store.database.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    names = {name for (name,) in rows if name not in ("texts", "unindexed")}
    assert {name for name in names if not name.startswith("search")} == derived | set(KEYS)
