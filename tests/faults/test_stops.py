"""R18, R22: servers that stop and start with work under way and work that waits."""

from __future__ import annotations

import time
from typing import Any

from tests.faults import oracle
from tests.faults.conftest import MakeServer
from tests.faults.figures import Figures
from tests.faults.killer import policies
from tests.faults.servers import FaultServer
from tests.server.conftest import script
from tests.server.jupyter_process import alive

LONG = {"say": "words " * 2_000, "chunks": 2_000, "rate": 200}


def queue_three(server: FaultServer) -> str:
    """A chat that works, with three prompts behind."""
    chat = server.new_chat()
    server.prompt(chat, "0", script({"say": "at work"}, {"sleep": 1.5}))
    for name in "abc":
        body = {"client_id": name, "text": script({"say": name}), "delivery": "queue"}
        assert server.call("POST", f"chats/{chat}/prompts", body)["queue_item"]
    return chat


def prompts_of(server: FaultServer, chat: str) -> list[str]:
    return [e["client_id"] for e in server.all_events(chat) if e["type"] == "user"]


def until_queue_is(server: FaultServer, chat: str, count: int) -> None:
    deadline = time.monotonic() + 20
    while len(server.call("GET", f"chats/{chat}/queue")["queue"]) != count:
        assert time.monotonic() < deadline, "the queue does not move"
        time.sleep(0.02)


def test_r18_after_a_clean_restart_what_waited_runs_in_order_and_once(
    make_server: MakeServer,
) -> None:
    server = make_server()
    chat = queue_three(server)
    server.stop()
    server.start()
    queue: Any = server.call("GET", f"chats/{chat}/queue")
    waiting = [item["client_id"] for item in queue["queue"]]
    assert waiting == ["a", "b", "c"][3 - len(waiting) :]
    if queue["paused"]:
        server.call("POST", f"chats/{chat}/queue/resume", {})
    until_queue_is(server, chat, 0)
    server.wait_idle(chat)
    assert prompts_of(server, chat) == ["0", "a", "b", "c"]
    assert oracle.log_faults(server.all_events(chat)) == []


def test_r18_after_a_crash_what_waited_waits_for_a_person(make_server: MakeServer) -> None:
    server = make_server()
    chat = queue_three(server)
    server.kill()
    server.start()
    server.wait_idle(chat)  # a run that was taken up again ends first
    time.sleep(0.3)
    queue = server.call("GET", f"chats/{chat}/queue")
    assert queue["paused"]
    assert queue["pause_reason"]
    assert [item["client_id"] for item in queue["queue"]] == ["a", "b", "c"]
    assert prompts_of(server, chat) == ["0"]
    server.call("POST", f"chats/{chat}/queue/resume", {})
    until_queue_is(server, chat, 0)
    server.wait_idle(chat)
    assert prompts_of(server, chat) == ["0", "a", "b", "c"]


def test_r18_after_a_crash_it_runs_by_itself_where_the_admin_says_so(
    make_server: MakeServer,
) -> None:
    server = make_server(traits={"queue_after_crash": "run"})
    chat = queue_three(server)
    server.kill()
    server.start()
    until_queue_is(server, chat, 0)
    server.wait_idle(chat)
    assert prompts_of(server, chat) == ["0", "a", "b", "c"]


def test_r22_a_graceful_stop_is_quick_and_tells_the_truth(
    make_server: MakeServer, figures: Figures
) -> None:
    server = make_server()
    busy = [server.new_chat() for _ in range(3)]
    stubborn = server.new_chat()
    for chat in busy:
        server.prompt(chat, "1", script(LONG))
    server.prompt(stubborn, "1", script("ignore_term", "ignore_cancel", {"daemon": 60}, "hang"))
    while any(len(server.events(chat)) < 5 for chat in busy):
        time.sleep(0.02)
    agents = server.agents()
    began = time.monotonic()
    server.stop()
    figures.note(
        "R22", "SIGTERM to the end, 4 runs, one stubborn", time.monotonic() - began, "s", 5
    )
    assert not any(alive(pid) for pid in agents)
    assert server.wait_family_gone(5) == []
    server.start()
    for chat in [*busy, stubborn]:
        events = server.all_events(chat)
        assert oracle.log_faults(events) == []
        assert events[-1]["outcome"] == "interrupted"
    assert oracle.store_faults(server.data_dir / "chats.sqlite3") == []


def test_r22_where_agents_may_go_on_a_graceful_stop_leaves_them_and_the_next_server_goes_on(
    make_server: MakeServer,
) -> None:
    assert policies() != [""], "there is no restart_policy"
    server = make_server(traits={"restart_policy": "reattach"})
    chat = server.new_chat()
    run = server.prompt(chat, "1", script({"say": "words " * 200, "chunks": 200, "rate": 100}))
    while len(server.events(chat)) < 5:
        time.sleep(0.02)
    server.stop()
    server.start()
    server.wait_idle(chat)
    events = server.all_events(chat)
    journal, processes = oracle.journal_of(server.journals, run["run_id"])
    assert (events[-1]["outcome"], processes) == ("completed", 1)
    assert not oracle.journal_faults(
        journal, events, run["run_id"], whole=True, tail_may_miss=False
    )
