"""A row of the chat list says what waits in the chat and what its agent wants, as it is now."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from jupyter_agentchat.chats.access import OWNER
from jupyter_agentchat.protocol.events import Ask, AskResolved
from jupyter_agentchat.protocol.resources import AskAnswer
from jupyter_agentchat.protocol.tools import AskOption, ShellInput
from tests.unit.runs.staged import DONE
from tests.unit.runs.test_following import Follower
from tests.waiting import until

from .desk import Desk, at_desk

ONCE = AskOption(id="yes", label="Allow once", decision="allow")


def to_run(ask_id: str, command: str) -> Ask:
    given = ShellInput(command=command)
    return Ask(ask_id=ask_id, kind="permission", title="Run it?", input=given, options=[ONCE])


def rows_of(client: Follower) -> list[dict[str, Any]]:
    return [frame["chat"] for frame in client.frames if frame["type"] == "chat"]


def wanted_of(client: Follower) -> dict[str, Any] | None:
    """What the last row that came says."""
    return rows_of(client)[-1]["wants"] if rows_of(client) else None


def waiting_of(client: Follower) -> list[tuple[int, bool]]:
    """(how many, paused) of each row that came, without repetitions."""
    told: list[tuple[int, bool]] = []
    for row in rows_of(client):
        now = (row["queued"], row["queue_paused"])
        if told[-1:] != [now]:
            told.append(now)
    return told


def listed(desk: Desk) -> dict[str, Any]:
    rows, _ = desk.chats.list(
        OWNER, project=None, state=None, archived=False, query="", limit=100, cursor=None
    )
    return next(row.model_dump() for row in rows if row.id == "c")


def with_list(scenario: Callable[[Desk, Follower], Any], root: Path) -> None:
    """`scenario` with somebody who looks at the list and has opened no chat."""

    async def play(desk: Desk) -> None:
        client = Follower(desk.stage)
        await scenario(desk, client)
        await client.leave()

    at_desk(play, root)


def test_the_list_says_how_many_prompts_wait_without_anybody_opening_the_chat(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk, client: Follower) -> None:
        first = desk.next()
        await desk.send("one")
        ids = await desk.enqueue("two", "three")
        await until(lambda: waiting_of(client)[-1:] == [(2, False)])
        assert (listed(desk)["queued"], listed(desk)["queue_paused"]) == (2, False)
        desk.queue.remove("c", ids[0])
        desk.queue.pause("c")
        await until(lambda: waiting_of(client)[-1:] == [(1, True)])
        assert (listed(desk)["queued"], listed(desk)["queue_paused"]) == (1, True)
        desk.queue.resume("c")
        desk.finish_at_once(1)
        first.end(DONE)
        await until(lambda: desk.outcomes() == ["completed"] * 2)
        await until(lambda: waiting_of(client)[-1:] == [(0, False)])
        assert listed(desk)["queued"] == 0

    with_list(scenario, tmp_path)


def test_stop_is_seen_in_the_list_as_a_queue_that_waits_for_a_person(tmp_path: Path) -> None:
    async def scenario(desk: Desk, client: Follower) -> None:
        desk.next()
        await desk.send("one")
        await desk.enqueue("two")
        desk.queue.stop("c")
        await until(lambda: waiting_of(client)[-1:] == [(1, True)])
        await desk.stage.until_idle()

    with_list(scenario, tmp_path)


def test_words_and_order_of_what_waits_are_no_news_for_the_list(tmp_path: Path) -> None:
    async def scenario(desk: Desk, client: Follower) -> None:
        desk.next()
        await desk.send("one")
        first, second = await desk.enqueue("two", "three")
        await until(lambda: waiting_of(client)[-1:] == [(2, False)])
        await desk.settle()
        before = len(rows_of(client))
        desk.queue.edit("c", first, "better")
        desk.queue.order("c", [second, first])
        await desk.settle()
        assert len(rows_of(client)) == before
        desk.queue.remove("c", first)
        await until(lambda: len(rows_of(client)) == before + 1)
        desk.queue.stop("c")
        await desk.stage.until_idle()

    with_list(scenario, tmp_path)


def test_the_list_says_what_the_agent_asked_first_and_then_what_is_still_open(
    tmp_path: Path,
) -> None:
    async def scenario(desk: Desk, client: Follower) -> None:
        run = desk.next()
        await desk.send("one")
        run.emit(to_run("q1", "rm -r build"))
        await until(lambda: wanted_of(client) is not None)
        run.emit(to_run("q2", "make"))
        await until(lambda: len(desk.stage.hub.open_asks("c")) == 2)
        wanted = {"kind": "permission", "tool": "shell", "subject": "rm -r build"}
        assert wanted_of(client) == listed(desk)["wants"] == wanted
        await desk.chats.answer("c", "q1", AskAnswer(decision="allow", option_id="yes"), OWNER)
        await until(lambda: wanted_of(client) == {**wanted, "subject": "make"})
        run.emit(AskResolved(ask_id="q2", decision="withdrawn"))
        await until(lambda: wanted_of(client) is None)
        run.end(DONE)
        await desk.stage.until_idle()
        assert listed(desk)["wants"] is None

    with_list(scenario, tmp_path)


def test_a_page_of_the_list_asks_the_store_once_for_all_queues(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async def scenario(desk: Desk) -> None:
        record = desk.store.chat("c")
        for number in range(50):
            chat = record.chat.model_copy(update={"id": f"more-{number}"})
            desk.store.create_chat(type(record)(chat, project_path=record.project_path))
        asked: list[int] = []
        sizes = desk.store.queue_sizes

        def counting(ids: Any) -> Any:
            asked.append(len(ids))
            return sizes(ids)

        monkeypatch.setattr(desk.store, "queue_sizes", counting)
        assert listed(desk)["queued"] == 0
        assert len(asked) == 1

    at_desk(scenario, tmp_path)
