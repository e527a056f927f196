"""What the interface is told of Kimi Code before anybody uses it."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import Provider
from jupyter_agentchat.providers.kimi.adapter import KimiAdapter
from jupyter_agentchat.providers.settings import ProviderSettings

from .stage import PROGRAM, context

CONFIG = """
default_model = "acme/big"
[providers.acme]
type = "openai"
api_key = "sk-very-secret"
[models."acme/big"]
provider = "acme"
model = "big"
max_context_size = 1000
support_efforts = ["low", "high"]
[models."acme/small"]
provider = "acme"
model = "small"
display_name = "Small"
"""


def probed(tmp_path: Path, config: str | None = CONFIG, **how: Any) -> Provider:
    """The probe of the stand-in in a fresh home."""
    home = tmp_path / "home/.kimi-code"
    home.mkdir(parents=True, exist_ok=True)
    if config is not None:
        (home / "config.toml").write_text(config, "utf-8")

    async def scene() -> Provider:
        launcher = LocalLauncher()
        env = how.pop("env", {})
        command = how.pop("command", (sys.executable, str(PROGRAM)))
        made = context(tmp_path, launcher, **how)
        settings = ProviderSettings(command=command, env=env)
        adapter = KimiAdapter(replace(made, settings=settings))
        found = await adapter.probe()
        assert launcher.children == []
        await adapter.close()
        await launcher.close()
        return found

    return asyncio.run(scene())


def test_ready_with_its_models_and_whose_key_it_is_and_never_the_key(tmp_path: Path) -> None:
    found = probed(tmp_path)
    assert (found.state, found.available, found.version) == ("ready", True, "2.1.0")
    assert [(m.id, m.name, m.default) for m in found.models] == [
        ("acme/big", "acme/big", True),
        ("acme/small", "Small", False),
    ]
    assert found.models[0].efforts == ["low", "high"]
    assert found.account is not None
    assert found.account.label == "API key (acme)"
    assert "sk-very-secret" not in found.model_dump_json()
    assert set(found.permission_notes) == {"read_only", "ask", "accept_edits", "full"}


def test_what_kimi_code_cannot_do_is_declared(tmp_path: Path) -> None:
    features = probed(tmp_path).features
    assert features.mcp is None
    assert features.restore_files is False
    assert features.reattach is False, "children of this launcher end with their server"
    assert (features.fork, features.rewind, features.steer) == ("native", "native", True)
    assert (features.images, features.questions, features.plan_usage) == (True, True, True)


def test_nobody_signed_in_too_old_missing_and_broken_say_what_to_do(tmp_path: Path) -> None:
    out = probed(tmp_path / "a", None)
    assert (out.state, out.sign_in_hint) == ("signed_out", "kimi login")
    old = probed(tmp_path / "b", env={"FAKE_KIMI_VERSION": "1.52.0"})
    assert (old.state, old.min_version) == ("too_old", "2.0.0")
    assert "@moonshot-ai/kimi-code@" in (old.install_hint or "")
    gone = probed(tmp_path / "c", command=("/nowhere/kimi",))
    assert gone.state == "missing"
    odd = probed(tmp_path / "d", env={"FAKE_KIMI_VERSION": "what?"})
    assert odd.state == "error"


def test_a_node_that_is_too_old_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir(parents=True)
    for name, text in (("kimi", "#!/usr/bin/env node\n"), ("node", "#!/bin/sh\necho v20.20.2\n")):
        (folder / name).write_text(text, "utf-8")
        (folder / name).chmod(0o755)
    found = probed(tmp_path / "a", command=(str(folder / "kimi"),))
    assert found.state == "missing"
    assert "22.19" in (found.reason or "")
    assert "v20.20.2" in (found.reason or "")
    assert found.install_hint == "npm install -g node@24"


def test_a_broken_settings_file_is_passed_over(tmp_path: Path) -> None:
    assert probed(tmp_path, "this is = [no toml").state == "signed_out"
