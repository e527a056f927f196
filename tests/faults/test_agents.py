"""R13, R14, R15: agents that write garbage, die, or do not want to stop."""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any

import pytest

from tests.faults import oracle
from tests.faults.client import Client, wait_for
from tests.faults.conftest import MakeServer
from tests.faults.figures import Figures, size
from tests.faults.servers import FaultServer
from tests.server.conftest import script

NAMED = {"process_exit", "spawn_failed", "provider_missing", "protocol_error", "timeout"}
GARBAGE: dict[str, tuple[list[Any], str]] = {
    "a line of 50 MB": ([{"huge_line": 50_000_000}, {"say": "after"}], "completed"),
    "bytes that are no UTF-8": (["bad_bytes", {"say": "after"}], "completed"),
    "NUL and a lone surrogate": (["nul", {"say": "after"}], "completed"),
    "JSON 100,000 deep": ([{"deep_json": 100_000}, {"say": "after"}], "completed"),
    "an unknown type": (["unknown_type", {"say": "after"}], "completed"),
    "no JSON at all": ([{"raw": "Segmentation fault"}, {"say": "after"}], "completed"),
    "half a line and then nothing": ([{"say": "before"}, "torn"], "failed"),
    "very many tiny lines": ([{"burst": size(10_000, 1_000_000)}, {"say": "after"}], "completed"),
}


async def longest_stall_ms(server: FaultServer, chat: str, until: Any) -> float:
    """The longest that the server let a ping wait, while `until` was false."""
    client = Client(server, chat)
    client.start()
    assert await wait_for(lambda: client.sync, 15)
    worst = 0.0
    while not until(client):
        began = time.monotonic()
        await asyncio.to_thread(server.call, "GET", f"chats/{chat}/asks")
        worst = max(worst, (time.monotonic() - began) * 1000)
        assert not client.faults, client.faults
        await asyncio.sleep(0.003)
    await client.close()
    return worst


@pytest.mark.parametrize("what", GARBAGE)
def test_r13_garbage_from_an_agent_ends_in_a_word_and_never_in_silence(
    make_server: MakeServer, figures: Figures, what: str
) -> None:
    steps, outcome = GARBAGE[what]
    server = make_server()
    chat = server.new_chat()
    server.prompt(chat, "0", "hello")
    server.wait_idle(chat)
    before = server.rss_mb()
    run_id = server.prompt(chat, "1", script(*steps))["run_id"]
    stall = asyncio.run(longest_stall_ms(server, chat, lambda client: client.ended(run_id)))
    figures.note("R13", f"{what}: memory", server.rss_mb() - before, "MB", 64)
    figures.note("R13", f"{what}: longest wait of another request", stall, "ms", 50)
    events = server.all_events(chat)
    assert oracle.log_faults(events) == []
    mine = [event for event in events if event["run_id"] == run_id]
    assert mine[-1]["outcome"] == outcome
    assert json.dumps(mine).isascii() or "\ud83d" not in json.dumps(mine, ensure_ascii=False)
    if outcome == "completed":
        assert any(e.get("text") == "after" for e in mine)
    else:
        assert {e["code"] for e in mine if e["type"] == "error"} <= NAMED
    dropped = what in ("a line of 50 MB", "JSON 100,000 deep", "an unknown type", "no JSON at all")
    assert any(e["type"] == "notice" for e in mine) or not dropped


DEATHS: dict[str, list[Any]] = {
    "exits 1 with a word on stderr": [{"stderr": "out of cheese"}, {"exit": 1}],
    "exits 1 silently": [{"exit": 1}],
    "exits 0 without a result": [{"say": "so"}, {"exit": 0}],
    "is killed by a signal": [{"say": "so"}, {"die": 9}],
    "crashes": [{"die": 11}],
}


@pytest.mark.parametrize("how", DEATHS)
def test_r14_an_agent_that_dies_says_why_and_the_chat_is_free_at_once(
    make_server: MakeServer, figures: Figures, how: str
) -> None:
    server = make_server()
    chat = server.new_chat()
    server.prompt(chat, "0", "hello")
    server.wait_idle(chat)
    began = time.monotonic()
    server.prompt(chat, "1", script(*DEATHS[how]))
    server.wait_idle(chat)
    figures.note("R14", f"{how}: chat free after", time.monotonic() - began, "s", 1)
    (error,) = [e for e in server.all_events(chat) if e["type"] == "error"]
    assert error["code"] == "process_exit"
    detail = error["detail"]
    assert detail.get("exit_code") is not None or detail.get("signal")
    assert "cheese" in detail.get("stderr_tail", "") or "cheese" not in str(DEATHS[how])
    server.prompt(chat, "2", "and now?")
    server.wait_idle(chat)
    assert server.all_events(chat)[-1]["outcome"] == "completed"


def test_r14_an_agent_that_is_not_there_is_said_to_be_missing(make_server: MakeServer) -> None:
    ghost = {"kind": "native", "command": ["/nonexistent/agent"]}
    server = make_server(traits={"provider_settings": {"ghost": ghost}})
    chat = server.new_chat(provider="ghost")
    server.prompt(chat, "1", "hello")
    server.wait_idle(chat)
    events = server.all_events(chat)
    assert events[-1]["outcome"] == "failed"
    assert events[-2]["code"] in ("provider_missing", "spawn_failed")


def test_r15_a_stubborn_agent_is_stopped_with_all_that_it_left_behind(
    make_server: MakeServer, figures: Figures
) -> None:
    server = make_server()
    chat = server.new_chat()
    steps = script("ignore_term", "ignore_cancel", {"fork": 90}, {"daemon": 90}, "hang")
    run_id = server.prompt(chat, "1", steps)["run_id"]
    while len(server.agents()) < 3:  # itself, its fork and its daemon
        time.sleep(0.02)

    async def scenario() -> None:
        client = Client(server, chat)
        client.start()
        assert await wait_for(lambda: client.sync, 10)
        began = time.monotonic()
        await asyncio.to_thread(server.call, "POST", f"chats/{chat}/cancel", {})
        assert await wait_for(lambda: client.sync.get("phase") == "cancelling", 5)
        figures.note("R15", "the composer is free again after", time.monotonic() - began, "s", 1)
        assert await wait_for(lambda: client.ended(run_id), 20)
        assert await asyncio.to_thread(server.wait_family_gone, 20) == []
        figures.note("R15", "agent, fork and daemon gone after", time.monotonic() - began, "s", 5)
        await client.close()

    asyncio.run(scenario())
    assert server.all_events(chat)[-1]["outcome"] == "cancelled"
    server.prompt(chat, "2", "and now?")
    server.wait_idle(chat)
    assert server.all_events(chat)[-1]["outcome"] == "completed"
