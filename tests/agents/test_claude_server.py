"""The real Claude Code behind a real server that is killed in mid-run."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.fakes.fake_anthropic import FakeAnthropic
from tests.server.jupyter_process import JupyterProcess, alive, environment_of, processes_with

pytestmark = pytest.mark.timeout(180)


@pytest.fixture
def server(
    tmp_path: Path, agent_program: Callable[[str], Path], fake_anthropic: FakeAnthropic
) -> Iterator[JupyterProcess]:
    claude = {
        "command": [str(agent_program("claude"))],
        "env": {
            "ANTHROPIC_BASE_URL": fake_anthropic.url,
            "ANTHROPIC_API_KEY": "sk-fake",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        },
    }
    one = JupyterProcess(tmp_path, {"claude": claude})
    try:
        one.start()
        yield one
    finally:
        one.stop()


def agents_of(server: JupyterProcess) -> list[int]:
    """The CLI processes of this server."""
    return [pid for pid in processes_with("stream-json") if environment_of(pid, server.home)]


SLOW = " ".join(f"word{number}" for number in range(1, 61))


def _begin_slow(server: JupyterProcess) -> tuple[str, list[int]]:
    """A chat with a finished run and one in mid-answer; its agents."""
    chat_id = server.call("POST", "chats", {"provider": "claude"})["id"]
    prompts = f"chats/{chat_id}/prompts"
    server.call("POST", prompts, {"client_id": "1", "text": "say hello"})
    server.wait_idle(chat_id)
    server.call("POST", prompts, {"client_id": "2", "text": "slow"})
    while not [e for e in server.events(chat_id) if e["type"] == "assistant_text" and e["delta"]]:
        time.sleep(0.02)
    agents = agents_of(server)
    assert agents
    return chat_id, agents


def _outcomes(server: JupyterProcess, chat_id: str) -> list[str]:
    return [event["outcome"] for event in server.events(chat_id) if event["type"] == "complete"]


def test_after_a_kill_in_mid_answer_the_answer_goes_on_as_if_nothing_had_been(
    server: JupyterProcess, fake_anthropic: FakeAnthropic
) -> None:
    chat_id, agents = _begin_slow(server)
    server.kill()

    server.start()
    server.wait_idle(chat_id)
    assert _outcomes(server, chat_id) == ["completed", "completed"]
    finals = [e["text"] for e in server.events(chat_id) if e["type"] == "assistant_text"]
    assert finals[-1] == SLOW
    assert len(fake_anthropic.calls) == 2
    assert agents_of(server) == agents

    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "3", "text": "say hello"})
    server.wait_idle(chat_id)
    assert _outcomes(server, chat_id) == ["completed"] * 3
    assert agents_of(server) == agents
    sessions = {
        event["provider_session_id"]
        for event in server.events(chat_id)
        if event["type"] == "session"
    }
    assert len(sessions) == 1


def test_when_the_agent_dies_too_the_run_is_interrupted_and_the_conversation_goes_on(
    server: JupyterProcess,
) -> None:
    chat_id, agents = _begin_slow(server)
    seen = server.events(chat_id)
    server.kill()
    for pid in agents:
        os.kill(pid, signal.SIGKILL)

    server.start()
    server.wait_idle(chat_id)
    first, second = _outcomes(server, chat_id)
    assert first == "completed"
    assert second in ("interrupted", "failed")
    text = "".join(event["delta"] or "" for event in seen if event["type"] == "assistant_text")
    kept = [e["text"] for e in server.events(chat_id) if e["type"] == "assistant_text"]
    assert kept[-1].startswith(text.removeprefix(kept[0]))

    server.call("POST", f"chats/{chat_id}/prompts", {"client_id": "3", "text": "say hello"})
    server.wait_idle(chat_id)
    assert not any(alive(pid) for pid in agents)
    stored = server.events(chat_id)
    assert stored[-1]["outcome"] == "completed"
    started = [event for event in stored if event["type"] == "run_started"]
    assert [event["continuation"] for event in started] == ["fresh", "resume", "resume"]
    assert "resume_refused" not in [event["type"] for event in stored]


def test_opening_a_chat_starts_no_agent(server: JupyterProcess) -> None:
    chat_id = server.call("POST", "chats", {"provider": "claude"})["id"]
    server.call("GET", f"chats/{chat_id}/events")
    server.call("GET", f"chats/{chat_id}")
    assert agents_of(server) == []
