"""R6, R7, R8, R17, R19: many clients, slow ones, racing ones, and those that vanish."""

from __future__ import annotations

import asyncio
import json
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_agentchat.protocol.base import now
from jupyter_agentchat.protocol.events import AssistantText, RunStarted, User
from jupyter_agentchat.protocol.resources import Author, Chat
from jupyter_agentchat.store.base import ChatRecord, Draft
from jupyter_agentchat.store.sqlite import open_store
from tests.faults import oracle
from tests.faults.client import Client, wait_for
from tests.faults.conftest import MakeServer
from tests.faults.figures import Figures, size
from tests.faults.servers import FaultServer
from tests.server.conftest import script


class Listener(Client):
    """A client that compares the agent's clock with its own: `{"stamp": n}` prompts."""

    def __init__(self, server: FaultServer, chat_id: str) -> None:
        super().__init__(server, chat_id)
        self.heard: list[tuple[float, float]] = []

    def _show(self, event: dict[str, Any]) -> None:
        if event.get("type") == "assistant_text" and event.get("delta"):
            at = time.monotonic_ns()
            stamps = [
                int(part) for part in event["delta"].split() if part.isdigit() and len(part) > 9
            ]
            self.heard += [(at / 1e9, (at - stamp) / 1e6) for stamp in stamps]
        super()._show(event)


def p99(values: list[float]) -> float:
    return sorted(values)[int(0.99 * (len(values) - 1))] if values else 0.0


class Stalled(Client):
    """Reads until it follows the chat, and then nothing until `listens` is set again."""

    def __init__(self, server: FaultServer, chat_id: str) -> None:
        super().__init__(server, chat_id)
        self.listens = asyncio.Event()
        self.listens.set()

    async def _take(self, frame: dict[str, Any]) -> None:
        await self.listens.wait()
        await super()._take(frame)


