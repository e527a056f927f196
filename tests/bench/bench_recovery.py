"""P18, P19, P21, P25: kills, what comes after them, catching up, and two servers on one store."""

from __future__ import annotations

import asyncio
import json
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.bench.harness import (
    JupyterServer,
    Row,
    jupyter_server,
    median,
    next_frame,
    script,
    spread,
)
from tests.faults import killer
from tests.faults.servers import FaultServer, warm_servers
from tests.faults.test_clients import post, until_ended

KILLS = 100
EVENTS = 1_000
RACES = 30


async def catch_up_ms(server: JupyterServer, chat: str, last: int) -> tuple[float, int]:
    """(milliseconds, events that came) for a client that has missed the last 1,000."""
    connection = await server.connect()
    began, count, upto = time.monotonic(), 0, 0
    subscribe = {"type": "subscribe", "chat_id": chat, "after_seq": last - EVENTS}
    await connection.write_message(json.dumps(subscribe))
    while upto < last:
        frame = json.loads(await next_frame(connection))
        if frame["type"] == "events":
            count, upto = count + len(frame["events"]), frame["upto"]
    took = (time.monotonic() - began) * 1000
    connection.close()
    return took, count


def catch_up() -> Row:
    """P21."""
    with jupyter_server() as server:
        chat = server.new_chat()
        server.prompt(chat, "1", script({"flood": 1_500 * 100, "chunk": 100}))
        server.wait_idle(chat)
        last = server.call("GET", f"chats/{chat}")["last_seq"]
        found = [asyncio.run(catch_up_ms(server, chat, last)) for _ in range(9)]
    counts = {count for _, count in found}
    took = [value for value, _ in found]
    return Row(
        f"P21 catch-up of {EVENTS:,} events", median(took), None, "ms", "<= 100 ms", len(took),
        f"{counts} events came", peer="resends the full history", spread=spread(took),
    )  # fmt: skip


def two_servers() -> list[Row]:
    """P25: both get a prompt for the same chat at the same moment."""
    doubled, refused = 0, []
    with TemporaryDirectory() as name, warm_servers() as warm:
        homes = [Path(name, part) for part in "ab"]
        for home in homes:
            home.mkdir()
        first = FaultServer(homes[0], warm)
        second = FaultServer(homes[1], warm, data_dir=first.data_dir)
        second.root, second.journals = first.root, first.journals
        try:
            first.start()
            second.start()
            for _ in range(RACES):
                chat, began = first.new_chat(), time.monotonic()

                def send(server: FaultServer, chat: str = chat, began: float = began) -> None:
                    status, _ = post(server, chat, str(server.port), delivery="now")
                    if status == 409:
                        refused.append((time.monotonic() - began) * 1000)

                with ThreadPoolExecutor(2) as tabs:
                    list(tabs.map(send, (first, second)))
                until_ended(first, chat)
                seqs = [event["seq"] for event in first.all_events(chat)]
                doubled += len(seqs) - len(set(seqs))
        finally:
            first.end_everything()
            second.end_everything()
    return [
        Row("P25 two servers on one store: seqs used twice", doubled, None, "", "0", RACES,
            f"{len(refused)} of {RACES} losers were told", peer="17 % (JSONL, counter in memory)"),
        Row("P25 the loser sees `busy` after, max", max(refused, default=0), None, "ms",
            "<= 1000 ms", len(refused), spread=spread(refused)),
    ]  # fmt: skip


def run() -> list[Row]:
    """P18 and P19 by the killer of `make faults`, P21 and P25."""
    found = killer.summary(killer.run(KILLS, 2, 0, say=lambda _text: None))
    recovery = found["recovery_ms"]
    return [
        Row("P18 cases with anything lost, doubled or corrupt", len(found["failed"]), None, "", "0",
            found["kills"], f"{found['kills']} kills", peer="14 of 40 chats corrupt (jupyter-ai)"),
        Row("P19 the state is known again after the start, max", recovery.get("max", 0), None, "ms",
            "<= 2000 ms", recovery["n"], spread={"p50": recovery.get("p50", 0)},
            peer="stuck until a restart"),
        catch_up(),
        *two_servers(),
    ]  # fmt: skip
