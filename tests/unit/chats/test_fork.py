"""Forks: the parent stays as it is to the last byte, and the agent knows what the fork shows."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.chats.access import OWNER as PERSON
from jupyter_agentchat.chats.access import Caller
from jupyter_agentchat.chats.fork import fork_title
from jupyter_agentchat.errors import BadRequest, NotFound
from jupyter_agentchat.protocol.controls import RewindRequest
from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    EventBody,
    Forked,
    RunStarted,
    ToolUseStart,
    User,
)
from jupyter_agentchat.protocol.resources import Author, ChatParent
from jupyter_agentchat.protocol.tools import ShellInput
from jupyter_agentchat.providers.base import Forker
from jupyter_agentchat.store.base import Draft, RunRecord, Store
from jupyter_agentchat.store.memory import MemoryStore
from jupyter_agentchat.store.sqlite import open_store
from tests.unit.chats.rewind_desk import Cutting, RewindDesk, at_desk

OWNER = Author(username="owner", name="You")


def play(tmp_path: Path, scenario: Any, store: Any = None) -> None:
    at_desk(store or MemoryStore(), tmp_path, scenario)


def all_of(store: Store, chat_id: str = "c") -> list[object]:
    """A chat to the last byte, cut events and metadata included."""
    page = store.events_after(chat_id, 0, limit=10_000, include_cut=True)
    return [*page.events, store.chat(chat_id)]


def forked_of(desk: RewindDesk, chat_id: str) -> Forked:
    body = desk.store.events_before(chat_id, None, limit=1).events[0].body()
    assert isinstance(body, Forked)
    return body


def test_a_fork_is_a_copy_with_its_parent_named_and_the_parent_stays_as_it_was(
    tmp_path: Path,
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.run("one")
        await desk.rewind(await desk.run("cut"))
        await desk.run("two")
        parent = all_of(desk.store)
        fork = await desk.fork()
        assert all_of(desk.store) == parent
        assert desk.said(fork.id) == ["one", "re: one", "two", "re: two"]
        last = desk.store.last_seq("c")
        assert fork.parent == ChatParent(chat_id="c", seq=last)
        assert forked_of(desk, fork.id) == Forked(from_chat="c", from_seq=last, kind="transcript")
        assert (fork.title, fork.sessions, fork.state) == ("one (fork)", {}, "idle")
        await desk.run("three", chat_id=fork.id)
        assert desk.request.provider_session_id is None
        assert "re: two" in (desk.request.transcript or "")
        assert "re: cut" not in (desk.request.transcript or "")
        assert all_of(desk.store) == parent

    play(tmp_path, scenario)


def test_an_agent_that_can_copies_its_conversation_once(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.forker = Forker()
        await desk.run("one")
        fork = await desk.fork()
        assert (fork.sessions, fork.fork_pending) == ({"staged": "s1"}, ["staged"])
        assert forked_of(desk, fork.id).kind == "native"
        await desk.run("two", chat_id=fork.id, session=None)  # it failed before it said its id
        await desk.run("three", chat_id=fork.id, session="s2")
        asked = [(r.provider_session_id, r.fork, r.transcript) for r, _ in desk.adapter.requests]
        assert asked[1:] == [("s1", True, None), ("s1", True, None)]
        assert desk.chat(fork.id).fork_pending == []
        await desk.run("four", chat_id=fork.id, session="s2")
        assert (desk.request.provider_session_id, desk.request.fork) == ("s2", False)
        assert desk.chat("c").sessions == {"staged": "s1"}

    play(tmp_path, scenario)


def test_a_parent_that_went_on_is_not_copied_natively_any_more(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.forker = Forker()
        await desk.run("one")
        fork = await desk.fork()
        await desk.run("later")
        await desk.run("two", chat_id=fork.id, session="s2")
        assert (desk.request.provider_session_id, desk.request.fork) == (None, False)
        assert "re: one" in (desk.request.transcript or "")
        assert "later" not in (desk.request.transcript or "")
        assert desk.chat(fork.id).fork_pending == []

    play(tmp_path, scenario)


@pytest.mark.parametrize("fate", ["rewound", "deleted"])
def test_a_parent_that_was_changed_is_not_copied_natively_any_more(
    tmp_path: Path, fate: str
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.forker = Forker()
        await desk.run("one")
        second = await desk.run("two")
        fork = await desk.fork()
        if fate == "rewound":
            await desk.rewind(second)
        else:
            desk.store.delete_chat("c", when="2026-01-01T00:00:00.000Z")
        await desk.run("three", chat_id=fork.id, session="s2")
        assert (desk.request.provider_session_id, desk.request.fork) == (None, False)
        assert "re: two" in (desk.request.transcript or "")

    play(tmp_path, scenario)


def test_a_rewind_in_a_fork_leaves_the_parents_conversation_alone(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        desk.adapter.forker = Forker()
        await desk.run("one")
        await desk.run("two", lambda: (desk.root / "a").touch())
        fork = await desk.fork()
        prompts = [seq for seq, kind, _ in desk.log(fork.id) if kind == "user"]
        asked = RewindRequest(seq=prompts[1], files="restore")
        done = await desk.rewinds.rewind(fork.id, PERSON, asked)
        assert (done.method, cutting.cuts) == ("transcript", [])
        assert (desk.root / "a").exists(), "the parent's work is not the fork's to put back"
        assert [kept.path for kept in done.kept] == [""]
        assert desk.chat(fork.id).fork_pending == []
        assert desk.chat("c").sessions == {"staged": "s1"}

    play(tmp_path, scenario)


def test_a_fork_from_an_earlier_message_begins_with_a_transcript(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.forker = Forker()
        await desk.run("one")
        second = await desk.run("two")
        fork = await desk.fork(second - 1)
        assert desk.said(fork.id) == ["one", "re: one"]
        assert forked_of(desk, fork.id).kind == "transcript"
        answer = next(
            seq for seq, kind, _ in desk.log() if kind == "assistant_text" and seq > second
        )
        fork = await desk.fork(answer)
        assert forked_of(desk, fork.id).kind == "native", "nothing was said after that message"
        assert desk.said(fork.id)[-1] == "re: two"
        with pytest.raises(BadRequest):
            await desk.fork(desk.store.last_seq("c") + 1)
        with pytest.raises(NotFound):
            await desk.fork(chat_id="nowhere")

    play(tmp_path, scenario)


def test_while_the_parent_runs_the_last_finished_turn_is_the_end(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.forker = Forker()
        await desk.run("one")
        running = asyncio.Event()
        go_on = asyncio.Event()

        async def hold() -> None:
            running.set()
            await go_on.wait()

        desk.adapter.starting.append(hold)
        async with asyncio.TaskGroup() as group:
            group.create_task(desk.run("two"))
            await running.wait()
            for after_seq in (None, desk.store.last_seq("c")):
                fork = await desk.fork(after_seq)
                assert desk.said(fork.id) == ["one", "re: one"]
                assert forked_of(desk, fork.id).kind == "transcript"
                assert fork.state == "idle"
            go_on.set()
        assert desk.said() == ["one", "re: one", "two", "re: two"]

    play(tmp_path, scenario)


def test_what_is_cut_in_mid_turn_is_closed_in_the_copy(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        bodies: list[EventBody] = [
            AssistantText(item_id="m", delta="half a se"),
            ToolUseStart(tool_id="t", name="Bash", kind="shell", input=ShellInput(command="ls")),
            Ask(ask_id="q", kind="permission", title="May I?"),
        ]
        user = User(text="go", author=OWNER, client_id="x")
        run = RunRecord("r", "c", "staged", first_seq=1)
        desk.store.start_run(run, [Draft(user), Draft(RunStarted(provider="staged"))])
        desk.store.append("c", [Draft(body) for body in bodies], run_id="r")
        upto = desk.store.last_seq("c")
        desk.store.append("c", [Draft(AssistantText(item_id="n", delta="on"))], run_id="r")
        desk.store.append("c", [], run_id="r", outcome="completed")
        fork = await desk.fork(upto)
        kinds = [kind for _, kind, _ in desk.log(fork.id)]
        assert kinds == [
            "user", "run_started", "tool_use_start", "ask", "assistant_text", "ask_resolved",
            "tool_use_end", "complete", "forked",
        ] or kinds == [
            "user", "run_started", "assistant_text", "tool_use_start", "ask", "ask_resolved",
            "tool_use_end", "complete", "forked",
        ]  # fmt: skip
        assert "half a se" in desk.said(fork.id)
        assert desk.store.open_runs() == []

    play(tmp_path, scenario)


def test_forks_by_token_start_at_code_and_ask(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.run("one")
        desk.change(mode="full_auto", permission="full")
        token = Caller("owner", "You", by_token=True)
        guest = Caller("guest", "Guest", may_execute=False)
        for caller in (token, guest):
            fork = await desk.fork(caller=caller)
            assert (fork.mode, fork.permission) == ("code", "ask")
        fork = await desk.fork()
        assert (fork.mode, fork.permission) == ("full_auto", "full")

    play(tmp_path, scenario)


@pytest.mark.parametrize(
    ("title", "forked"),
    [
        ("Fix it", "Fix it (fork)"),
        ("Fix it (fork)", "Fix it (fork 2)"),
        ("Fix it (fork 9)", "Fix it (fork 10)"),
        ("", "(fork)"),
        ("🙂" * 300, "🙂" * 293 + " (fork)"),
        ("e\u0301" * 150, ("e\u0301" * 150)[:293] + " (fork)"),
    ],
)
def test_a_fork_is_named_after_its_parent(title: str, forked: str) -> None:
    assert fork_title(title) == forked
    assert len(forked) <= 300


def test_five_thousand_events_are_copied_in_less_than_a_second(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        for number in range(100):
            user = User(text=f"p{number}", author=OWNER, client_id=f"x{number}")
            run = RunRecord(f"r{number}", "c", "staged")
            desk.store.start_run(run, [Draft(user), Draft(RunStarted(provider="staged"))])
            answers = [
                AssistantText(item_id=f"{number}.{item}", text="word " * 50, final=True)
                for item in range(48)
            ]
            drafts = [Draft(body) for body in answers]
            desk.store.append("c", drafts, run_id=run.run_id, outcome="completed")
        parent = all_of(desk.store)
        began = time.perf_counter()
        fork = await desk.fork()
        took.append(time.perf_counter() - began)
        assert len(all_of(desk.store, fork.id)) >= 5000
        assert all_of(desk.store) == parent

    took: list[float] = []
    store = open_store(tmp_path / "data", "auto", served_root=tmp_path / "project")
    play(tmp_path, scenario, store)
    store.close()
    print(f"fork of 5,000 events: {took[0] * 1000:.0f} ms")
