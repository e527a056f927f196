"""How opencode is started and told what it may do: seen from outside, without starting it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_agentchat.errors import NotInstalled, ProviderError
from jupyter_agentchat.protocol.resources import Attachment, RunRequest
from jupyter_agentchat.providers.opencode.launch import build_spawn
from jupyter_agentchat.providers.opencode.models import Catalog, catalog_of, catalog_of_listing
from jupyter_agentchat.providers.opencode.permissions import decide, forbidden_by, rules_for
from jupyter_agentchat.providers.opencode.program import find_program
from jupyter_agentchat.providers.opencode.prompts import (
    choice,
    command_of,
    image_parts,
    parts_of,
    session_of,
)
from jupyter_agentchat.providers.opencode.sessions import server_config
from jupyter_agentchat.providers.opencode.wire import Json, message_id, suffix_of
from jupyter_agentchat.providers.settings import ProviderSettings
from tests.fakes.fake_opencode import PROVIDER

SOURCE = {
    "HOME": "/home/jo",
    "PATH": "/usr/bin",
    "JUPYTERHUB_API_TOKEN": "t",
    "ANTHROPIC_API_KEY": "k",
    "OPENCODE_SERVER_PASSWORD": "of somebody else",
    "OPENCODE_PERMISSION": '{"*":"allow"}',
    "RANDOM": "x",
}


def request(**how: object) -> RunRequest:
    given = {"chat_id": "c", "run_id": "r", "prompt": "p", "cwd": "/w", **how}
    return RunRequest.model_validate(given)


def allowed(rules: list[Json], permission: str, pattern: str = "x") -> str:
    """What opencode would make of it: the last rule that matches."""
    said = "none"
    for rule in rules:
        if rule["permission"] in ("*", permission) and rule["pattern"] in ("*", pattern):
            said = str(rule["action"])
    return said


@pytest.mark.parametrize("trusted", [True, False])
def test_it_is_started_on_loopback_with_its_secret_in_the_environment_only(trusted: bool) -> None:
    spawn = build_spawn(
        ["/opt/opencode"],
        SOURCE,
        ProviderSettings(env={"MINE": "1"}),
        child_id="c1",
        secret="the-secret",
        trusted=trusted,
    )
    assert list(spawn.argv[-5:]) == ["serve", "--hostname", "127.0.0.1", "--port", "0"]
    assert "the-secret" not in " ".join(spawn.argv)
    env = spawn.env
    assert env["OPENCODE_SERVER_PASSWORD"] == "the-secret"
    assert env["ANTHROPIC_API_KEY"] == "k"
    assert env["MINE"] == "1"
    assert "JUPYTERHUB_API_TOKEN" not in env
    assert "RANDOM" not in env
    assert json.loads(env["OPENCODE_PERMISSION"])["*"] == "ask"
    assert ("OPENCODE_DISABLE_PROJECT_CONFIG" in env) is not trusted
    assert ("OPENCODE_DISABLE_EXTERNAL_SKILLS" in env) is not trusted


def test_the_program_is_looked_for_in_the_named_places(tmp_path: Path) -> None:
    def program(path: Path) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
        path.chmod(0o755)
        return path

    home = tmp_path / "home"
    source = {"HOME": str(home), "PATH": str(tmp_path / "bin")}
    with pytest.raises(NotInstalled) as missing:
        find_program(ProviderSettings(), source)
    assert "npm install -g opencode-ai@" in (missing.value.hint or "")
    last = program(home / ".opencode/bin/opencode")
    assert find_program(ProviderSettings(), source) == (str(last),)
    on_path = program(tmp_path / "bin/opencode")
    assert find_program(ProviderSettings(), source) == (str(on_path),)
    named = program(tmp_path / "named")
    assert find_program(ProviderSettings(), {**source, "OPENCODE_CLI": str(named)}) == (str(named),)
    admin = ProviderSettings(command=(str(named), "--x"))
    assert find_program(admin, source) == (str(named), "--x")
    # nothing that a project brings along
    assert find_program(ProviderSettings(), source, not_below=tmp_path / "bin") == (str(last),)


def test_rules_say_the_permission_and_keep_what_a_person_forbids() -> None:
    own = forbidden_by(
        [
            {"name": "plan", "permission": [{"permission": "x", "pattern": "*", "action": "deny"}]},
            {
                "name": "build",
                "permission": [
                    {"permission": "bash", "pattern": "rm", "action": "deny"},
                    {"permission": "question", "pattern": "*", "action": "deny"},
                    {"permission": "bash", "pattern": "*", "action": "allow"},
                ],
            },
        ]
    )
    assert own == [{"permission": "bash", "pattern": "rm", "action": "deny"}]
    expected = {
        "read_only": ("ask", "ask", "allow", "ask"),
        "ask": ("ask", "ask", "allow", "ask"),
        "accept_edits": ("allow", "ask", "allow", "ask"),
        "full": ("allow", "allow", "allow", "allow"),
    }
    for permission, (edit, bash, read, mcp) in expected.items():
        rules: list[Json] = rules_for(permission, own)  # type: ignore[arg-type,assignment]
        assert allowed(rules, "edit") == edit
        assert allowed(rules, "bash") == bash
        assert allowed(rules, "read") == read
        assert allowed(rules, "demo_add") == mcp
        assert allowed(rules, "bash", "rm") == "deny"
        assert allowed(rules, "plan_exit") == "deny"


def test_what_is_decided_without_a_person() -> None:
    bash: Json = {"permission": "bash"}
    edit: Json = {"permission": "edit"}
    for by_child in (True, False):
        assert decide("read_only", bash, by_child=by_child) == "deny"
        assert decide("read_only", edit, by_child=by_child) == "deny"
        assert decide("ask", edit, by_child=by_child) == "ask"
        assert decide("full", bash, by_child=by_child) == "allow"
        assert decide("accept_edits", bash, by_child=by_child) == "ask"
    assert decide("accept_edits", edit, by_child=True) == "allow"
    assert decide("read_only", {"permission": "webfetch"}, by_child=False) == "ask"


def test_models_are_listed_without_their_providers_keys() -> None:
    catalog = catalog_of({"providers": [PROVIDER], "default": {"fake": "fake-model"}})
    assert [model.id for model in catalog.models] == ["fake/fake-model"]
    assert catalog.models[0].default
    assert catalog.models[0].context_window == 128_000
    assert catalog.seeing == {"fake/fake-model"}
    assert "sk-" not in repr(catalog)
    text = json.dumps(PROVIDER["models"]["fake-model"], indent=2)
    listing = ["a line of its own", "fake/fake-model", *text.splitlines(), "fake/other", "{", "}"]
    assert [model.id for model in catalog_of_listing(listing).models] == [
        "fake/fake-model",
        "fake/other",
    ]
    assert catalog_of("nonsense").models == ()


def test_model_and_effort_are_checked() -> None:
    catalog = catalog_of({"providers": [PROVIDER], "default": {}})
    chosen, told = choice(request(model="fake/fake-model", effort="high"), None, catalog)
    assert chosen == {
        "model": {"providerID": "fake", "modelID": "fake-model"},
        "variant": "high",
    }
    assert told == ()
    chosen, told = choice(request(model="fake/fake-model", effort="huge"), None, catalog)
    assert "variant" not in chosen
    assert [notice.code for notice in told] == ["effort_ignored"]
    assert choice(request(), "a/b/c", Catalog())[0] == {
        "model": {"providerID": "a", "modelID": "b/c"}
    }
    with pytest.raises(ProviderError):
        choice(request(model="gpt"), None, catalog)
    with pytest.raises(ProviderError):
        session_of(request(provider_session_id="ses_../../x"))
    assert session_of(request(provider_session_id="ses_1aB")) == "ses_1aB"


def test_prompts_carry_transcript_skills_and_images(tmp_path: Path) -> None:
    image = tmp_path / "dot.png"
    image.write_bytes(b"png")
    attached = [
        Attachment(id="a", name="dot.png", path=str(image), mime="image/png", kind="image"),
        Attachment(id="b", name="x", path="/nowhere.png", mime="image/png", kind="image"),
        Attachment(id="c", name="y", path="/file", kind="file"),
    ]
    seen = image_parts(attached, seeing=True)
    assert [part["type"] for part in seen if isinstance(part, dict)] == ["file", "text"]
    blind = image_parts(attached[:1], seeing=False)
    assert blind == [{"type": "text", "text": f"Attached image: {image}"}]
    parts = parts_of(request(transcript="before", skills=["tidy"]), blind)
    texts = [part["text"] for part in parts if isinstance(part, dict)]
    assert texts == [
        "before",
        "Load these skills first: tidy.",
        "p",
        f"Attached image: {image}",
    ]


def test_a_slash_is_a_command_only_at_the_beginning() -> None:
    assert command_of("/init") == ("init", "")
    assert command_of(" /review the last\ncommit ") == ("review", "the last\ncommit")
    assert command_of("look at /etc") is None
    assert command_of("/") is None


def test_mcp_servers_in_its_own_words() -> None:
    assert server_config({"command": "/x", "args": ["a"], "env": {"K": "v"}}) == {
        "type": "local",
        "command": ["/x", "a"],
        "enabled": True,
        "environment": {"K": "v"},
    }
    assert server_config({"type": "http", "url": "http://h", "headers": {"A": "b"}}) == {
        "type": "remote",
        "url": "http://h",
        "enabled": True,
        "headers": {"A": "b"},
    }


def test_ids_of_messages_sort_by_time_and_follow_from_the_run() -> None:
    first, second = message_id(suffix_of("r"), 1_700_000_000.0), message_id("z" * 14, 1_700_000_001)
    assert first < second
    assert first.endswith(suffix_of("r"))
    assert suffix_of("r") != suffix_of("r", 1)
    assert len(first) == len("msg_22f1851d400082f3e9c695dc6b")
