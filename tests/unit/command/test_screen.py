"""What an agent says can be read in a terminal, and can do nothing to it."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_agentchat.command.screen import one_line, visible


@pytest.mark.parametrize(
    "text",
    [
        "\x1b]52;c;cm0gLXJm\x07",
        "\x1b[2J\x1b[1;1H",
        "safe\rrm -rf ~",
        "a\x08\x08b",
        "\x9b31m",
        "\u202egnp.exe",
        "\u2066x\u2069",
        "\x7f",
    ],
)
def test_control_and_direction_characters_are_shown_not_obeyed(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    assert shown != text


def test_lines_and_tabs_of_an_answer_stay() -> None:
    assert visible("a\tb\n\nü 漢 🙂") == "a\tb\n\nü 漢 🙂"


def test_a_command_of_two_lines_shows_that_it_has_two() -> None:
    assert one_line("ls\nrm -rf ~") == "ls␊rm -rf ~"


def test_a_pipe_gets_the_answer_byte_for_byte(pipe: Any) -> None:
    pipe.screen.text("\x1b[31mred\x1b[0m")
    assert pipe.out == "\x1b[31mred\x1b[0m"


def test_a_terminal_gets_the_answer_with_its_controls_visible(terminal: Any) -> None:
    shown = terminal()
    shown.screen.text("\x1b[31mred")
    assert shown.out == "␛[31mred"


def test_colour_is_for_terminals_that_want_it(terminal: Any, pipe: Any) -> None:
    coloured, plain, dumb = terminal(), terminal(NO_COLOR="1"), terminal(TERM="dumb")
    for shown in (coloured, plain, dumb, pipe):
        shown.screen.note("careful", "warning")
    assert coloured.err == "\x1b[33mcareful\x1b[0m\n"
    assert plain.err == dumb.err == pipe.err == "careful\n"


def test_a_note_never_lands_in_the_middle_of_a_line(terminal: Any, pipe: Any) -> None:
    shown = terminal(NO_COLOR="1")
    for one in (shown, pipe):
        one.screen.text("half a line")
        one.screen.note("read  a.md")
        one.screen.text(" and the rest")
    assert shown.err == "\nread  a.md\n"
    assert pipe.out == "half a line and the rest"


def test_long_notes_are_cut_on_a_terminal_and_asks_are_not(terminal: Any) -> None:
    shown = terminal(NO_COLOR="1", COLUMNS="20")
    shown.screen.note("x" * 500)
    assert len(shown.err) < 500
    shown.screen.note("y" * 500, whole=True)
    shown.screen.block("z" * 500)
    assert "y" * 500 in shown.err
    assert "z" * 500 in shown.err
