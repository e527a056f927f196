"""The server is killed with SIGKILL and started again: its runs go on as if nothing had been."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.conftest import script
from tests.server.jupyter_process import JupyterProcess
from tests.server.watcher import Watcher

WORDS = "word " * 1500


@pytest.fixture
def server(tmp_path: Path) -> Iterator[JupyterProcess]:
    one = JupyterProcess(tmp_path, traits={"max_concurrent_runs": 20})
    try:
        yield one
    finally:
        one.stop()
        left = one.agents()
        one.end_agents()
        assert left == []


def says(text: str) -> Any:
    """Whether the answer's final text is stored."""
    return lambda events: any(e.get("text") == text and e.get("final") for e in events)


def outcome(server: JupyterProcess, chat_id: str) -> str:
    (end,) = [e for e in server.events(chat_id) if e["type"] == "complete"]
    return str(end["outcome"])


def text_of(events: list[dict[str, Any]]) -> str:
    """The answer as a person reads it: finals replace their deltas."""
    items: dict[str, str] = {}
    for event in events:
        if event["type"] == "assistant_text":
            name, seen = event["item_id"], items.get(event["item_id"], "")
            items[name] = event["text"] if event["final"] else seen + event["delta"]
    return "".join(items.values())


STREAM = script({"say": WORDS, "chunks": 1500, "rate": 75})
ASKS = script({"ask": {"title": "Go on?"}}, {"say": "{answer}", "chunks": 1})
WAITS = script({"say": "at work"}, {"sleep": 600})
KILLED = script({"say": "{pid}", "chunks": 1}, {"sleep": 600})
DIES = script({"say": "at work"}, {"sleep": 3}, {"say": "last words"}, {"exit": 7})
ENDS = script({"say": "at work"}, {"sleep": 3}, {"say": "done meanwhile"})


@pytest.mark.timeout(180)
def test_every_run_of_a_killed_server_goes_on_or_gets_its_true_end(server: JupyterProcess) -> None:
    server.start()
    scripts = {"stream": STREAM, "ask": ASKS, "stop": WAITS, "steer": WAITS, "kill": KILLED}
    scripts |= {"dies": DIES, "ends": ENDS}
    chats = {}
    for name, text in scripts.items():
        chats[name] = server.call("POST", "chats", {"provider": "scenario"})["id"]
        server.prompt(chats[name], text)
    watcher = Watcher(server, chats["stream"])
    for name in ("stop", "steer", "dies", "ends"):
        server.until(chats[name], says("at work"))
    server.until(chats["kill"], lambda events: events[-1].get("final"))
    server.until(chats["ask"], lambda events: events[-1]["type"] == "ask")
    watcher.until(lambda: len(watcher.events) > 20)
    victim = int(text_of(server.events(chats["kill"])))
    server.kill()

    os.kill(victim, signal.SIGKILL)
    deadline = time.monotonic() + 20
    # those of `kill`, which was killed, and of `dies`; that of `ends` stays for the next prompt
    while len(server.agents()) > len(chats) - 2:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    loaded = server.start()

    states = {name: server.call("GET", f"chats/{chats[name]}")["state"] for name in chats}
    assert states["stream"] == states["stop"] == states["steer"] == "running"  # at once
    assert states["ask"] == "waiting"
    for name in ("dies", "ends", "kill"):
        server.wait_idle(chats[name])
    assert time.monotonic() - loaded < 10  # two seconds, on a machine with nothing else to do
    assert outcome(server, chats["ends"]) == "completed"
    assert text_of(server.events(chats["ends"])) == "at workdone meanwhile"
    assert outcome(server, chats["dies"]) == "failed"
    assert text_of(server.events(chats["dies"])) == "at worklast words"
    (error,) = [e for e in server.events(chats["dies"]) if e["type"] == "error"]
    assert (error["code"], error["detail"]["exit_code"]) == ("process_exit", 7)
    (error,) = [e for e in server.events(chats["kill"]) if e["type"] == "error"]
    assert error["detail"]["signal"] == signal.SIGKILL

    (ask,) = server.call("GET", f"chats/{chats['ask']}/asks")["asks"]
    answer = {"decision": "allow", "option_id": "allow_once"}
    server.call("POST", f"chats/{chats['ask']}/asks/{ask['ask_id']}", answer)
    server.wait_idle(chats["ask"])
    assert text_of(server.events(chats["ask"])) == '"allow"'
    assert outcome(server, chats["ask"]) == "completed"

    steering = {"client_id": "2", "text": "and hurry", "delivery": "steer"}
    deadline = time.monotonic() + 20
    while not _may_steer(server, chats["steer"], steering):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    server.until(chats["steer"], says("and hurry"))
    for name in ("steer", "stop"):
        server.call("POST", f"chats/{chats[name]}/cancel", {})
        server.wait_idle(chats[name])
        assert outcome(server, chats[name]) == "cancelled"

    watcher.until(lambda: any(e["type"] == "complete" for e in watcher.events))
    watcher.stop()
    assert text_of(watcher.events) == WORDS
    stored = server.events(chats["stream"])
    assert text_of(stored) == WORDS
    assert stored[-1]["outcome"] == "completed"
    received = {event["seq"] for event in watcher.events}
    assert {event["seq"] for event in stored} <= received

    # the same agent takes the next prompt, warm or not
    server.prompt(chats["stream"], "and now?", "3")
    server.wait_idle(chats["stream"])
    assert text_of(server.events(chats["stream"])) == WORDS + "You said: and now?"


