"""The real Kimi Code behind a real Jupyter server that is killed in mid-run."""

from __future__ import annotations

import http.client
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.agents.kimi_agent import Place, a_place
from tests.server.jupyter_process import JupyterProcess, alive, environment_of, processes_with

pytestmark = pytest.mark.timeout(240)


def install(site: Path) -> str:
    """A package's metadata that names the adapter; returns the path to import from."""
    info = site / "kimi_here-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: kimi-here\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        "[jupyter_agentchat.providers]\n"
        "kimi = jupyter_agentchat.providers.kimi.adapter:KimiAdapter\n"
    )
    return str(site)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with a_place(tmp_path) as place:
        yield place


@pytest.fixture
def server(place: Place, tmp_path: Path) -> Iterator[JupyterProcess]:
    folder = place.home / ".kimi-code"
    kimi = {
        "command": [str(place.program)],
        "env": {"KIMI_CODE_HOME": str(folder), "KIMI_DISABLE_TELEMETRY": "1"},
    }
    site = install(tmp_path / "site")
    root = str(Path(__file__).parents[2])
    home = tmp_path / "lab"
    home.mkdir()
    environment = {"PYTHONPATH": os.pathsep.join((site, root))}
    one = JupyterProcess(home, {"kimi": kimi}, environment=environment)
    try:
        one.start()
        yield one
    finally:
        one.stop()


def agents_of(server: JupyterProcess) -> list[int]:
    """Kimi Code's own processes of this server."""
    return [pid for pid in processes_with("kimi-code") if environment_of(pid, server.home)]


def _begin(server: JupyterProcess, prompt: str) -> str:
    chat_id = server.call("POST", "chats", {"provider": "kimi"})["id"]
    assert isinstance(chat_id, str)
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": prompt})
    return chat_id


def _until_text(server: JupyterProcess, chat_id: str) -> None:
    while not [e for e in server.events(chat_id) if e["type"] == "assistant_text" and e["delta"]]:
        time.sleep(0.02)


def _finals(server: JupyterProcess, chat_id: str) -> list[str]:
    return [e["text"] for e in server.events(chat_id) if e["type"] == "assistant_text"]


def test_after_a_kill_in_mid_answer_both_chats_go_on_in_the_one_process(
    server: JupyterProcess,
) -> None:
    chats = [_begin(server, "steady"), _begin(server, "steady")]
    for chat_id in chats:
        _until_text(server, chat_id)
    agents = agents_of(server)
    assert len(agents) == 1
    server.kill()

    server.start()
    for chat_id in chats:
        server.wait_idle(chat_id)
        ends = [e["outcome"] for e in server.events(chat_id) if e["type"] == "complete"]
        assert ends == ["completed"]
        assert _finals(server, chat_id) == ["".join(f"part {n} " for n in range(40))]
    assert agents_of(server) == agents

    server.call("POST", f"chats/{chats[0]}/prompts", {"client_id": "2", "text": "recall"})
    server.wait_idle(chats[0])
    assert "steady" in _finals(server, chats[0])[-1]
    assert agents_of(server) == agents
    server.stop()
    assert not any(alive(pid) for pid in agents)


def test_the_agents_server_is_open_to_this_machine_and_its_token_only(
    server: JupyterProcess, place: Place
) -> None:
    chat_id = _begin(server, "quick unmistakable")
    server.wait_idle(chat_id)
    (pid,) = agents_of(server)
    inodes = {
        link.removeprefix("socket:[").removesuffix("]")
        for file in Path(f"/proc/{pid}/fd").iterdir()
        if (link := str(file.readlink())).startswith("socket:[")
    }
    ports = []
    for table, loopback in (("tcp", "0100007F"), ("tcp6", "0" * 24 + "01000000")):
        for line in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[9] in inodes:
                address, port = fields[1].split(":")
                assert address == loopback
                ports.append(int(port, 16))
    (port,) = ports
    for path in ("/api/v1/sessions", "/openapi.json", "/api/v1/meta"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", path)
        assert connection.getresponse().status == 401
        connection.close()

    token = (place.home / ".kimi-code/server.token").read_text().strip()
    line = Path(f"/proc/{pid}/cmdline").read_bytes().decode()
    environment = Path(f"/proc/{pid}/environ").read_bytes().decode()
    for secret in (token, "unmistakable"):
        assert secret not in line
        assert secret not in environment


def test_when_the_agent_dies_too_the_run_ends_and_the_conversation_goes_on(
    server: JupyterProcess,
) -> None:
    chat_id = _begin(server, "quick remember-me")
    server.wait_idle(chat_id)
    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "2", "text": "steady"})
    agents = agents_of(server)
    while len(_finals(server, chat_id)) < 2:
        time.sleep(0.02)
    server.kill()
    for pid in agents:
        os.kill(pid, signal.SIGKILL)

    server.start()
    server.wait_idle(chat_id)
    first, second = (e["outcome"] for e in server.events(chat_id) if e["type"] == "complete")
    assert (first, second) in (("completed", "interrupted"), ("completed", "failed"))
    # Kimi Code sends the prompt that got no answer again, before the next one
    for number, prompt in enumerate(("quick go-on", "recall"), 3):
        sent = {"client_id": str(number), "text": prompt}
        server.call("POST", f"chats/{chat_id}/prompts", sent)
        server.wait_idle(chat_id)
    assert "remember-me" in _finals(server, chat_id)[-1]
    assert "go-on" in _finals(server, chat_id)[-1]
    assert "resume_refused" not in [event["type"] for event in server.events(chat_id)]


def test_opening_a_chat_starts_no_agent(server: JupyterProcess) -> None:
    chat_id = server.call("POST", "chats", {"provider": "kimi"})["id"]
    server.call("GET", f"chats/{chat_id}/events")
    assert agents_of(server) == []
