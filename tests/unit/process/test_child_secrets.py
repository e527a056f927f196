"""The secret of an agent's server: the next Jupyter server knows it, and nobody else."""

from __future__ import annotations

import stat
from pathlib import Path

from jupyter_agentchat.process.child_secrets import KEY_FILE, ChildSecrets


def test_the_next_server_knows_the_secret_of_a_child_again(tmp_path: Path) -> None:
    secret = ChildSecrets(tmp_path).of("child-1")
    assert ChildSecrets(tmp_path).of("child-1") == secret
    assert len(secret) == 64


def test_each_child_and_each_store_has_secrets_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    first = ChildSecrets(tmp_path)
    secrets = {
        first.of("child-1"),
        first.of("child-2"),
        ChildSecrets(tmp_path / "other").of("child-1"),
    }
    assert len(secrets) == 3


def test_only_the_person_themselves_can_read_the_key(tmp_path: Path) -> None:
    ChildSecrets(tmp_path).of("child")
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]


def test_a_damaged_key_is_replaced_and_a_disk_that_takes_none_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / KEY_FILE).write_bytes(b"short")
    secret = ChildSecrets(tmp_path).of("child")
    assert ChildSecrets(tmp_path).of("child") == secret
    nowhere = ChildSecrets(tmp_path / "no" / "such" / "folder")
    assert nowhere.of("child") == nowhere.of("child")
