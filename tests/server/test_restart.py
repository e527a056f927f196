"""A server is killed or stopped whose agents end with it: the next one tells the truth."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.conftest import SCENARIO_AGENT, script
from tests.server.jupyter_process import JupyterProcess, alive, environment_of, processes_with


@pytest.fixture
def server(tmp_path: Path) -> Iterator[JupyterProcess]:
    one = JupyterProcess(tmp_path, traits={"restart_policy": "stop"})
    try:
        yield one
    finally:
        one.stop()
        one.end_agents()


@pytest.mark.timeout(120)
def test_a_killed_server_loses_nothing_and_leaves_no_chat_stuck(server: JupyterProcess) -> None:
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    prompt = script(
        {"tool": {"kind": "shell", "name": "Bash", "input": {"command": "ls"}, "output": "a"}},
        {"say": "word " * 400, "chunks": 400, "rate": 200},
        {"say": "never reached"},
    )
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": prompt})
    while len(server.events(chat_id)) < 9:
        time.sleep(0.02)
    seen = server.events(chat_id)
    server.kill()

    server.start()
    stored = server.events(chat_id)  # at once: recovery is part of loading
    kinds = [event["type"] for event in stored]
    assert kinds.count("complete") == 1
    assert stored[-1]["outcome"] == "interrupted"
    assert "error" not in kinds
    seen_text = "".join(event.get("delta") or "" for event in seen)
    (final,) = [event for event in stored if event["type"] == "assistant_text"]
    assert seen_text
    assert final["text"].startswith(seen_text)
    kept = {event["seq"] for event in stored}
    assert {e["seq"] for e in seen if e["type"] != "assistant_text"} <= kept
    assert server.call("GET", f"chats/{chat_id}")["state"] == "idle"

    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "2", "text": "and now?"})
    server.wait_idle(chat_id)
    assert server.events(chat_id)[-1]["outcome"] == "completed"


@pytest.mark.timeout(120)
def test_a_killed_servers_agent_does_not_survive_the_next_start(server: JupyterProcess) -> None:
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    marker = "61.5077"
    prompt = script("ignore_term", {"fork": float(marker)}, "hang")
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": prompt})
    (first,) = [e["run_id"] for e in server.events(chat_id) if e["type"] == "run_started"]
    while not any(e["type"] == "session" for e in server.events(chat_id)):
        time.sleep(0.02)
    agents = [
        pid for pid in processes_with(str(SCENARIO_AGENT)) if environment_of(pid, server.home)
    ]
    assert agents, first
    server.kill()
    server.start()
    deadline = time.monotonic() + 15
    while any(alive(pid) for pid in agents):
        assert time.monotonic() < deadline, "an agent outlived its server and the next start"
        time.sleep(0.05)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("policy", ["crash", "stop"])
def test_a_clean_stop_ends_the_run_as_interrupted_and_takes_the_agent_along(
    server: JupyterProcess, policy: str
) -> None:
    server.traits["restart_policy"] = policy
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": script("hang")})
    while not server.agents():
        time.sleep(0.02)
    server.stop()
    assert server.agents() == []
    server.start()
    assert [e["outcome"] for e in server.events(chat_id) if e["type"] == "complete"] == [
        "interrupted"
    ]
