"""What the interface is told of an agent: there, missing, slow, signed out, and what it can do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_agentchat.providers.acp import adapter as module
from jupyter_agentchat.providers.acp.adapter import AcpAdapter
from jupyter_agentchat.providers.acp.choosing import ChoiceRefused
from jupyter_agentchat.providers.acp.facts import SLOW
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.waiting import until

from .scripted import CAPABILITIES, ScriptedAgent
from .stage import AGENT, Stage, acted, context_of, open_stage

MODELS = {
    "currentModelId": "b",
    "availableModels": [{"modelId": "a", "name": "A"}, {"modelId": "b", "name": "B"}],
}


def test_a_good_agent_tells_its_models_modes_and_abilities(tmp_path: Path) -> None:
    def prepare(agent: ScriptedAgent) -> None:
        agent.answers["initialize"] = {
            "protocolVersion": 1,
            "agentInfo": {"name": "agent", "version": "1.2.3"},
            "agentCapabilities": {**CAPABILITIES, "sessionCapabilities": {"fork": {}}},
        }
        agent.answers["session/new"] = {
            "sessionId": "s",
            "models": MODELS,
            "modes": {"currentModeId": "default", "availableModes": [{"id": "default"}]},
        }

    async def act(stage: Stage) -> None:
        stage.launcher.prepare = prepare
        provider = await stage.adapter.probe()
        assert (provider.state, provider.version, provider.reason) == ("ready", "1.2.3", None)
        assert [(one.id, one.default) for one in provider.models] == [("a", False), ("b", True)]
        assert set(provider.permission_notes) == {"read_only", "accept_edits", "full"}
        assert (provider.features.fork, provider.features.reattach) == ("native", True)
        assert stage.agent.exit is not None, "a probe leaves no process"

    acted(tmp_path, act)


def test_a_program_that_is_not_there_is_missing_with_a_hint(tmp_path: Path) -> None:
    async def act() -> None:
        async with open_stage(tmp_path) as stage:
            context = replace(context_of(stage.launcher, tmp_path), settings=ProviderSettings())
            adapter = AcpAdapter(context, replace(AGENT, install_hint="get it"))
            provider = await adapter.probe()
            assert (provider.state, provider.install_hint) == ("missing", "get it")
            await adapter.close()

    asyncio.run(act())


def test_a_program_that_ends_at_once_is_an_error_with_a_reason(tmp_path: Path) -> None:
    async def act(stage: Stage) -> None:
        stage.launcher.prepare = lambda agent: agent.die(1, "cannot start")
        provider = await stage.adapter.probe()
        assert (provider.state, provider.available) == ("error", False)
        assert provider.reason

    acted(tmp_path, act)


def test_a_slow_agent_is_offered_and_known_by_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PROBE_TIMEOUT_S", 0.01)

    def sleeps(agent: ScriptedAgent) -> None:
        agent.asleep = True

    async def act(stage: Stage) -> None:
        stage.launcher.prepare = sleeps
        first = await stage.adapter.probe()
        assert (first.state, first.available, first.reason) == ("ready", True, SLOW)
        assert (first.version, first.models) == (None, [])
        await until(lambda: stage.launcher.agents and stage.agent.heard)
        stage.agent.wake()
        monkeypatch.setattr(module, "PROBE_TIMEOUT_S", 5.0)
        second = await stage.adapter.probe()
        assert (second.state, second.reason) == ("ready", None)
        assert len(stage.launcher.agents) == 1, "one look at a time"

    acted(tmp_path, act)


def test_an_admins_models_stand_in_place_of_the_agents(tmp_path: Path) -> None:
    async def act() -> None:
        async with open_stage(tmp_path) as stage:
            context = context_of(stage.launcher, tmp_path)
            settings = replace(context.settings, models=("x", "y"), default_model="y")
            adapter = AcpAdapter(replace(context, settings=settings), AGENT)
            provider = await adapter.probe()
            assert [(one.id, one.default) for one in provider.models] == [("x", False), ("y", True)]
            await adapter.close()

    asyncio.run(act())


def test_a_model_and_its_effort_are_set_and_taken_back(tmp_path: Path) -> None:
    def options(model: str, effort: str | None) -> list[dict[str, object]]:
        found: list[dict[str, object]] = [
            {
                "id": "model",
                "category": "model",
                "type": "select",
                "currentValue": model,
                "options": [{"value": "plain"}, {"value": "thinker"}],
            }
        ]
        if effort is not None:
            found.append(
                {
                    "id": "effort",
                    "category": "thought_level",
                    "type": "select",
                    "currentValue": effort,
                    "options": [{"value": "low"}, {"value": "high"}],
                }
            )
        return found

    def play(agent: ScriptedAgent, _message: dict[str, object]) -> None:
        agent.end()

    def prepare(agent: ScriptedAgent) -> None:
        new = {"sessionId": "s-1", "configOptions": options("thinker", "low")}
        agent.answers |= {
            "session/new": new,
            "session/set_config_option": {"configOptions": options("plain", None)},
        }

    async def act(stage: Stage) -> None:
        stage.launcher.prepare = prepare
        # the plain model has no effort to set: nothing is set that nobody chose
        await stage.say(model="plain")
        sent = stage.agent.sent("session/set_config_option")
        assert [(one["configId"], one["value"]) for one in sent] == [("model", "plain")]
        stage.agent.answers["session/set_config_option"] = {
            "configOptions": options("thinker", "high")
        }
        await stage.say(run_id="r2", effort="high", provider_session_id="s-1")
        sent = stage.agent.sent("session/set_config_option")[1:]
        assert [(one["configId"], one["value"]) for one in sent] == [("model", "thinker")]
        with pytest.raises(ChoiceRefused, match="enormous"):
            await stage.say(run_id="r3", effort="enormous", provider_session_id="s-1")

    acted(tmp_path, act, play)
