"""What is a person's own: drafts, search, marks, the trash, and chats as files."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from tornado.httpclient import HTTPClientError

from .conftest import Browser, Rest, script


async def prompt(rest: Rest, chat_id: str, text: str, client_id: str = "1") -> None:
    body = {"client_id": client_id, "text": text}
    await rest.ok("POST", f"chats/{chat_id}/prompts", body)
    await rest.until_idle(chat_id)


class TestDrafts:
    async def test_a_draft_is_there_on_the_next_device(self, rest: Rest) -> None:
        chat_id = await rest.new_chat()
        draft = await rest.ok("GET", f"chats/{chat_id}/draft")
        assert draft == {"text": "", "attachments": [], "revision": 0}
        kept = await rest.ok("PUT", f"chats/{chat_id}/draft", {"text": "häl🐑", "revision": 0})
        assert await rest.ok("GET", f"chats/{chat_id}/draft") == kept
        assert (kept["text"], kept["revision"]) == ("häl🐑", 1)

    async def test_an_older_draft_does_not_overwrite_a_newer_one(self, rest: Rest) -> None:
        chat_id = await rest.new_chat()
        await rest.ok("PUT", f"chats/{chat_id}/draft", {"text": "one", "revision": 0})
        status, body = await rest.call(
            "PUT", f"chats/{chat_id}/draft", {"text": "two", "revision": 0}
        )
        assert (status, body["error"]["code"]) == (409, "stale")
        assert (await rest.ok("GET", f"chats/{chat_id}/draft"))["text"] == "one"

    async def test_a_chat_that_is_not_there_has_no_draft(self, rest: Rest) -> None:
        assert (await rest.call("GET", "chats/nothing/draft"))[0] == 404
        body = {"text": "x", "revision": 0}
        assert (await rest.call("PUT", "chats/nothing/draft", body))[0] == 404


class TestSearch:
    async def test_what_was_said_is_found_with_its_place(self, rest: Rest) -> None:
        chat_id = await rest.new_chat(title="Weather")
        await prompt(rest, chat_id, script({"say": "The zebra crosses the river."}))
        found = await rest.ok("GET", "search", q="zebra riv")
        (hit,) = [hit for hit in found["hits"] if "zebra" in hit["snippet"] and hit["seq"]][:1]
        assert (hit["chat_id"], hit["title"]) == (chat_id, "Weather")
        events = {event["seq"]: event for event in await rest.events(chat_id)}
        assert events[hit["seq"]]["type"] in ("assistant_text", "user")
        assert "\ue000" in hit["snippet"]

    async def test_what_was_deleted_is_not_found_until_it_is_back(self, rest: Rest) -> None:
        chat_id = await rest.new_chat()
        await prompt(rest, chat_id, script({"say": "An okapi."}))
        assert (await rest.ok("GET", "search", q="okapi"))["hits"]
        await rest.ok("DELETE", f"chats/{chat_id}")
        assert (await rest.ok("GET", "search", q="okapi"))["hits"] == []
        await rest.ok("POST", f"chats/{chat_id}/restore")
        assert (await rest.ok("GET", "search", q="okapi"))["hits"]

    @pytest.mark.parametrize("query", ["", "  ", '"', "*", "a AND", "NEAR(", "col:x", "^", "-x"])
    async def test_no_query_is_an_error(self, rest: Rest, query: str) -> None:
        assert "hits" in await rest.ok("GET", "search", q=query)

    async def test_a_project_narrows_it_and_there_may_be_more(
        self, rest: Rest, jp_root_dir: Any
    ) -> None:
        (jp_root_dir / "sub").mkdir()
        here, there = await rest.new_chat(), await rest.new_chat(project="sub")
        for chat_id in (here, there):
            await prompt(rest, chat_id, script({"say": "quagga"}))
        only = await rest.ok("GET", "search", q="quagga", project="sub")
        assert {hit["chat_id"] for hit in only["hits"]} == {there}
        first = await rest.ok("GET", "search", q="quagga", limit="1")
        assert (len(first["hits"]), first["more"]) == (1, True)


class TestTrash:
    async def test_a_deleted_chat_comes_back_as_it_was(self, rest: Rest) -> None:
        chat_id = await rest.new_chat(title="Kept")
        await prompt(rest, chat_id, script({"say": "Word for word."}))
        before, chat = await rest.events(chat_id), await rest.ok("GET", f"chats/{chat_id}")
        await rest.ok("DELETE", f"chats/{chat_id}")
        assert (await rest.call("GET", f"chats/{chat_id}"))[0] == 404
        back = await rest.ok("POST", f"chats/{chat_id}/restore")
        assert await rest.events(chat_id) == before
        assert {**back, "state": ""} == {**chat, "state": ""}
        status, _ = await rest.call("POST", f"chats/{chat_id}/restore")
        assert status == 404  # it is not in the trash any more

    async def test_what_can_be_brought_back_is_listed(self, rest: Rest) -> None:
        first, second = await rest.new_chat(title="one"), await rest.new_chat(title="two")
        for chat_id in (first, second):
            await rest.ok("DELETE", f"chats/{chat_id}")
        trash = await rest.ok("GET", "trash")
        assert {chat["title"] for chat in trash["chats"]} == {"one", "two"}
        assert trash["days"] == 7.0
        await rest.ok("POST", f"chats/{first}/restore")
        left = (await rest.ok("GET", "trash"))["chats"]
        assert [(chat["id"], chat["project"]) for chat in left] == [(second, "")]

    async def test_after_its_days_a_deleted_chat_is_gone(self, rest: Rest, extension: Any) -> None:
        chat_id = await rest.new_chat()
        await rest.ok("DELETE", f"chats/{chat_id}")
        extension.services.trash._days = -1
        await extension.services.trash.purge()
        assert (await rest.call("POST", f"chats/{chat_id}/restore"))[0] == 404


class TestMarks:
    async def test_who_has_read_a_chat_is_not_told_of_its_end_any_more(self, rest: Rest) -> None:
        chat_id = await rest.new_chat()
        await prompt(rest, chat_id, script({"say": "x"}))
        chat = await rest.ok("GET", f"chats/{chat_id}")
        assert (chat["unread"], chat["attention"]) == (True, "finished")
        read = await rest.ok("POST", f"chats/{chat_id}/read", {"seq": chat["last_seq"]})
        assert (read["unread"], read["attention"]) == (False, None)
        again = await rest.ok("POST", f"chats/{chat_id}/read", {"unread": True})
        assert (again["unread"], again["attention"]) == (True, "finished")

    async def test_one_persons_pin_and_archive_are_not_anothers(
        self, rest: Rest, extension: Any
    ) -> None:
        chat_id = await rest.new_chat()
        mine = await rest.ok("PATCH", f"chats/{chat_id}", {"pinned": True, "archived": True})
        assert (mine["pinned"], mine["archived"]) == (True, True)
        record = extension.store.chat(chat_id)
        theirs = extension.services.chats.view(record, "somebody else")
        assert (theirs.pinned, theirs.archived) == (False, False)
        assert (await rest.ok("GET", "chats"))["chats"] == []
        assert len((await rest.ok("GET", "chats", archived="1"))["chats"]) == 1


class TestExport:
    @pytest.fixture
    def download(self, browser: Browser, jp_fetch: Callable[..., Any]) -> Any:
        async def fetch(chat_id: str, **query: str) -> Any:
            return await jp_fetch("agentchat", "api", "chats", chat_id, "export", params=query)

        return fetch

    async def test_every_event_is_in_the_json_lines(self, rest: Rest, download: Any) -> None:
        chat_id = await rest.new_chat(title="Ünï 'quoted'\"\n")
        await prompt(rest, chat_id, script({"say": "x"}))
        answer = await download(chat_id, format="jsonl")
        head, *events = [json.loads(line) for line in answer.body.decode().splitlines()]
        assert (head["type"], head["id"]) == ("chat", chat_id)
        assert events == await rest.events(chat_id)
        disposition = answer.headers["Content-Disposition"]
        assert disposition == f'attachment; filename="n-quoted-{chat_id}.jsonl"'

    async def test_markdown_reads_like_the_thread(self, rest: Rest, download: Any) -> None:
        chat_id = await rest.new_chat(title="Fences")
        tool = {"tool": {"kind": "shell", "input": {"command": "ls"}, "output": "a ``` b"}}
        await prompt(rest, chat_id, script({"say": "Before."}, tool, {"say": "**After.**"}))
        text = (await download(chat_id, format="md")).body.decode()
        assert text.startswith("# Fences\n")
        places = [text.index(part) for part in ("Before.", "**After.**")]
        assert places == sorted(places)

    async def test_an_unknown_format_and_another_site_are_refused(
        self, rest: Rest, download: Any, browser: Browser
    ) -> None:
        chat_id = await rest.new_chat()
        with pytest.raises(HTTPClientError) as refused:
            await download(chat_id, format="exe")
        assert refused.value.code == 400
        status, _ = await browser.call(
            "GET", f"api/chats/{chat_id}/export", X_XSRFToken=None, Origin="http://evil.example"
        )
        assert status in (403, 404)
