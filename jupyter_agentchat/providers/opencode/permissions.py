"""What opencode may do by itself, as its rules say it. Pure.

A rule is `{permission, pattern, action}`; of those that match, the last one holds. The process is
started with BASE, which lets opencode ask for everything that changes or sends something, also in
its subagents, which take nothing over from the conversation that called them. Each conversation
then gets the rules of its chat, and what its subagents ask is answered here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import JsonValue

from ...protocol.words import Permission
from .wire import Json, objects_of, text_of

Decision = Literal["ask", "allow", "deny"]

_READ: Final[dict[str, JsonValue]] = {
    "*": "allow",
    "*.env": "ask",
    "*.env.*": "ask",
    "*.env.example": "allow",
}
_HARMLESS: Final = ("glob", "grep", "list", "lsp", "codesearch", "todowrite", "todoread")
_OF_THE_CHAT: Final = ("question", "skill")
BASE: Final[Json] = {
    "*": "ask",
    "read": _READ,
    **dict.fromkeys((*_HARMLESS, *_OF_THE_CHAT, "task"), "allow"),
    # its own switch of mode: here the chat's mode counts
    "plan_enter": "deny",
    "plan_exit": "deny",
}
"""For the environment of the process: asks wherever nobody has said otherwise."""

_ASKED_IN_READ_ONLY: Final = ("webfetch", "websearch", "read", "external_directory")
READ_ONLY: Final = "This chat is read-only: nothing may be changed or run."
GO_ON: Final = "The person has denied this call. Go on without it."


def rules_for(permission: Permission, own: Sequence[Json] = ()) -> list[JsonValue]:
    """The rules of a conversation. `own`: what the person's own configuration forbids; it holds in
    every permission, therefore it stands last.

    `read_only` denies nothing here: rules can only be added, and subagents inherit those that deny,
    for good. What it asks is denied by `decide`.
    """
    match permission:
        case "full":
            rules = [_rule("*", "allow")]
        case "read_only":
            rules = [_rule("*", "ask"), *_reading()]
        case _:
            edits: Decision = "allow" if permission == "accept_edits" else "ask"
            rules = [_rule("*", "ask"), *_reading(), _rule("task", "allow"), _rule("edit", edits)]
    kept: list[JsonValue] = [{**rule} for rule in own]
    return [*rules, *_rules_of_modes(), *kept]


def agent_for(permission: Permission) -> str:
    """Which of opencode's agents works: `plan` knows that it must not change anything."""
    return "plan" if permission == "read_only" else "build"


def decide(permission: Permission, asked: Json, *, by_child: bool) -> Decision:
    """What becomes of a `permission.asked`. A subagent is under the chat's permission as well and
    does not know it; of the chat's own agent, only what `read_only` denies is decided here."""
    if permission == "read_only":
        return "ask" if text_of(asked, "permission") in _ASKED_IN_READ_ONLY else "deny"
    if permission == "full":
        return "allow"
    if by_child and permission == "accept_edits" and text_of(asked, "permission") == "edit":
        return "allow"
    return "ask"


def forbidden_by(agents: Sequence[Json]) -> list[Json]:
    """The rules of the person's own configuration that deny, from the answer to `GET /agent`."""
    for agent in agents:
        if text_of(agent, "name") == "build":
            return [
                {key: rule[key] for key in ("permission", "pattern", "action") if key in rule}
                for rule in objects_of(agent, "permission")
                if text_of(rule, "action") == "deny"
                and text_of(rule, "permission") not in ("question", "plan_enter", "plan_exit")
            ]
    return []


def _reading() -> list[JsonValue]:
    read: list[JsonValue] = [_rule("read", action, pattern) for pattern, action in _READ.items()]
    return [*read, *(_rule(name, "allow") for name in (*_HARMLESS, *_OF_THE_CHAT))]


def _rules_of_modes() -> list[JsonValue]:
    return [_rule("plan_enter", "deny"), _rule("plan_exit", "deny")]


def _rule(permission: str, action: JsonValue, pattern: str = "*") -> JsonValue:
    return {"permission": permission, "pattern": pattern, "action": action}
