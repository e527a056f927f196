"""P13, P14, P15 over REST: opening a long chat, paging back, and a list of a thousand chats."""

from __future__ import annotations

import time
from pathlib import Path

from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.events import AssistantText, RunStarted, User
from jupyter_agentchat.protocol.resources import Author, Chat
from jupyter_agentchat.store.base import ChatRecord, Draft
from jupyter_agentchat.store.sqlite import open_store
from tests.bench.harness import JupyterServer, Row, jupyter_server, median, quantile, spread

OWNER = Author(username="owner", name="You")
SMALL, LONG, CHATS, TURN, READS = 1_000, 10_000, 1_000, 20, 60


def fill_long(data_dir: Path, root: Path) -> None:
    """Two chats, of 1,000 and 10,000 events, and a thousand with nothing in them."""
    store = open_store(data_dir, served_root=root.resolve())
    for number in range(CHATS):
        add_chat(store, f"chat{number}", root)
    for name, events in (("small", SMALL), ("long", LONG)):
        add_chat(store, name, root)
        for turn in range(events // TURN):
            texts = [
                Draft(AssistantText(item_id=f"{turn}.{n}", text="some words " * 10, final=True))
                for n in range(TURN - 2)
            ]
            user = User(text=f"prompt {turn}", author=OWNER, client_id=str(turn))
            drafts = [Draft(user), Draft(RunStarted(provider="scenario")), *texts]
            store.append(name, drafts, run_id=f"{name}{turn}")
    store.close()


def add_chat(store: object, name: str, root: Path) -> None:
    chat = Chat(id=name, title=f"About {name}", provider="scenario", created=now(), updated=now())
    store.create_chat(ChatRecord(chat, project_path=str(root.resolve())))  # type: ignore[attr-defined]


def times_ms(server: JupyterServer, route: str) -> list[float]:
    """A request again and again; the first one, which imports, apart."""
    server.call("GET", route)
    found = []
    for _ in range(READS):
        began = time.monotonic()
        server.call("GET", route)
        found.append((time.monotonic() - began) * 1000)
    return found


def run() -> list[Row]:
    """P13 (the server's part), P14 and P15 as a client sees them."""
    rows = []
    with jupyter_server(fill=fill_long) as server:
        bare = times_ms(server, "projects/trust?path=")
        for name, route, goal in (
            ("P13 last turns", "chats/{}/events?turns=10", "<= 10 ms, flat"),
            ("P14 page back", "chats/{}/events?turns=20&before=900", "<= 50 ms, flat"),
        ):
            small, long = (times_ms(server, route.format(chat)) for chat in ("small", "long"))
            rows.append(
                Row(
                    f"{name} of {LONG:,} events, REST", median(long), median(small), "ms", goal,
                    READS, f"floor: {SMALL:,} events", spread=spread(long),
                    peer="284 ms (JSONL of 100,000)",
                )
            )  # fmt: skip
        listed = times_ms(server, "chats?limit=100")
        rows.append(
            Row(
                f"P15 list, 100 of {CHATS:,}, REST", median(listed), median(bare), "ms",
                "<= 50 ms", READS, f"floor: a small request; p95 {quantile(listed, 0.95):.1f}",
                spread=spread(listed),
            )
        )  # fmt: skip
    return rows
