"""An agent's program is gone: what was said stays readable, and the next prompt says why."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from .conftest import SCENARIO_AGENT, Rest, script


@pytest.fixture
def program(tmp_path: Path) -> Path:
    program = tmp_path / "my-agent"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SCENARIO_AGENT}"\n')
    program.chmod(0o755)
    return program


@pytest.fixture
def settings(program: Path) -> dict[str, Any]:
    return {"provider_settings": {"mine": {"kind": "native", "command": [str(program)]}}}


async def test_history_is_readable_and_the_next_prompt_says_that_the_agent_is_missing(
    rest: Rest, program: Path
) -> None:
    chat_id = await rest.new_chat(provider="mine")
    prompt = {"client_id": "1", "text": script({"say": "{pid}", "chunks": 1})}
    await rest.ok("POST", f"chats/{chat_id}/prompts", prompt)
    await rest.until_idle(chat_id)
    before = await rest.events(chat_id)
    (said,) = [e["text"] for e in before if e["type"] == "assistant_text" and e["final"]]
    os.unlink(program)  # noqa: PTH108 - at once, in an async function
    os.kill(int(said), signal.SIGKILL)

    assert await rest.events(chat_id) == before
    assert (await rest.ok("GET", f"chats/{chat_id}"))["last_seq"] == before[-1]["seq"]
    assert [chat["id"] for chat in (await rest.ok("GET", "chats"))["chats"]] == [chat_id]
    await rest.ok("POST", f"chats/{chat_id}/prompts", {"client_id": "2", "text": "still there?"})
    await rest.until_idle(chat_id)
    after = await rest.events(chat_id)
    assert after[: len(before)] == before
    assert [e["code"] for e in after if e["type"] == "error"] == ["provider_missing"]
    assert after[-1]["outcome"] == "failed"
