"""Modes and permissions: the stricter wins, and each mode has a prompt policy. Pure.

The table stands in docs/protocol.md, "Modes and permissions".
"""

from __future__ import annotations

from typing import Final

from ..protocol.words import PERMISSIONS, Mode, Permission, stricter

TOP: Final[dict[Mode, Permission]] = {
    "chat": "ask",
    "plan": "read_only",
    "code": "full",
    "review": "ask",
    "debug": "full",
    "full_auto": "full",
}
"""The most that a mode allows."""

POLICY: Final[dict[Mode, str]] = {
    "chat": (
        "Answer in the conversation. Read what you need, but change no file unless this message "
        "asks for it in so many words."
    ),
    "plan": (
        "Look around first and come back with a concrete plan: the files, the steps in order, how "
        "to check the result. Change nothing until the plan is approved."
    ),
    "code": "",
    "review": (
        "Act as a reviewer. Report bugs, regressions, risks and missing tests first, the gravest "
        "on top, each with file and line. Change no file unless this message asks for it."
    ),
    "debug": (
        "Reproduce the fault or narrow it down before you change anything. Name the root cause, "
        "then make the smallest change that removes it, and show that it is gone."
    ),
    "full_auto": (
        "Work through to the end by yourself: implement, run the checks, mend what fails. Stop "
        "only when something blocks you that a person must decide."
    ),
}
"""What is put before the prompt; our own words. The stored `user` event keeps the raw text."""


def effective_permission(chosen: Permission, mode: Mode, maximum: Permission) -> Permission:
    """What really holds: the strictest of the choice, the mode's top and the admin's maximum."""
    return stricter(stricter(chosen, TOP[mode]), maximum)


def is_raise(before: Permission, after: Permission) -> bool:
    """Whether `after` allows more than `before`."""
    return PERMISSIONS.index(after) > PERMISSIONS.index(before)


def effective_prompt(text: str, mode: Mode) -> str:
    """The text that the agent gets: the mode's policy, then the prompt as typed."""
    policy = POLICY[mode]
    return f"[{policy}]\n\n{text}" if policy else text
