"""Chats: made, listed, changed, read, deleted; the admin's limits hold on the server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Rest, Socket, script


async def test_a_new_chat_starts_at_code_and_ask_and_appears_in_other_tabs(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]]
) -> None:
    other_tab = await open_socket()
    chat_id = await rest.new_chat(title="First")
    frame = await other_tab.until(lambda f: f["type"] == "chat")
    assert frame["chat"]["id"] == chat_id
    assert (frame["chat"]["mode"], frame["chat"]["effective_permission"]) == ("code", "ask")
    listed = await rest.ok("GET", "chats")
    assert [chat["id"] for chat in listed["chats"]] == [chat_id]
    assert listed["elsewhere"] == 0


async def test_a_project_is_a_folder_below_the_root_and_nothing_else(
    rest: Rest, jp_root_dir: Path
) -> None:
    (jp_root_dir / "study").mkdir()
    (jp_root_dir / "outside").symlink_to(jp_root_dir.parent)
    chat = await rest.ok("POST", "chats", {"provider": "tour", "project": "study"})
    assert chat["project"] == "study"
    for path, code in (("../..", 403), ("outside", 403), ("missing", 404), ("/etc", 403)):
        status, _ = await rest.call("POST", "chats", {"provider": "tour", "project": path})
        assert status == code, path
    only = await rest.ok("GET", "chats", project="study")
    assert [item["id"] for item in only["chats"]] == [chat["id"]]


async def test_chats_of_folders_outside_this_root_are_counted_not_shown(
    rest: Rest, jp_serverapp: Any, jp_root_dir: Path
) -> None:
    services = jp_serverapp.extension_manager.extension_apps["jupyter_agentchat"].copy().pop()
    chat_id = await rest.new_chat()
    record = services.store.chat(chat_id)
    from dataclasses import replace

    moved = replace(
        record.with_chat(id="elsewhere1"), project_path=str(jp_root_dir.parent / "other")
    )
    services.store.create_chat(moved)
    listed = await rest.ok("GET", "chats")
    assert [chat["id"] for chat in listed["chats"]] == [chat_id]
    assert listed["elsewhere"] == 1


async def test_changing_the_agent_clears_what_does_not_fit_it(rest: Rest) -> None:
    chat_id = await rest.new_chat(model="big", effort="high")
    chat = await rest.ok("PATCH", f"chats/{chat_id}", {"provider": "tour"})
    assert (chat["provider"], chat["model"], chat["effort"]) == ("tour", None, None)


async def test_leaving_full_auto_restores_the_earlier_permission(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    await rest.ok("PATCH", f"chats/{chat_id}", {"permission": "accept_edits"})
    auto = await rest.ok("PATCH", f"chats/{chat_id}", {"mode": "full_auto"})
    assert auto["effective_permission"] == "full"
    back = await rest.ok("PATCH", f"chats/{chat_id}", {"mode": "code"})
    assert (back["permission"], back["effective_permission"]) == ("accept_edits", "accept_edits")


async def test_plan_mode_never_writes_whatever_was_chosen(rest: Rest) -> None:
    chat_id = await rest.new_chat(permission="full")
    chat = await rest.ok("PATCH", f"chats/{chat_id}", {"mode": "plan"})
    assert (chat["permission"], chat["effective_permission"]) == ("full", "read_only")


async def test_new_chats_begin_with_the_last_choice_of_agent_and_model(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    await rest.ok("PATCH", f"chats/{chat_id}", {"model": "small", "mode": "plan"})
    chat = await rest.ok("POST", "chats", {})
    assert (chat["provider"], chat["model"], chat["mode"]) == ("scenario", "small", "code")


async def test_who_took_the_tour_has_not_chosen_it_for_the_next_chat(rest: Rest) -> None:
    await rest.ok("POST", "chats", {"provider": "tour"})
    chat = await rest.ok("POST", "chats", {})
    assert chat["provider"] == "scenario"


async def test_unread_until_read_and_again_on_request(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]]
) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    await socket.subscribe(chat_id)
    await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text="hello")
    sync = await socket.until_sync(running=False)
    chat = await rest.ok("GET", f"chats/{chat_id}")
    assert (chat["unread"], chat["attention"], chat["title"]) == (True, "finished", "hello")
    await socket.ask(type="read", chat_id=chat_id, seq=sync["last_seq"])
    chat = await rest.ok("GET", f"chats/{chat_id}")
    assert (chat["unread"], chat["attention"]) == (False, None)
    assert (await rest.ok("POST", f"chats/{chat_id}/read", {"unread": True}))["unread"] is True


async def test_deleting_a_chat_stops_its_run_first_and_tells_every_tab(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]]
) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    await socket.subscribe(chat_id)
    await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text=script("hang"))
    await socket.until_sync(running=True)
    await rest.ok("DELETE", f"chats/{chat_id}")
    await socket.until(lambda f: f["type"] == "chat_deleted" and f["chat_id"] == chat_id)
    assert "complete" in [event["type"] for event in socket.events(chat_id)]
    status, _ = await rest.call("GET", f"chats/{chat_id}")
    assert status == 404


@pytest.mark.parametrize(
    "body",
    [
        {"provider": "nobody"},
        {"provider": "tour", "nonsense": 1},
        {"provider": "tour", "mode": "yolo"},
        {"provider": 7},
        {"provider": "tour", "title": "a\u0000b"},
        {"provider": "tour", "title": "x" * 301},
        {"provider": "tour", "loose": True, "project": ""},
    ],
)
async def test_a_malformed_chat_is_refused_with_a_code_and_not_made(
    rest: Rest, body: dict[str, Any]
) -> None:
    status, answer = await rest.call("POST", "chats", body)
    assert (status, answer["error"]["code"]) == (400, "bad_request")
    assert (await rest.ok("GET", "chats"))["chats"] == []


class TestAdmin:
    @pytest.fixture
    def settings(self) -> dict[str, Any]:
        return {
            "allowed_models": ["small"],
            "allowed_modes": ["chat", "plan"],
            "max_permission": "read_only",
            "loose_chats": False,
            "default_provider": "scenario",
        }

    async def test_the_admins_limits_hold_on_the_server(self, rest: Rest) -> None:
        for body in (
            {"model": "huge", "mode": "chat", "permission": "read_only"},
            {"mode": "code", "permission": "read_only"},
            {"mode": "chat", "permission": "full"},
            {"loose": True, "mode": "chat", "permission": "read_only"},
        ):
            status, answer = await rest.call("POST", "chats", body)
            assert (status, answer["error"]["code"]) == (403, "forbidden"), body
        allowed = {"model": "small", "mode": "chat", "permission": "read_only"}
        chat = await rest.ok("POST", "chats", allowed)
        assert (chat["provider"], chat["effective_permission"]) == ("scenario", "read_only")
        policies = (await rest.ok("GET", "status"))["policies"]
        assert policies["max_permission"] == "read_only"
