"""How the store compares with the floor: a bare SQLite commit, and itself at 1,000 events.

Run alone: `python -m tests.bench.bench_store`. Ratios of one run count, absolute values do not.
"""

from __future__ import annotations

import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.events import AssistantText, RunStarted, User
from jupyter_agentchat.protocol.resources import Author, Chat
from jupyter_agentchat.store.base import ChatRecord, Draft, Lease, RunRecord, Store
from jupyter_agentchat.store.sqlite import open_store

Figure = dict[str, Any]
SIZES = (1_000, 10_000, 100_000, 1_000_000)
OWNER = Author(username="owner", name="Owner")
LEASE = Lease("bench", 1)


def append_against_a_bare_commit() -> list[Figure]:
    """One streamed delta of 100 bytes a transaction, with lease; and 20 of them in one."""
    return [_append(1, 4_000), _append(20, 400)]


def _append(batch: int, rounds: int) -> Figure:
    with _store() as (store, folder):
        _new_chat(store, "chat")
        store.start_run(RunRecord("run", "chat", "tour", lease=LEASE), _turn("0"))
        bare = _bare(folder)
        drafts = [Draft(AssistantText(item_id="item", delta="x" * 100))] * batch
        body = drafts[0].body.model_dump_json()
        ours, floor = [], []
        for turn in range(rounds):
            first = 1_000 + turn * batch
            rows = [("chat", first + n, now(), "run", body) for n in range(batch)]
            floor.append(_timed(lambda rows=rows: _bare_commit(bare, rows)))
            ours.append(_timed(lambda: store.append("chat", drafts, run_id="run", lease=LEASE)))
        bare.close()
    return _figure(f"append, {batch} a transaction", _p50(ours), _p50(floor), "us", rounds)


def durable_append_against_a_bare_commit() -> list[Figure]:
    """What a person was promised: synced to disk, both sides."""
    with _store() as (store, folder):
        _new_chat(store, "chat")
        bare = _bare(folder)
        bare.execute("PRAGMA synchronous=FULL")
        draft = Draft(User(text="x" * 100, author=OWNER, client_id="c"))
        body = draft.body.model_dump_json()
        ours, floor = [], []
        for turn in range(200):
            rows = [("chat", turn, now(), "run", body)]
            floor.append(_timed(lambda rows=rows: _bare_commit(bare, rows)))
            ours.append(_timed(lambda: store.append("chat", [draft], durable=True)))
        bare.close()
    return [_figure("append, durable", _p50(ours), _p50(floor), "us", 200)]


def reading_is_flat() -> list[Figure]:
    """The same page out of 1,000 to 1,000,000 events (a store of 750 MB); the floor is 1,000."""
    times: dict[str, list[float]] = {}
    for size in SIZES:
        with _store() as (store, _):
            _new_chat(store, "chat")
            _fill(store, "chat", size)
            for name, read in _reads(store, size).items():
                read()
                times.setdefault(name, []).append(_p50([_timed(read) for _ in range(60)]))
    figures = []
    for name, (small, *larger) in times.items():
        for size, value in zip(SIZES[1:], larger, strict=True):
            figures.append(_figure(f"{name}, {size:,} events", value, small, "us", 60))
    return figures


def chat_list_of_a_thousand() -> list[Figure]:
    """The first 100 of 1,000 chats; the floor is the bare query of the same rows."""
    with _store() as (store, folder):
        for number in range(1_000):
            _new_chat(store, f"chat-{number}")
        bare = sqlite3.connect(f"file:{folder / 'chats.sqlite3'}?mode=ro", uri=True)
        query = "SELECT * FROM chats ORDER BY updated DESC LIMIT 100"
        floor, ours = [], []
        for _ in range(100):
            floor.append(_timed(lambda: bare.execute(query).fetchall()))
            ours.append(_timed(lambda: store.list_chats(limit=100)))
        bare.close()
    return [_figure("chat list, 100 of 1,000", _p50(ours), _p50(floor), "us", 100)]


