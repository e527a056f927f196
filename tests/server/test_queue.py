"""The queue of the real server: it drains with every page closed, on every page alike."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.jupyter_process import JupyterProcess

from .conftest import Rest, Socket, script

Open = Callable[[], Awaitable[Socket]]

BRIEF = script({"sleep": 0.3}, {"say": "first"})
LONG = script({"say": "begun"}, {"sleep": 600})


@pytest.fixture
def settings() -> dict[str, Any]:
    """Two agents that work, and one that is not installed."""
    from .conftest import SCENARIO_AGENT

    agent = {"kind": "native", "command": ["/usr/bin/env", "python3", str(SCENARIO_AGENT)]}
    absent = {"kind": "native", "command": ["agentchat-no-such-program"]}
    return {"provider_settings": {"scenario": agent, "other": agent, "absent": absent}}


async def send(
    rest: Rest, chat_id: str, text: str, client_id: str, **fields: Any
) -> tuple[int, Any]:
    body = {"client_id": client_id, "text": text, **fields}
    return await rest.call("POST", f"chats/{chat_id}/prompts", body)


async def queue_of(rest: Rest, chat_id: str) -> list[str]:
    return [i["text"] for i in (await rest.ok("GET", f"chats/{chat_id}/queue"))["queue"]]


async def prompts(rest: Rest, chat_id: str) -> list[str]:
    return [e["text"] for e in await rest.events(chat_id) if e["type"] == "user"]


async def outcomes(rest: Rest, chat_id: str) -> list[str]:
    return [e["outcome"] for e in await rest.events(chat_id) if e["type"] == "complete"]


async def until_said(rest: Rest, chat_id: str, kind: str) -> None:
    for _ in range(1000):
        if any(event["type"] == kind for event in await rest.events(chat_id)):
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"no {kind} came")


async def until_held(rest: Rest, chat_id: str) -> dict[str, Any]:
    """The queue, once its first item has a reason why it waits."""
    for _ in range(1000):
        view: dict[str, Any] = await rest.ok("GET", f"chats/{chat_id}/queue")
        if view["queue"][0]["held_reason"]:
            return view
        await asyncio.sleep(0.02)
    raise AssertionError("nothing says why it waits")


async def until_all_done(rest: Rest, chat_id: str, count: int) -> None:
    for _ in range(1000):
        if len(await outcomes(rest, chat_id)) == count:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("the queue does not drain")


async def test_three_prompts_are_queued_every_page_is_closed_and_all_are_done_on_return(
    rest: Rest, open_socket: Open
) -> None:
    chat_id, page = await rest.new_chat(), await open_socket()
    await page.subscribe(chat_id)
    await page.ask(type="prompt", chat_id=chat_id, client_id="0", text=BRIEF)
    for number in (1, 2, 3):
        ack = await page.ask(
            type="prompt", chat_id=chat_id, client_id=str(number), text=f"prompt {number}"
        )
        item = ack["result"]["queue_item"]
        assert (item["text"], item["author"]["username"]) == (f"prompt {number}", "owner")
        assert ack["result"]["run_id"] is None
    page.connection.close()
    await until_all_done(rest, chat_id, 4)
    page = await open_socket()
    state = await page.subscribe(chat_id)
    assert (state["queue"], state["queue_paused"]) == ([], False)
    assert (await prompts(rest, chat_id))[1:] == ["prompt 1", "prompt 2", "prompt 3"]
    assert await outcomes(rest, chat_id) == ["completed"] * 4


async def test_every_page_sees_each_change_of_the_queue(rest: Rest, open_socket: Open) -> None:
    chat_id, one, two = await rest.new_chat(), await open_socket(), await open_socket()
    await one.subscribe(chat_id)
    await two.subscribe(chat_id)
    await one.ask(type="prompt", chat_id=chat_id, client_id="0", text=LONG)
    ids = []
    for name in ("a", "b"):
        ack = await one.ask(type="prompt", chat_id=chat_id, client_id=name, text=name)
        ids.append(ack["result"]["queue_item"]["id"])

    async def seen(*texts: str, **fields: Any) -> None:
        for page in (one, two):
            await page.until(
                lambda f: (
                    f["type"] == "sync"
                    and [i["text"] for i in f["queue"]] == list(texts)
                    and all(f[name] == value for name, value in fields.items())
                )
            )

    await seen("a", "b", running=True, queue_paused=False)
    await rest.ok("PUT", f"chats/{chat_id}/queue", {"order": ids[::-1]})
    await seen("b", "a")
    changed = await rest.ok("PATCH", f"chats/{chat_id}/queue/{ids[0]}", {"text": "A"})
    assert [item["text"] for item in changed["queue"]] == ["b", "A"]
    await seen("b", "A")
    await rest.ok("DELETE", f"chats/{chat_id}/queue/{ids[1]}")
    await seen("A")
    await rest.ok("POST", f"chats/{chat_id}/queue/pause")
    await seen("A", queue_paused=True, queue_pause_reason="by_hand")
    await rest.ok("POST", f"chats/{chat_id}/queue/resume")
    await seen("A", queue_paused=False, queue_pause_reason=None)
    await two.ask(type="cancel", chat_id=chat_id)
    await seen("A", running=False, queue_paused=True, queue_pause_reason="stopped")
    assert await outcomes(rest, chat_id) == ["cancelled"]
    await rest.ok("POST", f"chats/{chat_id}/queue/resume")
    await seen(running=True)
    await until_all_done(rest, chat_id, 2)
    assert (await prompts(rest, chat_id))[1:] == ["A"]


async def test_wrong_changes_are_refused_and_change_nothing(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    await send(rest, chat_id, LONG, "0")
    _, accepted = await send(rest, chat_id, "a", "1")
    item = accepted["queue_item"]["id"]
    base = f"chats/{chat_id}/queue"
    for method, route, body, status in (
        ("PUT", base, {"order": []}, 409),
        ("PUT", base, {"order": [item, item]}, 409),
        ("PUT", base, {"order": [item], "more": 1}, 400),
        ("PATCH", f"{base}/none", {"text": "x"}, 404),
        ("PATCH", f"{base}/{item}", {"text": " "}, 400),
        ("PATCH", f"{base}/{item}", {"text": "nul \0"}, 400),
        ("DELETE", f"{base}/none", None, 404),
        ("GET", "chats/none/queue", None, 404),
        ("POST", "chats/none/queue/pause", None, 404),
        ("POST", "chats/none/queue/resume", None, 404),
        ("POST", f"{base}/pause", {"why": "x"}, 400),
    ):
        assert (await rest.call(method, route, body))[0] == status, (method, route, body)
    assert await queue_of(rest, chat_id) == ["a"]
    assert (await rest.ok("GET", base))["paused"] is False


async def test_a_run_that_fails_pauses_the_queue_and_says_so(rest: Rest) -> None:
    chat_id = await rest.new_chat()
    await send(rest, chat_id, script({"sleep": 0.3}, {"fail": "It broke."}), "0")
    await send(rest, chat_id, "next", "1")
    await until_all_done(rest, chat_id, 1)
    await rest.until_idle(chat_id)
    view = await rest.ok("GET", f"chats/{chat_id}/queue")
    assert (view["paused"], view["pause_reason"]) == (True, "failed")
    assert [item["text"] for item in view["queue"]] == ["next"]
    await rest.ok("POST", f"chats/{chat_id}/queue/resume")
    await until_all_done(rest, chat_id, 2)


async def test_a_prompt_for_an_agent_that_is_missing_stays_first_until_it_can_run(
    rest: Rest,
) -> None:
    chat_id = await rest.new_chat()
    await rest.ok("POST", f"chats/{chat_id}/queue/pause")
    await send(rest, chat_id, "one", "1", delivery="queue")
    await send(rest, chat_id, "two", "2", delivery="queue")
    await rest.ok("PATCH", f"chats/{chat_id}", {"provider": "absent"})
    await rest.ok("POST", f"chats/{chat_id}/queue/resume")
    view = await until_held(rest, chat_id)
    assert "agentchat-no-such-program" in view["queue"][0]["held_reason"]
    assert [item["text"] for item in view["queue"]] == ["one", "two"]
    assert view["paused"] is False
    assert await rest.events(chat_id) == []
    await rest.ok("PATCH", f"chats/{chat_id}", {"provider": "other"})
    await until_all_done(rest, chat_id, 2)
    assert await prompts(rest, chat_id) == ["one", "two"]


async def test_a_prompt_queued_before_the_project_became_suspicious_waits_for_a_decision(
    rest: Rest, jp_root_dir: Path
) -> None:
    chat_id = await rest.new_chat()
    await send(rest, chat_id, BRIEF, "0")
    await send(rest, chat_id, "one", "1")
    (jp_root_dir / ".mcp.json").write_text('{"mcpServers": {"x": {"command": "touch"}}}')
    await until_all_done(rest, chat_id, 1)
    view = await until_held(rest, chat_id)
    assert "Decide on it first" in view["queue"][0]["held_reason"]
    trust = await rest.ok("GET", "projects/trust", path="")
    decision = {"trusted": False, "digest": trust["digest"]}
    await rest.ok("POST", "projects/trust", decision, path="")
    await until_all_done(rest, chat_id, 2)


async def test_a_lost_answer_and_a_second_try_queue_once(rest: Rest, open_socket: Open) -> None:
    chat_id, page = await rest.new_chat(), await open_socket()
    await send(rest, chat_id, LONG, "0")
    await page.send(type="prompt", chat_id=chat_id, client_id="1", text="once")
    page.connection.close()  # between the prompt and its ack
    for _ in range(1000):
        if await queue_of(rest, chat_id):
            break
        await asyncio.sleep(0.02)
    page = await open_socket()
    again = await page.ask(type="prompt", chat_id=chat_id, client_id="1", text="once")
    (item,) = (await rest.ok("GET", f"chats/{chat_id}/queue"))["queue"]
    assert again["result"]["queue_item"] == item


async def test_a_message_is_steered_into_the_running_turn(rest: Rest, open_socket: Open) -> None:
    chat_id, page = await rest.new_chat(), await open_socket()
    assert not (await page.subscribe(chat_id))["may_steer"]
    asked = script({"say": "begun"}, {"sleep": 2}, {"say": "ended"})
    await page.ask(type="prompt", chat_id=chat_id, client_id="0", text=asked)
    state = await page.until_sync(may_steer=True)
    await until_said(rest, chat_id, "assistant_text")
    steer = {"type": "prompt", "chat_id": chat_id, "text": "more salt", "delivery": "steer"}
    ack = await page.ask(client_id="1", **steer)
    accepted = {"run_id": state["run_id"], "queue_item": None, "steered": True}
    assert ack["result"] == accepted
    assert (await page.ask(client_id="1", **steer))["result"] == accepted
    await page.until_sync(running=False, may_steer=False)
    events = await rest.events(chat_id)
    said = [(e["type"], e["text"]) for e in events if e["type"] in ("user", "assistant_text")]
    assert said[1:] == [
        ("assistant_text", "begun"),
        ("user", "more salt"),
        ("assistant_text", "more salt"),
        ("assistant_text", "ended"),
    ]
    assert [e["origin"] for e in events if e["type"] == "user"] == ["typed", "steered"]
    assert len({e["run_id"] for e in events}) == 1
    late = await page.ask(client_id="2", **steer)
    assert (late["type"], late["code"]) == ("refused", "unsupported")
    assert late["details"]["text"] == "more salt"
    status, body = await send(rest, chat_id, "more salt", "3", delivery="steer")
    assert (status, body["error"]["code"]) == (409, "unsupported")
    assert len(await prompts(rest, chat_id)) == 2


async def test_the_status_says_that_queue_and_steer_are_there(rest: Rest) -> None:
    features = (await rest.ok("GET", "status"))["features"]
    assert features["queue"] is features["steer"] is True


async def test_a_deleted_chat_takes_its_queue_along_and_sends_nothing(
    rest: Rest, extension: Any
) -> None:
    chat_id = await rest.new_chat()
    await send(rest, chat_id, LONG, "0")
    await send(rest, chat_id, "one", "1")
    await until_said(rest, chat_id, "assistant_text")
    assert (await rest.call("DELETE", f"chats/{chat_id}"))[0] == 202
    assert (await rest.call("GET", f"chats/{chat_id}/queue"))[0] == 404
    extension.store.restore_chat(chat_id)
    assert await queue_of(rest, chat_id) == ["one"]
    assert (await rest.ok("GET", f"chats/{chat_id}/queue"))["paused"]
    assert len(await prompts(rest, chat_id)) == 1


# ---- with a server in a process of its own ------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[JupyterProcess]:
    one = JupyterProcess(tmp_path)
    try:
        yield one
    finally:
        one.stop()


def wait_for(fact: Callable[[], object]) -> None:
    """Poll a server in another process; a busy machine is no failure."""
    deadline = time.monotonic() + 60
    while not fact():
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        time.sleep(0.05)


def ends(server: JupyterProcess, chat_id: str) -> list[str]:
    return [e["outcome"] for e in server.events(chat_id) if e["type"] == "complete"]


def post(server: JupyterProcess, chat_id: str, text: str, client_id: str) -> Any:
    body = {"client_id": client_id, "text": text}
    return server.call("POST", f"chats/{chat_id}/prompts", body)


@pytest.mark.timeout(240)
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_queued_prompts_survive_the_server_and_run_once_when_a_person_says_so(
    server: JupyterProcess, how: str
) -> None:
    server.start()
    chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
    post(server, chat_id, LONG, "0")
    for number in (1, 2, 3):
        post(server, chat_id, f"prompt {number}", str(number))
    if how == "killed":
        server.kill()
    else:
        server.stop()
    server.start()
    view = server.call("GET", f"chats/{chat_id}/queue")
    assert (view["paused"], view["pause_reason"]) == (True, "restarted")
    assert [item["text"] for item in view["queue"]] == ["prompt 1", "prompt 2", "prompt 3"]
    # asked again by a page that never got its answer
    again = post(server, chat_id, "prompt 2", "2")
    assert again["queue_item"]["text"] == "prompt 2"
    server.call("POST", f"chats/{chat_id}/cancel", {})  # where the run has survived
    wait_for(lambda: server.call("GET", f"chats/{chat_id}")["state"] == "idle")
    server.call("POST", f"chats/{chat_id}/queue/resume", {})
    wait_for(lambda: not server.call("GET", f"chats/{chat_id}/queue")["queue"])
    wait_for(lambda: server.call("GET", f"chats/{chat_id}")["state"] == "idle")
    texts = [e["text"] for e in server.events(chat_id) if e["type"] == "user"]
    assert texts[1:] == ["prompt 1", "prompt 2", "prompt 3"]


@pytest.mark.timeout(240)
def test_after_a_crash_the_queue_goes_on_by_itself_where_the_admin_says_so(
    tmp_path: Path,
) -> None:
    server = JupyterProcess(tmp_path, traits={"queue_after_crash": "run", "restart_policy": "stop"})
    try:
        server.start()
        chat_id = server.call("POST", "chats", {"provider": "scenario"})["id"]
        post(server, chat_id, LONG, "0")
        for number in (1, 2):
            post(server, chat_id, f"prompt {number}", str(number))
        server.kill()
        server.start()
        wait_for(lambda: len(ends(server, chat_id)) == 3)
        assert ends(server, chat_id) == ["interrupted", "completed", "completed"]
    finally:
        server.stop()
