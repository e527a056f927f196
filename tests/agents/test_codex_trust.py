"""What the real Codex loads of a project, with and without a person's trust."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

from tests.agents.codex_agent import Chat, Place, allow, open_chat
from tests.fakes import anthropic_mcp

CANARIES = [
    "JUPYTERHUB_API_TOKEN",
    "JPY_API_TOKEN",
    "JUPYTER_TOKEN",
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "AWS_SECRET_ACCESS_KEY",
    "MY_CANARY",
]


def _plant(place: Path, name: str, marks: Path) -> None:
    """A directory with everything that Codex would load."""
    (place / ".codex").mkdir(parents=True, exist_ok=True)
    (place / "AGENTS.md").write_text(f"INSTRUCTION-{name}\n")
    skill = place / ".agents" / "skills" / name / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(f"---\nname: {name}\ndescription: SKILL-{name}\n---\nBody.\n")
    (place / ".codex" / "config.toml").write_text(
        f'[mcp_servers.{name}]\ncommand = "{sys.executable}"\n'
        f'args = ["{anthropic_mcp.__file__}"]\nenv = {{ STARTED = "{marks / name}" }}\n'
    )


def test_an_untrusted_project_loads_nothing_of_its_own_and_trust_can_change(
    codex_place: Place,
) -> None:
    """Also where the person trusts the repository in Codex itself, for their terminal."""
    marks, project = codex_place.home / "marks", codex_place.project
    marks.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    inner = project / "inner"
    for name, place in (("outer", project), ("inner", inner)):
        _plant(place, name, marks)
    words = {f"{word}-{name}" for word in ("INSTRUCTION", "SKILL") for name in ("outer", "inner")}
    codex_place.configure(f'\n[projects."{project}"]\ntrust_level = "trusted"\n')
    codex_place.project = inner

    async def loaded(chat: Chat) -> set[str]:
        await chat.say("say hello")
        said = str(codex_place.fake.calls[-1].body)
        return {word for word in words if word in said} | {path.name for path in marks.iterdir()}

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            loads = {load.kind for load in chat.adapter.loads(inner, project)}
            assert {"mcp", "instructions", "settings", "skills"} <= loads
            assert await loaded(chat) == set()
            chat.trusted = True
            # the same conversation in the same process: and so the test can fail
            assert await loaded(chat) == words | {"outer", "inner"}
            chat.trusted = False
            for mark in marks.iterdir():
                mark.unlink()
            await chat.say("echo again")
            assert list(marks.iterdir()) == []

    asyncio.run(talk())


def test_nothing_is_written_into_the_persons_configuration(codex_place: Place) -> None:
    """Codex notes the directory as trusted when a thread begins with more than reading."""
    codex_place.configure()
    before = codex_place.config.read_text()

    async def talk() -> None:
        async with open_chat(codex_place, trusted=True) as chat:
            for permission in ("ask", "accept_edits", "full"):
                await chat.say("run true", allow(), permission=permission)
        assert codex_place.config.read_text() == before

    asyncio.run(talk())


def test_no_token_of_the_server_reaches_the_agents_shell(codex_place: Place) -> None:
    codex_place.env.update(dict.fromkeys(CANARIES, "canary"))
    codex_place.env["CONDA_PREFIX"] = "/opt/conda"

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            told = await chat.say("run env | cut -d= -f1 | sort", permission="accept_edits")
            names = set(told.ends[0].output[0].text.split())
            assert {"HOME", "PATH", "CONDA_PREFIX"} <= names
            assert not set(CANARIES) & names

    asyncio.run(talk())


def test_the_facts_of_the_program_are_told_and_no_process_stays(codex_place: Place) -> None:
    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            found = await chat.adapter.probe()
            assert (found.state, found.version, found.available) == ("ready", "0.171.0", True)
            assert found.features.rewind == found.features.fork == "native"
            assert [model.id for model in found.models if model.default]
            assert chat.launcher.children == []
            # a running one is asked itself
            await chat.say("echo one")
            assert (await chat.adapter.probe()).state == "ready"
            assert len(chat.launcher.children) == 1

    asyncio.run(talk())


def test_without_a_login_the_next_command_is_told(codex_place: Place) -> None:
    codex_place.config.parent.mkdir()
    codex_place.config.write_text("check_for_update_on_startup = false\n")

    async def talk() -> None:
        async with open_chat(codex_place) as chat:
            found = await chat.adapter.probe()
            assert (found.state, found.sign_in_hint) == ("signed_out", "codex login")
            assert found.models

    asyncio.run(talk())
