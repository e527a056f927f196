"""One process serves many chats: a killed server's runs on it all go on, its own death is theirs.

The adapters are of the kind that another package would bring: found by their entry points.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.server.conftest import script
from tests.server.jupyter_process import JupyterProcess, environment_of, processes_with
from tests.server.test_reattach import outcome, text_of

ROOT = Path(__file__).parents[2]
WORDS = "word " * 900
STREAM = script({"say": WORDS, "chunks": 900, "rate": 75})
PROVIDERS = ("shared", "shared-port")


def install(site: Path) -> str:
    """A package's metadata, which names the adapters; returns the path to import from."""
    info = site / "shared_agents-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: shared-agents\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[jupyter_agentchat.providers]\n"
        "shared = tests.fakes.server_scope:SharedAdapter\n"
        "shared-port = tests.fakes.server_scope:SharedPortAdapter\n"
    )
    return os.pathsep.join((str(site), str(ROOT)))


def shared_processes(server: JupyterProcess) -> list[int]:
    return [pid for pid in processes_with("scenario_server.py") if environment_of(pid, server.home)]


@pytest.mark.timeout(180)
def test_all_runs_of_a_shared_process_outlive_the_server_and_die_with_the_process(
    tmp_path: Path,
) -> None:
    environment = {"PYTHONPATH": install(tmp_path / "site")}
    server = JupyterProcess(tmp_path, traits={"max_concurrent_runs": 20}, environment=environment)
    try:
        server.start()
        streams, asks = [], []
        for provider in PROVIDERS:
            for _ in range(2):
                streams.append(server.call("POST", "chats", {"provider": provider})["id"])
                server.prompt(streams[-1], STREAM)
            asks.append(server.call("POST", "chats", {"provider": provider})["id"])
            server.prompt(asks[-1], script({"ask": {}}, {"say": "{answer}", "chunks": 1}))
        for chat_id in streams:
            server.until(chat_id, lambda events: len(events) > 10)
        for chat_id in asks:
            server.until(chat_id, lambda events: events[-1]["type"] == "ask")
        server.kill()
        server.start()
        for chat_id in asks:
            (ask,) = server.call("GET", f"chats/{chat_id}/asks")["asks"]
            server.call("POST", f"chats/{chat_id}/asks/{ask['ask_id']}", {"decision": "deny"})
            server.wait_idle(chat_id)
            assert text_of(server.events(chat_id)) == '"deny"'
        for chat_id in streams:
            server.wait_idle(chat_id)
            assert outcome(server, chat_id) == "completed"
            assert text_of(server.events(chat_id)) == WORDS

        bystander = server.call("POST", "chats", {"provider": "scenario"})["id"]
        server.prompt(bystander, script({"say": "{pid}"}, {"sleep": 600}))
        for number, chat_id in enumerate(streams):
            server.prompt(chat_id, script({"sleep": 600}), f"again{number}")
            server.until(chat_id, lambda events: len([e for e in events if e["run_id"]]) > 3)
        for pid in shared_processes(server):
            os.kill(pid, signal.SIGKILL)
        for chat_id in streams:
            server.wait_idle(chat_id)
            events = server.events(chat_id)
            assert [e["outcome"] for e in events if e["type"] == "complete"][1:] == ["failed"]
        assert server.call("GET", f"chats/{bystander}")["state"] == "running"
        # and the next prompt begins the process anew
        server.prompt(streams[0], "hello", "next")
        server.wait_idle(streams[0])
        assert text_of(server.events(streams[0])).endswith("You said: hello")
    finally:
        server.stop()
        deadline = time.monotonic() + 10
        while shared_processes(server) and time.monotonic() < deadline:
            time.sleep(0.05)
        left = shared_processes(server)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        assert left == []
