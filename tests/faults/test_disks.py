"""R9, R10, R11, R21: disks that are full or read-only, and stores that are broken, old or new."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
import sqlite3
import subprocess
import time
import urllib.error
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from jupyter_agentchat.store.migrations import MIGRATIONS, migrate
from tests.faults import oracle
from tests.faults.client import Client, wait_for
from tests.faults.conftest import MakeServer
from tests.faults.figures import Figures, size
from tests.server.conftest import script

DATABASE = "chats.sqlite3"


def test_r9_a_full_disk_ends_the_run_says_so_and_heals_with_the_space(
    make_server: MakeServer, small_disk: Callable[[str], Path], figures: Figures
) -> None:
    disk = small_disk("12m")
    server = make_server(data_dir=disk / "data")
    chat = server.new_chat()
    server.prompt(chat, "0", "hello")
    server.wait_idle(chat)
    ballast = disk / "ballast"
    free = shutil.disk_usage(disk).free
    ballast.write_bytes(bytes(free - 2_000_000))

    async def scenario() -> None:
        client = Client(server, chat)
        client.start()
        flood = script({"say": "first"}, {"flood": 40_000_000, "chunk": 20_000, "rate": 100})
        run_id = (await asyncio.to_thread(server.prompt, chat, "1", flood))["run_id"]
        assert await wait_for(lambda: client.ended(run_id), 60), "the run does not end"
        began = time.monotonic()
        assert (await asyncio.to_thread(server.call, "GET", "status"))["version"]
        figures.note("R9", "answer of a server whose disk is full", time.monotonic() - began, "s")
        ballast.unlink()
        again = await asyncio.to_thread(server.prompt, chat, "2", "and now?")
        assert await wait_for(lambda: client.ended(again["run_id"]), 30)
        events = await asyncio.to_thread(server.all_events, chat)
        assert oracle.log_faults(events) == []
        assert oracle.client_faults(client.seen, events) == []
        assert await client.until_seen(events[-1]["seq"])
        assert oracle.rendering_faults(client.rendering, events) == []
        errors = [e["code"] for e in events if e["type"] == "error" and e["run_id"] == run_id]
        assert errors == ["storage"]
        assert events[-1]["outcome"] == "completed"
        await client.close()

    asyncio.run(scenario())
    server.stop()
    assert oracle.store_faults(disk / "data" / DATABASE) == []


def test_r10_on_a_read_only_disk_the_server_starts_and_chats_can_be_read(
    make_server: MakeServer, small_disk: Callable[[str], Path]
) -> None:
    disk = small_disk("8m")
    server = make_server(data_dir=disk / "data")
    chat = server.new_chat()
    server.prompt(chat, "1", "hello")
    server.wait_idle(chat)
    events = server.all_events(chat)
    server.stop()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    server.start()
    store = server.call("GET", "status")["store"]
    assert store["writable"] is False
    assert store["notice"]
    assert server.all_events(chat) == events
    with pytest.raises(urllib.error.HTTPError) as refused:
        server.prompt(chat, "2", "and now?")
    with refused.value as answer:
        assert answer.code == 507


def test_r10_a_data_folder_that_cannot_be_made_harms_nobody_else(
    make_server: MakeServer, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("not a folder")
    server = make_server(data_dir=tmp_path / "file" / "data")
    assert server.call("GET", "status")["store"]["writable"] is False
    assert (tmp_path / "file").read_text() == "not a folder"


def damage(path: Path, how: str, random: Random) -> None:
    data = bytearray(path.read_bytes())
    at = random.randrange(100, len(data))
    if how == "cut":
        del data[at:]
    elif how == "zero tail":
        data[at:] = bytes(len(data) - at)
    elif how == "header":
        data[:100] = bytes(100)
    else:
        data[at] ^= 1 << random.randrange(8)
    path.write_bytes(data)


def test_r11_a_broken_store_is_kept_what_can_be_read_is_saved_and_it_is_said(
    make_server: MakeServer, figures: Figures
) -> None:
    server, random = make_server(), Random(11)
    chats = [server.new_chat() for _ in range(3)]
    for chat in chats:
        server.prompt(chat, "1", script({"burst": 200, "text": "some text"}, {"tool": {}}))
        server.wait_idle(chat)
    whole = {chat: server.all_events(chat) for chat in chats}
    server.stop()
    good = server.home / "good"
    shutil.copytree(server.data_dir, good)
    kept = total = 0
    ways = ["cut", "zero tail", "random byte", "header"] * size(1, 12)
    for number, how in enumerate(ways):
        shutil.rmtree(server.data_dir)
        shutil.copytree(good, server.data_dir)
        damage(server.data_dir / DATABASE, how, random)
        broken = hashlib.sha256((server.data_dir / DATABASE).read_bytes()).digest()
        server.start()
        notice = server.call("GET", "status")["store"]["notice"]
        set_aside = [
            path for path in server.data_dir.glob("*.corrupt-*")
            if hashlib.sha256(path.read_bytes()).digest() == broken
        ]  # fmt: skip
        found = {row["id"] for row in server.call("GET", "chats")["chats"]}
        for chat in chats:
            events = server.all_events(chat) if chat in found else []
            known = {event["seq"]: event for event in whole[chat]}
            wrong = [e for e in events if known.get(e["seq"]) != e and e["type"] != "notice"]
            assert wrong == [], f"{number} {how}: the store lies"
            total += len(known)
            kept += len([e for e in events if e["seq"] in known])
            if len(events) < len(known):
                assert notice, f"{number} {how}: lost without a word"
                assert set_aside, f"{number} {how}: the broken file was not kept"
        again = server.new_chat()
        server.prompt(again, "1", "hello")
        server.wait_idle(again)
        server.stop()
        for path in server.data_dir.glob("*.corrupt-*"):
            path.unlink()
    figures.note("R11", f"events saved of {len(ways)} broken stores", 100 * kept / total, "%")


def test_r21_a_store_of_the_version_before_opens_and_keeps_its_chats(
    make_server: MakeServer,
) -> None:
    server = make_server(start=False)
    server.configure()
    server.data_dir.mkdir(mode=0o700)
    with sqlite3.connect(server.data_dir / DATABASE, isolation_level=None) as old:
        migrate(old, MIGRATIONS[:-1] or MIGRATIONS)
    old.close()
    server.start()
    chat = server.new_chat()
    server.prompt(chat, "1", "hello")
    server.wait_idle(chat)
    assert server.all_events(chat)[-1]["outcome"] == "completed"


def test_r21_a_store_of_a_later_version_is_refused_and_not_touched(
    make_server: MakeServer,
) -> None:
    server = make_server()
    chat = server.new_chat()
    server.prompt(chat, "1", "hello")
    server.wait_idle(chat)
    server.stop()
    database = server.data_dir / DATABASE
    later = sqlite3.connect(database, isolation_level=None)
    later.execute(
        "INSERT INTO migrations (name, applied) VALUES ('m999_later', '2030-01-01T00:00:00Z')"
    )
    later.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    later.close()
    before = database.read_bytes()
    server.start()
    store = server.call("GET", "status")["store"]
    assert store["writable"] is False
    assert "newer" in store["notice"]
    server.stop()
    assert database.read_bytes() == before
