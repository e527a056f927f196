"""What the tour does once it was taken: a few real things, and an honest no."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_agentchat.protocol.events import (
    Ask,
    AssistantText,
    Error,
    EventBody,
    Thinking,
    ToolUseEnd,
    ToolUseStart,
)
from jupyter_agentchat.providers.base import AgentRun
from jupyter_agentchat.providers.conformance import Played
from jupyter_agentchat.tour.menu import find_scene
from jupyter_agentchat.tour.stage import CancelledError, Stage
from jupyter_agentchat.tour.wire import Prompt, Wire
from tests.unit.tour.guest import Person, apply_patch, output_of, take_tour, talk, tools


def say(folder: Path, prompt: str, person: Person | None = None, **changes: object) -> Played:
    """One later prompt in a chat that knows the tour already."""
    return talk(folder, (prompt, person), provider_session_id="tour-chat", **changes)[0]


def test_the_second_prompt_of_a_chat_is_no_second_tour(folder: Path) -> None:
    first, second = talk(folder, ("hello", Person()), ("and now?", None))
    assert first.of(Thinking)
    assert second.outcome == "completed"
    assert not second.of(ToolUseStart)
    assert "I am a script" in second.text
    assert "read FILE" in second.text


def test_a_chat_that_comes_back_later_is_remembered(folder: Path) -> None:
    assert "I am a script" in say(folder, "what is the weather?").text


def test_the_tour_can_be_taken_again(folder: Path) -> None:
    again = say(folder, "Tour!", Person())
    assert again.of(Thinking)
    assert again.outcome == "completed"


def test_a_file_can_be_read(folder: Path) -> None:
    played = say(folder, "read `src/train.py`")
    assert output_of(played.of(ToolUseEnd)[0]) == "rides = 3\nprint(rides)"
    assert "2 lines" in played.text


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("missing.txt", "No such file"),
        ("../secret.txt", "leads out"),
        ("/etc/passwd", "leads out"),
        ("link-out/secret.txt", "leads out"),
        ("src", "directory"),
        ("picture.bin", "not text"),
        ("pipe", "not a regular file"),
    ],
)
def test_what_cannot_be_read_is_said_and_nothing_leaks(folder: Path, path: str, told: str) -> None:
    (folder.parent / "secret.txt").write_text("the secret")
    os.mkfifo(folder / "pipe")
    played = say(folder, f"read {path}")
    (end,) = played.of(ToolUseEnd)
    assert (end.status, end.is_error) == ("failed", True)
    assert told in output_of(end)
    assert played.outcome == "completed"
    assert "the secret" not in played.text


def test_a_word_can_be_searched(folder: Path) -> None:
    played = say(folder, "search for PRINT")
    assert output_of(tools(played)["SearchText"][1]) == "src/train.py:2: print(rides)"
    assert "1 line with `PRINT`, the first in `src/train.py`." in played.text
    assert "No line holds" in say(folder, "search zebra").text


def test_a_diff_is_shown_and_does_what_it_shows(folder: Path) -> None:
    first, second = talk(
        folder,
        ("show a diff", Person(["allow_once"])),
        ("show me a diff", Person(["allow_once"])),
    )
    (added,) = first.of(Ask)[0].diffs
    (changed,) = second.of(Ask)[0].diffs
    assert (added.change, changed.change) == ("add", "update")
    assert changed.old == added.new
    assert (folder / "agentchat-tour.md").read_text() == changed.new


def test_a_diff_in_read_only_is_shown_and_not_done(folder: Path) -> None:
    played = say(folder, "show a diff", permission="read_only")
    assert not played.of(ToolUseStart)
    patch = played.text.split("```diff\n")[1].split("```")[0]
    assert "Notes from the tour" in apply_patch("", patch)
    assert not (folder / "agentchat-tour.md").exists()


def test_it_asks_and_repeats_the_answer(folder: Path) -> None:
    person = Person(answers={"rhythm": ["Only read"]})
    assert "You said: *Only read*" in say(folder, "ask me something", person).text
    assert "No answer" in say(folder, "ask me something", Person(answers={})).text


def test_fail_is_an_error_with_a_way_on(folder: Path) -> None:
    failed, after = talk(folder, ("fail", None), ("help", None))
    assert failed.outcome == "failed"
    assert failed.of(Error)[0].hint
    assert after.outcome == "completed"


def test_stop_reaches_it_while_it_writes_slowly(folder: Path) -> None:
    async def stop(run: AgentRun, body: EventBody) -> None:
        if isinstance(body, AssistantText) and body.final:
            await run.cancel()

    stopped, after = talk(folder, ("slow", stop), ("help", None))
    assert stopped.outcome == "cancelled"
    assert "Line 3" not in stopped.text
    assert after.outcome == "completed"


@pytest.mark.parametrize("kind", ["question", "permission"])
def test_stop_reaches_it_while_it_waits_for_an_answer(folder: Path, kind: str) -> None:
    person = Person()

    async def stop(run: AgentRun, body: EventBody) -> None:
        if isinstance(body, Ask) and body.kind == kind:
            await run.cancel()
        else:
            await person(run, body)

    stopped, after = talk(folder, ("tour", stop), ("help", None))
    assert stopped.outcome == "cancelled"
    assert not (folder / "agentchat-tour.md").exists()
    assert after.outcome == "completed"


def test_a_text_that_is_cut_by_stop_keeps_what_was_shown(folder: Path) -> None:
    ops, to_tour = os.pipe()
    from_tour, bodies = os.pipe()
    os.write(to_tour, b'{"op": "cancel"}\n')
    stage = Stage(Wire(ops, bodies), Prompt("chat", "run", "", folder, "ask", resumed=False))
    with pytest.raises(CancelledError):
        stage.say("word " * 100)
    stage.finish_open()
    os.close(bodies)
    with os.fdopen(from_tour) as lines:
        delta, final = (json.loads(line) for line in lines)
    os.close(to_tour)
    os.close(ops)
    assert final["final"] is True
    assert final["text"] == delta["delta"] == "word " * 7


@pytest.mark.parametrize(
    ("prompt", "known"),
    [
        ("read README.md", True),
        ("Please read the plan.\n\nRead README.md.", True),
        ("  SEARCH   word  ", True),
        ("Look, do not touch.\n\nfail", True),
        ("show me around", True),
        ("What can you do?", True),
        ("reading is fun", False),
        ("failure", False),
        ("", False),
    ],
)
def test_commands_are_recognised_behind_the_policy_of_a_mode(prompt: str, known: bool) -> None:
    assert (find_scene(prompt) is not None) is known


def test_a_big_folder_is_looked_at_within_bounds(tmp_path: Path) -> None:
    root = tmp_path / "big"
    for number in range(8):
        (root / f"d{number}" / "a" / "b" / "c" / "d").mkdir(parents=True)
        (root / f"d{number}" / "a" / "b" / "c" / "d" / "deep.txt").write_text("deep")
        for name in range(600):
            (root / f"d{number}" / f"{name}.txt").touch()
    played = take_tour(root)
    assert played.outcome == "completed"
    assert "At least " in played.text
    assert "deep.txt" not in output_of(tools(played)["ListFiles"][1])


def test_the_program_ends_with_its_input_and_survives_nonsense() -> None:
    lines = ["nonsense", "[]", '{"op": "run"}', '{"op": "cancel"}', '{"op": "fly"}']
    done = subprocess.run(
        [sys.executable, "-P", "-m", "jupyter_agentchat.tour"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["hello"]
