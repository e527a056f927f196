"""A terminal, or a pipe, in memory."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from jupyter_agentchat.command.screen import Screen


class Stream(io.StringIO):
    """A text stream that may say that it is a terminal."""

    def __init__(self, *, tty: bool) -> None:
        super().__init__()
        self._tty = tty

    def isatty(self) -> bool:
        return self._tty


class Shown:
    """A screen, and what was written to its two streams."""

    def __init__(self, *, tty: bool, environment: dict[str, str]) -> None:
        self._out, self._err = Stream(tty=tty), Stream(tty=tty)
        self.screen = Screen(self._out, self._err, environment)

    @property
    def out(self) -> str:
        return self._out.getvalue()

    @property
    def err(self) -> str:
        return self._err.getvalue()


@pytest.fixture
def pipe() -> Shown:
    """Both streams are pipes."""
    return Shown(tty=False, environment={"TERM": "xterm"})


@pytest.fixture
def terminal() -> Callable[..., Shown]:
    """`terminal(NO_COLOR="1")`: both streams are one terminal."""
    return lambda **environment: Shown(tty=True, environment={"TERM": "xterm", **environment})
