"""REST as the contract says it: statuses, error bodies, limits, and what must not matter."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import pytest
from tornado.httpclient import HTTPClientError

from jupyter_agentchat.protocol.events import Notice
from jupyter_agentchat.store.base import Draft

from .conftest import Rest, Socket, script


@pytest.fixture
def raw(http_server_client: Any, jp_base_url: str, jp_auth_header: dict[str, str]) -> Any:
    """Send exactly these bytes; returns the answer, whatever its status."""

    async def send(method: str, route: str, body: bytes | None = None, **headers: str) -> Any:
        try:
            return await http_server_client.fetch(
                f"{jp_base_url}agentchat/{route}",
                method=method,
                body=body,
                headers={**jp_auth_header, **headers},
                allow_nonstandard_methods=True,
                follow_redirects=False,
            )
        except HTTPClientError as error:
            return error.response

    return send


def code(answer: Any) -> str:
    assert answer.headers["Content-Type"].startswith("application/json")
    error = json.loads(answer.body)["error"]
    assert set(error) == {"code", "message", "details"}
    assert error["message"]
    return str(error["code"])


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"null",
        b"7",
        b'"text"',
        b"\xff\xfe",
        b'{"client_id": "1"}',
        b'{"client_id": "1", "text": 7}',
        b'{"client_id": 1, "text": "hi"}',
        b'{"client_id": "1", "text": "hi", "author": "root"}',
        b'{"client_id": "1", "text": "hi", "expect": {"nonsense": 1}}',
        b'{"client_id": "1", "text": "\\u0000"}',
        b'{"client_id": "1", "text": "\\ud800"}',
        b'{"client_id": "", "text": "hi"}',
        b'{"client_id": "' + b"x" * 201 + b'", "text": "hi"}',
        b'{"client_id": "1", "text": "' + b"x" * 1_000_001 + b'"}',
        b'{"client_id": "1", "text": "hi", "delivery": "soon"}',
        b'{"client_id": "1", "text": NaN}',
        b"[" * 100_000,
        b'{"client_id": "1", "text": ' + b"[" * 100_000,
    ],
    ids=lambda value: repr(value[:50]),
)
async def test_a_malformed_body_is_refused_and_stores_nothing(
    rest: Rest, raw: Any, body: bytes
) -> None:
    chat_id = await rest.new_chat()
    answer = await raw("POST", f"api/chats/{chat_id}/prompts", body)
    assert (answer.code, code(answer)) == (400, "bad_request")
    assert await rest.events(chat_id) == []


async def test_what_is_wrong_is_said_without_repeating_it(rest: Rest, raw: Any) -> None:
    chat_id = await rest.new_chat()
    body = b'{"client_id": "1", "text": {"secret": "hunter2"}}'
    answer = await raw("POST", f"api/chats/{chat_id}/prompts", body)
    assert b"hunter2" not in answer.body
    assert json.loads(answer.body)["error"]["details"]["problems"][0]["field"] == "text"


async def test_a_body_above_the_limit_is_too_large(rest: Rest, raw: Any) -> None:
    chat_id = await rest.new_chat()
    answer = await raw("POST", f"api/chats/{chat_id}/prompts", b" " * (4 * 1024 * 1024 + 1))
    assert (answer.code, code(answer)) == (413, "too_large")


async def test_of_a_key_that_stands_twice_the_last_counts(rest: Rest, raw: Any) -> None:
    chat_id = await rest.new_chat()
    answer = await raw("PATCH", f"api/chats/{chat_id}", b'{"title": "one", "title": "two"}')
    assert json.loads(answer.body)["title"] == "two"


async def test_an_unknown_query_argument_does_not_matter(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    for route in ("status", "providers", "projects", "chats", f"chats/{chat_id}/events"):
        await rest.ok("GET", route, **{"1690000000000": "", "wibble": "1"})


@pytest.mark.parametrize(
    ("method", "route"),
    [
        ("PUT", "api/chats"),
        ("DELETE", "api/status"),
        ("POST", "api/chats/x/events"),
        ("GET", "api/chats/x/prompts"),
        ("HEAD", "api/status"),
    ],
)
async def test_a_method_that_an_address_does_not_take_is_said_in_json(
    raw: Any, method: str, route: str
) -> None:
    answer = await raw(method, route, None if method in ("GET", "HEAD", "DELETE") else b"{}")
    assert answer.code == 405
    if method != "HEAD":
        assert code(answer) == "bad_request"


async def test_options_tells_nothing(raw: Any) -> None:
    answer = await raw("OPTIONS", "api/chats", Authorization="")
    assert (answer.code < 300, answer.body) == (True, b"")


@pytest.mark.parametrize(
    "route",
    [
        "api/chats/nobody",
        "api/chats/nobody/events",
        "api/chats/nobody/asks",
        "api/chats/nobody/blobs/b",
        "api/chats/" + "x" * 201,
        "api/chats/..%2f..%2fetc",
        "api/chats/a%00b",
        "api/chats/%3Cscript%3E",
        "api/projects/trust?path=nowhere",
        "api/",
        "",
        "nothing",
    ],
)
async def test_what_is_not_there_is_a_404_that_repeats_nothing(raw: Any, route: str) -> None:
    answer = await raw("GET", route)
    assert (answer.code, code(answer)) == (404, "not_found")
    assert b"script" not in answer.body


@pytest.mark.parametrize(
    "query",
    [
        "limit=x",
        "limit=-1",
        "limit=1e3",
        "limit=" + "9" * 30,
        "limit=%D9%A3",
        "cursor=garbage",
        "cursor=" + quote("[1,2]"),
        "cursor=%ff",
        "state=sleeping",
    ],
)
async def test_a_query_argument_that_is_no_such_thing_is_refused(raw: Any, query: str) -> None:
    answer = await raw("GET", f"api/chats?{query}")
    assert (answer.code, code(answer)) == (400, "bad_request")


@pytest.mark.parametrize(
    "query", ["after=x", "before=-1", "after=1&before=2", "turns=many", "limit=nan"]
)
async def test_a_page_that_cannot_be_is_refused(rest: Rest, raw: Any, query: str) -> None:
    chat_id = await rest.new_chat()
    answer = await raw("GET", f"api/chats/{chat_id}/events?{query}")
    assert (answer.code, code(answer)) == (400, "bad_request")


async def test_pages_are_capped_and_join_without_a_seam(rest: Rest, extension: Any) -> None:
    chat_id = await rest.new_chat()
    extension.store.append(
        chat_id, [Draft(Notice(code="n", text=str(number))) for number in range(2_500)]
    )
    page = await rest.ok("GET", f"chats/{chat_id}/events", limit="99999")
    assert (len(page["events"]), page["first_seq"], page["last_seq"]) == (2000, 1, 2000)
    assert page["has_more"] is True
    page = await rest.ok("GET", f"chats/{chat_id}/events", after="2000", include="cut")
    assert (page["first_seq"], page["last_seq"], page["has_more"]) == (2001, 2500, False)
    page = await rest.ok("GET", f"chats/{chat_id}/events")
    assert len(page["events"]) == 500
    page = await rest.ok("GET", f"chats/{chat_id}/events", before="11", limit="3")
    assert [event["seq"] for event in page["events"]] == [8, 9, 10]
    assert page["events"][0]["chat_id"] == chat_id
    empty = await rest.ok("GET", f"chats/{chat_id}/events", after="2500")
    assert (empty["events"], empty["first_seq"], empty["has_more"]) == ([], None, False)


async def test_a_filtered_list_has_no_more_rows_than_asked_for_and_misses_none(rest: Rest) -> None:
    made = [await rest.new_chat(title=f"chat {number}") for number in range(7)]
    busy = made[1::2]
    for chat_id in busy:
        await rest.ok(
            "POST", f"chats/{chat_id}/prompts", {"client_id": "1", "text": script("hang")}
        )
    listed: list[str] = []
    cursor: dict[str, str] = {}
    while True:
        page = await rest.ok("GET", "chats", state="running", limit="2", **cursor)
        assert len(page["chats"]) <= 2
        listed += [chat["id"] for chat in page["chats"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert sorted(listed) == sorted(busy)
    assert len((await rest.ok("GET", "chats", limit="0"))["chats"]) == 7
    assert [c["title"] for c in (await rest.ok("GET", "chats", q="CHAT 3"))["chats"]] == ["chat 3"]


async def test_an_ask_with_an_odd_id_can_be_answered(
    rest: Rest, open_socket: Callable[[], Awaitable[Socket]], raw: Any
) -> None:
    socket, chat_id = await open_socket(), await rest.new_chat()
    await socket.subscribe(chat_id)
    odd = "toolu/1 ü%2F?#+"
    ask = {"type": "ask", "ask_id": odd, "kind": "permission", "title": "May I?"}
    text = script({"emit": ask}, "hang")
    await socket.ask(type="prompt", chat_id=chat_id, client_id="1", text=text)
    await socket.until_sync(phase="waiting")
    answer = await raw(
        "POST", f"api/chats/{chat_id}/asks/{quote(odd, safe='')}", b'{"decision": "deny"}'
    )
    assert (answer.code, json.loads(answer.body)["ask_id"]) == (200, odd)
    missing = await raw("POST", f"api/chats/{chat_id}/asks/%ff", b'{"decision": "deny"}')
    assert missing.code == 400
    await socket.ask(type="cancel", chat_id=chat_id)
    await socket.until_sync(running=False)


async def test_answers_carry_no_store_and_hold_no_secrets_of_the_server(
    rest: Rest, raw: Any
) -> None:
    answer = await raw("GET", "api/status")
    assert answer.headers["Cache-Control"] == "no-store"
    status = json.loads(answer.body)
    assert (status["protocol"], status["user"]["username"]) == (1, "owner")
    assert status["features"]["queue"] is True
    assert status["features"]["workers"] is False
    assert status["store"]["writable"] is True
    listed = await rest.ok("GET", "providers")
    assert [provider["id"] for provider in listed["providers"]][-1] == "tour"
