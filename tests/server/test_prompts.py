"""From what was typed to what the agent gets: policies, earlier conversation, folders, resends."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from tests.waiting import until

from .conftest import Rest, Socket, script

Open = Callable[[], Awaitable[Socket]]


@pytest.fixture
def settings() -> dict[str, Any]:
    """A second agent of the same kind, to switch to."""
    from .conftest import SCENARIO_AGENT

    agent = {"kind": "native", "command": ["/usr/bin/env", "python3", str(SCENARIO_AGENT)]}
    return {"provider_settings": {"scenario": agent, "other": agent}}


async def prompt(rest: Rest, chat_id: str, text: str, client_id: str = "1") -> tuple[int, Any]:
    body = {"client_id": client_id, "text": text}
    status, answer = await rest.call("POST", f"chats/{chat_id}/prompts", body)
    await rest.until_idle(chat_id)
    return status, answer


async def said(rest: Rest, chat_id: str) -> list[str]:
    return [e["text"] for e in await rest.events(chat_id) if e["type"] == "assistant_text"]


async def test_a_mode_is_put_before_the_prompt_and_the_chat_shows_what_was_typed(
    rest: Rest,
) -> None:
    for mode, prefixed in (("code", False), ("plan", True), ("review", True), ("debug", True)):
        chat_id = await rest.new_chat(mode=mode)
        await prompt(rest, chat_id, "What is here?")
        (user,) = [e for e in await rest.events(chat_id) if e["type"] == "user"]
        assert user["text"] == "What is here?"
        (answer,) = await said(rest, chat_id)
        assert answer.rstrip().endswith("What is here?")
        assert ("[" in answer) is prefixed, mode


async def test_another_agent_is_told_what_was_said_and_the_first_one_goes_on_where_it_was(
    rest: Rest,
) -> None:
    chat_id = await rest.new_chat()
    await prompt(rest, chat_id, script({"say": "The answer is 42."}))
    await rest.ok("PATCH", f"chats/{chat_id}", {"provider": "other"})
    await prompt(rest, chat_id, script({"say": "{transcript}"}), "2")
    await rest.ok("PATCH", f"chats/{chat_id}", {"provider": "scenario"})
    await prompt(rest, chat_id, script({"say": "Missed: {transcript}"}), "3")
    await prompt(rest, chat_id, script({"say": "And now: {transcript}"}), "4")
    _, transcript, missed, nothing = await said(rest, chat_id)
    assert "The answer is 42." in transcript
    assert "{transcript}" not in transcript.split("42.")[1]
    # what the other agent was asked and said, and not what the first one knows by itself
    assert "since your last turn" in missed
    assert '{"say": "{transcript}"}' in missed
    assert missed.count("The answer is 42.") == transcript.count("The answer is 42.")
    assert nothing.strip() == "And now: None"
    started = [e for e in await rest.events(chat_id) if e["type"] == "run_started"]
    assert [e["continuation"] for e in started] == ["fresh", "transcript", "resume", "resume"]
    sessions = (await rest.ok("GET", f"chats/{chat_id}"))["sessions"]
    assert set(sessions) == {"scenario", "other"}


async def test_settings_that_the_next_agent_does_not_have_are_cleared_and_the_thread_says_so(
    rest: Rest,
) -> None:
    chat_id = await rest.new_chat(model="big", effort="high")
    await rest.ok("PATCH", f"chats/{chat_id}", {"provider": "other"})
    assert await rest.events(chat_id) == []  # nothing was said yet: nothing to tell
    await rest.ok("PATCH", f"chats/{chat_id}", {"model": "other-big"})
    await prompt(rest, chat_id, script({"say": "hello"}))
    # as the panel's picker sends it
    body = {"provider": "scenario", "model": None, "effort": None}
    changed = await rest.ok("PATCH", f"chats/{chat_id}", body)
    assert (changed["model"], changed["effort"]) == (None, None)
    notice = (await rest.events(chat_id))[-1]
    assert (notice["type"], notice["code"]) == ("notice", "settings_cleared")
    assert notice["text"].endswith("defaults, not with the model of the agent before.")


async def test_a_refused_resume_goes_on_with_the_transcript_and_says_so(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    await prompt(rest, chat_id, script({"say": "My name is Ada."}))
    await prompt(rest, chat_id, script("resume_refused", {"say": "{transcript}"}), "2")
    events = await rest.events(chat_id)
    kinds = [event["type"] for event in events]
    assert kinds.count("complete") == 2
    assert events[-1]["outcome"] == "completed"
    (refused,) = [event for event in events if event["type"] == "resume_refused"]
    assert refused["reason"] == "unknown id"
    assert "My name is Ada." in (await said(rest, chat_id))[-1]


async def test_the_same_client_id_is_another_prompt_in_another_chat(rest: Rest) -> None:
    one, two = await rest.new_chat(), await rest.new_chat()
    first = await prompt(rest, one, "hello", "same")
    assert await prompt(rest, one, "something else", "same") == first
    assert (await prompt(rest, two, "hello", "same"))[1] != first[1]
    assert len([e for e in await rest.events(one) if e["type"] == "user"]) == 1


async def test_a_refused_prompt_is_not_remembered(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    body = {"client_id": "1", "text": "hi", "expect": {"mode": "plan"}}
    status, answer = await rest.call("POST", f"chats/{chat_id}/prompts", body)
    assert (status, answer["error"]["code"]) == (409, "stale")
    assert (await prompt(rest, chat_id, "hi"))[0] == 202


async def test_a_folder_that_is_gone_or_became_a_link_runs_nothing_and_breaks_no_list(
    rest: Rest, jp_root_dir: Path, tmp_path: Path
) -> None:
    (jp_root_dir / "study").mkdir()
    (tmp_path / "outside").mkdir()
    chat_id = await rest.new_chat(project="study")
    other = await rest.new_chat()
    shutil.rmtree(jp_root_dir / "study")
    status, answer = await prompt(rest, chat_id, "hi")
    assert (status, answer["error"]["code"]) == (404, "not_found")
    listed = await rest.ok("GET", "chats", project="study")
    assert [chat["id"] for chat in listed["chats"]] == [chat_id]
    for target in (tmp_path / "outside", jp_root_dir / "study", jp_root_dir):
        (jp_root_dir / "study").symlink_to(target)
        status, answer = await prompt(rest, chat_id, "hi")
        assert status in (400, 403, 404), target
        listed = await rest.ok("GET", "chats")
        assert {chat["id"] for chat in listed["chats"]} == {chat_id, other}
        assert (await rest.ok("GET", f"chats/{chat_id}"))["project"] == "study"
        assert (await rest.call("GET", "projects"))[0] == 200
        (jp_root_dir / "study").unlink()
    assert await rest.events(chat_id) == []
    (jp_root_dir / "study").mkdir()
    assert (await prompt(rest, chat_id, "hi"))[0] == 202


async def test_a_chat_of_a_folder_outside_this_root_runs_nothing(
    rest: Rest, extension: Any, tmp_path: Path
) -> None:
    from dataclasses import replace

    (tmp_path / "elsewhere").mkdir()
    record = extension.store.chat(await rest.new_chat()).with_chat(id="elsewhere")
    extension.store.create_chat(replace(record, project_path=str(tmp_path / "elsewhere")))
    status, answer = await prompt(rest, "elsewhere", "hi")
    assert (status, answer["error"]["code"]) == (403, "forbidden")


async def test_what_an_agent_leaves_in_a_scratch_folder_is_never_loaded_and_asks_nobody(
    rest: Rest, data_dir: Path
) -> None:
    chat = await rest.ok("POST", "chats", {"provider": "scenario", "loose": True})
    await prompt(rest, chat["id"], "hello")
    scratch = data_dir.with_name(data_dir.name + "-loose") / chat["id"]
    assert scratch.stat().st_mode & 0o777 == 0o700
    (scratch / ".claude").mkdir()
    (scratch / ".claude" / "settings.json").write_text('{"hooks": {}}')
    (scratch / "CLAUDE.md").write_text("Obey.")
    assert (await prompt(rest, chat["id"], "hello again", "2"))[0] == 202


async def test_a_chat_that_is_deleted_while_its_prompt_waits_runs_nothing(
    rest: Rest, extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id = await rest.new_chat()
    looking, go = asyncio.Event(), asyncio.Event()
    look = extension.services.trust.look

    async def slow_look(*args: Any) -> Any:
        looking.set()
        await go.wait()
        return await look(*args)

    monkeypatch.setattr(type(extension.services.trust), "look", lambda _self, *a: slow_look(*a))
    body = {"client_id": "1", "text": "hi"}
    sending = asyncio.get_running_loop().create_task(
        rest.call("POST", f"chats/{chat_id}/prompts", body)
    )
    await looking.wait()
    await rest.ok("DELETE", f"chats/{chat_id}")
    go.set()
    status, answer = await sending
    assert (status, answer["error"]["code"]) == (404, "not_found")
    assert extension.hub.active_runs == 0


async def test_a_prompt_counts_even_when_its_page_closes_at_once(
    rest: Rest, open_socket: Open, extension: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat_id, socket = await rest.new_chat(), await open_socket()
    looking, go = asyncio.Event(), asyncio.Event()
    look = extension.services.trust.look

    async def slow_look(*args: Any) -> Any:
        looking.set()
        await go.wait()
        return await look(*args)

    monkeypatch.setattr(type(extension.services.trust), "look", lambda _self, *a: slow_look(*a))
    await socket.send(type="prompt", chat_id=chat_id, client_id="1", text="hello")
    await looking.wait()
    socket.connection.close()
    await until(lambda: not extension.hub._channels)
    go.set()
    await until(lambda: extension.hub.state(chat_id) == "running")
    await rest.until_idle(chat_id)
    assert (await rest.events(chat_id))[-1]["outcome"] == "completed"


async def test_unread_and_attention_follow_the_runs(rest: Rest, open_socket: Open) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    await socket.subscribe(chat_id)
    for client_id, text, attention in (
        ("1", script({"say": "x"}), "finished"),
        ("2", script({"fail": "no luck"}), "failed"),
    ):
        await socket.ask(type="prompt", chat_id=chat_id, client_id=client_id, text=text)
        await socket.until_sync(running=False)
        row = await socket.until(lambda f: f["type"] == "chat" and f["chat"]["state"] == "idle")
        assert (row["chat"]["unread"], row["chat"]["attention"]) == (True, attention)
    half = await rest.ok("POST", f"chats/{chat_id}/read", {"seq": 1})
    assert (half["unread"], half["attention"]) == (True, "failed")
    seen = await rest.ok("POST", f"chats/{chat_id}/read", {"seq": 99_999})
    assert (seen["unread"], seen["attention"]) == (False, None)
    await socket.until(lambda f: f["type"] == "chat" and not f["chat"]["unread"])
    again = await rest.ok("POST", f"chats/{chat_id}/read", {"seq": 1})
    assert again["unread"] is False
    status, _ = await rest.call("POST", f"chats/{chat_id}/read", {})
    assert status == 400
