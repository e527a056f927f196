"""Another agent in the same chat: what becomes of the settings that belonged to the one before.

Each agent keeps a session of its own (`Chat.sessions`); what it is told of the others' work is in
`catching_up`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..protocol.events import Notice
from ..protocol.resources import Chat

OF_AN_AGENT: Final = {
    "model": "model",
    "effort": "effort",
    "service_tier": "speed",
    "skills": "skills",
}
"""Settings that belong to the agent -> their words for a person."""


def without_settings(changes: dict[str, Any]) -> dict[str, Any]:
    """`changes` that choose another agent, with what it cannot take over cleared: models, efforts
    and skills have other names there."""
    return {"model": None, "effort": None, "service_tier": None, "skills": [], **changes}


def left_behind(chat: Chat, changes: Mapping[str, Any]) -> list[str]:
    """The settings of `chat` that it loses with `changes`, in words."""
    return [
        words
        for name, words in OF_AN_AGENT.items()
        if getattr(chat, name) and not changes.get(name)
    ]


def cleared_notice(agent: str, left: Sequence[str]) -> Notice:
    """What the thread says of it; `left` is not empty."""
    what = left[0] if len(left) == 1 else f"{', '.join(left[:-1])} and {left[-1]}"
    text = f"{agent} starts with its own defaults, not with the {what} of the agent before."
    return Notice(level="info", code="settings_cleared", text=text)
