"""The slash commands and skills that a chat in a directory has, and the models of the account.

A CLI tells them all when it introduces itself. Every process of a chat does; where there was none
lately, one is started just to be asked: without a prompt, without MCP servers and hooks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from .launch import Fixed
from .record import config_folder
from .wire import Json, objects_of, text_of

FRESH_S: Final = 300.0

# what the chat's own pickers do, and what only draws in a terminal
_HIDDEN: Final = frozenset(
    {
        "agents",
        "color",
        "config",
        "effort",
        "fast",
        "focus",
        "heapdump",
        "mcp",
        "model",
        "reload-plugins",
        "rename",
    }
)

Ask = Callable[[Path, bool], Awaitable[Json]]


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """What can be typed behind a slash. `hint` says what may follow, "" for nothing."""

    name: str
    description: str
    kind: Literal["command", "skill"]
    hint: str = ""


class Catalogue:
    """Remembers introductions for `FRESH_S`. `ask(directory, trusted)` gets a new one."""

    def __init__(self, ask: Ask, environment: Mapping[str, str]) -> None:
        self._ask = ask
        self._environment = environment
        self._known: dict[tuple[str, bool], tuple[float, Json]] = {}
        self._locks: dict[tuple[str, bool], asyncio.Lock] = {}

    def learn(self, fixed: Fixed, introduction: Json) -> None:
        """A process has introduced itself."""
        self._known[fixed.cwd, fixed.trusted] = time.monotonic(), introduction

    async def introduction(self, directory: Path, trusted: bool) -> Json:
        """What a CLI in `directory` tells of itself, at most `FRESH_S` old.

        Raises ProviderError. Cancelled, no process stays behind.
        """
        key = str(directory), trusted
        async with self._locks.setdefault(key, asyncio.Lock()):
            known = self._known.get(key)
            if known is None or time.monotonic() - known[0] > FRESH_S:
                known = time.monotonic(), await self._ask(directory, trusted)
                self._known[key] = known
        return known[1]

    async def commands(self, directory: Path, trusted: bool) -> list[AgentCommand]:
        """See `ClaudeAdapter.commands`."""
        introduction = await self.introduction(directory, trusted)
        skills = await asyncio.to_thread(
            lambda: set(_skills(directory if trusted else None, self._environment))
        )
        return [
            AgentCommand(
                name=text_of(item, "name"),
                description=text_of(item, "description"),
                kind="skill" if text_of(item, "name") in skills else "command",
                hint=text_of(item, "argumentHint"),
            )
            for item in objects_of(introduction, "commands")
            if _is_for_chats(text_of(item, "name"))
        ]


def _is_for_chats(name: str) -> bool:
    return bool(name) and not name.startswith("_") and name not in _HIDDEN


def _skills(project: Path | None, environment: Mapping[str, str]) -> Iterator[str]:
    """The names of a person's skills, and of the project's and its parents'."""
    folders = [config_folder(environment) / "skills"]
    for place in [project, *project.parents] if project else []:
        folders.append(place / ".claude" / "skills")
        if (place / ".git").exists():
            break
    for folder in folders:
        try:
            yield from (path.parent.name for path in folder.glob("*/SKILL.md"))
        except OSError:
            continue
