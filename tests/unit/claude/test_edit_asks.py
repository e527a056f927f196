"""The change that an ask shows: with the file's own line numbers, where the file can be read."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import Ask
from jupyter_agentchat.protocol.tools import Diff
from jupyter_agentchat.providers.claude.reading import text_before
from jupyter_agentchat.providers.claude.translate.diffs import compare, diffs_of_ask
from jupyter_agentchat.providers.claude.translate.places import Places
from tests.waiting import until

from .scripted import Json, can_use_tool, init, result
from .stage import Play, Stage

LINES = "".join(f"line {number}\n" for number in range(1, 101))
EDIT: Json = {"old_string": "line 50\n", "new_string": "line fifty\n"}


def request(path: object, tool: str = "Edit") -> Json:
    return {"tool_name": tool, "input": {"file_path": str(path), **EDIT}}


def shown(arguments: Json, before: str | None, tool: str = "Edit") -> Diff:
    (diff,) = diffs_of_ask(
        tool, {"file_path": "/project/a", **arguments}, Places("/project"), before
    )
    return diff


def test_an_edit_is_shown_at_its_place_in_the_file() -> None:
    diff = shown(EDIT, LINES)
    assert diff.patch is not None
    assert diff.patch.splitlines() == [
        "--- a/a",
        "+++ b/a",
        "@@ -47,7 +47,7 @@",
        " line 47",
        " line 48",
        " line 49",
        "-line 50",
        "+line fifty",
        " line 51",
        " line 52",
        " line 53",
    ]
    assert (diff.added, diff.removed) == (1, 1)


def test_every_place_of_an_edit_is_shown() -> None:
    diff = shown({"old_string": "line 9", "new_string": "row 9", "replace_all": True}, LINES)
    assert diff.patch is not None
    headers = [line for line in diff.patch.splitlines() if line.startswith("@@")]
    assert headers == ["@@ -6,7 +6,7 @@", "@@ -87,14 +87,14 @@"]
    assert diff.added == 11
    once = shown({"old_string": "line 9", "new_string": "row 9"}, LINES)
    assert once.added == 1


def test_several_edits_of_one_call_are_one_change() -> None:
    pieces = [EDIT, {"old_string": "line fifty", "new_string": "L"}]
    diff = shown({"edits": pieces}, LINES, "MultiEdit")
    assert diff.patch is not None
    assert "-line 50\n+L\n" in diff.patch


def test_writing_over_a_file_shows_what_changes() -> None:
    diff = shown({"content": LINES.replace("line 3\n", "")}, LINES, "Write")
    assert (diff.change, diff.added, diff.removed) == ("update", 0, 1)
    assert shown({"content": "new\n"}, None, "Write").change == "add"


def test_an_edit_that_does_not_fit_the_file_is_shown_as_its_piece() -> None:
    """As when it was done already, and another server reads the ask again."""
    for before in (LINES.replace("line 50\n", "line fifty\n"), None, ""):
        patch = shown(EDIT, before).patch
        assert patch is not None
        assert patch.splitlines()[2] == "@@ -1 +1 @@"


def test_a_small_change_in_a_long_file_is_compared_all_the_same() -> None:
    long = "same\n" * 50_000
    (diff,) = compare("a", long + "old\n" + long, long + "new\n" + long)
    assert diff.patch is not None
    assert "@@ -49998,7 +49998,7 @@" in diff.patch
    (huge,) = compare("a", "x\n" + "a\n" * 5000, "y\n" + "b\n" * 5000)
    assert (huge.patch, huge.added, huge.removed) == (None, 5001, 5001)


def test_only_a_sound_text_file_in_the_project_is_read(tmp_path: Path) -> None:
    project, outside = tmp_path / "project", tmp_path / "outside.txt"
    project.mkdir()
    outside.write_text("secret")
    (project / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (project / "b.bin").write_bytes(b"\xff\xfe")
    (project / "link.txt").symlink_to(outside)
    with (project / "big.txt").open("wb") as big:
        big.truncate(3 * 1024 * 1024)
    os.mkfifo(project / "fifo")
    assert text_before(request(project / "a.txt"), str(project)) == "one\ntwo\n"
    for name in ("b.bin", "link.txt", "big.txt", "fifo", "missing", "../outside.txt", "", "\0"):
        assert text_before(request(project / name), str(project)) is None
    assert text_before(request(outside), str(project)) is None
    assert text_before(request(project / "a.txt", "Bash"), str(project)) is None


@pytest.mark.parametrize("readable", [True, False])
def test_a_person_sees_the_lines_that_will_change(play: Play, readable: bool) -> None:
    async def act(stage: Stage) -> None:
        path = stage.project / "a.txt"
        if readable:
            path.write_text(LINES)
        run = await stage.start()
        stage.cli.say(init(), can_use_tool("q1", "Edit", {"file_path": str(path), **EDIT}))
        following = asyncio.create_task(stage.follow(run))
        await until(lambda: any(isinstance(body, Ask) for body in stage.bodies))
        stage.cli.say(result())
        await following
        (ask,) = [body for body in stage.bodies if isinstance(body, Ask)]
        assert ("@@ -47,7 +47,7 @@" in (ask.diffs[0].patch or "")) is readable

    play(act)
