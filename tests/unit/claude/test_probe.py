"""What the interface is told of a CLI that is missing, old, broken, silent or signed out."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from jupyter_agentchat.errors import NotInstalled
from jupyter_agentchat.process.local import LocalLauncher
from jupyter_agentchat.protocol.resources import Provider
from jupyter_agentchat.providers.claude.models import ALIASES, models_of, with_windows
from jupyter_agentchat.providers.claude.probe import missing_provider, probe_program

SIGNED_IN = '{\n "loggedIn": true,\n "authMethod": "api_key"\n}'


def _probe(tmp_path: Path, body: str, *, timeout_s: float = 5.0, is_root: bool = False) -> Provider:
    program = tmp_path / "claude"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o700)

    async def probe() -> Provider:
        launcher = LocalLauncher()
        try:
            found = await probe_program(
                [str(program)],
                launcher,
                {"PATH": "/usr/bin:/bin", "ANTHROPIC_BASE_URL": "https://u:secret@proxy.test/x"},
                tmp_path,
                is_root=is_root,
                timeout_s=timeout_s,
            )
            assert launcher.children == []
            return found
        finally:
            await launcher.close()

    return asyncio.run(probe())


def _cli(version: str, status: str) -> str:
    return f"""[ "$1" = --version ] && echo '{version} (Claude Code)' && exit
cat <<'END'
{status}
END"""


def test_ready(tmp_path: Path) -> None:
    found = _probe(tmp_path, _cli("2.1.332", SIGNED_IN), is_root=True)
    assert (found.state, found.available, found.version) == ("ready", True, "2.1.332")
    assert found.account is not None
    assert found.account.label == "API key, by way of proxy.test"
    assert found.features.plan_usage
    assert found.features.images
    assert "allows each call itself" in found.permission_notes["full"]


@pytest.mark.parametrize("version", ["2.1.211", "1.9.999", "2.0.400"])
def test_too_old(tmp_path: Path, version: str) -> None:
    found = _probe(tmp_path, _cli(version, SIGNED_IN))
    assert (found.state, found.available) == ("too_old", False)
    assert (found.version, found.install_hint) == (version, "claude update")


@pytest.mark.parametrize("status", ['{"loggedIn": false}', "not json", ""])
def test_signed_out(tmp_path: Path, status: str) -> None:
    found = _probe(tmp_path, _cli("2.1.400", status))
    assert (found.state, found.sign_in_hint) == ("signed_out", "claude auth login")


def test_broken_and_silent_programs_are_errors_with_a_reason(tmp_path: Path) -> None:
    broken = _probe(tmp_path, "exit 3")
    assert (broken.state, broken.available) == ("error", False)
    assert "exit code 3" in (broken.reason or "")
    silent = _probe(tmp_path, "exec sleep 60", timeout_s=0.3)
    assert silent.state == "error"
    assert "did not answer" in (silent.reason or "")


def test_missing() -> None:
    found = missing_provider(NotInstalled("Claude Code is not installed.", hint="npm install x"))
    assert (found.state, found.available, found.install_hint) == ("missing", False, "npm install x")


@pytest.mark.parametrize(
    ("more", "label"),
    [
        ('"email": "ada@example.org", "orgName": "Engines"', "ada@example.org, Engines"),
        ('"email": "ada@example.org", "subscriptionType": "max"', "ada@example.org (Max plan)"),
        ('"subscriptionType": "team_premium"', "claude.ai (Team premium plan)"),
    ],
)
def test_the_account_says_who_is_signed_in_and_which_plan_pays(
    tmp_path: Path, more: str, label: str
) -> None:
    status = f'{{"loggedIn": true, "authMethod": "claude.ai", {more}}}'
    found = _probe(tmp_path, _cli("2.1.332", status))
    assert found.account is not None
    assert found.account.label == f"{label}, by way of proxy.test"


def test_before_a_cli_has_told_its_models_its_lasting_names_are_offered() -> None:
    models = with_windows(list(ALIASES), {})
    assert [model.id for model in models] == ["default", "opus", "sonnet", "haiku"]
    assert models[0].default
    assert "high" in models[0].efforts


def test_the_list_of_a_started_cli_replaces_the_aliases() -> None:
    fable = {"value": "fable", "displayName": "Fable", "resolvedModel": "fable-5"}
    told = {"models": [{"value": "default"}, {**fable, "supportedEffortLevels": ["low"]}, {}, 3]}
    models = with_windows(models_of(told), {"fable-5": 200_000})
    assert [(m.id, m.name, m.default, m.efforts, m.context_window) for m in models] == [
        ("default", "default", True, [], None),
        ("fable", "Fable", False, ["low"], 200_000),
    ]