def opening() -> list[Figure]:
    """Opening 10,000 events, checked; the floor is a bare connection and one query."""
    with _store() as (store, folder):
        _new_chat(store, "chat")
        _fill(store, "chat", 10_000)
        store.close()
        floor = [_timed(lambda: _open_bare(folder)) for _ in range(20)]
        ours = [_timed(lambda: open_store(folder).close()) for _ in range(20)]
    return [_figure("open and close, 10,000 events", _p50(ours), _p50(floor), "us", 20)]


BENCHES: list[Callable[[], list[Figure]]] = [
    append_against_a_bare_commit,
    durable_append_against_a_bare_commit,
    reading_is_flat,
    chat_list_of_a_thousand,
    opening,
]


def run() -> list[Figure]:
    """Every figure: name, ours, floor, ratio, unit and n."""
    return [figure for bench in BENCHES for figure in bench()]


def _reads(store: Store, size: int) -> dict[str, Callable[[], object]]:
    middle = size // 2
    return {
        "last page of 200": lambda: store.events_before("chat", None, limit=200),
        "page back from the middle": lambda: store.events_before("chat", middle, limit=200),
        "replay 200 from the middle": lambda: store.events_after("chat", middle, limit=200),
        "last 10 turns": lambda: store.turns_before("chat", None, turns=10),
        "last seq": lambda: store.last_seq("chat"),
    }


def _fill(store: Store, chat_id: str, size: int) -> None:
    """Turns of 20 events each."""
    for number in range(size // 20):
        text = [
            Draft(AssistantText(item_id=f"{number}.{n}", text="x" * 100, final=True))
            for n in range(18)
        ]
        store.append(chat_id, [*_turn(str(number)), *text], run_id=f"run-{number}")


def _turn(client_id: str) -> list[Draft]:
    user = User(text="Hello", author=OWNER, client_id=client_id)
    return [Draft(user), Draft(RunStarted(provider="tour"))]


def _new_chat(store: Store, chat_id: str) -> None:
    chat = Chat(id=chat_id, title=f"About {chat_id}", created=now(), updated=now())
    store.create_chat(ChatRecord(chat, project_path="/home/owner/project"))


@contextmanager
def _store() -> Iterator[tuple[Store, Path]]:
    folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
    store = open_store(folder)
    try:
        yield store, folder
    finally:
        store.close()
        shutil.rmtree(folder)


def _bare(folder: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(folder / "bare.sqlite3", isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute(
        "CREATE TABLE events (chat_id TEXT, seq INTEGER, time TEXT, run_id TEXT, body TEXT, "
        "PRIMARY KEY (chat_id, seq)) WITHOUT ROWID"
    )
    return connection


def _bare_commit(connection: sqlite3.Connection, rows: list[tuple[object, ...]]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    for row in rows:
        connection.execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", row)
    connection.execute("COMMIT")


def _open_bare(folder: Path) -> None:
    connection = sqlite3.connect(folder / "chats.sqlite3")
    connection.execute("SELECT count(*) FROM chats").fetchone()
    connection.close()


def _timed(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return (time.perf_counter() - begin) * 1e6


def _p50(values: list[float]) -> float:
    return statistics.median(values)


def _figure(name: str, ours: float, floor: float, unit: str, n: int) -> Figure:
    return {
        "name": name,
        "ours": round(ours, 1),
        "floor": round(floor, 1),
        "ratio": round(ours / floor, 2),
        "unit": unit,
        "n": n,
    }


def main() -> None:
    print(f"{'store':44}{'ours':>12}{'floor':>12}{'ratio':>8}{'n':>7}")
    for figure in run():
        ours, floor = (f"{figure[key]:,} {figure['unit']}" for key in ("ours", "floor"))
        print(f"{figure['name']:44}{ours:>12}{floor:>12}{figure['ratio']:>8}{figure['n']:>7}")


if __name__ == "__main__":
    main()
