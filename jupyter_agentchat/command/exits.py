"""Exit codes, and the exception that ends the command with one. Documented in docs/guide.md."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a script may branch on."""

    COMPLETED = 0
    FAILED = 1
    USAGE = 2
    CANCELLED = 3
    NEEDS_PERSON = 4
    UNAVAILABLE = 5


class CommandError(Exception):
    """Ends the command: `message` and `hint` go to stderr, `code` to the shell."""

    def __init__(self, code: Exit, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
