"""Rewind below the wire: what agents know afterwards, and failures on the way."""

from __future__ import annotations

import asyncio
import errno
from pathlib import Path
from typing import Any

import pytest

from jupyter_agentchat.errors import Busy, ProviderError, Stale, StorageError
from jupyter_agentchat.protocol.events import Rewound
from jupyter_agentchat.runs.ledger import own_holder
from jupyter_agentchat.store.memory import MemoryStore
from tests.unit.chats.rewind_desk import Cutting, RewindDesk, at_desk
from tests.unit.runs.staged import FullDisk
from tests.unit.workspace.project_tree import photo


def play(tmp_path: Path, scenario: Any, store: Any = None) -> None:
    at_desk(store or MemoryStore(), tmp_path, scenario)


def test_an_agent_that_can_cuts_its_own_conversation(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        await desk.run("one")
        second = await desk.run("two")
        await desk.run("three")
        runs = [request.run_id for request, _ in desk.adapter.requests]
        looked = await desk.rewind(second, dry_run=True)
        assert (looked.method, cutting.cuts) == ("native", [])
        done = await desk.rewind(second)
        assert done.method == "native"
        assert cutting.cuts == [("s1", runs[1:])]
        assert desk.chat().sessions == {"staged": "s1"}
        assert desk.adapter.closed_chats == []
        await desk.run("four")
        assert desk.request.provider_session_id == "s1"
        assert desk.request.transcript is None

    play(tmp_path, scenario)


@pytest.mark.parametrize("answer", [False, ProviderError("gone"), RuntimeError("a fault")])
def test_an_agent_that_does_not_cut_goes_on_with_a_transcript(
    tmp_path: Path, answer: bool | Exception
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.rewinder = Cutting()
        desk.adapter.rewinder.answer = answer
        await desk.run("one")
        done = await desk.rewind(await desk.run("two"))
        assert done.method == "transcript"
        assert desk.chat().sessions == {}
        assert desk.adapter.closed_chats == ["c"], "a warm process would still know"
        await desk.run("three")
        assert desk.request.provider_session_id is None
        assert "re: one" in (desk.request.transcript or "")
        assert "re: two" not in (desk.request.transcript or "")

    play(tmp_path, scenario)


def test_a_conversation_that_would_be_emptied_is_not_gone_on_with(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        await desk.run("one", session="s1")
        second = await desk.run("two", session="s2")  # the agent began anew here
        done = await desk.rewind(second)
        assert (done.method, cutting.cuts) == ("transcript", [])
        await desk.run("three")
        assert "re: one" in (desk.request.transcript or "")

    play(tmp_path, scenario)


def test_other_agents_that_saw_what_was_cut_forget_it_too(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        desk.adapter.rewinder = Cutting()
        await desk.run("one")
        await desk.run("two", provider="other", session="o1")
        await desk.run("three", provider="third", session="t1")
        fourth = await desk.run("four", provider="other", session="o1")
        await desk.run("five")
        done = await desk.rewind(fourth)
        assert done.method == "native"
        assert desk.chat().sessions == {"staged": "s1", "third": "t1"}
        undone = await desk.undo()
        assert undone.method == "transcript", "what an agent has cut nobody brings back"
        assert desk.chat().sessions == {"other": "o1", "third": "t1"}

    play(tmp_path, scenario)


def test_the_undo_of_a_rewind_by_transcript_goes_on_where_the_agent_was(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.run("one")
        await desk.rewind(await desk.run("two"))
        assert (await desk.undo()).method == "native"
        await desk.run("three")
        assert desk.request.provider_session_id == "s1"

    play(tmp_path, scenario)


def test_without_its_note_a_rewind_is_undone_and_says_less(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.run("one")
        log = desk.log()
        await desk.rewind(await desk.run("two", (desk.root / "a").touch))
        for path in (tmp_path / "data" / "checkpoints" / "rewinds").rglob("*.json"):
            path.unlink()
        undone = await desk.undo()
        assert desk.log()[: len(log)] == log
        assert "re: two" in desk.said()
        assert (undone.prompt.text, undone.method, undone.files) == ("two", "transcript", [])
        assert desk.chat().sessions == {}

    play(tmp_path, scenario)


def test_what_only_the_agent_can_put_back_is_put_back_with_leave_and_undone(
    tmp_path: Path,
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        hidden = desk.root / "node_modules" / "x.js"
        hidden.parent.mkdir()
        hidden.write_text("before")
        await desk.run("one")
        seq = await desk.run("two", lambda: hidden.write_text("agent"))
        cutting.files = {hidden: "before"}
        name = "node_modules/x.js"
        looked = await desk.rewind(seq, dry_run=True)
        assert [(kept.path, kept.overwritable) for kept in looked.kept] == [(name, True)]
        await desk.rewind(seq)
        assert (cutting.restored, hidden.read_text()) == ([], "agent")
        await desk.undo()
        await desk.run("three", session="s2")
        cutting.files = {hidden: "before"}
        await desk.rewind(seq, overwrite=[name])
        assert hidden.read_text() == "agent", "its conversation is another one by now"

    play(tmp_path, scenario)


def test_the_agents_own_copies_come_back_and_go_again(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        hidden = desk.root / "node_modules" / "x.js"
        hidden.parent.mkdir()
        hidden.write_text("before")
        own = desk.root / "own.txt"
        own.write_text("before")
        await desk.run("one")

        def work() -> None:
            hidden.write_text("agent")
            own.write_text("agent")

        seq = await desk.run("two", work)
        present = photo(desk.root)
        cutting.files = {hidden: "before", own: "before"}
        done = await desk.rewind(seq, overwrite=["node_modules/x.js"])
        assert [file.path for file in done.files] == ["node_modules/x.js", "own.txt"]
        assert (hidden.read_text(), own.read_text(), done.kept) == ("before", "before", [])
        assert (await desk.undo()).kept == []
        assert photo(desk.root) == present

    play(tmp_path, scenario)


def test_the_agent_puts_nothing_back_where_that_would_cost_a_persons_work(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        hidden, own = desk.root / "node_modules", desk.root / "own.txt"
        hidden.mkdir()
        own.write_text("before")
        await desk.run("one")
        seq = await desk.run("two", lambda: own.write_text("agent"))
        own.write_text("my own")
        cutting.files = {hidden / "x.js": "before", own: "before"}
        done = await desk.rewind(seq, overwrite=["node_modules/x.js"])
        assert own.read_text() == "my own"
        assert cutting.restored == []
        assert {kept.path for kept in done.kept} == {"node_modules/x.js", "own.txt"}
        await desk.undo()

    play(tmp_path, scenario)


def test_files_outside_the_project_are_left_to_the_person(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        outside = tmp_path / "outside.txt"
        outside.write_text("agent")
        await desk.run("one")
        seq = await desk.run("two")
        cutting.files = {outside: "before"}
        done = await desk.rewind(seq, overwrite=[str(outside)])
        assert [(kept.path, kept.overwritable) for kept in done.kept] == [(str(outside), False)]
        assert outside.read_text() == "agent"

    play(tmp_path, scenario)


def test_on_a_full_disk_nothing_has_happened(tmp_path: Path) -> None:
    store = FullDisk()

    async def scenario(desk: RewindDesk) -> None:
        path = desk.root / "a.txt"
        await desk.run("one")
        seq = await desk.run("two", lambda: path.write_text("agent"))
        log, present, sessions = desk.log(), photo(desk.root), desk.chat().sessions
        store.full = True
        with pytest.raises(StorageError):
            await desk.rewind(seq)
        store.full = False
        desk.rewinds.recover()
        if desk.log() != log:  # it could not be taken back either, so it was finished
            await desk.undo()
        assert photo(desk.root) == present
        assert desk.said() == ["one", "re: one", "two", "re: two"]
        assert desk.chat().sessions == sessions

    play(tmp_path, scenario, store)


def test_a_rewind_that_fails_at_its_event_is_taken_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        path = desk.root / "a.txt"
        await desk.run("one")
        seq = await desk.run("two", lambda: path.write_text("agent"))
        log, present, sessions = desk.log(), photo(desk.root), desk.chat().sessions

        def refuse(*_args: object) -> None:
            assert not path.exists()  # the files were put back by then
            raise StorageError("The disk is full.")

        monkeypatch.setattr(desk.hub, "record", refuse)
        with pytest.raises(StorageError):
            await desk.rewind(seq)
        assert (photo(desk.root), desk.log(), desk.chat().sessions) == (present, log, sessions)
        assert desk.rewinds.notes.pending() == []
        monkeypatch.undo()
        await desk.rewind(seq)
        assert not path.exists()
        await desk.undo()
        assert photo(desk.root) == present

    play(tmp_path, scenario)


class Killed(BaseException):
    """The server's end: nothing that follows is done."""


def test_a_server_killed_after_the_agent_has_cut_never_says_that_it_knows_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        cutting = desk.adapter.rewinder = Cutting()
        await desk.run("one")
        seq = await desk.run("two", (desk.root / "a").touch)

        def killed(*_args: object) -> None:
            raise Killed

        monkeypatch.setattr(desk.hub, "record", killed)
        with pytest.raises(Killed):
            await desk.rewind(seq)
        assert len(cutting.cuts) == 1
        monkeypatch.undo()
        later = RewindDesk(desk.store, tmp_path / "data", desk.root, "later/")
        assert later.rewinds.recover() == 1
        assert later.said() == ["one", "re: one"]
        assert not (desk.root / "a").exists()
        assert later.chat().sessions == {}
        assert (await later.undo()).method == "transcript"
        assert later.said() == ["one", "re: one", "two", "re: two"]
        assert (desk.root / "a").exists()
        assert later.chat().sessions == {}
        await later.close()

    play(tmp_path, scenario)


def test_no_run_begins_while_files_are_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        path = desk.root / "a.txt"
        seq = await desk.run("one", lambda: path.write_text("agent"))
        restore, begun, go_on = desk.checkpoints.restore, asyncio.Event(), asyncio.Event()

        async def slow(*args: Any, **options: Any) -> Any:
            begun.set()
            await go_on.wait()
            return await restore(*args, **options)

        monkeypatch.setattr(desk.checkpoints, "restore", slow)
        async with asyncio.TaskGroup() as group:
            rewinding = group.create_task(desk.rewind(seq))
            await begun.wait()
            for forbidden in (desk.run("two"), desk.rewind(seq), desk.undo()):
                with pytest.raises(Busy):
                    await forbidden
            go_on.set()
        assert rewinding.result().undo
        assert not path.exists()

    play(tmp_path, scenario)


def test_a_rewind_of_another_living_server_is_waited_for(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        seq = await desk.run("one")
        await desk.rewind(seq)
        note = desk.rewinds.notes.done("c", seq, _rewound(desk).to_seq)
        assert note is not None
        desk.rewinds.notes.begin(note.model_copy(update={"holder": own_holder()}))
        assert desk.rewinds.recover() == 0
        with pytest.raises(Busy) as busy:
            await desk.undo()
        assert busy.value.details["holder"] == own_holder()

    play(tmp_path, scenario)


def test_a_failed_rewind_is_never_finished_over_a_later_prompt(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        path = desk.root / "a.txt"
        seq = await desk.run("one", lambda: path.write_text("agent"))
        await desk.rewind(seq)
        note = desk.rewinds.notes.done("c", seq, _rewound(desk).to_seq)
        assert note is not None
        await desk.undo()
        await desk.run("two")
        desk.rewinds.notes.begin(note)
        assert desk.rewinds.recover() == 0
        assert path.read_text() == "agent"
        assert desk.rewinds.notes.pending() == []

    play(tmp_path, scenario)


def test_after_the_next_prompt_there_is_no_undo(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.run("one")
        await desk.rewind(await desk.run("two"))
        await desk.run("three")
        with pytest.raises(Stale):
            await desk.undo()

    play(tmp_path, scenario)


def test_a_chat_gone_for_good_takes_its_notes_along(tmp_path: Path) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.rewind(await desk.run("one", (desk.root / "a").touch))
        desk.rewinds.forget("c")
        await desk.checkpoints.settled("c")
        kept = [p for p in (tmp_path / "data").rglob("*.json") if p.is_file()]
        assert kept == []

    play(tmp_path, scenario)


def _rewound(desk: RewindDesk) -> Rewound:
    page = desk.store.events_after("c", 0, limit=5000)
    return next(b for e in reversed(page.events) if isinstance(b := e.body(), Rewound))


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_rewind_on_a_disk_that_keeps_nothing_says_so_and_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dry_run: bool
) -> None:
    async def scenario(desk: RewindDesk) -> None:
        await desk.run("one")
        seq = await desk.run("two")
        before = desk.store.last_seq("c")

        async def refusing(*_: Any) -> Any:
            raise OSError(errno.EROFS, "Read-only file system")

        monkeypatch.setattr(desk.checkpoints, "plan", refusing)
        with pytest.raises(StorageError, match="Read-only file system"):
            await desk.rewind(seq, files="restore", dry_run=dry_run)
        assert desk.store.last_seq("c") == before

    play(tmp_path, scenario)
