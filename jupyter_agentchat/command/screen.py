"""The terminal: the answer goes to stdout as it comes, everything else to stderr, a line each.

What an agent wrote is data: on a terminal its control characters are shown, never obeyed, so that
no answer can move the cursor, hide a command or set the clipboard.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from typing import Literal, TextIO

Style = Literal["plain", "dim", "warning", "error", "ask"]

_CODES: dict[Style, str] = {"dim": "2", "warning": "33", "error": "31", "ask": "1;36"}
_BIDI = (0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN: dict[int, str] = {
    **{code: chr(0x2400 + code) for code in range(0x20) if chr(code) not in "\n\t"},
    0x7F: "\u2421",
    **{code: f"<U+{code:04X}>" for code in (*range(0x80, 0xA0), *_BIDI, 0x2028, 0x2029)},
}


def visible(text: str) -> str:
    """`text` with control and direction characters as signs that one can see; keeps \\n and \\t."""
    return text.translate(_SHOWN)


def one_line(text: str) -> str:
    """`text` on one line, nothing hidden: a newline becomes a sign as well."""
    return visible(text.rstrip()).replace("\n", "\u240a").replace("\t", " ")


class Screen:
    """Two streams that may be the same terminal."""

    def __init__(self, out: TextIO, err: TextIO, environment: Mapping[str, str]) -> None:
        self._out = out
        self._err = err
        self._out_is_tty = out.isatty()
        self._err_is_tty = err.isatty()
        self._colour = (
            self._err_is_tty
            and not environment.get("NO_COLOR")
            and environment.get("TERM", "") not in ("", "dumb")
        )
        self._mid_line = False

    @property
    def width(self) -> int:
        """Columns of the terminal; 100 where there is none."""
        return shutil.get_terminal_size((100, 24)).columns

    def text(self, text: str) -> None:
        """A piece of the answer. Raises BrokenPipeError when nobody reads it any more."""
        if text:
            self._out.write(visible(text) if self._out_is_tty else text)
            self._out.flush()
            self._mid_line = not text.endswith("\n")

    def end_line(self) -> None:
        """Finish a line of the answer that is still open."""
        if self._mid_line:
            self.text("\n")

    def note(self, text: str, style: Style = "plain", *, whole: bool = False) -> None:
        """A line beside the answer, cut at the terminal's width unless `whole`."""
        line = one_line(text)
        if self._err_is_tty and not whole and len(line) > self.width - 1:
            line = line[: self.width - 2] + "\u2026"
        self._write_err(line, style)

    def block(self, text: str, style: Style = "plain") -> None:
        """Several lines beside the answer, whole: what a person is asked to judge."""
        for line in visible(text).split("\n"):
            self._write_err(line, style)

    def prompt(self, text: str) -> None:
        """Ask for a line; the cursor stays behind the text."""
        self._break_shared_line()
        self._err.write(one_line(text) + " ")
        self._err.flush()

    def _write_err(self, line: str, style: Style) -> None:
        self._break_shared_line()
        code = _CODES.get(style) if self._colour else None
        self._err.write(f"\x1b[{code}m{line}\x1b[0m\n" if code else f"{line}\n")
        self._err.flush()

    def _break_shared_line(self) -> None:
        """On one terminal a note must not stand in the middle of a line of the answer."""
        if self._mid_line and self._out_is_tty and self._err_is_tty:
            self._err.write("\n")
            self._mid_line = False
