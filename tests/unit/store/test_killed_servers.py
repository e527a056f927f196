"""What a client was shown is still there after its server was killed, and two servers never mix."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

from jupyter_agentchat.store.base import StoredEvent
from jupyter_agentchat.store.conformance_samples import record
from jupyter_agentchat.store.sqlite import SqliteStore, open_store
from tests.unit.store.writers import writers_of

WRITER = "writer"
KILLS = 30


def _all_events(store: SqliteStore, chat_id: str) -> list[StoredEvent]:
    events: list[StoredEvent] = []
    while True:
        page = store.events_after(chat_id, events[-1].seq if events else 0)
        events += page.events
        if not page.has_more:
            return events


def _open(data_dir: Path) -> SqliteStore:
    store = open_store(data_dir)
    assert isinstance(store, SqliteStore)
    assert store.health.notice is None
    return store


def test_thirty_killed_servers_lose_nothing_that_a_client_was_shown(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with closing(_open(data_dir)) as store:
        store.create_chat(record("chat"))
    random = Random(2)
    shown: dict[int, dict[str, Any]] = {}
    with writers_of(WRITER, data_dir) as writers:
        for kill in range(KILLS):
            writers.start("chat", kill)
            pid = writers.line()["pid"]
            wanted = random.randint(0, 60)
            heard = 0
            while heard < wanted:
                line = writers.line()
                heard += 1
                shown[line["seq"]] = json.loads(line["body"])
            os.kill(pid, signal.SIGKILL)
            writers.start("chat", 1_000 + kill, 1)  # its lines end what the killed one had said
            while "done" not in (line := writers.line()):
                if "seq" in line:
                    shown[line["seq"]] = json.loads(line["body"])
            with closing(_open(data_dir)) as store:
                events = _all_events(store, "chat")
                assert store.database.rows("PRAGMA quick_check") == [("ok",)]
                assert store.last_seq("chat") == max(shown), f"after kill {kill}"
            stored = {event.seq: json.loads(event.body_json) for event in events}
            finals = {
                body["item_id"]: body["text"] for body in stored.values() if body.get("final")
            }
            for seq, body in shown.items():
                kept = stored.get(seq) == body
                joined = body.get("delta") and body["delta"] in finals.get(body["item_id"], "")
                assert kept or joined, f"kill {kill}: {body} was shown as {seq} and is lost"
            assert [event.seq for event in events] == sorted(stored), f"kill {kill}"


def test_two_servers_on_one_chat_never_use_a_number_twice(tmp_path: Path) -> None:
    data_dir = tmp_path / "data"
    with closing(_open(data_dir)) as store:
        store.create_chat(record("chat"))
    each = 300
    seqs: list[int] = []
    ended = 0
    with writers_of(WRITER, data_dir) as writers:
        writers.start("chat", 1, each)
        writers.start("chat", 2, each)
        while ended < 2:
            line = writers.line()
            ended += "done" in line
            if "seq" in line:
                seqs.append(line["seq"])
    assert sorted(seqs) == list(range(1, 2 * each + 1))
