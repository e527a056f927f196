"""What a run changed can be put back, whatever the agent; a person's own work stays theirs."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import socket
import stat
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from jupyter_agentchat.workspace.checkpoints import Checkpoints
from jupyter_agentchat.workspace.records import Record, Records
from jupyter_agentchat.workspace.restore import Change, Kept, Plan
from jupyter_agentchat.workspace.selection import overwritten
from jupyter_agentchat.workspace.snapshot import Limits
from tests.unit.workspace.project_tree import Editor, photo


class Desk:
    """A project, its checkpoints, and runs of an agent that is a function."""

    def __init__(self, root: Path, checkpoints: Checkpoints) -> None:
        self.root = root
        self.checkpoints = checkpoints
        self.restores = 0

    async def run(self, run_id: str, work: Callable[[], object], chat_id: str = "c") -> None:
        self.checkpoints.begin(chat_id, run_id, str(self.root))
        await self.checkpoints.ready(run_id)
        work()
        self.checkpoints.end(chat_id)
        await self.checkpoints.settled(chat_id)

    async def plan(self, *runs: str, overwrite: list[str] | None = None) -> Plan:
        return await self.checkpoints.plan("c", self.root, runs, overwrite or [])

    async def rewind(
        self, *runs: str, overwrite: list[str] | None = None
    ) -> tuple[str, list[Change], list[Kept]]:
        """(restore id, done, kept)"""
        plan = await self.plan(*runs, overwrite=overwrite)
        plan = await self.checkpoints.save_first("c", plan)
        self.restores += 1
        restore_id = f"r{self.restores}"
        done, kept = await self.checkpoints.restore(
            "c", self.root, plan.changes, restore_id, overwritten(plan, overwrite or [])
        )
        return restore_id, done, [*plan.kept, *kept]

    async def undo(self, restore_id: str) -> list[Kept]:
        plan, personal = await self.checkpoints.undo_plan("c", self.root, restore_id)
        plan = await self.checkpoints.save_first("c", plan)
        _, kept = await self.checkpoints.restore(
            "c", self.root, plan.changes, f"{restore_id}-undo", personal=personal
        )
        return [*plan.kept, *kept]

    @contextmanager
    def slow(self) -> Iterator[None]:
        """Nothing of the checkpoints goes on inside."""
        gate = threading.Event()
        for number in range(4):
            self.checkpoints._jobs.submit(f"gate{number}", "", lambda: gate.wait(10))
        yield
        gate.set()

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path


@pytest.fixture
def limits() -> Limits:
    return Limits(before_s=20.0)


@pytest.fixture
def desk(tmp_path: Path, limits: Limits) -> Iterator[Desk]:
    root = tmp_path / "project"
    root.mkdir()
    checkpoints = Checkpoints(tmp_path / "data" / "checkpoints", limits=limits)
    yield Desk(root, checkpoints)
    asyncio.run(checkpoints.close())


def on_desk(scenario: Awaitable[None]) -> None:
    async def main() -> None:
        await scenario

    asyncio.run(main())


def test_a_rewind_puts_back_what_the_run_changed_and_the_undo_what_it_had_made(desk: Desk) -> None:
    async def scenario() -> None:
        desk.write("notebook.ipynb", '{"cells": []}')
        desk.write("gone.txt", "soon gone")
        tool = desk.write("tool.sh", "echo")
        desk.write("untouched.txt", "mine")
        before = photo(desk.root)

        def work() -> None:
            desk.write("notebook.ipynb", '{"cells": [1]}')
            (desk.root / "gone.txt").unlink()
            tool.chmod(0o755)
            desk.write("new/deep/file.txt", "new")

        await desk.run("one", work)
        after = photo(desk.root)
        restore_id, done, kept = await desk.rewind("one")
        assert photo(desk.root) == before
        assert kept == []
        assert {change.path for change in done} == {
            "notebook.ipynb", "gone.txt", "tool.sh", "new", "new/deep", "new/deep/file.txt",
        }  # fmt: skip
        assert await desk.undo(restore_id) == []
        assert photo(desk.root) == after

    on_desk(scenario())


def test_what_a_person_changed_since_is_kept_until_they_say_otherwise(desk: Desk) -> None:
    async def scenario() -> None:
        mine = desk.write("mine.txt", "before")
        desk.write("other.txt", "before")

        def work() -> None:
            mine.write_text("agent")
            desk.write("other.txt", "agent")
            desk.write("made.txt", "agent")

        await desk.run("one", work)
        mine.write_text("my own words")
        desk.write("made.txt", "agent, and mine")
        plan = await desk.plan("one")
        assert [change.path for change in plan.changes] == ["other.txt"]
        assert [(kept.path, kept.overwritable) for kept in plan.kept] == [
            ("made.txt", True),
            ("mine.txt", True),
        ]
        assert mine.read_text() == "my own words"  # a plan changes nothing
        restore_id, _, kept = await desk.rewind("one", overwrite=["mine.txt"])
        assert mine.read_text() == "before"
        assert [one.path for one in kept] == ["made.txt"]
        assert await desk.undo(restore_id) == []
        assert mine.read_text() == "my own words"
        again = await desk.plan("one")
        assert "mine.txt" in [kept.path for kept in again.kept], "one leave is not a second one"

    on_desk(scenario())


def test_what_a_person_writes_right_after_the_run_is_not_taken_for_the_agents(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        desk.checkpoints.begin("c", "one", str(desk.root))
        await desk.checkpoints.ready("one")
        with desk.slow():
            desk.checkpoints.end("c")
            await asyncio.sleep(0.05)  # clocks of files tick slowly
            path.write_text("mine")
        plan = await desk.plan("one")
        assert plan.changes == ()
        assert [(kept.path, kept.overwritable) for kept in plan.kept] == [("a.txt", True)]

    on_desk(scenario())


def test_what_a_person_did_while_the_run_waited_for_its_turn_is_not_the_agents(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        desk.checkpoints.begin("c", "one", str(desk.root))
        await desk.checkpoints.settled("c")
        path.write_text("mine")
        await desk.checkpoints.ready("one")
        desk.write("b.txt", "agent")
        desk.checkpoints.end("c")
        _, done, kept = await desk.rewind("one")
        assert ([change.path for change in done], kept) == (["b.txt"], [])
        assert path.read_text() == "mine"

    monkeypatch.setattr("jupyter_agentchat.workspace.checkpoints.STALE_S", 0.0)
    on_desk(scenario())


def test_a_deleted_file_that_a_person_made_anew_stays(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "before")
        await desk.run("one", path.unlink)
        path.write_text("made anew")
        _, done, kept = await desk.rewind("one")
        assert done == []
        assert [(one.path, one.overwritable) for one in kept] == [("a.txt", True)]
        assert path.read_text() == "made anew"

    on_desk(scenario())


def test_rewinding_several_prompts_goes_back_before_the_first(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        for number in (1, 2, 3):
            await desk.run(str(number), lambda number=number: path.write_text(str(number)))
        first, _, _ = await desk.rewind("3")
        assert path.read_text() == "2"
        second, _, kept = await desk.rewind("1", "2")
        assert (path.read_text(), kept) == ("0", [])
        assert await desk.undo(second) == []
        assert path.read_text() == "2"
        assert await desk.undo(first) == []
        assert path.read_text() == "3"

    on_desk(scenario())


def test_files_kept_by_one_rewind_are_still_the_agents_for_the_next(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        await desk.run("1", lambda: path.write_text("1"))
        await desk.run("2", lambda: path.write_text("2"))  # cut later, files kept
        _, _, kept = await desk.rewind("1")  # the log shows run 1 only
        assert (path.read_text(), kept) == ("0", [])

    on_desk(scenario())


def test_a_new_run_starts_from_what_an_earlier_restore_left(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        await desk.run("1", lambda: path.write_text("1"))
        await desk.rewind("1")
        await desk.run("2", lambda: path.write_text("2"))
        _, _, kept = await desk.rewind("2")
        assert (path.read_text(), kept) == ("0", [])

    on_desk(scenario())


@pytest.mark.parametrize("seed", range(12))
def test_random_work_of_agent_and_person_is_undone_byte_for_byte(desk: Desk, seed: int) -> None:
    async def scenario() -> None:
        chance = random.Random(seed)
        editor = Editor(desk.root, chance)
        editor.edit(25)
        start = photo(desk.root)
        runs = [f"run{number}" for number in range(chance.randrange(1, 4))]
        for run_id in runs:
            await desk.run(run_id, lambda: editor.edit(12))
        agents = photo(desk.root)
        person = chance.random() < 0.6
        if person:
            editor.edit(8)
        present = photo(desk.root)
        plan = await desk.plan(*runs)
        assert photo(desk.root) == present
        restore_id, done, kept = await desk.rewind(*runs)
        left = photo(desk.root)
        if not person:
            assert (left, kept) == (start, [])
        for path, mine in present.items():
            if mine != agents.get(path) and mine[0] != "folder":
                assert left.get(path) == mine, "a person's own work was changed unasked"
        assert {change.path for change in done} <= {change.path for change in plan.changes}
        assert await desk.undo(restore_id) == []
        assert photo(desk.root) == present

    on_desk(scenario())


def test_links_are_kept_as_links_and_never_followed(desk: Desk, tmp_path: Path) -> None:
    async def scenario() -> None:
        secret = tmp_path / "secret"
        secret.mkdir()
        (secret / "key").write_text("outside")
        link = desk.root / "link"
        link.symlink_to("somewhere")
        folder = desk.root / "folder"
        desk.write("folder/key", "inside")

        def work() -> None:
            link.unlink()
            link.symlink_to("elsewhere")
            desk.write("folder/key", "agent")

        await desk.run("one", work)
        # since then the folder has become a way out
        folder.rename(desk.root / "moved")
        folder.symlink_to(secret)
        for overwrite in ([], ["folder/key"]):
            _, _, kept = await desk.rewind("one", overwrite=overwrite)
            assert [one.path for one in kept] == ["folder/key"]
            assert (secret / "key").read_text() == "outside"
            assert [path.name for path in secret.iterdir()] == ["key"]
        assert link.readlink() == Path("somewhere")

    on_desk(scenario())


def test_a_folder_that_the_agent_replaced_by_a_link_comes_back(desk: Desk, tmp_path: Path) -> None:
    async def scenario() -> None:
        desk.write("folder/a.txt", "a")
        before = photo(desk.root)
        outside = tmp_path / "outside"
        outside.mkdir()

        def work() -> None:
            (desk.root / "folder").rename(outside / "folder")
            (desk.root / "folder").symlink_to(outside / "folder")

        await desk.run("one", work)
        after = photo(desk.root)
        restore_id, _, kept = await desk.rewind("one")
        assert (photo(desk.root), kept) == (before, [])
        await desk.undo(restore_id)
        assert photo(desk.root) == after
        assert (outside / "folder" / "a.txt").read_text() == "a"

    on_desk(scenario())


def test_special_and_unreadable_files_are_left_alone(desk: Desk) -> None:
    async def scenario() -> None:
        os.mkfifo(desk.root / "fifo")
        listener = socket.socket(socket.AF_UNIX)
        here = Path.cwd()
        os.chdir(desk.root)
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
            listener.close()
        path = desk.write("a.txt", "0")
        await desk.run("one", lambda: path.write_text("1"))  # would hang on opening the fifo
        _, _, kept = await desk.rewind("one")
        assert (path.read_text(), kept) == ("0", [])

    on_desk(scenario())


@pytest.mark.parametrize("limits", [Limits(before_s=20.0, file_bytes=100)])
def test_a_file_too_large_for_a_checkpoint_is_named(desk: Desk) -> None:
    async def scenario() -> None:
        large = desk.write("large.bin", "x" * 101)
        await desk.run("one", lambda: (large.write_text("y"), desk.write("grown", "z" * 101)))
        _, done, kept = await desk.rewind("one")
        assert done == []
        assert [(one.path, one.overwritable) for one in kept] == [
            ("grown", False),
            ("large.bin", False),
        ]
        assert all("too large" in one.reason for one in kept)
        assert large.read_text() == "y"

    on_desk(scenario())


@pytest.mark.parametrize("limits", [Limits(before_s=20.0, files=3)])
def test_files_beyond_the_limit_are_never_taken_for_new_ones(desk: Desk) -> None:
    async def scenario() -> None:
        desk.write("a", "a")
        for number in range(5):
            desk.write(f"many/{number}", "there before")

        def work() -> None:
            for number in range(4):
                (desk.root / "many" / str(number)).unlink()
            desk.write("a", "agent")

        await desk.run("one", work)
        _, _, kept = await desk.rewind("one")
        assert (desk.root / "a").read_text() == "a"
        assert (desk.root / "many" / "4").read_text() == "there before"
        assert [one.path for one in kept] == ["many/4"]

    on_desk(scenario())


def test_a_folder_that_stops_being_an_environment_does_not_lose_its_files(desk: Desk) -> None:
    async def scenario() -> None:
        mark = desk.write("env/pyvenv.cfg", "home = /usr")
        desk.write("env/lib.py", "code")
        desk.write("node_modules/x.js", "code")
        await desk.run("one", lambda: (mark.unlink(), desk.write("node_modules/x.js", "new")))
        await desk.rewind("one")
        assert (desk.root / "env" / "lib.py").read_text() == "code"
        assert (desk.root / "node_modules" / "x.js").read_text() == "new"

    on_desk(scenario())


@pytest.mark.parametrize("limits", [Limits(before_s=0.0)])
def test_a_checkpoint_that_was_too_slow_is_not_pretended(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        await desk.run("one", lambda: path.write_text("1"))
        _, done, kept = await desk.rewind("one")
        assert done == []
        assert kept
        assert path.read_text() == "1"

    on_desk(scenario())


def test_the_files_are_kept_when_the_prompt_may_be_written_though_the_look_ran_beside_the_start(
    desk: Desk,
) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        with desk.slow():
            desk.checkpoints.begin("c", "one", str(desk.root))
            ready = asyncio.ensure_future(desk.checkpoints.ready("one"))
            await asyncio.wait({ready}, timeout=0.05)
            assert not ready.done()
        await ready
        path.write_text("1")
        # a server that dies now: the next one has what it needs
        later = Desk(desk.root, Checkpoints(desk.checkpoints.folder))
        later.checkpoints.end("c", late=True)
        await later.checkpoints.settled("c")
        plan = await later.plan("one", overwrite=["a.txt"])
        assert [change.path for change in plan.changes] == ["a.txt"]
        await later.checkpoints.close()

    on_desk(scenario())


def test_no_start_waits_for_the_disk_to_sync_its_checkpoint(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)

    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        desk.checkpoints.begin("c", "one", str(desk.root))
        await desk.checkpoints.ready("one")
        assert synced == []
        path.write_text("1")
        desk.checkpoints.end("c")
        await desk.checkpoints.settled("c")
        assert synced  # what a rewind will need survives a power loss

    on_desk(scenario())


def test_a_look_that_fails_holds_up_no_run_and_a_rewind_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = [True]
    save = Records.save

    def fails(records: Records, record: Record) -> None:
        if full[0]:
            raise OSError(errno.ENOSPC, "No space left on device")
        save(records, record)

    monkeypatch.setattr(Records, "save", fails)

    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        desk.checkpoints.begin("c", "one", str(desk.root))
        await desk.checkpoints.ready("one")
        full[0] = False
        path.write_text("1")
        desk.checkpoints.end("c")
        await desk.checkpoints.settled("c")
        _, done, kept = await desk.rewind("one")
        assert done == []
        assert "no checkpoint" in kept[0].reason
        assert path.read_text() == "1"

    on_desk(scenario())


def test_a_run_without_a_checkpoint_is_said(desk: Desk) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        await desk.run("two", lambda: path.write_text("1"))
        _, _, kept = await desk.rewind("one", "two")
        assert path.read_text() == "0"
        assert [one.path for one in kept] == [""]
        assert "one prompt" in kept[0].reason

    on_desk(scenario())


def test_two_chats_in_one_project_do_not_undo_each_other_unasked(desk: Desk) -> None:
    async def scenario() -> None:
        own, others = desk.write("own.txt", "0"), desk.write("others.txt", "0")
        checkpoints = desk.checkpoints
        checkpoints.begin("c", "one", str(desk.root))
        await checkpoints.ready("one")
        own.write_text("1")
        await desk.run("two", lambda: others.write_text("2"), chat_id="d")
        checkpoints.end("c")
        plan = await desk.plan("one")
        assert "others.txt" in [kept.path for kept in plan.kept if kept.overwritable]
        assert "others.txt" not in [change.path for change in plan.changes]
        assert "own.txt" in [change.path for change in plan.changes]

    on_desk(scenario())


def test_a_server_that_died_in_mid_run_finds_the_changes_later_and_asks(
    desk: Desk, tmp_path: Path
) -> None:
    async def first() -> None:
        desk.checkpoints.begin("c", "one", str(desk.root))
        await desk.checkpoints.ready("one")

    async def second() -> None:
        plan = await later.plan("one")
        assert plan.changes == ()
        assert [(kept.path, kept.overwritable) for kept in plan.kept] == [("a.txt", True)]
        await later.rewind("one", overwrite=["a.txt"])
        assert path.read_text() == "0"

    path = desk.write("a.txt", "0")
    on_desk(first())
    asyncio.run(desk.checkpoints.close())
    path.write_text("1")
    later = Desk(desk.root, Checkpoints(desk.checkpoints.folder))
    on_desk(second())
    asyncio.run(later.checkpoints.close())


def test_a_restore_that_was_cut_short_can_be_done_again(desk: Desk) -> None:
    async def scenario() -> None:
        paths = [desk.write(f"{number}.txt", "0") for number in range(4)]
        await desk.run("one", lambda: [path.write_text("1") for path in paths])
        plan = await desk.checkpoints.save_first("c", await desk.plan("one"))
        done, _ = await desk.checkpoints.restore("c", desk.root, plan.changes[:2], "r")
        assert len(done) == 2
        done, kept = await desk.checkpoints.restore("c", desk.root, plan.changes, "r")
        assert (len(done), kept) == (4, [])
        assert {path.read_text() for path in paths} == {"0"}
        assert await desk.undo("r") == []
        assert {path.read_text() for path in paths} == {"1"}

    on_desk(scenario())


def test_contents_are_private_and_kept_once(desk: Desk) -> None:
    async def scenario() -> None:
        desk.write("a.txt", "the same")
        desk.write("b.txt", "the same")
        await desk.run("one", lambda: desk.write("c.txt", "the same"))
        await desk.checkpoints.settled("c")
        files = [path for path in desk.checkpoints.folder.rglob("*") if path.is_file()]
        objects = [
            path for path in files if path.is_relative_to(desk.checkpoints.folder / "objects")
        ]
        assert len(objects) == 1
        assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
        folders = [path for path in desk.checkpoints.folder.rglob("*") if path.is_dir()]
        assert {stat.S_IMODE(path.stat().st_mode) for path in folders} == {0o700}

    old = os.umask(0o022)
    try:
        on_desk(scenario())
    finally:
        os.umask(old)


def test_a_chat_that_is_gone_leaves_nothing_behind(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "only in this chat")
        await desk.run("one", path.unlink)
        await desk.run("two", lambda: desk.write("b.txt", "kept"), chat_id="d")
        await desk.checkpoints.settled("d")
        monkeypatch.setattr("jupyter_agentchat.workspace.objects.GRACE_S", 0.0)
        monkeypatch.setattr("jupyter_agentchat.workspace.records.GRACE_S", 0.0)
        desk.checkpoints.drop_chat("c")
        await desk.checkpoints.settled("c")
        kept = [
            p.read_bytes() for p in (desk.checkpoints.folder / "objects").rglob("*") if p.is_file()
        ]
        assert kept == [b"kept"]
        assert not (desk.checkpoints.folder / "changes" / "c").exists()
        desk.checkpoints.drop_chat("c")
        await desk.checkpoints.settled("c")

    on_desk(scenario())


def test_a_content_that_is_gone_or_damaged_is_never_restored(desk: Desk) -> None:
    async def scenario() -> None:
        gone, damaged = desk.write("gone", "gone content"), desk.write("damaged", "good content")
        await desk.run("one", lambda: (gone.write_text("1"), damaged.write_text("2")))
        await desk.checkpoints.settled("c")
        for path in (desk.checkpoints.folder / "objects").rglob("*"):
            if path.is_file() and path.read_bytes() == b"gone content":
                path.unlink()
            elif path.is_file() and path.read_bytes() == b"good content":
                path.write_bytes(b"bad content!")
        _, done, kept = await desk.rewind("one")
        assert done == []
        assert [one.path for one in kept] == ["damaged", "gone"]
        assert (gone.read_text(), damaged.read_text()) == ("1", "2")

    on_desk(scenario())


@pytest.mark.parametrize("limits", [Limits(before_s=20.0, project_bytes=4000)])
def test_the_oldest_contents_go_first_and_a_rewind_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0" * 1000)
        for number in range(1, 7):
            os.utime(path)  # so that each look reads it
            await desk.run(str(number), lambda number=number: path.write_text(str(number) * 1000))
        objects = [p for p in (desk.checkpoints.folder / "objects").rglob("*") if p.is_file()]
        assert len(objects) <= 5, "the limit, and a quarter between two sweeps"
        _, done, kept = await desk.rewind("1", "2", "3", "4", "5", "6")
        assert done == []
        assert [(one.path, "removed to save space" in one.reason) for one in kept] == [
            ("a.txt", True)
        ]
        assert path.read_text() == "6" * 1000
        _, _, kept = await desk.rewind("6")
        assert (path.read_text(), kept) == ("5" * 1000, [])

    monkeypatch.setattr("jupyter_agentchat.workspace.objects.GRACE_S", 0.0)
    monkeypatch.setattr("jupyter_agentchat.workspace.records.GRACE_S", 0.0)
    on_desk(scenario())


@pytest.mark.parametrize("limits", [Limits(before_s=20.0, total_bytes=60)])
def test_a_full_checkpoint_store_is_said(desk: Desk) -> None:
    async def scenario() -> None:
        paths = [desk.write(f"{number}.txt", str(number) * 40) for number in range(3)]
        await desk.run("one", lambda: [path.write_text("1") for path in paths])
        _, done, kept = await desk.rewind("one")
        assert len(done) == 1
        assert len(kept) == 2
        assert all("full" in one.reason for one in kept)

    on_desk(scenario())


def test_a_file_that_changes_without_changing_size_right_after_the_look_is_noticed(
    desk: Desk,
) -> None:
    async def scenario() -> None:
        path = desk.write("a.txt", "0")
        times = path.stat()
        await desk.run("one", lambda: desk.write("b.txt", "1"))
        path.write_text("1")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        await desk.run("two", lambda: path.write_text("2"))
        await desk.rewind("two")
        assert path.read_text() == "1"

    on_desk(scenario())
