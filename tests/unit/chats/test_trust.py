"""What a folder would make agents load is known to the byte, and one bad adapter stops nobody."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.chats import trust as trust_module
from jupyter_agentchat.chats.trust import Policy, TrustKeeper
from jupyter_agentchat.errors import NotInstalled, Stale
from jupyter_agentchat.protocol.resources import ProjectLoad, Trust, TrustDecision
from jupyter_agentchat.store.memory import MemoryStore


class Loads:
    """An adapter that would load what the test says."""

    id = "a"

    def __init__(self, *paths: str, error: Exception | None = None) -> None:
        self._paths = paths
        self._error = error

    def loads(self, directory: Path, top: Path) -> list[ProjectLoad]:
        if self._error:
            raise self._error
        found = [path for path in self._paths if (directory / path).exists()]
        return [ProjectLoad(agent=self.id, kind="settings", path=path) for path in found]


class Registry:
    def __init__(self, *adapters: Loads | Exception) -> None:
        self._adapters = adapters
        self.ids: Sequence[str] = [str(number) for number in range(len(adapters))]

    async def adapter(self, name: str) -> Any:
        adapter = self._adapters[int(name)]
        if isinstance(adapter, Exception):
            raise adapter
        return adapter


def keeper(
    *adapters: Loads | Exception, policy: Policy = "ask", home: Path | None = None
) -> TrustKeeper:
    return TrustKeeper(MemoryStore(), Registry(*adapters), policy, home)  # type: ignore[arg-type]


def look(keeper: TrustKeeper, directory: Path) -> Trust:
    return asyncio.run(keeper.look("owner", directory))


def test_a_bad_adapter_is_named_and_keeps_nobody_from_starting(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    bad = (Loads(error=RuntimeError("bad")), NotInstalled("Not here."))
    seen = look(keeper(*bad, Loads("x")), tmp_path)
    assert [(load.kind, load.path) for load in seen.loads] == [("unknown", "?"), ("settings", "x")]
    assert seen.trusted is None


def test_a_decision_holds_until_something_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trust_module, "DIGEST_FILE_LIMIT", 100)
    monkeypatch.setattr(trust_module, "DIGEST_FILES", 3)
    folder = tmp_path / "skills"
    folder.mkdir()
    for number in range(6):
        (folder / f"s{number}").write_text("x")
    (tmp_path / "big").write_text("y" * 1000)
    one = keeper(Loads("skills", "big"))

    def decide() -> None:
        decision = TrustDecision(trusted=True, digest=look(one, tmp_path).digest)
        asyncio.run(one.decide("owner", tmp_path, decision))
        assert look(one, tmp_path).trusted is True

    def later(path: Path) -> None:
        os.utime(path, ns=(0, path.stat().st_mtime_ns + 1_000_000))

    changes = (
        lambda: (folder / "s0").write_text("z"),
        lambda: ((folder / "s5").write_text("zz"), later(folder / "s5")),
        lambda: (folder / "s5").rename(folder / "s6"),
        lambda: ((tmp_path / "big").write_text("y" * 999 + "z"), later(tmp_path / "big")),
        lambda: (tmp_path / "big").unlink(),
    )
    for change in changes:
        decide()
        change()
        assert look(one, tmp_path).trusted is None
    stale = TrustDecision(trusted=True, digest="another")
    with pytest.raises(Stale):
        asyncio.run(one.decide("owner", tmp_path, stale))


@pytest.mark.parametrize(
    ("policy", "trusted"),
    [("always", True), ("never", False), ([], False), (["inside"], True), (["insid"], False)],
)
def test_an_admin_decides_for_all(tmp_path: Path, policy: Any, trusted: bool) -> None:
    folder = tmp_path / "inside" / "project"
    folder.mkdir(parents=True)
    (folder / "x").write_text("1")
    if isinstance(policy, list):
        policy = [str(tmp_path / name) for name in policy]
    assert look(keeper(Loads("x"), policy=policy), folder).trusted is trusted


def test_a_decision_is_one_persons(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("1")
    one = keeper(Loads("x"))
    decision = TrustDecision(trusted=True, digest=look(one, tmp_path).digest)
    asyncio.run(one.decide("owner", tmp_path, decision))
    assert asyncio.run(one.look("somebody", tmp_path)).trusted is None


def test_in_the_home_folder_an_agents_own_settings_and_state_are_not_the_projects(
    tmp_path: Path,
) -> None:
    state, hooks = tmp_path / ".agent" / "state.json", tmp_path / ".mcp.json"
    state.parent.mkdir()
    state.write_text("{}")
    hooks.write_text("{}")
    below = tmp_path / "project"
    (below / ".agent").mkdir(parents=True)
    (below / ".agent" / "hooks.json").write_text("{}")
    seen = look(keeper(Loads(".agent/state.json", ".mcp.json"), home=tmp_path), tmp_path)
    assert [load.path for load in seen.loads] == [".mcp.json"]
    # what the agent writes there does not make a person decide again
    state.write_text('{"runs": 1}')
    assert look(keeper(Loads(".agent/state.json", ".mcp.json"), home=tmp_path), tmp_path) == seen
    # seen from a project below, in a work tree that holds the home
    adapter = Loads("../.agent/state.json", ".agent/hooks.json")
    assert [load.path for load in look(keeper(adapter, home=tmp_path), below).loads] == [
        ".agent/hooks.json"
    ]
    # but the folder itself is a project like any other
    inside = look(keeper(Loads("state.json"), home=tmp_path), state.parent)
    assert [load.path for load in inside.loads] == ["state.json"]