def test_r6_a_page_that_stalls_costs_little_memory_and_catches_up(
    make_server: MakeServer, figures: Figures
) -> None:
    server, produced = make_server(), size(16, 160) * 1_000_000
    flooded, quiet = server.new_chat(), server.new_chat()
    rate = size(250, 160)
    stamps = script({"stamp": produced // 32_768 * 50 // rate, "rate": 50})

    async def flood(name: str, slow: Stalled | None) -> list[float]:
        listener = Listener(server, quiet)
        listener.start()
        run = script({"flood": produced, "chunk": 32_768, "rate": rate})
        beside = (await asyncio.to_thread(server.prompt, quiet, name, stamps))["run_id"]
        if slow is not None:
            slow.listens.clear()
        await asyncio.to_thread(server.prompt, flooded, name, run)
        assert await wait_for(lambda: listener.ended(beside), 120)
        await asyncio.to_thread(server.wait_idle, flooded)
        await listener.close()
        return [latency for _, latency in listener.heard]

    async def scenario() -> None:
        alone = await flood("1", None)
        before = server.rss_mb()
        slow = Stalled(server, flooded)
        slow.upto = since = server.call("GET", f"chats/{flooded}")["last_seq"]
        slow.start()
        assert await wait_for(lambda: slow.sync, 10)
        beside = await flood("2", slow)
        grown = server.rss_mb() - before
        figures.note("R6", f"server memory, {produced // 10**6} MB unread", grown, "MB", 20)
        ratio = p99(beside) / max(p99(alone), 1.0)
        figures.note("R6", "the others' p99, against without it", ratio, "x", 2)
        slow.listens.set()
        last = server.call("GET", f"chats/{flooded}")["last_seq"]
        assert await slow.until_seen(last, 120)
        assert slow.gaps == 1
        assert slow.faults == []
        assert sorted(slow.seen) == list(range(since + 1, last + 1))
        await slow.close()

    asyncio.run(scenario())


def test_r7_many_chats_at_once_never_mix_and_all_end(
    make_server: MakeServer, figures: Figures
) -> None:
    chats, count = size(8, 50), size(25, 100)
    server = make_server(traits={"max_concurrent_runs": chats, "idle_process_timeout": 0.5})
    # the baseline is a server that has done as much before
    first = [server.new_chat() for _ in range(chats)]
    for chat in first:
        server.prompt(chat, "1", script({"say": "hello " * 500, "chunks": 100}))
    for chat in first:
        server.wait_idle(chat)
        server.call("DELETE", f"chats/{chat}")
    assert not server.wait_family_gone(20)
    files, memory = server.open_files(), server.rss_mb()

    async def scenario() -> None:
        names = [server.new_chat() for _ in range(chats)]
        listeners = [Listener(server, name) for name in names]
        for listener in listeners:
            listener.start()
        wait_s = chats * 0.12 + 0.5
        runs = []
        for number, name in enumerate(names):
            text = script(
                {"say": f"chat {number}"},
                {"sleep": wait_s}, {"stamp": count, "rate": 20}, {"say": f"chat {number} ends"},
            )  # fmt: skip
            runs.append((await asyncio.to_thread(server.prompt, name, "1", text))["run_id"])
        for listener, run_id in zip(listeners, runs, strict=True):
            assert await wait_for(lambda listener=listener, run=run_id: listener.ended(run), 120)
        for number, (listener, run_id) in enumerate(zip(listeners, runs, strict=True)):
            events = await asyncio.to_thread(server.all_events, listener.chat_id)
            assert events[-1]["outcome"] == "completed"
            journal, _ = oracle.journal_of(server.journals, run_id)
            assert not oracle.journal_faults(
                journal, events, run_id, whole=True, tail_may_miss=False
            )
            assert listener.faults == []
            assert oracle.rendering_faults(listener.rendering, events) == []
            texts = json.dumps(listener.rendering.shown())
            assert f"chat {number} ends" in texts
            await listener.close()
        # steady state: from where the last of them has begun
        steady = max(listener.heard[0][0] for listener in listeners) + 0.3
        heard = [late for it in listeners for at, late in it.heard if at > steady]
        figures.note("R7", f"{chats} chats x 20/s, p99 of an event", p99(heard), "ms", 50)
        for name in names:
            await asyncio.to_thread(server.call, "DELETE", f"chats/{name}")

    asyncio.run(scenario())
    assert server.wait_family_gone(20) == []
    # once, after 500 commits, the store opens a second connection to look after itself
    upkeep = [str(server.data_dir / name) for name in ("chats.sqlite3", "chats.sqlite3-wal")]
    expected = (files, sorted(files + upkeep))
    deadline = time.monotonic() + 10
    while (still := server.open_files()) not in expected and time.monotonic() < deadline:
        time.sleep(0.05)
    assert still in expected
    grown = 100 * (server.rss_mb() - memory) / memory
    figures.note("R7", "memory afterwards, against before", grown, "%", 5)


def fill_chat(data_dir: Path, root: Path, events: int) -> str:
    """A store with one chat of that many events, 20 to a turn."""
    store = open_store(data_dir, served_root=root)
    chat = Chat(id="long", title="Long", provider="scenario", created=now(), updated=now())
    store.create_chat(ChatRecord(chat, project_path=str(root)))
    owner = Author(username="owner", name="You")
    for turn in range(events // 20):
        texts = [
            Draft(AssistantText(item_id=f"{turn}.{n}", text="word " * 20, final=True))
            for n in range(18)
        ]
        user = User(text=f"prompt {turn}", author=owner, client_id=str(turn))
        start = Draft(RunStarted(provider="scenario"))
        store.append("long", [Draft(user), start, *texts], run_id=f"run{turn}")
    store.close()
    return "long"


def test_r8_a_long_chat_is_opened_and_paged_by_its_page_not_by_its_length(
    make_server: MakeServer, figures: Figures
) -> None:
    server, events = make_server(start=False), size(4_000, 10_000)
    server.configure()
    chat = fill_chat(server.data_dir, server.root.resolve(), events)
    server.start()
    server.call("GET", f"chats/{chat}/events?turns=1")
    before, times = server.rss_mb(), []
    page = server.call("GET", f"chats/{chat}/events?turns=10")
    assert (len(page["events"]), page["has_more"], page["last_seq"]) == (200, True, events)
    seen = len(page["events"])
    while page["has_more"]:
        first = page["events"][0]["seq"]
        began = time.monotonic()
        page = server.call("GET", f"chats/{chat}/events?turns=20&before={first}")
        times.append((time.monotonic() - began) * 1000)
        assert [event["seq"] for event in page["events"]] == list(range(first - 400, first))[
            -len(page["events"]) :
        ]
        seen += len(page["events"])
    assert seen == events
    figures.note("R8", f"a page back of {events} events, p99", p99(times), "ms", 50)
    figures.note("R8", "memory for all of them", server.rss_mb() - before, "MB", 5)


def post(server: FaultServer, chat: str, client_id: str, **fields: Any) -> tuple[int, Any]:
    body = {"client_id": client_id, "text": script({"sleep": 0.3}, {"say": client_id}), **fields}
    try:
        return 202, server.call("POST", f"chats/{chat}/prompts", body)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def until_ended(server: FaultServer, chat: str) -> None:
    """By the log: the run may be another server's."""
    deadline = time.monotonic() + 20
    while not any(event["type"] == "complete" for event in server.all_events(chat)):
        assert time.monotonic() < deadline, "the run does not end"
        time.sleep(0.02)


def test_r17_of_two_tabs_that_send_at_once_one_runs_and_the_other_is_told(
    make_server: MakeServer,
) -> None:
    server = make_server()
    for _ in range(size(4, 30)):
        chat = server.new_chat()
        with ThreadPoolExecutor(2) as tabs:
            send = partial(post, server, chat, delivery="now")
            answers = list(tabs.map(send, "ab"))
        assert sorted(status for status, _ in answers) == [202, 409]
        (refused,) = [body for status, body in answers if status == 409]
        assert refused["error"]["code"] == "busy"
        (accepted,) = [tab for tab, (status, _) in zip("ab", answers, strict=True) if status == 202]
        server.wait_idle(chat)
        users = [e["client_id"] for e in server.all_events(chat) if e["type"] == "user"]
        assert users == [accepted]


def test_r17_of_two_servers_on_one_store_one_runs_the_chat(make_server: MakeServer) -> None:
    first = make_server()
    second = make_server(start=False, data_dir=first.data_dir)
    second.root, second.journals = first.root, first.journals
    second.start()
    for _ in range(size(3, 20)):
        chat = first.new_chat()
        with ThreadPoolExecutor(2) as tabs:
            sent = list(tabs.map(lambda it: post(*it, delivery="now"), [
                (first, chat, "a"), (second, chat, "b"),
            ]))  # fmt: skip
        assert sorted(status for status, _ in sent) == [202, 409]
        until_ended(first, chat)
        events = first.all_events(chat)
        assert oracle.log_faults(events) == []
        assert [e["type"] for e in events].count("complete") == 1


def test_r17_a_prompt_that_is_sent_again_after_a_lost_answer_runs_once(
    make_server: MakeServer,
) -> None:
    server = make_server()
    chat = server.new_chat()
    answers = [post(server, chat, "same") for _ in range(3)]
    assert len({json.dumps(answer) for answer in answers}) == 1
    server.kill()
    server.start()
    assert post(server, chat, "same") == answers[0]
    server.wait_idle(chat)
    events = server.all_events(chat)
    assert [e["type"] for e in events].count("user") == 1
    assert oracle.journal_of(server.journals, answers[0][1]["run_id"])[1] <= 1


def test_r19_a_draft_outlives_the_browser_and_the_server(make_server: MakeServer) -> None:
    server = make_server()
    chat = server.new_chat()
    revision = server.call("GET", f"chats/{chat}/draft")["revision"]
    draft = {"text": "half a thought é", "attachments": [], "revision": revision}
    kept = server.call("PUT", f"chats/{chat}/draft", draft)
    server.kill()
    server.start()
    found = server.call("GET", f"chats/{chat}/draft")
    assert (found["text"], found["revision"]) == ("half a thought é", kept["revision"])
