"""Which agents a person is offered, and when they are looked at."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import Forbidden, NotFound, ProviderError
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import Provider
from jupyter_agentchat.providers.base import AdapterContext
from jupyter_agentchat.providers.registry import (
    CLEAN_S,
    GROUP,
    WARNED_S,
    ProviderRegistry,
)
from jupyter_agentchat.providers.settings import parse_settings
from tests.unit.native.scenario_subject import make_agent, make_request

PROBES: list[str] = []


class FakeAdapter:
    """An adapter of another package: counts its probes, which may take their time or break."""

    def __init__(self, context: AdapterContext) -> None:
        self.id = context.scratch.name
        self.name = self.id.upper()
        self.context = context
        self.closed = False

    async def probe(self) -> Provider:
        PROBES.append(f"{self.id} begins")
        if self.id == "slow":
            await asyncio.sleep(60)
        if self.id == "broken":
            raise RuntimeError("boom")
        await asyncio.sleep(0)
        PROBES.append(f"{self.id} ends")
        reason = "old" if self.id == "warned" else None
        return Provider(id=self.id, name=self.name, state="ready", available=True, reason=reason)

    async def close_chat(self, chat_id: str) -> None:
        PROBES.append(f"{self.id} closes {chat_id}")

    async def close(self) -> None:
        self.closed = True


@pytest.fixture(autouse=True)
def no_probes() -> None:
    PROBES.clear()


def make_registry(tmp_path: Path, *names: str, **changes: Any) -> ProviderRegistry:
    value = f"{__name__}:FakeAdapter"
    found = [EntryPoint(name, value, GROUP) for name in names]
    found += changes.pop("points", [])
    given: dict[str, Any] = {"launcher": LocalLauncher(), "environment": {"PATH": "/usr/bin:/bin"}}
    return ProviderRegistry(**given | {"scratch": tmp_path, "found": found} | changes)


def states(registry: ProviderRegistry) -> dict[str, str]:
    return {provider.id: provider.state for provider in registry.list()}


def test_importing_the_registry_imports_no_adapter() -> None:
    code = """
        import sys, jupyter_agentchat.providers.registry
        rooms = ("native", "claude", "conformance")
        found = [name for name in sys.modules if name.split(".")[-1] in rooms or "tornado" in name]
        sys.exit(", ".join(found) or None)
    """
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(line.strip() for line in code.splitlines())],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_our_own_adapters_are_found_and_the_tour_is_ready(tmp_path: Path) -> None:
    async def main() -> None:
        registry = make_registry(tmp_path, found=None, allowed=["tour"])
        assert states(registry)["tour"] == "probing"
        assert registry.ids[-1] == "tour"
        await (registry.probe_all() or asyncio.sleep(0))
        tour = registry.list()[-1]
        assert (tour.state, tour.name, tour.available) == ("ready", "Tour", True)
        assert tour.description == "Scripted, no account needed"
        await registry.close()

    asyncio.run(main())


def test_the_list_comes_at_once_and_probes_follow_one_at_a_time(tmp_path: Path) -> None:
    async def main() -> None:
        told: list[dict[str, str]] = []
        registry = make_registry(tmp_path, "a", "b")
        registry._on_probed = lambda found: told.append({one.id: one.state for one in found})
        assert states(registry) == {"a": "probing", "b": "probing"}
        flight = registry.probe_all()
        assert registry.probe_all() is flight
        assert flight is not None
        await flight
        assert PROBES == ["a begins", "a ends", "b begins", "b ends"]
        assert told == [{"a": "ready", "b": "probing"}, {"a": "ready", "b": "ready"}]
        await registry.close()

    asyncio.run(main())


def test_a_probe_is_remembered_until_it_is_old_or_a_refresh_is_asked_for(tmp_path: Path) -> None:
    async def main() -> None:
        now = [0.0]
        registry = make_registry(tmp_path, "clean", "warned", clock=lambda: now[0])

        async def probed(*, refresh: bool = False) -> set[str]:
            PROBES.clear()
            flight = registry.probe_all(refresh=refresh)
            if flight:
                await flight
            return {line.split()[0] for line in PROBES}

        assert await probed() == {"clean", "warned"}
        assert await probed() == set()
        assert await probed(refresh=True) == {"clean", "warned"}
        now[0] = WARNED_S
        assert await probed() == {"warned"}
        now[0] = CLEAN_S
        assert await probed() == {"clean", "warned"}
        await registry.close()

    asyncio.run(main())


def test_an_agent_that_breaks_harms_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_agentchat.providers.registry.PROBE_DEADLINE_S", 0.05)

    async def main() -> None:
        gone = EntryPoint("absent", "no_such_package_anywhere:Adapter", GROUP)
        registry = make_registry(tmp_path, "broken", "fine", "slow", points=[gone])
        flight = registry.probe_all()
        assert flight is not None
        await flight
        found = {provider.id: provider for provider in registry.list()}
        assert found["fine"].state == "ready"
        assert found["slow"].reason == "It did not answer within 0 s."
        assert "boom" in (found["broken"].reason or "")
        assert "no_such_package_anywhere" in (found["absent"].reason or "")
        assert not any(found[name].available for name in ("broken", "slow", "absent"))
        with pytest.raises(ProviderError):
            await registry.adapter("absent")
        await registry.close()

    asyncio.run(main())


def test_what_the_admin_excludes_is_shown_as_such_and_never_touched(tmp_path: Path) -> None:
    async def main() -> None:
        settings = {"off": {"enabled": False}}
        registry = make_registry(
            tmp_path, "off", "on", "other", settings=settings, allowed=["off", "on"]
        )
        flight = registry.probe_all()
        assert flight is not None
        await flight
        expected = {"off": "refused_by_policy", "on": "ready", "other": "refused_by_policy"}
        assert states(registry) == expected
        assert PROBES == ["on begins", "on ends"]
        for name in ("off", "other"):
            with pytest.raises(Forbidden):
                await registry.adapter(name)
            assert (await registry.provider(name)).state == "refused_by_policy"
        with pytest.raises(NotFound):
            await registry.adapter("nobody")
        with pytest.raises(NotFound):
            await registry.provider("nobody")
        await registry.close()

    asyncio.run(main())


def test_an_adapter_is_made_once_with_its_own_settings_and_folder(tmp_path: Path) -> None:
    async def main() -> None:
        settings = {"a": {"command": ["x", "y"], "env": {"K": "v"}, "pass_env": ["P"], "more": 1}}
        registry = make_registry(tmp_path, "a", settings=settings)
        first, second = await asyncio.gather(registry.adapter("a"), registry.adapter("a"))
        assert first is second
        assert isinstance(first, FakeAdapter)
        assert first.context.settings.command == ("x", "y")
        assert first.context.settings.extra == {"more": 1}
        assert first.context.scratch.stat().st_mode & 0o777 == 0o700
        await registry.close_chat("c")
        assert PROBES == ["a closes c"]
        await registry.close()
        assert first.closed

    asyncio.run(main())


def test_one_provider_can_be_waited_for(tmp_path: Path) -> None:
    async def main() -> None:
        registry = make_registry(tmp_path, "a", "b", "slow")
        assert (await registry.provider("b")).state == "ready"
        assert PROBES[0] == "b begins"
        assert (await registry.provider("slow", timeout_s=0.1)).state == "probing"
        await registry.close()

    asyncio.run(main())


def test_a_program_of_the_admins_becomes_an_agent(tmp_path: Path) -> None:
    async def main() -> None:
        settings = {
            "mine": {"kind": "native", "command": [*make_agent().argv], "name": "Mine"},
            "bad": {"kind": "native"},
        }
        registry = make_registry(tmp_path, settings=settings)
        flight = registry.probe_all()
        assert flight is not None
        await flight
        found = {provider.id: provider for provider in registry.list()}
        assert (found["mine"].state, found["mine"].name) == ("ready", "Mine")
        assert "command" in (found["bad"].reason or "")
        adapter = await registry.adapter("mine")
        assert adapter.id == "mine"
        assert make_request(tmp_path, "x").run_id
        await registry.close()

    asyncio.run(main())


@pytest.mark.parametrize(
    "raw",
    [
        {"enabled": "no"},
        {"command": "run me"},
        {"command": [1]},
        {"env": ["A=b"]},
        {"env": {"A": 1}},
        {"pass_env": "A"},
        {"models": {}},
        {"default_model": 4},
    ],
)
def test_a_setting_of_the_wrong_type_is_refused_with_its_name(raw: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(raw))):
        parse_settings(raw)


def settings_registry(tmp_path: Path, settings: dict[str, Any]) -> ProviderRegistry:
    return ProviderRegistry(
        launcher=LocalLauncher(), environment={}, scratch=tmp_path, settings=settings, found=[]
    )


@pytest.mark.parametrize("raw", [{"env": {"A": 1}}, "off", [1]])
def test_a_wrong_setting_names_its_agent(tmp_path: Path, raw: Any) -> None:
    with pytest.raises(ValueError, match="mine"):
        settings_registry(tmp_path, {"mine": raw})


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"mine": {"kind": "native", "command": ["x"], "enabeld": False}}, "enabeld"),
        ({"cluade": {"enabled": False}}, "cluade"),
        ({"mine": {"kind": "martian", "command": ["x"]}}, "mine"),
    ],
)
def test_a_misspelt_setting_is_told_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, settings: dict[str, Any], word: str
) -> None:
    settings_registry(tmp_path, settings)
    assert word in caplog.text
