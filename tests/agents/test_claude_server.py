"""The real Claude Code behind a real server that is killed in mid-run."""

from __future__ import annotations

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


def test_after_a_kill_in_mid_answer_the_chat_is_whole_and_the_conversation_goes_on(
    server: JupyterProcess,
) -> None:
    chat_id = server.call("POST", "chats", {"provider": "claude"})["id"]
    prompts = f"chats/{chat_id}/prompts"
    server.call("POST", prompts, {"client_id": "1", "text": "say hello"})
    server.wait_idle(chat_id)
    server.call("POST", prompts, {"client_id": "2", "text": "slow"})
    while not [e for e in server.events(chat_id) if e["type"] == "assistant_text" and e["delta"]]:
        time.sleep(0.02)
    seen, agents = server.events(chat_id), agents_of(server)
    assert agents
    server.kill()

    server.start()
    stored = server.events(chat_id)
    completes = [event["outcome"] for event in stored if event["type"] == "complete"]
    assert completes == ["completed", "interrupted"]
    text = "".join(event["delta"] or "" for event in seen if event["type"] == "assistant_text")
    assert stored[-2]["type"] == "assistant_text"
    assert stored[-2]["text"].startswith(text)

    server.call("POST", prompts, {"client_id": "3", "text": "say hello"})
    server.wait_idle(chat_id)
    assert not any(alive(pid) for pid in agents)
    stored = server.events(chat_id)
    assert stored[-1]["outcome"] == "completed"
    started = [event for event in stored if event["type"] == "run_started"]
    assert [event["continuation"] for event in started] == ["fresh", "resume", "resume"]
    sessions = {e["provider_session_id"] for e in stored if e["type"] == "session"}
    assert len(sessions) == 1
    assert "resume_refused" not in [event["type"] for event in stored]


def test_opening_a_chat_starts_no_agent(server: JupyterProcess) -> None:
    chat_id = server.call("POST", "chats", {"provider": "claude"})["id"]
    server.call("GET", f"chats/{chat_id}/events")
    server.call("GET", f"chats/{chat_id}")
    assert agents_of(server) == []
