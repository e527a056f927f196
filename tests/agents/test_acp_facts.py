"""What the real Qwen Code and Gemini CLI tell of themselves, and what they need to start."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_agentchat.errors import ProviderError
from jupyter_agentchat.process.spool import SpoolLauncher
from jupyter_agentchat.protocol.resources import Provider
from tests.agents.acp_agent import PACKAGES, Place, open_chat, probed


def _probed(place: Place) -> Provider:
    async def act() -> Provider:
        launcher = SpoolLauncher(place.home / "spool")
        adapter = place.adapter(launcher)
        provider = await probed(adapter)
        await adapter.close()
        assert launcher.children == []
        await launcher.close()
        return provider

    return asyncio.run(act())


def test_a_probe_tells_what_it_is_and_what_it_can(acp_place: Place) -> None:
    provider = _probed(acp_place)
    assert (provider.state, provider.available) == ("ready", True)
    assert provider.version == PACKAGES[acp_place.agent][1]
    assert provider.models
    assert provider.permission_notes == {}
    assert provider.features.model_dump() == {
        "resume": True,
        "fork": "transcript",
        "rewind": "transcript",
        "restore_files": False,
        "steer": False,
        "asks": True,
        "questions": acp_place.agent == "qwen",
        "reasoning": True,
        "plan_usage": False,
        "skills": "none",
        "images": True,
        "mcp": "per_chat",
        "reattach": True,
    }


def test_nobody_signed_in_is_not_called_ready(acp_place: Place) -> None:
    acp_place.env |= {"OPENAI_API_KEY": "", "GEMINI_API_KEY": "", "OPENAI_BASE_URL": ""}
    provider = _probed(acp_place)
    assert (provider.state, provider.available) == ("signed_out", False)
    assert provider.sign_in_hint == acp_place.agent


def test_a_model_that_is_not_offered_is_refused_by_name(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            with pytest.raises(ProviderError, match="no-such-model") as caught:
                await chat.say("say hello", model="no-such-model")
            assert caught.value.event_code == "model_not_found"
            assert chat.launcher.children == []

    asyncio.run(act())


def test_a_model_is_chosen(acp_place: Place) -> None:
    async def act() -> None:
        async with open_chat(acp_place) as chat:
            models = (await probed(chat.adapter)).models
            model = models[-1].id
            told = await chat.say("say hello", model=model)
            assert told.complete.outcome == "completed"
            asked = acp_place.fake.turns[-1].model
            assert asked in model or asked in models[-1].name

    asyncio.run(act())
