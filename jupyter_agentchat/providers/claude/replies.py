"""Answers to the CLI's asks, by a person or by the chat's permission. Pure.

Answers stand in a `control_response`. Source: providers/claude design §4.1, recordings b2, b8, d1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from pydantic import JsonValue

from ...protocol.resources import AskAnswer
from ...protocol.words import Permission
from .mcp import is_own
from .memory import ChatMemory
from .translate import OpenAsk, kind_of, needs_a_person
from .translate.asks import ALLOW_CHAT, APPROVE_EDITS, question_id
from .wire import Json, object_of, objects_of, text_of

DECLINED: Final = "The person declined this call."
NOT_ANSWERED: Final = "The person chose not to answer."
KEEP_PLANNING: Final = "The person does not approve this plan yet. Keep planning."
READ_ONLY: Final = "This chat is read-only: files are not changed and commands are not run."
NO_RUN: Final = "Nobody can answer this now: no prompt of a person is running."

_HARMLESS: Final = frozenset({"read", "search", "fetch", "web_search", "subagent"})


def decide(request: Json, permission: Permission) -> Literal["ask", "allow", "deny"]:
    """Who answers a `can_use_tool` request: a person, or the permission alone.

    A question or a plan is always a person's; our own tools ask by themselves. `full` allows what
    is still asked (as root the CLI refuses its own bypass mode); `read_only` refuses what could
    change something, so that no "allow" of a person can lift it.
    """
    if needs_a_person(request):
        return "ask"
    if permission == "full" or is_own(text_of(request, "tool_name")):
        return "allow"
    if permission == "read_only" and kind_of(text_of(request, "tool_name")) not in _HARMLESS:
        return "deny"
    return "ask"


def settle(
    request: Json,
    permission: Permission,
    rules: Sequence[Json],
    memory: ChatMemory,
    told: set[str],
) -> Json | None:
    """The answer that needs no person: by the permission, or what was allowed for the chat.

    `rules` are what "Allow for this chat" would remember of the request; `told`, which the process
    knows of already, gets those that the answer tells it. What the CLI asks for safety's sake is
    never answered from memory.
    """
    match decide(request, permission):
        case "allow":
            return allow(request)
        case "deny":
            return deny(READ_ONLY)
    careful = text_of(request, "decision_reason_type") == "safetyCheck"
    if careful or needs_a_person(request) or not memory.allows(rules, told):
        return None
    memory.allow(rules, told)
    return allow(request, rules)


def allow(request: Json, changes: Sequence[Json] = ()) -> Json:
    """Allow the call as it was asked; older CLIs want the input repeated.

    `changes` to the CLI's permissions hold for the life of its process.
    """
    payload: Json = {"behavior": "allow", "updatedInput": object_of(request, "input")}
    if changes:
        payload["updatedPermissions"] = list(changes)
    return payload


def deny(message: str) -> Json:
    """Deny the call; the model reads `message` and goes on."""
    return {"behavior": "deny", "message": message}


def answer_ask(opened: OpenAsk, answer: AskAnswer) -> Json:
    """A person's `answer` in the CLI's words."""
    match opened.ask.kind:
        case "question":
            if answer.decision != "answered":
                return deny(answer.message or NOT_ANSWERED)
            return _answers(opened.request, answer)
        case "plan":
            if answer.decision != "allow":
                return deny(answer.message or KEEP_PLANNING)
            mode = "acceptEdits" if answer.option_id == APPROVE_EDITS else "default"
            change: Json = {"type": "setMode", "mode": mode, "destination": "session"}
            return allow(opened.request, [change])
    if answer.decision != "allow":
        return deny(answer.message or DECLINED)
    if answer.option_id == ALLOW_CHAT and opened.rules:
        return allow(opened.request, opened.rules)
    return allow(opened.request)


def response(request_id: str, payload: Json) -> Json:
    """The line that answers a control request of the CLI."""
    inner: Json = {"subtype": "success", "request_id": request_id, "response": payload}
    return {"type": "control_response", "response": inner}


def unsupported(request_id: str, subtype: str) -> Json:
    """The line that answers a control request we have no use for: silence would hang the CLI."""
    text = f"This host does not support {subtype or 'this request'}."
    inner: Json = {"subtype": "error", "request_id": request_id, "error": text}
    return {"type": "control_response", "response": inner}


def _answers(request: Json, answer: AskAnswer) -> Json:
    arguments = object_of(request, "input")
    given = answer.answers or {}
    by_text: dict[str, JsonValue] = {}
    for index, question in enumerate(objects_of(arguments, "questions")):
        value = given.get(question_id(index))
        if value is not None:
            # the CLI takes several labels in one string
            by_text[text_of(question, "question")] = (
                value if isinstance(value, str) else ", ".join(value)
            )
    return {"behavior": "allow", "updatedInput": {**arguments, "answers": by_text}}
