"""A start finds out without opening the store whether an earlier server left work in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.store.attention import FILE_NAME, needs_attention
from jupyter_agentchat.store.base import ChildRecord, RunRecord
from jupyter_agentchat.store.conformance_samples import queued, record
from jupyter_agentchat.store.sqlite import open_store


@pytest.fixture
def view(tmp_path: Path) -> Path:
    """A served folder that the store does not lie in."""
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


def test_no_store_needs_nothing_and_none_is_made(data_dir: Path, view: Path) -> None:
    assert not needs_attention(data_dir, view)
    assert not data_dir.exists()


@pytest.mark.parametrize("journal_mode", ["wal", "delete"])
def test_an_open_run_needs_its_server(data_dir: Path, view: Path, journal_mode: Any) -> None:
    store = open_store(data_dir, journal_mode)
    store.create_chat(record("a"))
    assert not needs_attention(data_dir, view)
    store.start_run(RunRecord(run_id="r", chat_id="a", provider="tour", first_seq=1), [])
    assert needs_attention(data_dir, view)  # beside a server that has it open
    store.close()
    assert needs_attention(data_dir, view)


def test_a_child_that_was_left_behind_needs_its_server(data_dir: Path, view: Path) -> None:
    store = open_store(data_dir)
    store.save_child(
        ChildRecord(
            child_id="c", provider="", scope="chat", chat_id=None, pid=1, start_time="1",
            boot_id="b", pgid=1, argv0="x", holder="",
        )
    )  # fmt: skip
    store.close()
    assert needs_attention(data_dir, view)


def test_a_prompt_whose_turn_has_come_needs_its_server(data_dir: Path, view: Path) -> None:
    with closing(open_store(data_dir)) as store:
        store.create_chat(record("a"))
        store.enqueue(queued("a", "1"))
        assert needs_attention(data_dir, view)
        store.pause_queue("a", "stopped")
        assert not needs_attention(data_dir, view)
        store.pause_queue("a", None)
        store.delete_chat("a", when="2026-01-01T00:00:00.000Z")
        assert not needs_attention(data_dir, view)


def test_a_damaged_store_is_opened_at_once_so_that_it_is_said(data_dir: Path, view: Path) -> None:
    data_dir.mkdir()
    (data_dir / FILE_NAME).write_bytes(b"not a database" * 400)
    assert needs_attention(data_dir, view)


def test_a_store_of_an_unknown_shape_is_opened_at_once(data_dir: Path, view: Path) -> None:
    data_dir.mkdir()
    connection = sqlite3.connect(data_dir / FILE_NAME)
    connection.execute("CREATE TABLE something (else_ TEXT)")
    connection.close()
    assert needs_attention(data_dir, view)


def test_a_store_in_plain_view_is_opened_at_once(tmp_path: Path, view: Path) -> None:
    assert needs_attention(view / "chats", view)
