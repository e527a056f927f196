"""MiniMax through the real Codex program: its own provider, its own process, its own key."""

from __future__ import annotations

import asyncio

from jupyter_agentchat.protocol.events import Session
from jupyter_agentchat.providers.codex.adapter import MiniMaxAdapter
from tests.agents.codex_agent import Place, command_line, open_chat


def test_it_talks_to_its_own_server_with_its_own_key(codex_place: Place) -> None:
    # the person's own provider is another one
    codex_place.config.parent.mkdir()
    codex_place.config.write_text("[features]\nenable_request_compression = false\n")
    key = codex_place.home / "key"
    key.write_text("sk-minimax\n")
    codex_place.env = {
        "MINIMAX_BASE_URL": codex_place.fake.url,
        "MINIMAX_API_KEY_FILE": str(key),
        "OPENAI_API_KEY": "sk-other",
    }

    async def talk() -> None:
        async with open_chat(codex_place, MiniMaxAdapter) as chat:
            found = await chat.adapter.probe()
            assert (found.id, found.name, found.state) == ("minimax", "MiniMax", "ready")
            assert [model.id for model in found.models] == ["MiniMax-M2"]
            told = await chat.say("say hello")
            assert told.all(Session)[0].provider == "minimax"
            assert told.complete.outcome == "completed"
            assert told.notices == []
            call = codex_place.fake.calls[-1]
            assert call.body["model"] == "MiniMax-M2"
            assert call.headers["authorization"] == "Bearer sk-minimax"
            argv = command_line(chat.pid)
            assert "sk-minimax" not in argv

    asyncio.run(talk())


def test_without_a_key_the_next_step_is_told(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place, MiniMaxAdapter) as chat:
            found = await chat.adapter.probe()
            assert (found.state, found.available) == ("signed_out", False)
            assert "MINIMAX_API_KEY" in (found.sign_in_hint or "")
            told = await chat.say("say hello")
            assert told.error.code == "provider_signed_out"
            assert "MINIMAX_API_KEY" in told.error.message

    asyncio.run(talk())