def _may_steer(server: JupyterProcess, chat_id: str, steering: dict[str, Any]) -> bool:
    try:
        server.call("POST", f"chats/{chat_id}/prompts", steering)
    except OSError:  # an HTTPError: the agent's hello is not known yet
        return False
    return True


@pytest.mark.timeout(120)
def test_agents_survive_a_clean_stop_where_the_admin_wants_that(tmp_path: Path) -> None:
    server = JupyterProcess(tmp_path, traits={"restart_policy": "reattach"})
    try:
        server.start()
        chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
        warm = server.call("POST", "chats", {"provider": "scenario"})["id"]
        server.prompt(warm, "hello")
        server.wait_idle(warm)
        server.prompt(chat_id, script({"ask": {}}, {"say": "{answer}", "chunks": 1}))
        server.until(chat_id, lambda events: events[-1]["type"] == "ask")
        agents = set(server.agents())
        server.stop()
        assert set(server.agents()) == agents
        server.start()
        assert server.call("GET", f"chats/{chat_id}")["state"] == "waiting"
        (ask,) = server.call("GET", f"chats/{chat_id}/asks")["asks"]
        server.call("POST", f"chats/{chat_id}/asks/{ask['ask_id']}", {"decision": "deny"})
        server.wait_idle(chat_id)
        assert outcome(server, chat_id) == "completed"
        deadline = time.monotonic() + 15
        while len(server.agents()) > 1:  # that which was idle is not left lying about
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert "Traceback" not in server.log.read_text()
    finally:
        server.stop()
        server.end_agents()


@pytest.mark.timeout(120)
def test_what_one_server_runs_the_other_shows_refuses_and_takes_over_when_it_dies(
    tmp_path: Path,
) -> None:
    first, second = JupyterProcess(tmp_path), JupyterProcess(tmp_path)
    try:
        first.start()
        second.start()
        chat_id = first.call("POST", "chats", {"provider": "scenario"})["id"]
        watcher = Watcher(second, chat_id)
        watcher.until(lambda: watcher.syncs)
        text = "word " * 1200
        first.prompt(chat_id, script({"say": text, "chunks": 1200, "rate": 100}))
        watcher.until(lambda: watcher.syncs[-1]["remote"] and len(watcher.events) > 20)
        assert second.call("GET", f"chats/{chat_id}")["state"] == "running"
        for method, route, body in (
            ("POST", "prompts", {"client_id": "2", "text": "me too", "delivery": "now"}),
            ("POST", "cancel", {}),
            ("POST", "asks/a", {"decision": "deny"}),
            ("PATCH", "", {"permission": "read_only"}),
        ):
            status, refusal = second.refused(method, f"chats/{chat_id}/{route}".rstrip("/"), body)
            assert (status, refusal["error"]["code"]) == (409, "busy"), refusal
            assert refusal["error"]["details"]["holder"] == watcher.syncs[-1]["holder"]
        first.kill()
        watcher.until(lambda: any(e["type"] == "complete" for e in watcher.events))
        assert watcher.events[-1]["outcome"] == "completed"
        assert text_of(watcher.events) == text
        watcher.stop()
    finally:
        first.stop()
        second.stop()
        left = second.agents()
        second.end_agents()
        assert left == []
