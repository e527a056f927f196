"""R1 to R5: servers and agents are killed, networks are cut, and the chat is whole."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from contextlib import suppress
from random import Random

import pytest

from tests.faults import oracle
from tests.faults.case import Case, wait_for
from tests.faults.client import Client
from tests.faults.conftest import MakeServer
from tests.faults.figures import Figures, size
from tests.faults.killer import policies
from tests.faults.servers import FaultServer, WarmServers
from tests.server.conftest import script

STREAM = script(
    {"tool": {"title": "before", "output": "a"}},
    {"say": "words and words " * 100, "chunks": 200, "rate": 130},
    {"tool": {"title": "after", "output": "b"}},
)


def without_faults(server: FaultServer, chat_id: str, run_id: str, *, whole: bool) -> str:
    """Assert that log and journal agree; the run's outcome."""
    events = server.all_events(chat_id)
    assert oracle.log_faults(events) == []
    journal, processes = oracle.journal_of(server.journals, run_id)
    assert processes == 1
    faults = oracle.journal_faults(journal, events, run_id, whole=whole, tail_may_miss=False)
    assert faults == []
    (outcome,) = [e["outcome"] for e in events if e["type"] == "complete" and e["run_id"] == run_id]
    return str(outcome)


@pytest.mark.parametrize("number", range(2, 5))
def test_r1_nothing_that_was_shown_is_lost_or_doubled_when_things_are_killed(
    warm: WarmServers, number: int
) -> None:
    case = Case(number, warm, real=False, policies=policies())
    assert asyncio.run(case.play()).faults == []


def test_r2_no_chat_is_stuck_when_server_and_agent_were_killed(
    make_server: MakeServer, figures: Figures
) -> None:
    server = make_server()
    chats = [server.new_chat() for _ in range(4)]
    for chat in chats:
        server.prompt(chat, "1", STREAM)
    while any(len(server.events(chat)) < 8 for chat in chats):
        time.sleep(0.02)
    agents = server.agents()
    assert len(agents) == 4
    server.kill()
    for pid in agents:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    ready = server.start()
    while any(server.call("GET", f"chats/{chat}")["state"] != "idle" for chat in chats):
        assert time.monotonic() < ready + 15, "a chat is stuck"
        time.sleep(0.01)
    figures.note("R2", "all dead, 4 chats free after", time.monotonic() - ready, "s", 2)
    for chat in chats:
        events = server.all_events(chat)
        assert oracle.log_faults(events) == []
        assert events[-1]["outcome"] in ("interrupted", "failed")
        server.prompt(chat, "2", "and now?")
        server.wait_idle(chat)
        assert server.all_events(chat)[-1]["outcome"] == "completed"


def test_r3_with_the_policy_stop_nothing_of_a_run_survives_the_next_start(
    make_server: MakeServer, figures: Figures
) -> None:
    traits = {"restart_policy": "stop"} if policies() != [""] else {}
    server = make_server(traits=traits)
    chat = server.new_chat()
    server.prompt(chat, "1", script("ignore_term", {"fork": 90}, {"daemon": 90}, "hang"))
    while len(server.agents()) < 3:  # itself, its fork and its daemon
        time.sleep(0.02)
    server.kill()
    assert server.family(), "the daemon and the fork outlive the server"
    ready = server.start()
    assert server.wait_family_gone(15) == []
    figures.note("R3", "agent, fork and daemon gone after", time.monotonic() - ready, "s", 10)
    assert server.all_events(chat)[-1]["outcome"] == "interrupted"


def test_r4_what_the_agent_said_while_the_server_was_down_arrives_once(
    make_server: MakeServer, figures: Figures
) -> None:
    server = make_server()
    chat = server.new_chat()
    run_id = server.prompt(chat, "1", STREAM)["run_id"]

    async def scenario() -> None:
        client = Client(server, chat)
        client.start()
        for _ in range(size(1, 3)):
            seen = client.upto
            assert await wait_for(lambda seen=seen: client.upto > seen + 4, 15)
            server.kill()
            await asyncio.sleep(0.15)
            ready = await asyncio.to_thread(server.start)
            since = client.upto
            assert await wait_for(lambda since=since: client.upto > since, 15)
            figures.note("R4", "events flow again after", time.monotonic() - ready, "s", 2)
        assert await wait_for(lambda: client.ended(run_id), 25)
        assert client.faults == []
        events = await asyncio.to_thread(server.all_events, chat)
        assert await client.until_seen(events[-1]["seq"])
        assert oracle.rendering_faults(client.rendering, events) == []
        await client.close()

    asyncio.run(scenario())
    assert without_faults(server, chat, run_id, whole=True) == "completed"


def test_r4_an_ask_that_was_open_when_the_server_died_can_still_be_answered(
    make_server: MakeServer,
) -> None:
    server = make_server()
    chat = server.new_chat()
    run_id = server.prompt(chat, "1", script({"ask": {}, "allow": [{"say": "thank you"}]}))[
        "run_id"
    ]
    while not server.call("GET", f"chats/{chat}/asks")["asks"]:
        time.sleep(0.02)
    server.kill()
    server.start()
    (ask,) = server.call("GET", f"chats/{chat}/asks")["asks"]
    answer = {"decision": "allow", "option_id": "allow_once"}
    server.call("POST", f"chats/{chat}/asks/{ask['ask_id']}", answer)
    server.wait_idle(chat)
    assert without_faults(server, chat, run_id, whole=True) == "completed"


def test_r5_a_page_whose_network_is_cut_again_and_again_shows_what_the_store_holds(
    make_server: MakeServer, figures: Figures
) -> None:
    server, cuts, random = make_server(), size(15, 200), Random(5)
    chat = server.new_chat()
    words = script({"say": "some more words " * 2_000, "chunks": 8_000, "rate": 400})

    async def scenario() -> None:
        client = Client(server, chat)
        client.start()
        run_id = (await asyncio.to_thread(server.prompt, chat, "1", words))["run_id"]
        for _ in range(cuts):
            await asyncio.sleep(random.uniform(0.02, 0.12))
            client.cut()
        server.call("POST", f"chats/{chat}/cancel", {})
        assert await wait_for(lambda: client.ended(run_id), 30)
        events = await asyncio.to_thread(server.all_events, chat)
        assert await client.until_seen(events[-1]["seq"])
        assert client.connects > cuts // 2
        assert client.faults == []
        assert oracle.client_faults(client.seen, events) == []
        assert oracle.rendering_faults(client.rendering, events) == []
        waits = sorted(client.catch_up_ms)
        figures.note("R5", f"catch-up, p50 of {len(waits)} cuts", waits[len(waits) // 2], "ms", 50)
        await client.close()

    asyncio.run(scenario())
