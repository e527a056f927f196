"""The server that a folder belongs to is found from what running servers leave behind."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from jupyter_server.serverapp import list_running_servers

from jupyter_agentchat.command.find_server import running_servers, servers_for


def info(root: Path, **fields: Any) -> dict[str, Any]:
    own = {"url": "http://127.0.0.1:8888/base/", "token": "secret", "sock": "", "pid": os.getpid()}
    return {"root_dir": str(root), **own, **fields}


def test_the_deepest_root_that_holds_the_folder_wins(tmp_path: Path) -> None:
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    infos = [info(tmp_path), info(tmp_path / "a", url="http://127.0.0.1:2/"), info(tmp_path / "c")]
    found = servers_for(inner, iter(infos))
    assert [server.root for server in found] == [tmp_path / "a", tmp_path]
    assert found[0].url == "http://127.0.0.1:2/"


def test_a_sibling_whose_name_begins_alike_does_not_hold_the_folder(tmp_path: Path) -> None:
    assert servers_for(tmp_path / "data-two", iter([info(tmp_path / "data")])) == []


def test_a_root_reached_through_a_link_is_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert len(servers_for(tmp_path / "real", iter([info(tmp_path / "link")]))) == 1


def test_servers_without_a_web_address_are_left_out(tmp_path: Path) -> None:
    odd = [info(tmp_path, sock="/run/x.sock"), info(tmp_path, url="http+unix://x"), {"pid": 1}]
    assert servers_for(tmp_path, iter(odd)) == []


def test_the_token_is_in_no_representation(tmp_path: Path) -> None:
    assert "secret" not in repr(servers_for(tmp_path, iter([info(tmp_path)])))


def test_dead_servers_and_broken_files_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "jpserver-1.json").write_text("{")
    (tmp_path / "jpserver-2.json").write_text(json.dumps(info(tmp_path, pid=2**22 + 1)))
    (tmp_path / "jpserver-3.json").write_text(json.dumps(info(tmp_path)))
    (tmp_path / "jpserver-4.json").write_text("[]")
    (tmp_path / "jpserver-5-open.html").write_text("")
    assert [found["pid"] for found in running_servers(tmp_path)] == [os.getpid()]
    assert list(running_servers(tmp_path / "missing")) == []


def test_we_see_what_jupyter_server_sees(tmp_path: Path) -> None:
    (tmp_path / "jpserver-7.json").write_text(json.dumps(info(tmp_path)))
    assert list(running_servers(tmp_path)) == list(list_running_servers(str(tmp_path)))
