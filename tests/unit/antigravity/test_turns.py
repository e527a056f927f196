"""What a person sees of Antigravity's turns, good and bad."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import ProviderError, ProviderTimeout, SessionRejected
from jupyter_agentchat.protocol.events import Complete, Error, EventBody, Session
from jupyter_agentchat.providers.antigravity.launch import arguments, environment, project_loads
from jupyter_agentchat.providers.antigravity.probe import INSTALL_HINT
from jupyter_agentchat.providers.settings import ProviderSettings

from .agy_stage import open_stage, request


def _said(directory: Path, *prompts: str, **more: Any) -> list[EventBody]:
    async def played() -> list[EventBody]:
        async with open_stage(directory) as stage:
            bodies: list[EventBody] = []
            for prompt in prompts:
                bodies = await stage.say(prompt, **more)
            return bodies

    return asyncio.run(played())


def _end(bodies: list[EventBody]) -> tuple[str, str]:
    errors = [body for body in bodies if isinstance(body, Error)]
    assert isinstance(bodies[-1], Complete)
    return bodies[-1].outcome, errors[0].message if errors else ""


def test_an_agent_of_plain_text_gets_no_empty_chrome(tmp_path: Path) -> None:
    bodies = _said(tmp_path, "plain")
    assert [body.type for body in bodies] == [
        "session",
        "assistant_text",
        "assistant_text",
        "assistant_text",
        "complete",
    ]
    complete = bodies[-1]
    assert isinstance(complete, Complete)
    assert complete.usage is None
    assert complete.cost_usd is None


def test_success_without_an_answer_is_an_error(tmp_path: Path) -> None:
    outcome, message = _end(_said(tmp_path, "empty"))
    assert (outcome, message) == ("failed", "Antigravity ended its turn without an answer.")


def test_a_turn_that_it_broke_off_itself_is_an_error_and_keeps_its_text(tmp_path: Path) -> None:
    bodies = _said(tmp_path, "canceled")
    assert _end(bodies) == ("failed", "Antigravity broke off its turn by itself.")
    assert any(getattr(body, "text", None) == "So f" for body in bodies)


def test_a_turn_that_waits_for_a_permission_says_what_to_do(tmp_path: Path) -> None:
    bodies = _said(tmp_path, "waiting")
    (error,) = [body for body in bodies if isinstance(body, Error)]
    assert error.hint == "Choose the permission “full”."


def test_a_silent_turn_is_ended(tmp_path: Path) -> None:
    async def played() -> None:
        async with open_stage(tmp_path, silence_s=0.5) as stage:
            with pytest.raises(ProviderTimeout, match="said nothing"):
                await stage.say("silent")
            assert stage.launcher.children == []

    asyncio.run(played())


def test_lines_that_are_no_json_do_no_harm(tmp_path: Path) -> None:
    assert _end(_said(tmp_path, "noise")) == ("completed", "")


def test_the_conversation_goes_on(tmp_path: Path) -> None:
    async def played() -> None:
        async with open_stage(tmp_path) as stage:
            first = await stage.say("hello")
            (session,) = [body for body in first if isinstance(body, Session)]
            known = session.provider_session_id
            recalled = await stage.say("recall", provider_session_id=known, run_id="r1")
            texts = [getattr(body, "text", None) or "" for body in recalled]
            assert "hello | recall" in "".join(texts)

    asyncio.run(played())


def test_another_conversation_in_place_of_the_old_one_is_a_refusal(tmp_path: Path) -> None:
    from jupyter_agentchat.providers.antigravity.translate import Translator

    translator = Translator("r", "/p", "old")
    assert translator.feed('{"event": "init", "conversation_id": "new", "init": {}}') == ()
    assert translator.other_conversation == "new"


def test_an_unknown_conversation_is_a_refusal(tmp_path: Path) -> None:
    async def played() -> None:
        async with open_stage(tmp_path) as stage:
            with pytest.raises(SessionRejected):
                await stage.say("hello", provider_session_id="conv-gone")

    asyncio.run(played())


@pytest.mark.parametrize("version", ["1.1.7", "1.0.12"])
def test_an_older_program_is_shown_as_too_old(version: str, tmp_path: Path) -> None:
    async def probed() -> None:
        async with open_stage(tmp_path, FAKE_AGY_VERSION=version) as stage:
            provider = await stage.adapter.probe()
            assert (provider.state, provider.available) == ("too_old", False)
            assert provider.reason == f"Version {version} is older than 1.1.8."

    asyncio.run(probed())


def test_a_good_program_tells_its_models(tmp_path: Path) -> None:
    async def probed() -> None:
        async with open_stage(tmp_path) as stage:
            provider = await stage.adapter.probe()
            assert (provider.state, provider.version) == ("ready", "1.2.11")
            assert [model.id for model in provider.models] == ["fake-pro", "fake-flash"]
            assert "cannot ask" in provider.permission_notes["ask"]
            assert INSTALL_HINT

    asyncio.run(probed())


def test_only_full_lets_it_act(tmp_path: Path) -> None:
    skip = "--dangerously-skip-permissions"
    for permission in ("read_only", "ask", "accept_edits", "full"):
        asked = request(tmp_path, "x", permission=permission)
        assert (skip in arguments(asked, ProviderSettings())) == (permission == "full")


def test_no_prompt_stands_in_the_arguments_and_no_flag_in_a_value(tmp_path: Path) -> None:
    asked = request(tmp_path, "the prompt", model="m", effort="high", provider_session_id="c1")
    assert arguments(asked, ProviderSettings()) == [
        "--input-format=stream-json",
        "--output-format=stream-json",
        "--model=m-high",
        "--conversation=c1",
    ]
    for bad in ({"model": "--x"}, {"provider_session_id": "../x"}):
        with pytest.raises(ProviderError):
            arguments(request(tmp_path, "x", **bad), ProviderSettings())


def test_its_environment_holds_what_it_documents_and_no_more() -> None:
    source = {"PATH": "/bin", "ANTIGRAVITY_HOME": "/a", "OPENAI_API_KEY": "k", "JPY_TOKEN": "t"}
    built = environment(source, ProviderSettings())
    assert built == {"PATH": "/bin", "ANTIGRAVITY_HOME": "/a"}


def test_it_is_not_started_untrusted_where_the_project_has_something_for_it(tmp_path: Path) -> None:
    async def played() -> None:
        async with open_stage(tmp_path) as stage:
            assert _end(await stage.say("hello", trusted=False)) == ("completed", "")
            (tmp_path / "GEMINI.md").write_text("Do.")
            with pytest.raises(ProviderError, match=r"GEMINI\.md") as caught:
                await stage.say("hello", trusted=False)
            assert caught.value.event_code == "not_trusted"

    asyncio.run(played())
    loads = project_loads(tmp_path, tmp_path)
    assert [(one.kind, one.path) for one in loads] == [("instructions", "GEMINI.md")]
