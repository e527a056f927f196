"""Answers to the CLI's asks, by a person or by the chat's permission. Pure.

Answers stand in a `control_response`. Source: providers/claude design §4.1, recordings b2, b8, d1.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import JsonValue

from ...protocol.resources import AskAnswer
from ...protocol.words import Permission
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

    A question or a plan is always a person's. `full` allows what is still asked (as root the CLI
    refuses its own bypass mode); `read_only` refuses what could change something, so that no
    "allow" of a person can lift it.
    """
    if needs_a_person(request):
        return "ask"
    if permission == "full":
        return "allow"
    if permission == "read_only" and kind_of(text_of(request, "tool_name")) not in _HARMLESS:
        return "deny"
    return "ask"


def allow(request: Json) -> Json:
    """Allow the call as it was asked; older CLIs want the input repeated."""
    return {"behavior": "allow", "updatedInput": object_of(request, "input")}


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
            return {**allow(opened.request), "updatedPermissions": [change]}
    if answer.decision != "allow":
        return deny(answer.message or DECLINED)
    if answer.option_id == ALLOW_CHAT and opened.rules:
        return {**allow(opened.request), "updatedPermissions": list(opened.rules)}
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
