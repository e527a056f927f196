"""The tour, played to its end by its real program on a real folder: what it claims is true."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Complete,
    Error,
    Notice,
    Plan,
    Session,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
    Usage,
)
from tests.unit.tour.guest import README, Person, assert_patch_fits, output_of, take_tour, tools


def test_the_tour_runs_to_its_end_and_shows_every_part(folder: Path) -> None:
    played = take_tour(folder)
    assert played.outcome == "completed"
    assert not played.of(Notice)
    assert not played.of(Error)
    assert played.of(Session)[0].provider_session_id == "tour-chat"
    assert played.of(Thinking)
    kinds = [start.kind for start in played.of(ToolUseStart)]
    assert kinds == ["search", "read", "search", "shell", "write", "edit"]
    assert {end.status for end in played.of(ToolUseEnd)} == {"completed"}
    assert [ask.kind for ask in played.of(Ask)] == ["question", "permission"]
    for part in ("Reasoning", "checklist", "Stop", "tool cards", "permission", "footer", "Pickers"):
        assert part in played.text


def test_it_streams_in_pieces_that_can_be_read(folder: Path) -> None:
    played = take_tour(folder)
    deltas = [body.delta for body in played.of(AssistantText) if body.delta]
    assert len(deltas) > 50
    assert max(map(len, deltas)) <= 90


def test_what_it_says_of_the_folder_is_true(folder: Path) -> None:
    played = take_tour(folder)
    called = tools(played)
    listed = output_of(called["ListFiles"][1]).splitlines()
    assert listed == ["README.md", "data.csv", "picture.bin", "src/train.py"]
    assert all((folder / name).is_file() for name in listed)
    assert "4 files and 1 folder" in played.text
    assert called["ReadFile"][0].input.path == "README.md"  # type: ignore[union-attr]
    assert output_of(called["ReadFile"][1]) == README.rstrip("\n")
    assert "`README.md` has 3 lines." in played.text
    hits = output_of(called["SearchText"][1]).splitlines()
    assert "The word `Rides` stands in 5 lines of 3 files." in played.text
    for hit in hits:
        path, line, text = hit.split(":", 2)
        assert (folder / path).read_text().splitlines()[int(line) - 1] == text.strip()
    shell, ran = called["Shell"]
    assert shell.input.command == f"{sys.executable} --version"  # type: ignore[union-attr]
    assert (output_of(ran), ran.exit_code) == (f"Python {sys.version.split()[0]}", 0)


def test_what_it_writes_is_exactly_what_it_asked_for(folder: Path) -> None:
    def untouched(ask: Ask) -> None:
        assert not (folder / "agentchat-tour.md").exists()

    played = take_tour(folder, Person(before=untouched))
    ask = played.of(Ask)[1]
    assert ask.title == "Tour wants to write agentchat-tour.md"
    assert [option.id for option in ask.options] == ["allow_once", "allow_chat", "deny"]
    (asked,) = ask.diffs
    wrote, edited = (tools(played)[name][1].diffs[0] for name in ("WriteFile", "EditFile"))
    assert asked == wrote
    assert (wrote.change, wrote.old, edited.change) == ("add", None, "update")
    assert wrote.new == edited.old
    written = (folder / "agentchat-tour.md").read_text()
    assert written == edited.new
    assert "- [x] Take the tour" in written
    assert "Analysing data" in written
    assert "- `README.md`" in written
    assert "Escape" not in written  # keys were not asked for
    for diff in (wrote, edited):
        assert_patch_fits(diff)
    assert (edited.added, edited.removed) == (1, 1)
    size = tools(played)["WriteFile"][0].input.size  # type: ignore[union-attr]
    assert size == len((wrote.new or "").encode())


def test_the_checklist_progresses_to_its_end(folder: Path) -> None:
    plans = take_tour(folder).of(Plan)
    done = [sum(entry.status == "completed" for entry in plan.entries) for plan in plans]
    assert done == sorted(done)
    assert (done[0], done[-1]) == (0, len(plans[-1].entries))
    assert plans[0].entries[0].status == "in_progress"


def test_usage_is_unknown_and_never_zero(folder: Path) -> None:
    played = take_tour(folder)
    assert set(played.of(Usage)[-1].model_dump(exclude={"type"}).values()) == {None}
    complete = played.of(Complete)[0]
    assert complete.cost_usd is None
    assert complete.duration_ms is not None


def test_allow_once_means_once(folder: Path) -> None:
    played = take_tour(folder, Person(["allow_once", "allow_once"]))
    assert [ask.kind for ask in played.of(Ask)] == ["question", "permission", "permission"]
    assert played.of(Ask)[2].diffs[0].change == "update"
    assert "- [x]" in (folder / "agentchat-tour.md").read_text()


def test_a_no_is_respected_and_the_tour_goes_on(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    played = take_tour(folder, Person(["deny"]))
    assert played.outcome == "completed"
    assert tools(played)["WriteFile"][1].status == "denied"
    assert "EditFile" not in tools(played)
    assert sorted(folder.rglob("*")) == before
    assert "not written" in played.of(Plan)[-1].entries[2].text


def test_a_no_to_the_edit_leaves_the_note_as_it_was(folder: Path) -> None:
    played = take_tour(folder, Person(["allow_once", "deny"]))
    assert played.outcome == "completed"
    assert "- [ ] Take the tour" in (folder / "agentchat-tour.md").read_text()


def test_a_refused_question_is_fine_too(folder: Path) -> None:
    played = take_tour(folder, Person(answers={}))
    assert played.outcome == "completed"
    assert "rather not say" in played.text


def test_words_of_the_persons_own_reach_the_note(folder: Path) -> None:
    answers: dict[str, list[str] | str] = {"reason": "Counting bicycles", "keep": []}
    take_tour(folder, Person(answers=answers))
    assert "Counting bicycles" in (folder / "agentchat-tour.md").read_text()


def test_read_only_writes_nothing_and_asks_nothing(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    played = take_tour(folder, permission="read_only")
    assert played.outcome == "completed"
    assert [ask.kind for ask in played.of(Ask)] == ["question"]
    assert sorted(folder.rglob("*")) == before
    assert "read only" in played.text


@pytest.mark.parametrize("permission", ["accept_edits", "full"])
def test_a_wider_permission_is_not_asked_for_again(folder: Path, permission: str) -> None:
    played = take_tour(folder, permission=permission)
    assert [ask.kind for ask in played.of(Ask)] == ["question"]
    assert (folder / "agentchat-tour.md").exists()


def test_a_note_that_is_there_is_never_overwritten(folder: Path) -> None:
    (folder / "agentchat-tour.md").write_text("mine")
    (folder / "agentchat-tour-2.md").symlink_to("nowhere")
    take_tour(folder)
    assert (folder / "agentchat-tour.md").read_text() == "mine"
    assert not (folder / "nowhere").exists()
    assert "- [x]" in (folder / "agentchat-tour-3.md").read_text()


def test_a_note_that_appears_while_it_asks_is_left_alone(folder: Path) -> None:
    def be_first(ask: Ask) -> None:
        if ask.kind == "permission":
            (folder / "agentchat-tour.md").write_text("mine")

    played = take_tour(folder, Person(before=be_first))
    assert played.outcome == "completed"
    assert tools(played)["WriteFile"][1].status == "failed"
    assert (folder / "agentchat-tour.md").read_text() == "mine"


def test_a_note_that_changes_while_it_asks_is_left_alone(folder: Path) -> None:
    def change(ask: Ask) -> None:
        if ask.diffs and ask.diffs[0].change == "update":
            (folder / "agentchat-tour.md").write_text("mine now")

    played = take_tour(folder, Person(["allow_once", "allow_once"], before=change))
    assert tools(played)["EditFile"][1].status == "failed"
    assert (folder / "agentchat-tour.md").read_text() == "mine now"
    assert "changed meanwhile" in played.text


def test_an_empty_folder_is_no_embarrassment(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    played = take_tour(tmp_path / "empty")
    assert played.outcome == "completed"
    assert "no file here yet" in played.text
    assert {start.name for start in played.of(ToolUseStart)} >= {"ListFiles", "Shell"}
    assert "ReadFile" not in tools(played)


def test_a_folder_that_may_not_be_written_fails_only_the_card(folder: Path) -> None:
    def lock(ask: Ask) -> None:
        if ask.kind == "permission":
            folder.rename(folder.with_name("moved"))

    played = take_tour(folder, Person(before=lock))
    assert played.outcome == "completed"
    assert tools(played)["WriteFile"][1].status == "failed"


def test_code_in_the_project_is_not_run_by_the_tour(folder: Path) -> None:
    (folder / "jupyter_agentchat").mkdir()
    for name in ("json.py", "select.py", "jupyter_agentchat/__init__.py", "sitecustomize.py"):
        (folder / name).write_text("raise SystemExit('the project was run')")
    assert take_tour(folder).outcome == "completed"
